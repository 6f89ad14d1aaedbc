/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many questions at once of one session, by several threads; then each of them alone of a session
 * of its own.  The answers are the same, or it says which question it was.
 *
 *   queries THREADS COUNT EXPERIMENT...
 *
 * A question follows from its number alone: view, filter, selections, objects hidden, inlined
 * calls, view mode, comparison, order, limit.
 */
#include "analysis/code/code_find.h"
#include "analysis/data/memory_object.h"
#include "analysis/filter/filter.h"
#include "analysis/index/index.h"
#include "analysis/kinds/idle.h"
#include "analysis/kinds/mpi_messages.h"
#include "analysis/kinds/omp_regions.h"
#include "analysis/session/functions.h"
#include "analysis/session/session.h"
#include "analysis/session/session_state.h"
#include "analysis/session/watch.h"
#include "analysis/tree/tree_objects.h"
#include "analysis/views/differences.h"
#include "analysis/views/findings.h"
#include "analysis/views/heaps.h"
#include "analysis/views/io.h"
#include "analysis/views/lock_holds.h"
#include "analysis/views/locks.h"
#include "analysis/views/mpi_report.h"
#include "analysis/views/timeline.h"
#include "analysis/views/totals.h"
#include "analysis/views/view_call_tree.h"
#include "analysis/views/view_callers.h"
#include "analysis/views/view_code.h"
#include "analysis/views/view_data.h"
#include "analysis/views/view_functions.h"
#include "base/array.h"
#include "base/strbuf.h"
#include "object/lines/remarks.h"
#include "object/lines/source.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One question at work: where it is asked, what it is, and what came out. */
struct question {
	struct session *session;
	struct query query;
	uint64_t chance;
	const char *name; /* of a function */
	struct strbuf answer;
};

static unsigned pick(struct question *question, unsigned below)
{
	question->chance = question->chance * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(question->chance >> 33) % below;
}

/* ---- answers as text: all but numbers that only this session knows ---- */

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

static void put_table(struct question *question, const struct table *table)
{
	struct strbuf *out = &question->answer;

	strbuf_printf(out, "%s %zu rows\n", or_none(table->title), table->row_count);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct row *row = &table->rows[i];

		strbuf_printf(out, "%s [%s] (%s) %u %u %d %d %u %llx:", or_none(row->name),
			      or_none(row_object(row)), or_none(row_qualifier(row)), row_depth(row),
			      row_block(row), (int)row->mark, (int)row->last_child,
			      row_detail(row)->line, (unsigned long long)row_detail(row)->address);
		for (size_t k = 0; k < table->column_count; k++)
			strbuf_printf(out, " %.9g", table->values[i * table->column_count + k]);
		for (size_t k = 0; table->errors && k < table->column_count; k++)
			strbuf_printf(out, " ~%.9g", table->errors[i * table->column_count + k]);
		strbuf_putc(out, '\n');
	}
	for (size_t k = 0; k < table->column_count; k++)
		strbuf_printf(out, "= %.9g %s\n", table->base[k], or_none(table->columns[k].label));
}

static void finish_table(struct question *question, struct table *table)
{
	put_table(question, table);
	table_fini(table);
}

static void put_stack(struct strbuf *out, const char *const *frames, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		strbuf_printf(out, "  %s\n", frames[i]);
}

/* ---- the questions ---- */

typedef void ask(struct question *question, struct table *table);

static void ask_functions(struct question *question, struct table *table)
{
	view_functions(question->session, &question->query, table);
}

static void ask_callers(struct question *question, struct table *table)
{
	view_callers_callees(question->session, &question->query, table);
}

static void ask_objects(struct question *question, struct table *table)
{
	view_objects(question->session, &question->query, table);
}

static void ask_threads(struct question *question, struct table *table)
{
	view_threads(question->session, &question->query, table);
}

static void ask_pcs(struct question *question, struct table *table)
{
	view_pcs(question->session, &question->query, table);
}

static void ask_lines(struct question *question, struct table *table)
{
	view_lines(question->session, &question->query, table);
}

static void ask_locks(struct question *question, struct table *table)
{
	view_locks(question->session, &question->query, table);
}

