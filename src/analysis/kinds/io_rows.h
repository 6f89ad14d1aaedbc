/* SPDX-License-Identifier: Apache-2.0 */
/* What each event of I/O is about: a file, or an opening of one. Private to this module. */
#ifndef HELIO_ANALYSIS_IO_ROWS_H
#define HELIO_ANALYSIS_IO_ROWS_H

#include "analysis/session/session_state.h"

struct io_row {
	const char *file;  /* or peer, or whatever else its name is */
	const char *title; /* "/tmp/x", "/tmp/x (IOVFD=10, FD=3)" */
};

struct io_rows {
	struct arena arena;
	VEC(struct io_row) rows; /* 0 is <Total> */
	uint32_t **of;		 /* by process of the session, then by row of its trace */
	size_t processes;
};

/* Made when it is first asked for; lives as long as the session. */
const struct io_rows *io_rows_of(struct session *session, enum io_row_kind kind);
void io_rows_free(struct io_rows *rows);

#endif
