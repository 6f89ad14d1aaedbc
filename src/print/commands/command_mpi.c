/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of MPI tracing. */
#include "analysis/kinds/mpi_match.h"
#include "analysis/views/mpi_report.h"
#include "base/array.h"
#include "base/memory.h"
#include "print/commands/command.h"
#include "print/commands/command_compare.h"

#include <inttypes.h>
#include <stdlib.h>

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* ---- mpistat ---- */

static struct part *begin_list(struct result *result, const char *heading,
			       const struct list_column *columns, size_t count)
{
	result_gap(result);
	result_heading(result, "%s", heading);
	struct part *list = result_list(result, columns, count);

	list->audience = FOR_PEOPLE;
	list->list.ruled = true;
	return list;
}

static void set_sums(struct result *result, struct part *row, const struct mpi_call_sums *sums)
{
	part_set(result, row, "calls", value_count(sums->calls));
	part_set(result, row, "time_s", value_real(seconds(sums->total_ns), 6));
	part_set(result, row, "longest_s", value_real(seconds(sums->longest_ns), 6));
	part_set(result, row, "sends", value_count(sums->sends));
	part_set(result, row, "bytes_sent", value_count(sums->sent));
	part_set(result, row, "receives", value_count(sums->receives));
	part_set(result, row, "bytes_received", value_count(sums->received));
	part_set(result, row, "bytes_arrived", value_count(sums->arrived));
	part_set(result, row, "errors", value_count(sums->errors));
}

static void add_cells(struct result *result, struct part *list, const struct mpi_call_sums *sums)
{
	part_cell(result, list, value_count(sums->calls));
	part_cell(result, list, value_real(seconds(sums->total_ns), 6));
	part_cell(result, list,
		  value_real(sums->calls ? seconds(sums->total_ns) / (double)sums->calls : 0, 6));
	part_cell(result, list, value_real(seconds(sums->longest_ns), 6));
	part_cell(result, list, value_count(sums->sent));
	part_cell(result, list, value_count(sums->arrived));
}

static void add_functions(struct result *result, const struct mpi_report *report, const char *name)
{
	const struct list_column columns[] = {{.title = "Function"},
					      {.title = "Calls", .right = true},
					      {.title = "Time, s", .right = true},
					      {.title = "Mean, s", .right = true},
					      {.title = "Longest, s", .right = true},
					      {.title = "Bytes sent", .right = true},
					      {.title = "Bytes arrived", .right = true}};
	struct part *list = begin_list(result, "MPI functions by time", columns, COUNT(columns));

	for (size_t i = 0; i < report->functions.count; i++) {
		const struct mpi_function_sums *function = &report->functions.items[i];
		struct part *row = result_line(result, "", "");

		part_cell(result, list, value_text(result, function->name));
		add_cells(result, list, &function->sums);
		part_set(result, row, "function", value_text(result, function->name));
		set_sums(result, row, &function->sums);
		if (name)
			part_set(result, row, "experiment", value_text(result, name));
	}
}

static double share(uint64_t part_ns, uint64_t whole_ns)
{
	return whole_ns ? 100.0 * (double)part_ns / (double)whole_ns : 0;
}

static void add_rank_row(struct result *result, struct part *list, const struct mpi_rank_sums *rank,
			 const char *name)
{
	struct part *row = result_line(result, "", "");
	uint64_t mpi_ns = rank->sums.total_ns;

	part_cell(result, list,
		  rank->rank < 0 ? value_text(result, "?") : value_integer(rank->rank));
	part_cell(result, list, value_real(seconds(rank->run_ns), 3));
	part_cell(result, list, value_real(seconds(mpi_ns), 3));
	part_cell(result, list, value_real(share(mpi_ns, rank->run_ns), 1));
	part_cell(result, list, value_real(seconds(rank->wait_ns), 3));
	part_cell(result, list, value_real(seconds(rank->collective_ns), 3));
	part_cell(result, list, value_count(rank->sums.calls));
	part_cell(result, list, value_count(rank->sums.sent));
	part_cell(result, list, value_count(rank->sums.arrived));
	if (rank->rank >= 0)
		part_set(result, row, "rank", value_integer(rank->rank));
	part_set(result, row, "world", value_count(rank->world));
	part_set(result, row, "process", value_count(rank->process));
	part_set(result, row, "run_s", value_real(seconds(rank->run_ns), 6));
	part_set(result, row, "wait_s", value_real(seconds(rank->wait_ns), 6));
	part_set(result, row, "collective_s", value_real(seconds(rank->collective_ns), 6));
	set_sums(result, row, &rank->sums);
	if (name)
		part_set(result, row, "experiment", value_text(result, name));
}