static void ask_activity(struct question *question, struct table *table)
{
	view_io_activity(question->session, &question->query, table);
}

static void ask_detail(struct question *question, struct table *table)
{
	view_io_detail(question->session, &question->query, table);
}

/* Both orders, whole and in part. */
static void ask_tree(struct question *question, struct table *table)
{
	const struct tree_part part = {
		.inverted = pick(question, 2),
		.hottest = !pick(question, 4),
		.depth = pick(question, 2) ? 0 : 1 + pick(question, 4),
		.percent = pick(question, 2) ? 0 : pick(question, 30),
		.most = 5000,
	};

	if (pick(question, 4))
		view_call_tree(question->session, &question->query, &part, table);
	else
		view_graph_tree(question->session, &question->query, &part, table);
}

static void ask_index(struct question *question, struct table *table)
{
	struct index_info info;
	struct diag_list diags = {0};
	size_t count = 0;

	while (index_at(question->session, INDEX_OBJECTS, count, &info))
		count++;
	view_index(question->session, pick(question, (unsigned)count), &question->query, table,
		   &diags);
	diag_fini(&diags);
}

/* NULL: no function has the name; else the caller frees it. */
static struct function_match *find(struct question *question, bool code)
{
	struct function_match *found;
	size_t count =
		code ? view_find_code(question->session, &question->query, question->name, &found)
		     : view_find_functions(question->session, &question->query, question->name,
					   &found);

	strbuf_printf(&question->answer, "%s: %zu found\n", question->name, count);
	for (size_t i = 0; i < count; i++)
		strbuf_printf(&question->answer, "%s [%s] %llx\n", or_none(found[i].name),
			      or_none(found[i].object), (unsigned long long)found[i].address);
	if (count)
		return found;
	free(found);
	return NULL;
}

static void ask_fragment(struct question *question, struct table *table)
{
	struct function_match *found = find(question, false);

	if (found)
		view_callers_callees_of(question->session, &question->query, &found->function, 1,
					table);
	else
		*table = (struct table){0};
	free(found);
}

static void ask_listing(struct question *question, struct table *table)
{
	struct function_match *found = find(question, true);
	const struct source_search search = {0};
	struct listing_header header;
	struct diag_list diags = {0};

	*table = (struct table){0};
	if (found) {
		struct listing_request request = {.function = found->function,
						  .object = found->object_id,
						  .file = found->file,
						  .threshold = 75,
						  .search = &search};

		if (pick(question, 2))
			view_source(question->session, &question->query, &request, &header, table,
				    &diags);
		else if (found->function != CODE_NONE)
			view_disassembly(question->session, &question->query, &request, &header,
					 table, &diags);
	}
	for (size_t i = 0; i < diags.count; i++)
		strbuf_printf(&question->answer, "%s\n", diags.items[i].text);
	diag_fini(&diags);
	free(found);
}

static void ask_data(struct question *question, struct table *table)
{
	struct diag_list diags = {0};
	struct index_info info;
	size_t count = 0;
	unsigned which = pick(question, 3);

	while (index_at(question->session, MEMORY_OBJECTS, count, &info))
		count++;
	*table = (struct table){0};
	if (!which && pick(question, 2))
		view_data_objects(question->session, &question->query, table, &diags);
	else if (!which)
		view_data_object(question->session, &question->query, 0, table, &diags);
	else if (which == 1)
		view_data_layout(question->session, &question->query, table, &diags);
	else
		view_memory(question->session, pick(question, (unsigned)count), &question->query,
			    table, &diags);
	diag_fini(&diags);
}

static void ask_heap(struct question *question, struct table *table)
{
	struct heap_stacks stacks;

	*table = (struct table){0};
	view_heap_stacks(question->session, &question->query, &stacks);
	for (size_t i = 0; i < stacks.count; i++) {
		struct heap_amount amount = heap_allocated(&stacks.stacks[i].amounts);

		strbuf_printf(&question->answer, "%llu %llu\n", (unsigned long long)amount.blocks,
			      (unsigned long long)amount.bytes);
		put_stack(&question->answer, stacks.stacks[i].frames, stacks.stacks[i].depth);
	}
	heap_stacks_fini(&stacks);
}

