/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of index objects.  Names of rows are made for those that are shown only: there may be
 * millions.
 */
#include "analysis/index/index.h"

#include "analysis/index/index_group.h"
#include "analysis/kinds/java_classes.h"
#include "analysis/kinds/mpi_world.h"
#include "analysis/metric/metric_values.h"
#include "analysis/session/functions.h"
#include "analysis/session/omp_names.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/compare.h"
#include "analysis/tree/tree.h"
#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"
#include "base/array.h"
#include "experiment/unrecorded.h"

#include <stdlib.h>
#include <string.h>

/* ---- names of rows ---- */

static const char *size_label(struct arena *arena, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB", "PB"};
	unsigned unit = 0;

	for (; bytes >= 1024 && unit < 5; unit++)
		bytes /= 1024;
	return arena_printf(arena, "Data size up to %llu %s", (unsigned long long)bytes,
			    bytes == 1 && !unit ? "byte" : units[unit]);
}

static const char *duration_label(struct arena *arena, uint64_t ns)
{
	const char *unit = ns < 1000000	     ? "microseconds"
			   : ns < 1000000000 ? "milliseconds"
					     : "seconds";
	uint64_t divisor = ns < 1000000 ? 1000 : ns < 1000000000 ? 1000000 : 1000000000;

	if (!ns)
		return "No duration";
	return arena_printf(arena, "Duration up to %llu %s", (unsigned long long)(ns / divisor),
			    unit);
}

static bool has_word(const struct process_info *process, const char *word)
{
	for (char *const *own = process->arguments; own && *own; own++)
		if (!strcmp(*own, word))
			return true;
	return false;
}

/* How many of a process's words another one has not. */
static size_t differing_words(const struct process_info *process, const struct process_info *other)
{
	size_t count = 0;

	for (char *const *word = process->arguments; *word; word++)
		count += !has_word(other, *word);
	return count;
}

/* That of the same program whose words differ least, but differ; NULL: there is none. */
static const struct process_info *find_like(const struct session *session,
					    const struct process_info *process)
{
	enum { MOST = 100 }; /* that are looked at: thousands may be the same */
	const struct process_info *best = NULL;
	size_t looked_at = 0, least = SIZE_MAX;

	for (size_t i = 0; i < session->processes.count && looked_at < MOST; i++) {
		const struct process_info *other = &session->processes.items[i];

		if (other == process || !other->arguments ||
		    strcmp(other->target, process->target) != 0)
			continue;

		size_t differing = differing_words(process, other);

		looked_at++;
		if (differing && differing < least) {
			least = differing;
			best = other;
		}
	}
	return best;
}

/* Words of the command that others of the same program have not: 200 compilers look alike. */
static const char *words_of_its_own(const struct session *session, struct arena *arena,
				    const struct process_info *process)
{
	enum { MOST = 60 };
	const struct process_info *other = process->arguments ? find_like(session, process) : NULL;
	const char *text = "";

	for (char *const *word = process->arguments; other && *word; word++)
		if (!has_word(other, *word) && strlen(text) + strlen(*word) < MOST)
			text = arena_printf(arena, "%s %s", text, *word);
	return text;
}

/* Of MPI: "rank 3, ", or nothing. */
static const char *rank_of(const struct process_info *process, struct arena *arena)
{
	return process->rank < 0 ? "" : arena_printf(arena, "rank %d, ", process->rank);
}

static const char *process_label(const struct session *session, struct arena *arena, uint64_t id)
{
	const struct process_info *process = &session->processes.items[id - 1];
	const char *rank = rank_of(process, arena);

	return arena_printf(arena, "Process %llu (%s%s, pid %lld)%s", (unsigned long long)id, rank,
			    process->target, (long long)process->pid,
			    words_of_its_own(session, arena, process));
}

/* Of a value, that is its process and a number; NULL: there is no such process. */
static const struct experiment_profile *profile_of(const struct session *session, uint64_t value)
{
	uint64_t id = value >> 32;

	return id && id <= session->scanned.count ? &session->scanned.items[id - 1].process->profile
						  : NULL;
}

const char *index_thread_label(const struct session *session, struct arena *arena, uint64_t value)
{
	uint64_t number = value & UINT32_MAX, id = value >> 32;
	const struct experiment_profile *profile = profile_of(session, value);
	const struct profile_thread *of = profile ? profile_find_thread(profile, number) : NULL;

	if (profile && session->processes.items[id - 1].is_unrecorded)
		return arena_printf(arena, "Process %llu, " UNRECORDED_PREFIX "%s>",
				    (unsigned long long)id,
				    session->processes.items[id - 1].target);

	if (!of) /* of an experiment that is compared with this one */
		return arena_printf(arena, "Process %llu, Thread %llu", (unsigned long long)id,
				    (unsigned long long)number);

	const char *name = profile_thread_name(profile, of);

	return arena_printf(arena, "Process %llu, Thread %llu (%s%s%stid %u)",
			    (unsigned long long)id, (unsigned long long)number,
			    rank_of(&session->processes.items[id - 1], arena), name,
			    *name ? ", " : "", of->tid);
}

