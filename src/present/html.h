/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that need nothing but themselves: no other file, no network. */
#ifndef HELIO_PRESENT_HTML_H
#define HELIO_PRESENT_HTML_H

#include <stdio.h>

/* Text as content or as a quoted attribute; bytes that are no UTF-8 as U+FFFD. */
void html_text(FILE *file, const char *text);
/* The page up to its body; css: more style, or NULL. */
void html_begin(FILE *file, const char *title, const char *css);
void html_end(FILE *file);

#endif