static void ask_statistics(struct question *question, struct table *table)
{
	struct heap_statistics heap;
	struct idle_threads idle;
	struct io_report io;

	*table = (struct table){0};
	view_heap_statistics(question->session, &question->query, &heap);
	view_idle_threads(question->session, &question->query, &idle);
	view_io_report(question->session, &question->query, &io);
	strbuf_printf(&question->answer, "%llu %llu %zu %.9g", (unsigned long long)heap.peak_ns,
		      (unsigned long long)heap.allocated.total.bytes, idle.lock_threads,
		      idle.lock_seconds);
	for (int i = 0; i < IO_GROUPS; i++)
		strbuf_printf(&question->answer, " %llu", (unsigned long long)io.of[i].bytes);
	heap_statistics_fini(&heap);
	io_report_fini(&io);
}

static void ask_lock(struct question *question, struct table *table)
{
	struct lock_detail detail;

	*table = (struct table){0};
	if (!view_lock(question->session, &question->query, "1", &detail))
		return;
	strbuf_printf(&question->answer, "%s %.9g\n", detail.name, detail.waits.seconds);
	for (size_t i = 0; i < detail.stacks.count; i++)
		put_stack(&question->answer, detail.stacks.items[i].frames,
			  detail.stacks.items[i].depth);
	lock_detail_fini(&detail);
}

static void ask_holds(struct question *question, struct table *table)
{
	const uint64_t begin_ns = pick(question, 500) * 1000000ull;
	struct lock_holds holds;

	*table = (struct table){0};
	view_lock_holds(question->session, &question->query, begin_ns, 0, 1 + pick(question, 20),
			&holds);
	strbuf_printf(&question->answer, "%llu %llu\n", (unsigned long long)holds.count,
		      (unsigned long long)holds.waited_ns);
	for (size_t i = 0; i < holds.list.count; i++)
		strbuf_printf(&question->answer, "%s %s %llu\n", holds.list.items[i].holder,
			      holds.list.items[i].lock,
			      (unsigned long long)holds.list.items[i].waited_ns);
	lock_holds_fini(&holds);
}

static void ask_regions(struct question *question, struct table *table)
{
	view_omp_regions(question->session, &question->query, table);
}

static void ask_tasks(struct question *question, struct table *table)
{
	view_omp_tasks(question->session, &question->query, table);
}

static void ask_ranks(struct question *question, struct table *table)
{
	struct mpi_report report;
	struct mpi_comm_info comm;

	*table = (struct table){0};
	view_mpi_report(question->session, &question->query, &report);
	for (size_t i = 0; i < report.functions.count; i++)
		strbuf_printf(&question->answer, "%s\n", report.functions.items[i].name);
	for (size_t i = 0; i < report.ranks.count; i++)
		strbuf_printf(&question->answer, "%d: %llu of %llu ns\n",
			      report.ranks.items[i].rank,
			      (unsigned long long)report.ranks.items[i].wait_ns,
			      (unsigned long long)report.ranks.items[i].run_ns);
	for (size_t i = 0; view_mpi_comm(question->session, i, &comm); i++)
		strbuf_printf(&question->answer, "%s %s\n", comm.name, comm.identity);
	mpi_report_fini(&report);
}

static void ask_messages(struct question *question, struct table *table)
{
	struct mpi_messages messages;

	*table = (struct table){0};
	view_mpi_messages(question->session, &question->query, 0, 0, 1 + pick(question, 20),
			  &messages);
	strbuf_printf(&question->answer, "%zu messages\n", messages.list.count);
	mpi_messages_fini(&messages);
}

static void ask_findings(struct question *question, struct table *table)
{
	const struct metric *metric = findings_metric(question->session, &question->query);
	struct main_path path;
	struct unrecorded_use use;

	*table = (struct table){0};
	if (!metric)
		return;
	view_main_path(question->session, &question->query, metric, &path);
	view_unrecorded(question->session, &question->query, metric, &use);
	strbuf_printf(&question->answer, "%.9g %.9g\n",
		      view_total(question->session, &question->query, metric), use.value);
	for (size_t i = 0; i < path.count; i++)
		strbuf_printf(&question->answer, "%s %.9g\n", path.table.rows[path.rows[i]].name,
			      main_path_value(&path, i));
	main_path_fini(&path);
	unrecorded_use_fini(&use);
}

