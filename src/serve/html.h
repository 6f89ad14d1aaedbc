/* SPDX-License-Identifier: Apache-2.0 */
/* `helio html`: the page of `helio view` and answers for it in one file that needs nothing else. */
#ifndef HELIO_SERVE_HTML_H
#define HELIO_SERVE_HTML_H

#include <stddef.h>

enum { SERVE_HTML_MOST = 2 << 20 }; /* bytes of the file */

/* Writes the file; what does not fit is left out, the least important first. An exit status. */
int serve_html(const char *program, char *const *experiments, size_t count, const char *file);

#endif