/* How much longer the slowest rank works than the mean, of the slowest one's time. */
static void add_imbalance(struct result *result, const struct mpi_report *report)
{
	double most = 0, sum = 0;

	for (size_t i = 0; i < report->ranks.count; i++) {
		const struct mpi_rank_sums *rank = &report->ranks.items[i];
		double work = seconds(rank->run_ns) - seconds(rank->sums.total_ns);

		sum += work;
		most = work > most ? work : most;
	}
	if (report->ranks.count < 2 || most <= 0)
		return;
	double mean = sum / (double)report->ranks.count;
	struct part *facts;

	result_gap(result);
	facts = result_facts(result, 0);
	facts->facts.of_all = true;
	part_add(result, facts, "imbalance", "Imbalance of work outside MPI",
		 value_real(100 * (most - mean) / most, 1))
		->suffix = " % (the mean rank works that much less than the slowest one)";
}

static void add_ranks(struct result *result, const struct mpi_report *report, const char *name)
{
	const struct list_column columns[] = {{.title = "Rank", .right = true},
					      {.title = "Run, s", .right = true},
					      {.title = "In MPI, s", .right = true},
					      {.title = "%", .right = true},
					      {.title = "Waits, s", .right = true},
					      {.title = "Collectives, s", .right = true},
					      {.title = "Calls", .right = true},
					      {.title = "Bytes sent", .right = true},
					      {.title = "Bytes arrived", .right = true}};
	struct part *list = begin_list(result, "Ranks", columns, COUNT(columns));

	for (size_t i = 0; i < report->ranks.count; i++)
		add_rank_row(result, list, &report->ranks.items[i], name);
	add_imbalance(result, report);
}

/* Nothing where all ranks have one. */
static void add_clocks(struct result *result, const struct mpi_report *report, const char *name)
{
	const struct list_column columns[] = {{.title = "Host"},
					      {.title = "Ranks", .right = true},
					      {.title = "Clock ahead, s", .right = true},
					      {.title = "Faster, ppm", .right = true},
					      {.title = "Error, s", .right = true}};
	struct part *list;

	if (!report->clocks.count)
		return;
	list = begin_list(result, "Clocks of hosts, put on one line", columns, COUNT(columns));
	for (size_t i = 0; i < report->clocks.count; i++) {
		const struct mpi_clock_info *clock = &report->clocks.items[i];
		const char *host = clock->host ? clock->host : "?";
		struct part *row = result_line(result, "", "");

		part_cell(result, list, value_text(result, host));
		part_cell(result, list, value_count(clock->ranks));
		part_cell(result, list, value_real(clock->ahead_s, 6));
		part_cell(result, list, value_real(clock->drift_ppm, 3));
		part_cell(result, list,
			  clock->is_known ? value_real(clock->error_s, 9)
					  : value_text(result, "not known"));
		part_set(result, row, "host", value_text(result, host));
		part_set(result, row, "ranks", value_count(clock->ranks));
		part_set(result, row, "ahead_s", value_real(clock->ahead_s, 9));
		part_set(result, row, "drift_ppm", value_real(clock->drift_ppm, 6));
		if (clock->is_known)
			part_set(result, row, "error_s", value_real(clock->error_s, 9));
		if (name)
			part_set(result, row, "experiment", value_text(result, name));
	}
}

static uint64_t size_from(unsigned class)
{
	return class ? UINT64_C(1) << (class - 1) : 0;
}

