/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/lock_rows.h"

#include "analysis/kinds/lock_scan.h"

#include <stdlib.h>

static uint32_t *rows_for(const struct process *process, int kind)
{
	size_t count = process->traces[kind].rows.count;

	return count ? xcalloc(count, sizeof(uint32_t)) : NULL;
}

static void place(struct lock_scan *scan, const char *name, const struct event_run *run, size_t row)
{
	struct lock_rows *rows = scan->data;
	uint32_t *const *of = run->kind == EVENTS_TRACE + TRACE_SYNC ? rows->of_sync : rows->of_omp;

	of[scan->process_number][run->first + row] =
		name ? string_table_add(&rows->names, name) : LOCK_ROW_UNNAMED;
}

const struct lock_rows *lock_rows_of(struct session *session)
{
	struct lock_rows *rows = session->lock_rows;
	struct lock_scan scan = {.place = place};

	if (rows)
		return rows;
	session->lock_rows = scan.data = rows = xcalloc(1, sizeof(*rows));
	string_table_add(&rows->names, "");  /* of LOCK_ROW_NONE */
	string_table_add(&rows->names, " "); /* of LOCK_ROW_UNNAMED */
	rows->processes = session->scanned.count;
	rows->of_sync = xcalloc(rows->processes + 1, sizeof(*rows->of_sync));
	rows->of_omp = xcalloc(rows->processes + 1, sizeof(*rows->of_omp));
	for (size_t i = 0; i < rows->processes; i++) {
		const struct process *process = session->scanned.items[i].process;

		rows->of_sync[i] = rows_for(process, TRACE_SYNC);
		rows->of_omp[i] = rows_for(process, TRACE_OMP);
	}
	lock_scan_names(&scan, session);
	lock_scan_fini(&scan);
	return rows;
}

void lock_rows_free(struct lock_rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->processes; i++) {
		free(rows->of_sync[i]);
		free(rows->of_omp[i]);
	}
	free(rows->of_sync);
	free(rows->of_omp);
	string_table_fini(&rows->names);
	free(rows);
}