static void ask_differences(struct question *question, struct table *table)
{
	struct diag_list diags = {0};
	struct differences differences;

	*table = (struct table){0};
	if (differences_query(question->session, "e.totalcpu", &question->query, &diags) ==
	    STATUS_OK) {
		view_differences(question->session, &question->query, 0, pick(question, 2),
				 &differences);
		put_table(question, &differences.changes);
		differences_fini(&differences);
	}
	diag_fini(&diags);
}

static void ask_io_stacks(struct question *question, struct table *table)
{
	struct io_stack_list list;

	*table = (struct table){0};
	view_io_stacks(question->session, &question->query, &list);
	for (size_t i = 0; i < list.count; i++) {
		strbuf_printf(&question->answer, "%.9g\n", list.stacks[i].time);
		put_stack(&question->answer, list.stacks[i].frames, list.stacks[i].depth);
	}
	io_stack_list_fini(&list);
}

static void ask_stacks(struct question *question, struct table *table)
{
	struct stack_list list;

	question->query.callers_first = pick(question, 2);
	view_stacks(question->session, &question->query, &list);
	for (size_t row = 1; row < list.table.row_count; row++)
		for (uint32_t i = 0; i < list.frames.stacks[row].depth; i++) {
			const struct stack_frame *frame =
				&list.frames.frames[list.frames.stacks[row].frames[i]];

			strbuf_printf(&question->answer, "  %s [%s] %llx %s:%u\n", frame->name,
				      or_none(frame->object), (unsigned long long)frame->address,
				      or_none(frame->file), frame->line);
		}
	strbuf_printf(&question->answer, "%zu more\n", list.rest_count);
	*table = list.table;
	frame_list_fini(&list.frames);
}

static void ask_timeline(struct question *question, struct table *table)
{
	const struct timeline_range range = {pick(question, 500) * 1000000ull, 0};
	struct timeline timeline;

	*table = (struct table){0};
	(pick(question, 3) ? view_timeline : view_timeline_cpus)(
		question->session, &question->query, range, 1 + pick(question, 50), &timeline);
	for (size_t i = 0; i < timeline.lane_count * timeline.cell_count; i++) {
		const struct timeline_cell *cell = &timeline.cells[i];

		strbuf_printf(&question->answer, "%llu %llu %u %s\n",
			      (unsigned long long)cell->state_us[0],
			      (unsigned long long)cell->state_us[7], cell->events[0],
			      cell->function == CODE_NONE
				      ? "-"
				      : timeline.functions[cell->function].name);
	}
	timeline_fini(&timeline);
}

static void ask_events(struct question *question, struct table *table)
{
	const struct timeline_range range = {pick(question, 500) * 1000000ull, 0};
	struct timeline_page page;

	view_timeline_events(question->session, &question->query, range, pick(question, 100),
			     1 + pick(question, 50), &page);
	for (size_t i = 0; i < page.table.row_count; i++)
		strbuf_printf(&question->answer, "%s %s %llu %llu %u\n",
			      page.lanes[page.events[i].lane].name, page.events[i].type,
			      (unsigned long long)page.events[i].begin_ns,
			      (unsigned long long)page.events[i].end_ns,
			      page.frames.stacks[page.events[i].stack].depth);
	*table = page.table;
	frame_list_fini(&page.frames);
}

static void ask_function(struct question *question, struct table *table)
{
	const struct metric *metric = metric_find(question->session, "totalcpu");
	struct function_match *found = find(question, false);
	struct function_summary summary;
	double exclusive, inclusive, total;

	*table = (struct table){0};
	if (!found)
		return;
	view_function_values(question->session, &question->query, found->function, metric,
			     &exclusive, &inclusive, &total);
	session_function_summary(question->session, found->function, &summary);
	strbuf_printf(&question->answer, "%s %s %.9g %.9g %.9g\n", summary.name,
		      or_none(summary.source_file), exclusive, inclusive, total);
	free(found);
}

