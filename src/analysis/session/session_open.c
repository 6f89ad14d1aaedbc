/* SPDX-License-Identifier: Apache-2.0 */
/* A session from its opening to its end: experiments in, facts about processes out. */
#include "analysis/tree/tally.h"

#include "analysis/code/attribution.h"
#include "analysis/code/code.h"
#include "analysis/data/data_map.h"
#include "analysis/kinds/counter.h"
#include "analysis/kinds/io_places.h"
#include "analysis/kinds/io_rows.h"
#include "analysis/kinds/java_classes.h"
#include "analysis/kinds/lock_rows.h"
#include "analysis/modes/modes.h"
#include "analysis/session/advice.h"
#include "analysis/session/functions.h"
#include "analysis/session/omp_names.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/tree.h"
#include "base/folder.h"
#include "base/path.h"
#include "experiment/group.h"
#include "format/lineage.h"
#include "object/names/java_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The thread whose number is the process's; without one, the one of the smallest number. */
static uint32_t first_thread(const struct process *process)
{
	const struct experiment_profile *profile = &process->profile;
	uint32_t first = NODE_NONE;

	for (uint32_t i = 0; i < profile->threads.count; i++) {
		const struct profile_thread *thread = &profile->threads.items[i];

		if (process->log.pid > 0 && thread->tid == (uint64_t)process->log.pid)
			return i;
		if (first == NODE_NONE || thread->number < profile->threads.items[first].number)
			first = i;
	}
	return first;
}

static void take_last(const struct event_run *run, void *arg)
{
	uint64_t *latest = arg, last = 0;

	if (run->count)
		last = rows_get(run->rows, ROW_TIME, run->first + run->count - 1);
	*latest = last > *latest ? last : *latest;
}

/* Of a process whose log has no end: it was killed, or goes on. */
static uint64_t latest_ns(const struct process *process)
{
	uint64_t latest = process->log.last_ns;
	const struct experiment_overview *overview = &process->overview;

	if (process->profile.last_us * 1000 > latest)
		latest = process->profile.last_us * 1000;
	if (overview->count && overview->items[overview->count - 1].time_ns > latest)
		latest = overview->items[overview->count - 1].time_ns;
	for (int kind = EVENTS_TRACE; kind < EVENTS_KINDS; kind++)
		events_for_each_run(process, (enum event_kind)kind, take_last, &latest);
	return latest;
}

/* The moment of the last event of a kind, or 0. */
static uint64_t event_time(const struct experiment_log *log, const char *kind)
{
	uint64_t time = 0;

	for (size_t i = 0; i < log->events.count; i++)
		if (!strcmp(log->events.items[i].kind, kind))
			time = log->events.items[i].time_ns;
	return time;
}

/*
 * When the process ended.  What the launcher has written of it is behind the search for lost
 * memory, which follows the exit that the process itself has written, and is no part of the run.
 */
static uint64_t exit_time(const struct experiment_log *log)
{
	uint64_t own_ns = 0, end_ns = event_time(log, "exit"), search_ns = 0, number;

	for (size_t i = 0; i < log->events.count; i++) {
		const struct log_event *event = &log->events.items[i];

		if (!strcmp(event->kind, "counters") &&
		    log_event_number(event, "leak_search_ns", &number))
			search_ns = number;
		if (!strcmp(event->kind, "exit") && !own_ns)
			own_ns = event->time_ns;
	}
	return end_ns - own_ns > search_ns ? end_ns - search_ns : own_ns;
}

/* When the recording of this image ended, by itself: before an exec, or when it was closed. */
static uint64_t recording_end(const struct experiment_log *log)
{
	uint64_t end_ns = exit_time(log);

	for (size_t i = 0; i < log->events.count; i++) {
		const struct log_event *event = &log->events.items[i];

		/* An exit that the launcher has written is that of the next image. */
		if (!strcmp(event->kind, "exec") || !strcmp(event->kind, "close"))
			end_ns = event->time_ns;
		else if (!strcmp(event->kind, "exec_failed"))
			end_ns = exit_time(log);
	}
	return end_ns;
}

