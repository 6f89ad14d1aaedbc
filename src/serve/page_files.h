/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/embed-page makes of the page. */
#ifndef HELIO_SERVE_PAGE_FILES_H
#define HELIO_SERVE_PAGE_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct page_file {
	const char *name, *type;
	const unsigned char *data; /* compressed by gzip */
	size_t size;
	bool immutable; /* its name changes with what is in it */
};

/* Without a name behind the last; none: the page was not built. */
extern const struct page_file page_files[];

#endif