static char *size_text(unsigned class)
{
	static const char units[] = "BKMGT";
	uint64_t bytes = size_from(class);
	unsigned unit = 0;

	for (; bytes >= 1024; bytes /= 1024)
		unit++;
	return unit ? xasprintf("%" PRIu64 "%cB", bytes, units[unit])
		    : xasprintf("%" PRIu64 "B", bytes);
}

static void add_sizes(struct result *result, const struct mpi_report *report, const char *name)
{
	const struct list_column columns[] = {{.title = "Size from"},
					      {.title = "Messages", .right = true}};
	struct part *list;

	if (!report->messages)
		return;
	list = begin_list(result, "Messages by size", columns, COUNT(columns));
	for (unsigned i = 0; i < MPI_SIZE_CLASSES; i++) {
		char *text = size_text(i);

		if (report->sizes[i]) {
			struct part *row = result_line(result, "", "");

			part_cell(result, list, value_text(result, text));
			part_cell(result, list, value_count(report->sizes[i]));
			part_set(result, row, "size_from", value_count(size_from(i)));
			part_set(result, row, "messages", value_count(report->sizes[i]));
			if (name)
				part_set(result, row, "experiment", value_text(result, name));
		}
		free(text);
	}
}

static void ask_statistics(struct print *print, const char *name, void *data)
{
	struct result *result = data;
	struct mpi_report report;

	view_mpi_report(print->session, &print->query, &report);
	command_group_heading(print, result, name);
	add_functions(result, &report, name);
	add_ranks(result, &report, name);
	add_clocks(result, &report, name);
	add_sizes(result, &report, name);
	result_gap(result);
	mpi_report_fini(&report);
}

static bool command_mpistat(struct print *print, char **arguments, size_t count)
{
	struct result result;

	result_init(&result, "mpistat", print->session);
	command_each_group(print, ask_statistics, &result);
	return print_answer(print, &result);
}

/* ---- mpimatrix ---- */

static void ask_matrix(struct print *print, const char *name, void *data)
{
	const struct list_column columns[] = {{.title = "From rank", .right = true},
					      {.title = "To rank", .right = true},
					      {.title = "Messages", .right = true},
					      {.title = "Bytes", .right = true},
					      {.title = "Mean size", .right = true}};
	struct result *result = data;
	struct mpi_report report;

	view_mpi_report(print->session, &print->query, &report);
	command_group_heading(print, result, name);

	struct part *list =
		begin_list(result, "Messages from rank to rank", columns, COUNT(columns));

	for (size_t i = 0; i < report.pairs.count; i++) {
		const struct mpi_pair *pair = &report.pairs.items[i];
		struct part *row = result_line(result, "", "");

		part_cell(result, list, value_integer(pair->from));
		part_cell(result, list, value_integer(pair->to));
		part_cell(result, list, value_count(pair->messages));
		part_cell(result, list, value_count(pair->bytes));
		part_cell(result, list, value_count(pair->bytes / pair->messages));
		part_set(result, row, "world", value_count(pair->world));
		part_set(result, row, "from", value_integer(pair->from));
		part_set(result, row, "to", value_integer(pair->to));
		part_set(result, row, "messages", value_count(pair->messages));
		part_set(result, row, "bytes", value_count(pair->bytes));
		if (name)
			part_set(result, row, "experiment", value_text(result, name));
	}
	result_gap(result);
	mpi_report_fini(&report);
}

static bool command_mpimatrix(struct print *print, char **arguments, size_t count)
{
	struct result result;

	result_init(&result, "mpimatrix", print->session);
	command_each_group(print, ask_matrix, &result);
	return print_answer(print, &result);
}

/* ---- mpiwaits ---- */

static const struct {
	const char *key, *title;
} wait_kinds[MPI_WAIT_KINDS] = {
	[MPI_LATE_SENDER] = {"late_sender", "late sender"},
	[MPI_LATE_RECEIVER] = {"late_receiver", "late receiver"},
	[MPI_WAIT_AT_COLLECTIVE] = {"collective", "at a collective"},
};