struct span {
	uint64_t from_ns, to_ns;
};

/* How long two spans have in common. */
static uint64_t length_ns(struct span span)
{
	return span.to_ns > span.from_ns ? span.to_ns - span.from_ns : 0;
}

static uint64_t common_ns(struct span one, struct span other)
{
	return length_ns((struct span){
		.from_ns = one.from_ns > other.from_ns ? one.from_ns : other.from_ns,
		.to_ns = one.to_ns < other.to_ns ? one.to_ns : other.to_ns,
	});
}

/* What -t leaves of a process's life: the setting is "FROM-TO" in ms, TO 0 for the end. */
static struct span window_of(const struct process_info *info)
{
	struct span window = {info->start_ns, info->end_ns};

	for (size_t i = 0; i < info->setting_count; i++) {
		char *rest;

		if (strcmp(info->settings[i].name, "window") != 0)
			continue;
		uint64_t begin_ns = strtoull(info->settings[i].value, &rest, 10) * 1000000;
		uint64_t end_ns = *rest == '-' ? strtoull(rest + 1, NULL, 10) * 1000000 : 0;

		window.from_ns = begin_ns > window.from_ns ? begin_ns : window.from_ns;
		window.to_ns = end_ns && end_ns < window.to_ns ? end_ns : window.to_ns;
	}
	return window;
}

/* The pauses in the window that the log tells of: without a clock threads have none. */
static uint64_t logged_pauses_ns(const struct process_info *info, struct span window)
{
	bool paused = false;
	uint64_t since_ns = info->start_ns, sum_ns = 0;

	for (size_t i = 0; !*info->lineage && i < info->setting_count; i++)
		paused |= !strcmp(info->settings[i].name, "begin_paused");
	for (size_t i = 0; i < info->event_count_log; i++) {
		const struct log_event *event = &info->events[i];
		bool resumes = !strcmp(event->kind, "resume");

		if (paused && resumes)
			sum_ns += common_ns(window, (struct span){since_ns, event->time_ns});
		else if (!paused && !strcmp(event->kind, "pause"))
			since_ns = event->time_ns;
		else
			continue;
		paused = !resumes;
	}
	if (paused)
		sum_ns += common_ns(window, (struct span){since_ns, info->end_ns});
	return sum_ns;
}

/* How much of a process's life was recorded: of the thread of which it was most. */
static uint64_t recorded_ns(const struct experiment_profile *profile,
			    const struct process_info *info)
{
	struct span window = window_of(info);
	uint64_t life_ns = length_ns(window), most_us = 0;
	uint64_t pauses_ns = logged_pauses_ns(info, window);
	bool paused = false;

	life_ns -= pauses_ns < life_ns ? pauses_ns : life_ns;
	for (size_t i = 0; i < profile->threads.count; i++) {
		const struct profile_thread *thread = &profile->threads.items[i];
		uint64_t paused_us = profile_more(profile, thread)->paused_us;
		uint64_t life_us = thread->end_us > thread->begin_us + paused_us
					   ? thread->end_us - thread->begin_us - paused_us
					   : 0;

		paused |= thread->paused || paused_us;
		most_us = life_us > most_us ? life_us : most_us;
	}
	return paused && most_us * 1000 < life_ns ? most_us * 1000 : life_ns;
}

/* Own facts of the process, from its log. */
static void fill_from_log(struct process_info *info, const struct experiment_log *log)
{
	info->pid = log->pid;
	info->ppid = log->ppid;
	info->pgrp = log->pgrp;
	info->sid = log->sid;
	info->cwd = log->cwd;
	info->executable = log->executable;
	info->producer = log->producer;
	info->version = log->version;
	info->engine = log->engine;
	info->engine_reason = log->engine_reason;
	info->ended = log->ended;
	info->has_status = log->has_status;
	info->exit_status = log->exit_status;
	info->exit_signal = log->exit_signal;
	info->start_ns = log->start_ns;
	info->events = log->events.items;
	info->event_count_log = log->events.count;
}

