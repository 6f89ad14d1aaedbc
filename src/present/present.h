/* SPDX-License-Identifier: Apache-2.0 */
/* Results as text, delimited fields, JSON or a page: nobody else asks for the format. */
#ifndef HELIO_PRESENT_PRESENT_H
#define HELIO_PRESENT_PRESENT_H

#include "analysis/views/result.h"
#include "present/presenter.h"

/* What is printed until present_end is one command's: on a page its text is one piece. */
void present_begin(struct presenter *presenter);
void present_end(struct presenter *presenter, const struct session *session);
void present(struct presenter *presenter, const struct result *result);
/* Nothing follows in the output: a page that has begun ends. */
void present_finish(struct presenter *presenter);
/* A word of `printmode`: "text", "json", "html", or one character. False: it is none of them. */
bool present_set_format(struct presenter *presenter, const char *word);
/* What is in force as such a word: NULL, the delimiter is. */
const char *present_format_name(const struct presenter *presenter);
/* Warnings are in each answer; elsewhere they are said once, beside the answers. */
bool present_has_warnings(const struct presenter *presenter);

#endif