static void set_wait(struct result *result, struct part *row, const struct mpi_wait *wait,
		     const char *name)
{
	part_set(result, row, "kind", value_text(result, wait_kinds[wait->kind].key));
	part_set(result, row, "function", value_text(result, wait->function));
	part_set(result, row, "other_function", value_text(result, wait->other_function));
	part_set(result, row, "count", value_count(wait->count));
	part_set(result, row, "time_s", value_real(seconds(wait->total_ns), 6));
	part_set(result, row, "longest_s", value_real(seconds(wait->longest_ns), 6));
	if (name)
		part_set(result, row, "experiment", value_text(result, name));
}

static void add_wait(struct result *result, struct part *list, const struct mpi_wait *wait,
		     const char *name)
{
	struct part *row = result_line(result, "", "");

	part_cell(result, list, value_text(result, wait_kinds[wait->kind].title));
	part_cell(result, list, value_integer(wait->waiter));
	part_cell(result, list, value_text(result, wait->function));
	part_cell(result, list, value_integer(wait->other));
	part_cell(result, list, value_text(result, wait->other_function));
	part_cell(result, list, value_count(wait->count));
	part_cell(result, list, value_real(seconds(wait->total_ns), 6));
	part_cell(result, list, value_real(seconds(wait->longest_ns), 6));
	part_set(result, row, "world", value_count(wait->world));
	part_set(result, row, "waiter", value_integer(wait->waiter));
	part_set(result, row, "other", value_integer(wait->other));
	set_wait(result, row, wait, name);
}

static void add_matches(struct result *result, const struct mpi_matches *matches)
{
	struct part *facts;

	result_gap(result);
	facts = result_facts(result, -34);
	facts->facts.of_all = true;
	part_add(result, facts, "messages", "Messages with both ends",
		 value_count(matches->messages));
	part_add(result, facts, "sends_alone", "Sends without a receive",
		 value_count(matches->sends_alone));
	part_add(result, facts, "receives_alone", "Receives without a send",
		 value_count(matches->receives_alone));
	part_add(result, facts, "collectives", "Collective calls with all members",
		 value_count(matches->collectives));
	if (matches->parted)
		result_note(result,
			    "%" PRIu64
			    " experiments of one rank each are taken as programs of their "
			    "own: where they are ranks of one, name them in a group (NAME.erg)",
			    matches->parted);
	if (!matches->clocks)
		return;
	part_add(result, facts, "clocks", "Clocks of hosts, on one line",
		 value_count(matches->clocks));
	part_add(result, facts, "clock_error_s", "Error of times between them, s",
		 value_real(matches->clock_error_s, 9));
	if (matches->unknown_clocks)
		part_add(result, facts, "unknown_clocks", "Clocks without messages to tell",
			 value_count(matches->unknown_clocks));
}

static size_t shown(const struct print *print, size_t count)
{
	size_t limit = (size_t)print->query.limit;

	return limit && limit < count ? limit : count;
}

static void ask_waits(struct print *print, const char *name, void *data)
{
	const struct list_column columns[] = {{.title = "Wait"},
					      {.title = "Rank", .right = true},
					      {.title = "in"},
					      {.title = "for rank", .right = true},
					      {.title = "in"},
					      {.title = "Waits", .right = true},
					      {.title = "Time, s", .right = true},
					      {.title = "Longest, s", .right = true}};
	struct mpi_matches matches;
	struct result *result = data;

	mpi_match(print->session, &print->query, MPI_BY_RANKS, &matches);
	command_group_heading(print, result, name);

	struct part *list = begin_list(result, "Who waited for whom", columns, COUNT(columns));

	for (size_t i = 0; i < shown(print, matches.waits.count); i++)
		add_wait(result, list, &matches.waits.items[i], name);
	add_matches(result, &matches);
	if (name)
		result_gap(result);
	mpi_matches_fini(&matches);
}

static bool command_mpiwaits(struct print *print, char **arguments, size_t count)
{
	struct result result;

	result_init(&result, "mpiwaits", print->session);
	command_each_group(print, ask_waits, &result);
	return print_answer(print, &result);
}

/* ---- mpiwaitstacks ---- */