/* Facts that only the founder's log has. */
static void fill_from_founder(struct process_info *info, const struct experiment_log *founder)
{
	info->hostname = founder->hostname;
	info->os = founder->os;
	info->arch = founder->arch;
	info->pages = founder->pages;
	info->page_size = founder->page_size;
	info->cpus = founder->cpus;
	info->clock_mhz = founder->clock_mhz;
	info->settings = founder->settings.items;
	info->setting_count = founder->settings.count;
	info->nodes = founder->nodes.items;
	info->node_count = founder->nodes.count;
	info->counters = founder->hwcounters.items;
	info->counter_count = founder->hwcounters.count;
	info->wall_start_ns = (int64_t)founder->wall_ns;
}

static const char *target_name(const struct process *process)
{
	if (process->log.executable)
		return path_name(process->log.executable);
	return process->log.arguments.count ? path_name(process->log.arguments.items[0])
					    : "(unknown)";
}

/* Of a fork that has begun no program: its parent's. NULL: nobody knows. */
static char *const *arguments_of(const struct experiment *experiment, const struct process *process)
{
	size_t length;

	if (process->log.arguments.count)
		return process->log.arguments.items;

	const struct process *parent =
		lineage_step(process->lineage, &length) == 'f'
			? experiment_find_lineage(experiment, process->lineage, length)
			: NULL;

	return parent ? arguments_of(experiment, parent) : NULL;
}

/* What a child of a fork has of its parent was compiled there. */
static void count_compiled(struct process_info *info, const struct experiment_map *map)
{
	for (size_t i = 0; !map->inherits && i < map->functions.count; i++) {
		const struct map_function *function = &map->functions.items[i];

		if (function->address & FORMAT_PC_JAVA || !java_is_method(function->name))
			continue;
		info->compiled_count++;
		info->compiled_bytes += function->size;
	}
}

static void add_process(struct session *session, const struct experiment *experiment,
			const struct process *process, uint32_t founder)
{
	struct process_info *info = vec_push(&session->processes);
	const struct experiment_profile *profile = &process->profile;

	info->id = (uint32_t)session->processes.count;
	info->founder = founder;
	info->group = (uint32_t)session->groups.count;
	info->path = process->path;
	info->name = process->name;
	info->lineage = process->lineage;
	info->is_unrecorded = process->is_unrecorded;
	info->is_untold = process->is_untold;
	info->rank = experiment_rank(process);
	info->is_next_image = experiment_image_before(experiment, process);
	info->notes = process == &experiment->processes.items[0] ? experiment->notes : NULL;
	info->target = target_name(process);
	info->arguments = arguments_of(experiment, process);
	fill_from_log(info, &process->log);
	fill_from_founder(info, &experiment->processes.items[0].log);
	if (process->log.clock) { /* of a rank on another machine */
		info->hostname = process->log.hostname;
		info->wall_start_ns = (int64_t)process->log.wall_ns;
	}
	info->end_ns = process->log.ended ? recording_end(&process->log) : 0;
	if (!info->end_ns)
		info->end_ns = latest_ns(process);
	info->recorded_ns = recorded_ns(profile, info);
	info->thread_count = (uint32_t)profile->threads.count;
	info->event_count = profile->event_count;
	for (int kind = 0; kind < TRACE_KINDS; kind++) {
		info->has_trace[kind] = process->traces[kind].present;
		info->trace_count[kind] = process->traces[kind].rows.count;
	}
	info->dropped = process_dropped(process);
	info->samples = process->overview.items;
	info->sample_count = process->overview.count;
	info->before_seconds = (double)profile->before_us / 1e6;
	info->collection_count = profile->collections.list.count;
	info->collection_seconds = (double)profile->collections.sum_ns / 1e9;
	info->class_count = profile->class_count;
	count_compiled(info, &process->map);
	info->heap_unseen = process->traces[TRACE_HEAP].present && !process->heap.peak_blocks;
	for (size_t state = 0; state < PROFILE_STATES; state++)
		info->state_seconds[state] = (double)profile->state_us[state] / 1e6;
}

