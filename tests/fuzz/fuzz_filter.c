/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a filter: it is refused with a reason, or made into a program, which is run over
 * events of the clock; what is unknown has no value, and the same text does the same again.
 */
#include "analysis/filter_program.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 100, FUNCTIONS = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct rows events = {.columns = ROW_FIELD + PROFILE_FIELDS};

/* A chain of functions: node N is called by node N - 1. */
static void make_session(struct session *session)
{
	static const char *const names[FUNCTIONS] = {"main", "A", "B", "C", "mem.copy"};

	symbols_init(session);
	tree_init(session);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		tree_add_node(&session->tree, i,
			      symbols_add_made_up(session, OBJECT_UNKNOWN, names[i]));
	((struct process_info *)vec_push(&session->processes))->id = 1;
}

static void make_events(void)
{
	rows_open(&events);
	for (uint64_t i = 0; i < ROWS; i++) {
		rows_put(&events, ROW_STACK, i % (FUNCTIONS + 1));
		rows_put(&events, ROW_TIME, 10 * i);
		rows_put(&events, ROW_FIELD + PROFILE_WEIGHT, i % 7 * 1000);
		rows_put(&events, ROW_CPU, i % 3 ? i % 4 : PROFILE_NO_CPU);
		rows_put(&events, ROW_TYPE, i % FORMAT_STATE_COUNT);
		rows_next(&events);
	}
	rows_close(&events);
}

static void evaluate(const struct session *session, const struct filter_program *program,
		     struct filter_slot *slots)
{
	static uint32_t nodes[FUNCTIONS + 1] = {0, 1, 2, 3, 4, 5};
	static const struct process process;
	const struct session_process scanned = {
		.process = &process, .id = 1, .group = 1, .nodes = nodes};
	static struct event_columns columns;
	const struct event_run all = {.process = &process,
				      .kind = EVENTS_CLOCK,
				      .thread = 1,
				      .rows = &events,
				      .count = ROWS};
	const struct event_run run = event_run_piece(&all, 0, &columns);
	const struct filter_rows rows = {session, &scanned, &run};
	const struct filter_slot *result = filter_evaluate(program, slots, &rows);

	for (size_t i = 0; result->any_unknown && i < ROWS; i++)
		if (result->unknown[i] > 1 || (result->unknown[i] && result->value[i]))
			abort();
}

static void run_program(const struct session *session, const struct filter_program *program)
{
	struct filter_slot *slots = filter_slots(program);
	uint64_t first[ROWS];

	evaluate(session, program, slots);
	memcpy(first, slots->value, sizeof(first));
	evaluate(session, program, slots);
	if (memcmp(first, slots->value, sizeof(first)))
		abort();
	free(slots);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct session session;
	char *text = xstrndup((const char *)data, size);
	struct filter_program *program;
	struct diag_list diags = {0};

	if (!session.functions.count) {
		make_session(&session);
		make_events();
	}
	if (filter_compile(&session, text, &program, &diags) == STATUS_OK)
		run_program(&session, program);
	else if (!diags.count)
		abort();
	filter_program_free(program);
	diag_fini(&diags);
	free(text);
	return 0;
}
