/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of synchronization tracing. */
#include "analysis/locks.h"
#include "base/terminal.h"
#include "present/json.h"
#include "print/command.h"

#include <inttypes.h>
#include <stdlib.h>

bool command_locks(struct print *print, char **arguments, size_t count)
{
	struct table table;

	view_locks(print->session, &print->query, &table);
	char *heading = command_table_heading("Locks", &table, false);

	return command_show_table(print, "locks", SHAPE_LIST, &table, heading);
}

/* "3 waits, 0.030 sec., longest 0.010 sec., 1 failed" */
static void put_waits(FILE *file, const struct lock_waits *waits)
{
	terminal_printf(file, "%" PRIu64 " wait%s, %.3f sec., longest %.3f sec.", waits->count,
			waits->count == 1 ? "" : "s", waits->seconds, waits->longest);
	if (waits->failed)
		terminal_printf(file, ", %" PRIu64 " failed", waits->failed);
	fputc('\n', file);
}

static void put_frames(FILE *file, const struct lock_stack *stack)
{
	for (size_t frame = 0; frame < stack->depth; frame++)
		terminal_printf(file, "\t%s\n", stack->frames[frame]);
}

static void put_text(FILE *file, const struct lock_detail *detail)
{
	static const char heading[] = "\nWhat its holders did while it was waited for\n";

	terminal_printf(file, "%s\n", detail->name);
	if (detail->object)
		terminal_printf(file, "of %s\n", detail->object);
	if (detail->maker.depth)
		fputs("allocated by\n", file);
	put_frames(file, &detail->maker);
	fputs("\nAll: ", file);
	put_waits(file, &detail->waits);
	for (size_t i = 0; i < detail->types.count && detail->types.count > 1; i++) {
		terminal_printf(file, "\t%s: ", detail->types.items[i].name);
		put_waits(file, &detail->types.items[i].waits);
	}
	fputs("\nWho waited for whom\n", file);
	for (size_t i = 0; i < detail->pairs.count; i++) {
		const struct lock_pair *pair = &detail->pairs.items[i];

		terminal_printf(file, "\t%s for %s: ", pair->waiter,
				pair->holder ? pair->holder : "(not known)");
		put_waits(file, &pair->waits);
	}
	for (size_t i = 0; i < detail->stacks.count; i++) {
		terminal_printf(file, "\nCall stack #%zu: ", i + 1);
		put_waits(file, &detail->stacks.items[i].waits);
		put_frames(file, &detail->stacks.items[i]);
	}
	for (size_t i = 0; i < detail->holders.count; i++) {
		fputs(i ? "\n" : heading, file);
		terminal_printf(file, "Holder's call stack #%zu: %.3f sec.\n", i + 1,
				detail->holders.items[i].waits.seconds);
		put_frames(file, &detail->holders.items[i]);
	}
	if (detail->unknown_seconds > 0.01 * detail->waits.seconds) {
		fputs(detail->holders.count ? "\n" : heading, file);
		terminal_printf(file, "Not known: %.3f sec.\n", detail->unknown_seconds);
	}
	fputc('\n', file);
}

static json_t *json_waits(const struct lock_waits *waits)
{
	return json_pack("{s:f, s:I, s:f, s:I}", "sync", waits->seconds, "syncn",
			 (json_int_t)waits->count, "longest", waits->longest, "failed",
			 (json_int_t)waits->failed);
}

static json_t *json_frames(const struct lock_stack *stack)
{
	json_t *frames = json_array();

	for (size_t i = 0; i < stack->depth; i++)
		json_array_append_new(frames, json_text(stack->frames[i]));
	return frames;
}

/* Rows: the lock, then each type, each pair of threads, each call stack of waits, of holders. */
static void put_json(struct print *print, const struct lock_detail *detail, const char *name)
{
	struct json_report report;
	json_t *lock = json_waits(&detail->waits);

	if (name)
		json_object_set_new(lock, "experiment", json_text(name));
	json_object_set_new(lock, "name", json_text(detail->name));
	json_object_set_new(lock, "object", json_text(detail->object));
	if (detail->maker.depth)
		json_object_set_new(lock, "allocated_by", json_frames(&detail->maker));
	json_report_begin(&report, &print->presenter, print->session, "lock", NULL, NULL);
	json_report_row(&report, lock);
	for (size_t i = 0; i < detail->types.count; i++) {
		json_t *row = json_waits(&detail->types.items[i].waits);

		json_object_set_new(row, "type", json_text(detail->types.items[i].name));
		json_report_row(&report, row);
	}
	for (size_t i = 0; i < detail->pairs.count; i++) {
		json_t *row = json_waits(&detail->pairs.items[i].waits);

		json_object_set_new(row, "waiter", json_text(detail->pairs.items[i].waiter));
		json_object_set_new(row, "holder", json_text(detail->pairs.items[i].holder));
		json_report_row(&report, row);
	}
	for (size_t i = 0; i < detail->stacks.count; i++) {
		json_t *row = json_waits(&detail->stacks.items[i].waits);

		json_object_set_new(row, "frames", json_frames(&detail->stacks.items[i]));
		json_report_row(&report, row);
	}
	for (size_t i = 0; i < detail->holders.count; i++)
		json_report_row(&report, json_pack("{s:f, s:o}", "held",
						   detail->holders.items[i].waits.seconds, "frames",
						   json_frames(&detail->holders.items[i])));
	if (detail->unknown_seconds > 0)
		json_report_row(&report, json_pack("{s:f}", "unknown", detail->unknown_seconds));
	json_report_end(&report);
}

struct lock_question {
	const char *which;
	bool found;
};

static void put_lock(struct print *print, const char *name, void *data)
{
	struct lock_question *question = data;
	struct lock_detail detail;
	bool found = view_lock(print->session, &print->query, question->which, &detail);

	if (found && print->presenter.format == PRESENT_JSON)
		put_json(print, &detail, name);
	else if (found)
		put_text(print->output.file, &detail);
	else if (print->presenter.format != PRESENT_JSON && name)
		terminal_printf(print->output.file, "Nobody waited for %s\n", question->which);
	question->found |= found;
	lock_detail_fini(&detail);
}

bool command_lock(struct print *print, char **arguments, size_t count)
{
	struct lock_question question = {.which = arguments[0]};

	command_each_group(print, put_lock, &question);
	return question.found ||
	       say_error(print, "No lock `%s' (`locks` lists them)", arguments[0]);
}