/* A founder's own image may be over at once: `sh -c "exec program"`. */
static void extend_family(struct session *session, uint32_t founder)
{
	uint64_t end_ns = session->processes.items[session->processes.count - 1].end_ns;
	uint64_t *family_end_ns = &session->processes.items[founder - 1].family_end_ns;

	*family_end_ns = end_ns > *family_end_ns ? end_ns : *family_end_ns;
}

static uint32_t first_like(struct session *session, const char *lineage, uint32_t id)
{
	uint32_t number = string_table_add(&session->lineages, lineage);

	if (number == session->first_of_lineage.count)
		*vec_push(&session->first_of_lineage) = id;
	return session->first_of_lineage.items[number];
}

/* Events of all kinds. */
static size_t event_rows(const struct process *process)
{
	size_t count = process->profile.event_count;

	for (int kind = 0; kind < TRACE_KINDS; kind++)
		count += process->traces[kind].rows.count;
	return count;
}

static void add_scanned(struct session *session, const struct experiment *experiment,
			struct process *process)
{
	struct session_process *scanned = vec_push(&session->scanned);
	const struct experiment_log *founder = &experiment->processes.items[0].log;
	const char *clock = experiment_log_setting(founder, "clock_first");
	uint32_t first = first_thread(process);

	if (!clock) /* one for good */
		clock = experiment_log_setting(founder, "clock");

	scanned->process = process;
	scanned->id = (uint32_t)session->processes.count;
	scanned->like = first_like(session, process->lineage, scanned->id);
	scanned->experiment = (uint32_t)session->experiments.count - 1;
	scanned->group = (uint32_t)session->groups.count;
	scanned->interval_us = log_clock_us(clock);
	scanned->first_thread =
		first == NODE_NONE ? UINT64_MAX : process->profile.threads.items[first].number;
	counters_add(session, &experiment->processes.items[0].log, scanned);
	scanned->row_count = event_rows(process);
	session->row_count += scanned->row_count;
	modes_rewrite(session, experiment, process, scanned);
	modes_fold_mpi(session, experiment, process, scanned);
	modes_find_mpi(process, scanned);
	tree_add_process(session, &session->trees[VIEW_USER][false], experiment, scanned);
}

static void add_experiment(struct session *session, struct experiment *experiment)
{
	uint32_t founder = (uint32_t)session->processes.count + 1;
	const char *clock = experiment_log_setting(&experiment->processes.items[0].log, "clock");

	session->has_clock_data |= !log_clock_is_off(clock);
	session->only_gprofng = (session->only_gprofng || founder == 1) &&
				experiment->processes.items[0].log.is_gprofng;
	for (size_t i = 0; i < experiment->processes.count; i++) {
		struct process *process = &experiment->processes.items[i];

		session->has_clock_data |= process->profile.event_count > 0;
		for (int kind = 0; kind < TRACE_KINDS; kind++)
			session->has_trace[kind] |= process->traces[kind].present;
		if (!process->log.is_gprofng && !process->is_unrecorded && !process->is_elsewhere)
			experiment_check_traces(process, &session->warnings);
		add_process(session, experiment, process, founder);
		extend_family(session, founder);
		attribution_events(session, experiment, process);
		add_scanned(session, experiment, process);
	}
}

/* What any event counts for: those that there are do not become fewer by a filter. */
static void find_present(struct session *session, const struct tally *tally)
{
	for (size_t k = 0; k < MEASURE_COUNT; k++)
		session->present[k] = finished_has(&tally->weights, (enum measure)k);
}

/* What reading an experiment has told of its processes is from now on told of the session's. */
static void rename_warned(struct session *session, size_t first,
			  const struct experiment *experiment, uint32_t founder)
{
	uint32_t *ids = xcalloc(experiment ? experiment->numbers + 1 : 1, sizeof(*ids));

	for (size_t i = 0; experiment && i < experiment->processes.count; i++)
		ids[experiment->processes.items[i].number] = founder + (uint32_t)i;
	ids[0] = 0; /* of nobody, as unrecorded ones have it too */
	for (size_t i = first; i < session->warnings.count; i++) {
		struct diag *warning = &session->warnings.items[i];

		warning->about = experiment && warning->about <= experiment->numbers
					 ? ids[warning->about]
					 : 0;
	}
	free(ids);
}