/* "Process 1, Thread 2 (worker, tid 123), group pool in main" */
static const char *java_thread_label(const struct session *session, struct arena *arena,
				     uint64_t value)
{
	if (!value)
		return "(none)";

	const struct experiment_profile *profile = profile_of(session, value);
	const struct profile_thread *thread =
		profile ? profile_find_thread(profile, value & UINT32_MAX) : NULL;
	const char *label = index_thread_label(session, arena, value);

	if (!thread || !profile_more(profile, thread)->group)
		return label;

	const struct profile_more *more = profile_more(profile, thread);
	const char *parent = profile_name(profile, more->parent);

	return arena_printf(arena, "%s, group %s%s%s", label, profile_name(profile, more->group),
			    *parent ? " in " : "", parent);
}

/* Of a construct, by its process and the session's number: the process may be another one's like,
 * which has never met it. */
static const char *omp_label(const struct session *session, struct arena *arena, uint64_t value)
{
	const struct omp_numbered of = omp_numbered(session, (uint32_t)value);

	if (!(uint32_t)value)
		return "(none)";
	if (!of.construct)
		return arena_printf(arena, "Construct %llu of process %llu",
				    (unsigned long long)(uint32_t)value -
					    session->omp_numbers.items.count,
				    (unsigned long long)(value >> 32));
	return omp_construct_name((struct session *)(uintptr_t)session,
				  &session->scanned.items[of.process], of.construct, NAME_LONG);
}

/* ", Allocation Failure, heap 63.4 MiB to 5.0 MiB, G1 young collection pauses"; what is not known
 * is left out. */
static const char *collection_more(const struct collections *all, const struct collection *of,
				   struct arena *arena)
{
	const double mib = 1024 * 1024;
	const struct collection_more *more = collections_more(all, of);
	const char *cause = collections_words(all, more->cause);
	const char *collector = collections_words(all, more->collector);
	const char *heap = more->before && more->after
				   ? arena_printf(arena, ", heap %.1f MiB to %.1f MiB",
						  (double)(more->before - 1) / mib,
						  (double)(more->after - 1) / mib)
				   : "";

	return arena_printf(arena, "%s%s%s%s%s", *cause ? ", " : "", cause, heap,
			    *collector ? ", " : "", collector);
}

/* "Process 1, GCEvent 2, began 0.123456 s, took 0.004567 s, thread 9 (VM Thread), ..." */
static const char *collection_label(const struct session *session, struct arena *arena,
				    uint64_t value)
{
	unsigned long long id = value >> 32, number = value & UINT32_MAX;

	if (!value)
		return "(none)";

	const struct experiment_profile *profile = profile_of(session, value);

	if (!profile ||
	    number > profile->collections.list.count) /* of an experiment that is compared */
		return arena_printf(arena, "Process %llu, GCEvent %llu", id, number);

	const struct collection *of = &profile->collections.list.items[number - 1];
	const struct profile_thread *thread = profile_find_thread(profile, of->thread);
	const char *name = thread ? profile_thread_name(profile, thread) : "";

	return arena_printf(arena,
			    "Process %llu, GCEvent %llu, began %.6f s, took %.6f s, thread "
			    "%llu%s%s%s%s",
			    id, number, (double)of->begin_ns / 1e9,
			    (double)(of->end_ns - of->begin_ns) / 1e9,
			    (unsigned long long)of->thread, *name ? " (" : "", name,
			    *name ? ")" : "", collection_more(&profile->collections, of, arena));
}

/* "Communicator 2, half", by its number in mpicomms. */
static const char *communicator_label(const struct session *session, struct arena *arena,
				      uint64_t value)
{
	const char *name = session->mpi_worlds->comms.items[value - 1].name;

	return arena_printf(arena, "Communicator %llu%s%s", (unsigned long long)value,
			    *name ? ", " : "", name);
}

static const char *label_of(const struct session *session, const struct index_object *object,
			    struct arena *arena, uint64_t value)
{
	unsigned long long number = value;

