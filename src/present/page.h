/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of results: tables are tables, all other parts stand in it as text.
 */
#ifndef HELIO_PRESENT_PAGE_H
#define HELIO_PRESENT_PAGE_H

#include "analysis/views/result.h"
#include "present/layout.h"
#include "present/presenter.h"

void page_put_result(struct presenter *presenter, const struct result *result,
		     const struct segment_map *segments);
/* What is printed as text until page_release goes to memory, and then into the page. */
void page_capture(struct presenter *presenter);
void page_release(struct presenter *presenter, const struct session *session);
/* The end of the page, where one has begun: the output is about to change. */
void page_end(struct presenter *presenter);

#endif
