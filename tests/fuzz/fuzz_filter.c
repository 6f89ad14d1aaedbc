/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a filter: it is refused with a reason, or made into a program, which is run over
 * events of the clock; what is unknown has no value, and the same text does the same again.
 */
#include "analysis/filter/filter_program.h"

#include "analysis/session/symbols.h"
#include "analysis/tree/tree.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 100, FUNCTIONS = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct rows events = {.columns = ROW_FIELD + PROFILE_FIELDS};

/* A chain of functions that the program announced, each called by the one before. */
static void add_functions(struct process *process)
{
	static const char *const names[FUNCTIONS] = {"main", "A", "B", "C", "mem.copy"};
	struct stack_builder builder;
	uint32_t node = STACK_ROOT;

	stack_builder_init(&builder, &process->stacks);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		uint64_t address = 0x1000 * (uint64_t)(i + 1);

		*vec_push(&process->map.functions) = (struct map_function){.name = names[i],
									   .alias = "",
									   .source = "",
									   .address = address,
									   .size = 0x100};
		*vec_push(&process->map.segments) = (struct map_segment){.start = address,
									 .end = address + 0x100,
									 .last_epoch = UINT32_MAX,
									 .file = MAP_NONE,
									 .function = i};
		node = stack_builder_node(&builder, node,
					  stack_builder_location(&builder, address + 0x10, 0));
	}
	stack_builder_fini(&builder);
	experiment_map_sort(&process->map);
}

static void make_session(struct session *session)
{
	static struct experiment experiment;
	struct process *process = vec_push(&experiment.processes);

	process->lineage = process->name = "";
	add_functions(process);
	symbols_init(session);
	trees_init(session);
	*vec_push(&session->experiments) = &experiment;
	((struct process_info *)vec_push(&session->processes))->id = 1;
	*vec_push(&session->scanned) = (struct session_process){
		.process = process,
		.id = 1,
		.group = 1,
	};
	tree_add_process(session, &session->trees[VIEW_USER][false], &experiment,
			 session->scanned.items);
}

static void make_events(void)
{
	rows_open(&events);
	for (uint64_t i = 0; i < ROWS; i++) {
		row_put(rows_next_row(&events), ROW_STACK,
			i % (FUNCTIONS + 2)); /* the root and <Unknown>, too */
		row_put(rows_next_row(&events), ROW_TIME, 10 * i);
		row_put(rows_next_row(&events), ROW_FIELD + PROFILE_WEIGHT, i % 7 * 1000);
		row_put(rows_next_row(&events), ROW_CPU, i % 3 ? i % 4 : PROFILE_NO_CPU);
		row_put(rows_next_row(&events), ROW_TYPE, i % FORMAT_STATE_COUNT);
		rows_next(&events);
	}
	rows_close(&events);
}

static void evaluate(const struct session *session, const struct filter_program *program,
		     struct filter_slot *slots)
{
	const struct session_process *scanned = session->scanned.items;
	static struct event_columns columns;
	const struct event_run all = {.process = scanned->process,
				      .kind = EVENTS_CLOCK,
				      .thread = 1,
				      .rows = &events,
				      .count = ROWS};
	const struct event_run run = event_run_piece(&all, 0, &columns);
	const struct filter_rows rows = {.session = session,
					 .process = scanned,
					 .run = &run,
					 .nodes = session->trees[VIEW_USER][false].nodes.items[0]};
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
	if (filter_compile(&session, &session.trees[VIEW_USER][false], text, &program, &diags) ==
	    STATUS_OK)
		run_program(&session, program);
	else if (!diags.count)
		abort();
	filter_program_free(program);
	diag_fini(&diags);
	free(text);
	return 0;
}