	if (value == INDEX_UNKNOWN)
		return "<Unknown>";
	switch ((enum index_label)object->label) {
	case LABEL_THREAD:
		return index_thread_label(session, arena, value);
	case LABEL_JAVA_THREAD:
		return java_thread_label(session, arena, value);
	case LABEL_CPU:
		return arena_printf(arena, "CPU %llu", number);
	case LABEL_SAMPLE:
		return arena_printf(arena, "Process %llu, Sample %llu", number >> 32,
				    number & UINT32_MAX);
	case LABEL_SECOND:
		return arena_printf(arena, "Second of execution %llu", number);
	case LABEL_PROCESS:
		return process_label(session, arena, value);
	case LABEL_EXPERIMENT:
		return session->processes.items[(value >> 32 & 0xfffffff) - 1].name;
	case LABEL_SIZE:
		return size_label(arena, value);
	case LABEL_DURATION:
		return duration_label(arena, value);
	case LABEL_ADDRESS:
	case LABEL_ADDRESS_BY_MODEL:
		return arena_printf(arena, "0x%08llx", number);
	case LABEL_COLLECTION:
		return collection_label(session, arena, value);
	case LABEL_JAVA_CLASS:
		return session->java_classes->names.items[value];
	case LABEL_OMP:
		return omp_label(session, arena, value);
	case LABEL_NODE:
		return arena_printf(arena, "Node %llu", number);
	case LABEL_MPI_RANK:
		return arena_printf(arena, "Rank %llu", number);
	case LABEL_MPI_COMM:
		return communicator_label(session, arena, value);
	case LABEL_MPI_TAG:
		return arena_printf(arena, "Tag %llu", number);
	case LABEL_MPI_FUNCTION:
		return string_table_text(&session->mpi_worlds->functions, (uint32_t)value - 1);
	case LABEL_NUMBER:
		break;
	}
	return arena_printf(arena, "%s %llu", object->title, number);
}

/* ---- the table ---- */

/* Cuts off what is more than wanted. */
static void keep_first(struct sort_key *keys, size_t *count, size_t wanted,
		       const struct query *query)
{
	table_sort(keys, *count, query);
	if (*count > wanted)
		*count = wanted;
}

/* Whether a value comes behind all that were kept; one that is equal does, being a later one. */
static bool comes_behind(const struct sort_key *keys, size_t kept, double value,
			 const struct query *query)
{
	if (!kept)
		return false;
	return query->sort_reverse ? value >= keys[kept - 1].value : value <= keys[kept - 1].value;
}

/* In the order of the values, or from the last on. */
static struct sort_key *by_value(size_t groups, bool reverse, size_t wanted, size_t *count)
{
	struct sort_key *keys = xcalloc(wanted + 1, sizeof(*keys));

	for (*count = 0; *count < wanted; ++*count)
		keys[*count].index = (uint32_t)(reverse ? groups - 1 - *count : *count);
	return keys;
}

/* The first `most` groups in the order of the query; the caller frees them. */
static struct sort_key *ordered(const struct index_groups *groups, const struct query *query,
				size_t most, size_t *count)
{
	const struct metric *metric = query->sort.metric;
	size_t wanted = most < groups->values.count ? most : groups->values.count;
	size_t kept = 0, room = wanted < groups->values.count ? 2 * wanted + 1024 : wanted;

	if (metric->is_static)
		return by_value(groups->values.count, query->sort_reverse, wanted, count);

	struct sort_key *keys = xcalloc(room + 1, sizeof(*keys));
	uint64_t *sort = index_group_values(groups, metric);

	*count = 0;
	for (size_t i = 0; i < groups->values.count; i++) {
		double value = values_convert(metric, sort[i]);

		if (comes_behind(keys, kept, value, query))
			continue;
		keys[(*count)++] = (struct sort_key){.index = (uint32_t)i, .value = value};
		if (*count <= room)
			continue;
		keep_first(keys, count, wanted, query);
		kept = *count;
	}
	keep_first(keys, count, wanted, query);
	free(sort);
	return keys;
}

/* <Total> is the sum of all groups, also of those without a row. */
static void fill_column(const struct index_groups *groups, const struct sort_key *keys,
			struct table *table, size_t column)
{
	const struct metric *metric = table->columns[column].choice.metric;
	uint64_t total = 0, *values;

	if (metric->is_static)
		return;
	values = index_group_values(groups, metric);
	for (size_t i = 0; i < groups->values.count; i++)
		total += values[i];
	table->base[column] = table->values[column] = values_convert(metric, total);
	for (size_t row = 1; row < table->row_count; row++)
		table->values[row * table->column_count + column] =
			values_convert(metric, values[keys[row - 1].index]);
	free(values);
}

/* Leaves out groups of which every metric that is shown is 0. */
static void drop_empty(const struct index_groups *groups, const struct query *query,
		       struct sort_key *keys, size_t *count)
{
	bool *any = xcalloc(groups->values.count + 1, sizeof(*any));
	bool asked = false;
	size_t kept = 0;