static ask *const views[] = {
	ask_functions, ask_callers,	ask_objects,  ask_threads,   ask_pcs,	 ask_lines,
	ask_locks,     ask_activity,	ask_detail,   ask_tree,	     ask_tree,	 ask_index,
	ask_fragment,  ask_listing,	ask_data,     ask_heap,	     ask_heap,	 ask_statistics,
	ask_lock,      ask_io_stacks,	ask_function, ask_functions, ask_stacks, ask_timeline,
	ask_events,    ask_holds,	ask_regions,  ask_tasks,     ask_ranks,	 ask_messages,
	ask_findings,  ask_differences,
};

/* ---- what they are about ---- */

static void choose_events(struct question *question, struct diag_list *diags)
{
	char filter[128];

	switch (pick(question, 6)) {
	case 0:
		snprintf(filter, sizeof(filter), "TSTAMP < %u000000", 100 + pick(question, 900));
		query_filter(&question->query, question->session, filter, diags);
		break;
	case 1:
		snprintf(filter, sizeof(filter), "FNAME(\"%s.*\") SOME IN STACK", question->name);
		query_filter(&question->query, question->session, filter, diags);
		break;
	case 2:
		query_select(&question->query, question->session, SELECT_THREADS,
			     pick(question, 2) ? "1" : "2-9", diags);
		break;
	default:
		break;
	}
}

static void choose_metrics(struct question *question, struct diag_list *diags)
{
	static const char *const lists[] = {"e.user:i.total:name", "e.~user:i.%total:size:name",
					    "e.%totalcpu:i.totalcpu:i.sync:i+heapallocbytes:name"};
	static const char *const sorts[] = {"e.user", "-i.total", "name", "e.totalcpu", "address"};
	struct query *query = &question->query;

	metric_list_parse(question->session, NULL, lists[pick(question, COUNT(lists))],
			  &query->metrics, diags);
	metric_sort_parse(question->session, sorts[pick(question, COUNT(sorts))], &query->sort,
			  &query->sort_reverse, diags);
}

static void choose(struct question *question)
{
	static const char *const names[] = {"main", "B", "fib", "hot_loop", "nobody", "compute"};
	static const enum object_showing showings[] = {OBJECT_HIDDEN, OBJECT_ENTRY};
	struct diag_list diags = {0};
	struct query *query = &question->query;
	unsigned objects = (unsigned)session_load_object_count(question->session);
	unsigned object = pick(question, objects ? objects : 1);

	question->name = names[pick(question, COUNT(names))];
	query->compare = (enum compare_mode)pick(question, COMPARE_RATIO + 1);
	query->limit = pick(question, 3) ? 0 : 2 + pick(question, 10);
	query->name_style = (enum name_style)pick(question, NAME_SHORT + 1);
	query->name_soname = pick(question, 2);
	if (!pick(question, 3))
		query_show_mode(query, question->session,
				pick(question, 2) ? VIEW_MACHINE : VIEW_EXPERT, &diags);
	if (!pick(question, 3))
		query_show_inlines(query, question->session, true, &diags);
	if (!pick(question, 3) && objects) {
		struct load_object_info info;

		session_load_object(question->session, object, &info);
		query_show_objects(query, question->session, info.path,
				   showings[pick(question, COUNT(showings))], &diags);
	}
	choose_metrics(question, &diags);
	choose_events(question, &diags);
	for (size_t i = 0; i < diags.count; i++)
		strbuf_printf(&question->answer, "%s\n", diags.items[i].text);
	diag_fini(&diags);
}

/* The answer to question NUMBER, to be freed. */
static char *answer(struct session *session, size_t number, struct watch *watch)
{
	struct question question = {.session = session, .chance = number * 2654435761u + 1};
	struct table table;

	pick(&question, 2);
	query_init(&question.query, session);
	choose(&question);
	question.query.watch = watch;
	views[pick(&question, COUNT(views))](&question, &table);
	finish_table(&question, &table);
	query_fini(&question.query);
	return strbuf_steal(&question.answer);
}