/* Units of experiments, in their order; zero: all are wanted. */
struct units {
	size_t from, to, before; /* wanted; of the experiments before the one in hand */
	bool some;
};

static enum status open_experiment(struct session *session, const char *path, struct units *units,
				   struct experiment **out, struct diag_list *diags)
{
	size_t count, from, to;

	if (!units->some)
		return experiment_open(path, out, diags, &session->warnings);
	count = experiment_count_units(path);
	from = units->from > units->before ? units->from - units->before : 0;
	to = units->to > units->before ? units->to - units->before : 0;
	units->before += count;
	return experiment_open_share(path, from, to, out, diags, &session->warnings);
}

/*
 * Stops between two experiments once they are not wanted any more.  before: those of the paths
 * before this one.
 */
static void open_group(struct session *session, const char *path, struct units *units,
		       struct hash_map *before, struct diag_list *diags)
{
	struct experiment_paths members = {0};
	struct experiment *experiment;
	bool is_group = experiment_is_group(path), opened = false;

	experiment_paths_add(&members, path);
	if (!members.count)
		diag_add(diags, DIAG_ERROR, "%s: the group names no experiment", path);
	experiment_paths_drop_known(&members, before, diags);
	for (size_t i = 0; i < members.count && watch_tell(session->watch, 0); i++) {
		size_t warned = session->warnings.count;
		uint32_t founder = (uint32_t)session->processes.count + 1;

		if (open_experiment(session, members.items[i], units, &experiment, diags)) {
			rename_warned(session, warned, NULL, founder);
			continue;
		}
		*vec_push(&session->experiments) = experiment;
		*vec_push(&session->places) =
			(struct session_place){experiment->path, experiment->archives};
		if (!opened)
			*vec_push(&session->groups) = (struct session_group){
				.path = arena_strdup(&session->arena, path),
				.name = is_group ? arena_strdup(&session->arena, path_name(path))
						 : experiment->name};
		opened = true;
		add_experiment(session, experiment);
		rename_warned(session, warned, experiment, founder);
	}
	experiment_paths_fini(&members);
}

struct session *session_new(void)
{
	struct session *session = xcalloc(1, sizeof(*session));
	pthread_mutexattr_t recursive;

	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&session->lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
	return session;
}

void session_enter(struct session *session)
{
	pthread_mutex_lock(&session->lock);
}

void session_leave(struct session *session)
{
	pthread_mutex_unlock(&session->lock);
}

/* All stacks are known: what follows from all events together. */
static void settle(struct session *session, struct watch *watch)
{
	const struct query all = {.watch = watch};

	tree_settle(&session->trees[VIEW_USER][false].tree);
	session->is_settled = true;

	struct tally *tally = tally_of(session, &all);

	find_present(session, tally);
	counters_add_quotients(session, &tally->weights);
	session_note_doubts(session);
	tally_release(tally);
}

/* What is opened of which paths, and how. */
struct opening {
	char *const *paths;
	size_t count;
	struct units units;
	bool apart; /* what is named in two paths counts in each */
	struct watch *watch;
};

static void open_groups(struct session *session, struct opening *opening, struct diag_list *diags)
{
	struct hash_map before = {0};

	for (size_t i = 0; i < opening->count; i++) {
		open_group(session, opening->paths[i], &opening->units, &before, diags);
		if (opening->apart)
			hash_map_clear(&before);
	}
	hash_map_fini(&before);
}

static bool is_cancelled(const struct watch *watch)
{
	return watch && watch->cancelled;
}

static enum status open_session(struct opening *opening, struct session **out,
				struct diag_list *diags)
{
	struct session *session = session_new();