	for (size_t m = 0; m < query->metrics.count; m++) {
		const struct metric *metric = query->metrics.items[m].metric;
		uint64_t *values = metric->is_static ? NULL : index_group_values(groups, metric);

		asked |= values != NULL;
		for (size_t i = 0; values && i < groups->values.count; i++)
			any[i] |= values[i] != 0;
		free(values);
	}
	for (size_t i = 0; i < *count && asked; i++)
		if (any[keys[i].index])
			keys[kept++] = keys[i];
	*count = asked ? kept : *count;
	free(any);
}

static void fill_rows(const struct session *session, const struct index_object *object,
		      const struct index_groups *groups, const struct sort_key *keys,
		      struct table *table)
{
	struct row_detail *details =
		arena_array(&table->arena, struct row_detail, table->row_count);

	table->rows[0].name = "<Total>";
	details[0].value = INDEX_UNKNOWN;
	row_set_detail(&table->rows[0], &details[0]);
	for (size_t row = 1; row < table->row_count; row++) {
		uint32_t group = keys[row - 1].index;

		table->rows[row].id = group + 1;
		details[row].value = groups->values.items[group];
		row_set_detail(&table->rows[row], &details[row]);
		table->rows[row].name =
			label_of(session, object, &table->arena, groups->values.items[group]);
	}
	for (size_t column = 0; column < table->column_count; column++)
		fill_column(groups, keys, table, column);
}

/* An object as a view of its events. */
struct index_view {
	const struct index_object *object;
	const struct filter_program *program;
};

static void fill_index(struct tally *tally, const struct query *query, const void *arg,
		       struct table *table)
{
	const struct index_view *view = arg;
	struct session *session = tally->session;
	struct index_groups groups;
	size_t rows, all;

	table_init(table, query, COLUMNS_EXCLUSIVE);
	table->title = arena_strdup(&table->arena, view->object->title);
	table->index = arena_strdup(&table->arena, view->object->name);
	index_group(tally, view->program, view->object->label == LABEL_COLLECTION, &groups);

	const size_t most = query->limit ? query->limit - 1 : SIZE_MAX;
	const bool processes = view->object->label == LABEL_PROCESS;
	struct sort_key *keys = ordered(&groups, query, processes ? SIZE_MAX : most, &rows);

	/* Of a family of hundreds most have done nothing. */
	if (processes)
		drop_empty(&groups, query, keys, &rows);
	all = processes ? rows : groups.values.count;
	rows = rows < most ? rows : most;
	table->more = all - rows;
	table_set_rows(table, rows + 1);
	fill_rows(session, view->object, &groups, keys, table);
	free(keys);
	index_groups_fini(&groups);
}

/* Moments and classes of sizes follow each other: their tables are read as a course. */
static bool has_order(const struct index_object *object)
{
	static const char *const moments[] = {"TSTAMP", "SAMPLE", "GCEVENT"};

	for (size_t i = 0; i < COUNT(moments); i++)
		if (strcasestr(object->expression, moments[i]))
			return true;
	return object->label == LABEL_SIZE || object->label == LABEL_DURATION;
}

/* By value, unless an order was asked for. */
static struct query in_order(const struct session *session, const struct index_object *object,
			     const struct query *query)
{
	struct query ordered = *query;

	if (!query->sort_chosen && has_order(object)) {
		ordered.sort = (struct metric_choice){metric_find(session, "name"), FLAVOR_STATIC,
						      VISIBLE_VALUE};
		ordered.sort_reverse = false;
	}
	return ordered;
}

void index_table(struct session *session, const struct index_object *object,
		 const struct query *query, struct table *table, struct diag_list *diags)
{
	const bool classes = object->label == LABEL_JAVA_CLASS;
	struct query of_heap = classes ? java_classes_query(session, query) : *query;
	const struct query ordered = in_order(session, object, &of_heap);
	struct index_view view = {.object = object};
	struct filter_program *program;

	session_enter(session);
	if (filter_compile(session, session_tree(session, query->mode, query->inlines),
			   object->expression, &program, diags) != STATUS_OK)
		abort(); /* it was right when it was defined */
	view.program = program;
	view_run(session, &ordered,
		 &(struct view){.fill = fill_index,
				.arg = &view,
				.whole = &view,
				.identity = ROWS_BY_NAME,
				.order = ORDER_LIST},
		 table);
	filter_program_free(program);
	session_leave(session);
	if (classes)
		vec_fini(&of_heap.metrics);
}

void view_index(struct session *session, size_t index, const struct query *query,
		struct table *table, struct diag_list *diags)
{
	index_table(session, index_object_at(session, INDEX_OBJECTS, index), query, table, diags);
}

void view_threads(struct session *session, const struct query *query, struct table *table)
{
	struct diag_list diags = {0};

	view_index(session, index_find(session, INDEX_OBJECTS, "Threads"), query, table, &diags);
	diag_fini(&diags);
}