/* ---- all at once, and each alone ---- */

static bool say_no(void *data, double done)
{
	return false;
}

/* What is begun of an answer that nobody wants is in none of those that follow. */
static void ask_in_vain(struct session *session, size_t number)
{
	struct watch watch = {.tell = say_no};

	free(answer(session, number, &watch));
}

struct asker {
	pthread_t thread;
	struct session *session;
	size_t first, step, count;
	char **answers;
};

static void *ask_all(void *arg)
{
	const struct asker *asker = arg;

	for (size_t i = asker->first; i < asker->count; i += asker->step) {
		if (i / asker->step % 2)
			ask_in_vain(asker->session, i);
		asker->answers[i] = answer(asker->session, i, NULL);
	}
	return NULL;
}

static struct session *open_session(char **paths, int count)
{
	struct diag_list diags = {0};
	struct session *session;

	if (session_open(paths, (size_t)count, NULL, &session, &diags) != STATUS_OK)
		exit(2);
	diag_fini(&diags);
	return session;
}

static void complain(size_t number, const char *together, const char *alone)
{
	size_t same = 0;

	while (together[same] && together[same] == alone[same])
		same++;
	while (same && together[same - 1] != '\n')
		same--;
	printf("question %zu: together:\n%.300s\nalone:\n%.300s\n", number, together + same,
	       alone + same);
}

/*
 * The total of what a filter chooses, where a timeline of it may have been begun before, which
 * looks for clocks of several machines on its way.
 */
static double filtered_total(char **paths, int count, struct watch *watch)
{
	struct session *session = open_session(paths, count);
	struct diag_list diags = {0};
	struct timeline timeline;
	struct query query;
	double total;

	query_init(&query, session);
	if (query_filter(&query, session, "FNAME(\".*\") SOME IN STACK", &diags) != STATUS_OK)
		exit(2);
	if (watch) {
		query.watch = watch;
		view_timeline(session, &query, (struct timeline_range){0}, 20, &timeline);
		timeline_fini(&timeline);
		query.watch = NULL;
	}
	total = view_total(session, &query, metric_find(session, "totalcpu"));
	query_fini(&query);
	session_free(session);
	return total;
}

static bool is_spoilt_by_cancelling(char **paths, int count)
{
	struct watch watch = {.tell = say_no};
	double after = filtered_total(paths, count, &watch);
	double alone = filtered_total(paths, count, NULL);

	if (watch.cancelled && after == alone)
		return false;
	printf("after a timeline that was %scancelled: %g, alone %g\n",
	       watch.cancelled ? "" : "not ", after, alone);
	return true;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	size_t threads = strtoul(argv[1], NULL, 10), count = strtoul(argv[2], NULL, 10);
	struct asker *askers = xcalloc(threads, sizeof(*askers));
	char **answers = xcalloc(count, sizeof(*answers));
	struct session *session = open_session(argv + 3, argc - 3);
	size_t different = 0, bytes = 0;

	for (size_t i = 0; i < threads; i++) {
		askers[i] = (struct asker){.session = session,
					   .first = i,
					   .step = threads,
					   .count = count,
					   .answers = answers};
		if (pthread_create(&askers[i].thread, NULL, ask_all, &askers[i]))
			return 2;
	}
	for (size_t i = 0; i < threads; i++)
		pthread_join(askers[i].thread, NULL);
	session_free(session);
	for (size_t i = 0; i < count; i++) {
		struct session *own = open_session(argv + 3, argc - 3);
		char *alone;

		if (i % 2)
			ask_in_vain(own, i);
		alone = answer(own, i, NULL);

		if (strcmp(alone, answers[i]) != 0) {
			different++;
			complain(i, answers[i], alone);
		}
		bytes += strlen(alone);
		free(alone);
		free(answers[i]);
		session_free(own);
	}
	printf("%zu questions, %zu bytes of answers, %zu different\n", count, bytes, different);
	free(answers);
	free(askers);
	return different != 0 || is_spoilt_by_cancelling(argv + 3, argc - 3);
}
