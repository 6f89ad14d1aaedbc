/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions and lines, and listings of code with the metrics beside it. */
#ifndef HELIO_ANALYSIS_VIEW_CODE_H
#define HELIO_ANALYSIS_VIEW_CODE_H

#include "analysis/views/table.h"

struct source_search;

/* Instructions, "f + 0x0000001c", and source lines, "f, line 23 in "a.c"", that stacks go through.
 */
void view_pcs(struct session *session, const struct query *query, struct table *table);
void view_lines(struct session *session, const struct query *query, struct table *table);

/* What a listing of code is asked for. */
struct listing_request {
	uint32_t function; /* or CODE_NONE: a source file by itself, with its load object */
	uint32_t object;
	uint32_t file;	    /* CODE_NONE: that of the function's first line */
	unsigned threshold; /* percent of a column's largest value from which a line is hot */
	const struct source_search *search; /* but for the archives, which are added */
	unsigned remarks;		    /* enum remark_class: which to show */
	bool intel;			    /* syntax of the disassembly */
	bool hex;			    /* … with the bytes */
	bool no_source;			    /* … without source lines */
	bool source_metrics;		    /* … with the metrics of the source lines */
};
/* What stands above it. Strings live as long as the table; NULL: unknown. */
struct listing_header {
	const char *source, *source_found; /* found: where, if not there */
	bool source_missing, source_newer;
	const char *unit; /* what the object file was made from */
	const char *load_object, *provenance;
};
/* Annotated source, with all that the load object has of it. False: no line is known. */
bool view_source(struct session *session, const struct query *query,
		 const struct listing_request *request, struct listing_header *header,
		 struct table *table, struct diag_list *diags);
/* Annotated disassembly of a function, its source lines between. False: its code is not there. */
bool view_disassembly(struct session *session, const struct query *query,
		      const struct listing_request *request, struct listing_header *header,
		      struct table *table, struct diag_list *diags);

#endif