	session->watch = opening->watch;
	symbols_init(session);
	trees_init(session);
	open_groups(session, opening, diags);
	if (session->experiments.count)
		settle(session, opening->watch);
	if (!session->experiments.count || is_cancelled(opening->watch)) {
		session_free(session);
		*out = NULL;
		return is_cancelled(opening->watch) ? STATUS_CANCELLED : STATUS_NOTFOUND;
	}
	*out = session;
	return STATUS_OK;
}

enum status session_open(char *const *paths, size_t count, struct watch *watch,
			 struct session **out, struct diag_list *diags)
{
	struct opening opening = {.paths = paths, .count = count, .watch = watch};

	return open_session(&opening, out, diags);
}

enum status session_open_apart(char *const *paths, size_t count, struct watch *watch,
			       struct session **out, struct diag_list *diags)
{
	struct opening opening = {.paths = paths, .count = count, .apart = true, .watch = watch};

	return open_session(&opening, out, diags);
}

enum status session_open_share(char *const *paths, size_t count, const struct session_share *share,
			       struct session **out, struct diag_list *diags)
{
	struct experiment_paths members = {0};
	size_t all = 0;

	for (size_t i = 0; i < count; i++)
		experiment_paths_add(&members, paths[i]);
	for (size_t i = 0; i < members.count; i++)
		all += experiment_count_units(members.items[i]);
	experiment_paths_fini(&members);

	struct opening opening = {.paths = paths,
				  .count = count,
				  .units = {.some = true,
					    .from = all * share->number / share->count,
					    .to = all * (share->number + 1) / share->count}};

	return open_session(&opening, out, diags);
}

enum status session_open_object(const char *path, struct session **out, struct diag_list *diags)
{
	struct session *session;
	struct stat file;
	int fd = folder_open_named(path, &file);

	*out = NULL;
	if (fd < 0) {
		diag_add(diags, DIAG_ERROR, "%s: %s", path,
			 errno == EINVAL ? "not a regular file" : strerror(errno));
		return STATUS_NOTFOUND;
	}
	close(fd);
	session = session_new();
	symbols_init(session);
	trees_init(session);

	char *whole = realpath(path, NULL);
	const struct object_request request = {.path = whole ? whole : path,
					       .mtime = (uint64_t)file.st_mtime,
					       .file_size = (uint64_t)file.st_size};

	symbols_add_file(session, &request);
	free(whole);
	session->is_settled = true;
	session_note_doubts(session);
	if (session->functions.count == FUNCTION_FIRST_REAL) {
		diag_add(diags, DIAG_ERROR, "%s: no functions found in it", path);
		session_free(session);
		return STATUS_NOTFOUND;
	}
	*out = session;
	return STATUS_OK;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	for (size_t i = 0; i < session->scanned.count; i++) {
		heap_course_fini(&session->scanned.items[i].heap_course);
		modes_free(&session->scanned.items[i]);
	}
	vec_fini(&session->scanned);
	omp_numbers_fini(&session->omp_numbers);
	string_table_fini(&session->lineages);
	vec_fini(&session->first_of_lineage);
	vec_fini(&session->counters);
	for (int i = 0; i < IO_ROW_KINDS; i++)
		io_rows_free(session->io_rows[i]);
	io_places_free(session->io_places);
	lock_rows_free(session->lock_rows);
	java_classes_free(session->java_classes);
	if (session->mpi_worlds)
		session->free_mpi_worlds(session->mpi_worlds);
	tallies_fini(session);
	trees_fini(session);
	code_fini(session);
	data_map_fini(session);
	symbols_fini(session);
	for (size_t i = 0; i < session->experiments.count; i++)
		experiment_free(session->experiments.items[i]);
	vec_fini(&session->experiments);
	vec_fini(&session->groups);
	vec_fini(&session->places);
	vec_fini(&session->processes);
	for (int family = 0; family < INDEX_FAMILIES; family++)
		vec_fini(&session->own_objects[family]);
	string_table_fini(&session->namesake_texts);
	diag_fini(&session->warnings);
	arena_fini(&session->arena);
	free(session->kept);
	free(session->kept_code);
	free(session->code_name);
	pthread_mutex_destroy(&session->lock);
	free(session);
}