static void add_path(struct result *result, struct part *row, const char *key, const char *title,
		     const struct mpi_path *path)
{
	result_heading(result, "%s", title);
	part_set(result, row, key, value_texts(result, path->frames, path->depth));
	result_frames(result, path->frames, path->depth);
}

static void add_wait_by_paths(struct result *result, const struct mpi_matches *matches,
			      size_t index, const char *name)
{
	const struct mpi_wait *wait = &matches->waits.items[index];
	struct part *row = result_line(result, "", "");

	result_gap(result);
	result_heading(result, "#%zu: %s, %.6f s in %" PRIu64 " wait%s, the longest %.6f s",
		       index + 1, wait_kinds[wait->kind].title, seconds(wait->total_ns),
		       wait->count, wait->count == 1 ? "" : "s", seconds(wait->longest_ns));
	set_wait(result, row, wait, name);
	add_path(result, row, "frames", "Waited:", &matches->paths.items[wait->path]);
	add_path(result, row, "other_frames", "For:", &matches->paths.items[wait->other_path]);
}

static void ask_wait_stacks(struct print *print, const char *name, void *data)
{
	struct mpi_matches matches;
	struct result *result = data;

	mpi_match(print->session, &print->query, MPI_BY_PATHS, &matches);
	command_group_heading(print, result, name);
	for (size_t i = 0; i < shown(print, matches.waits.count); i++)
		add_wait_by_paths(result, &matches, i, name);
	add_matches(result, &matches);
	if (name)
		result_gap(result);
	mpi_matches_fini(&matches);
}

static bool command_mpiwaitstacks(struct print *print, char **arguments, size_t count)
{
	struct result result;

	result_init(&result, "mpiwaitstacks", print->session);
	command_each_group(print, ask_wait_stacks, &result);
	return print_answer(print, &result);
}

/* ---- mpicomms ---- */

static bool command_mpicomms(struct print *print, char **arguments, size_t count)
{
	const struct list_column columns[] = {{.key = "number", .title = "Number", .right = true},
					      {.key = "world", .title = "World", .right = true},
					      {.key = "size", .title = "Size", .right = true},
					      {.key = "name", .title = "Name"},
					      {.key = "identity", .title = "Members"}};
	struct mpi_comm_info info;
	struct result result;
	size_t most = shown(print, SIZE_MAX), number = 0;

	result_init(&result, "mpicomms", print->session);

	struct part *list = result_list(&result, columns, COUNT(columns));

	list->list.ruled = true;
	for (; view_mpi_comm(print->session, number, &info); number++) {
		if (number >= most)
			continue;
		part_cell(&result, list, value_count(info.number));
		part_cell(&result, list, value_count(info.world));
		part_cell(&result, list, value_count(info.size));
		part_cell(&result, list, value_text(&result, info.name));
		part_cell(&result, list, value_text(&result, info.identity));
	}
	if (number > most)
		result_note(&result, "%zu more are not shown (limit)", number - most);
	return print_answer(print, &result);
}

const struct command command_rows_mpi[] = {
	{.name = "mpistat",
	 .group = GROUP_TRACES,
	 .data = DATA_MPI,
	 .help = "MPI calls by function and by rank, their time and bytes, and sizes of messages",
	 .run = command_mpistat,
	 .comes_next = true},
	{.name = "mpimatrix",
	 .group = GROUP_TRACES,
	 .data = DATA_MPI,
	 .help = "how many messages and bytes each rank sends to each",
	 .run = command_mpimatrix},
	{.name = "mpiwaits",
	 .group = GROUP_TRACES,
	 .data = DATA_MPI,
	 .help = "which ranks waited for which: late senders and receivers, at collective "
		 "functions",
	 .run = command_mpiwaits,
	 .comes_next = true},
	{.name = "mpiwaitstacks",
	 .group = GROUP_TRACES,
	 .data = DATA_MPI,
	 .help = "the same waits by their two call paths: of who waited, and of who was waited for",
	 .run = command_mpiwaitstacks},
	{.name = "mpicomms",
	 .group = GROUP_TRACES,
	 .data = DATA_MPI,
	 .help = "communicators, and the groups of windows and files, with their members",
	 .run = command_mpicomms},
	{0},
};
