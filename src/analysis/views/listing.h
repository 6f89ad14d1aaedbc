/* SPDX-License-Identifier: Apache-2.0 */
/* What annotated source and annotated disassembly have in common. Private to this module. */
#ifndef HELIO_ANALYSIS_LISTING_H
#define HELIO_ANALYSIS_LISTING_H

#include "analysis/code/code.h"
#include "analysis/views/table.h"
#include "analysis/views/view_code.h"
#include "object/lines/remarks.h"
#include "object/lines/source.h"

struct source_code;

struct listing {
	struct session *session;
	struct tally *tally;
	const struct query *query;
	const struct listing_request *request;
	struct listing_header *header;
	struct table *table;
	uint32_t object, file; /* file: LINES_NONE where no line is known */
	struct source source;
	bool has_source;
	struct remarks remarks;
	size_t next_remark;
	VEC(struct row) rows;
	VEC(uint32_t) groups; /* of the rows, in `sums`; NODE_NONE: no values */
	struct code_sums sums;
	uint32_t inclusive_only; /* a group that has no exclusive values; 0: none */
	/* of a disassembly with metrics of its source lines: by line; groups of rows count on */
	struct code_sums line_sums;
	uint32_t first_line_group; /* that of line 0; 0: there are none */
};

/* What a listing answers: the view's question, and how it went. */
struct listing_question {
	struct session *session;
	const struct listing_request *request;
	struct listing_header *header;
	struct diag_list *diags; /* NULL: of a part that is compared, of which nothing is said */
	bool *done;
};
typedef void listing_fill(struct tally *tally, const struct query *query, const void *question,
			  struct table *table);
/*
 * The listing, or the listings of the compared groups side by side.  False: there is none, and the
 * table is none; diags says why.
 */
bool listing_run(struct session *session, const struct query *query,
		 const struct listing_request *request, struct listing_header *header,
		 struct table *table, struct diag_list *diags, listing_fill *fill);

/* Fills the header and opens the source. */
void listing_begin(struct listing *listing);
/* The name of a function, as the query wants it; lives as long as the table. */
const char *listing_function_name(const struct listing *listing, uint32_t function);
/* The same of a function of the load object that may have no number in the session; a part's is
 * short, "f.cold": it stands among operands. */
const char *listing_symbol_name(const struct listing *listing, uint32_t symbol);
/* As it is called where its code begins: of a part, from which function and which line it is. */
const char *listing_entry_name(const struct listing *listing, uint32_t symbol, uint32_t line);

/* What it has beside its line is up to the caller. */
struct row_detail *listing_add_row(struct listing *listing, enum row_kind kind, uint32_t line,
				   uint32_t group, const char *text);
/* A line of the source, after what the compiler says of it. Lines are added in their order. */
void listing_add_source(struct listing *listing, uint32_t line, uint32_t group);
/* By pc, the line of the listing's file that it is of, or 0. To be freed. */
uint32_t *listing_lines_of_pcs(const struct listing *listing);

/* Whether an event has anything to do with a group. */
bool listing_has_value(const struct listing *listing, uint32_t group);

/* "<Function: …>" */
void listing_add_index(struct listing *listing, uint32_t group, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* listing_remarks.c: what compilers say; of a line it is added when the line is. */
void listing_find_remarks(struct listing *listing);
void listing_add_remarks(struct listing *listing, uint32_t line);
/* Adds what symbols say: which functions of the source have been cloned or split. */
void listing_find_clones(struct listing *listing, const struct source_code *code);

/* Moves the rows into the table, with their values, marks the hot ones and closes the source. */
void listing_finish(struct listing *listing);
/* Without a table. */
void listing_drop(struct listing *listing);

#endif
