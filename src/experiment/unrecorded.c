/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descendants that could not be recorded (static, setuid, left alone) still end, and who awaits
 * one knows what CPU time it used, together with all children that it awaited itself.  Taken off
 * are those of them that are known by themselves; what is left was used where nothing was
 * recorded:
 * - by a process without an experiment, or after an exec that left none, or after it was left
 *   alone: it has the program's name;
 * - by children of a recorded process that it awaited out of the collector's sight (by a system
 *   call of its own, in system(3)): the process knows their sum.
 * What a recorded process used before its recording began and after it ended is not meant.
 *
 * A *life* is a process from its begin to its end, whatever programs it executed.
 */
#include "experiment/unrecorded.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define NO_LIFE HASH_NONE

struct life {
	int64_t pid;
	uint32_t parent;	       /* index, or NO_LIFE */
	uint32_t same_pid;	       /* another life with this process id, or NO_LIFE */
	const struct process *first;   /* its images, the first and the last; NULL: none was */
	const struct process *last;    /* … recorded */
	const struct process *teller;  /* in whose log its name stands */
	const struct log_event *named; /* what says the name of what was not recorded, or NULL */
	bool leaves;		       /* its last image became one that was not recorded */
	bool has_end, has_usage;
	uint64_t begin_ns, end_ns;
	uint64_t user_us, system_us; /* with the children that it awaited */
	uint64_t below_us;	     /* of its children, as far as each is known */
	int status, number;
};

struct finder {
	struct experiment *experiment;
	VEC(struct life) lives;
	struct hash_map by_pid;	      /* → the first life with it */
	struct string_table lineages; /* of the images that were recorded */
	VEC(uint32_t) life_of;	      /* by number in `lineages` */
	struct unrecorded_list *list;
};

/* ---- what the logs say ---- */

static bool number_of(const struct log_event *event, const char *name, uint64_t *value)
{
	const char *text = log_event_attribute(event, name);

	if (text)
		*value = strtoull(text, NULL, 10);
	return text;
}

static bool is_kind(const struct log_event *event, const char *kind)
{
	return !strcmp(event->kind, kind);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static uint32_t add_life(struct finder *finder, int64_t pid)
{
	uint32_t index = (uint32_t)finder->lives.count;
	struct life *life = vec_push(&finder->lives);

	*life = (struct life){.pid = pid, .parent = NO_LIFE, .same_pid = NO_LIFE};
	return index;
}

/* The first life with a process id stands in the map, the others behind it in no order. */
static void file_life(struct finder *finder, uint32_t index)
{
	struct life *life = &finder->lives.items[index];
	uint32_t first = hash_map_put(&finder->by_pid, (uint64_t)life->pid, index);

	if (first == index)
		return;
	life->same_pid = finder->lives.items[first].same_pid;
	finder->lives.items[first].same_pid = index;
}

/* Of the lives with a process id the last to begin by `time_ns`, among those without an end. */
static uint32_t find_life(const struct finder *finder, int64_t pid, uint64_t time_ns, bool open)
{
	uint32_t found = NO_LIFE, index = hash_map_get(&finder->by_pid, (uint64_t)pid);

	for (; index != NO_LIFE; index = finder->lives.items[index].same_pid) {
		const struct life *life = &finder->lives.items[index];

		if (life->begin_ns <= time_ns && !(open && life->has_end) &&
		    (found == NO_LIFE || life->begin_ns > finder->lives.items[found].begin_ns))
			found = index;
	}
	return found;
}

static uint32_t life_of_lineage(const struct finder *finder, const char *lineage, size_t length)
{
	char *text = xstrndup(lineage, length);
	uint32_t number = string_table_find(&finder->lineages, text);

	free(text);
	return number == HASH_NONE ? NO_LIFE : finder->life_of.items[number];
}

static uint32_t parent_of_lineage(const struct finder *finder, const char *lineage)
{
	const char *last = strrchr(lineage, '_');

	return last ? life_of_lineage(finder, lineage, (size_t)(last - lineage)) : NO_LIFE;
}

/*
 * An image is the next one of its process where its lineage says so, unless it is a child of
 * what that process has become, which passes the name on that it found.
 */
static void add_image(struct finder *finder, const struct process *process)
{
	const char *last = strrchr(process->lineage, '_');
	uint32_t before = parent_of_lineage(finder, process->lineage);
	bool goes_on = last && last[1] == 'x' && before != NO_LIFE &&
		       (finder->lives.items[before].pid == process->log.pid ||
			finder->lives.items[before].pid != process->log.ppid);
	uint32_t index = goes_on ? before : add_life(finder, process->log.pid);
	struct life *life = &finder->lives.items[index];

	if (string_table_add(&finder->lineages, process->lineage) == finder->life_of.count)
		*vec_push(&finder->life_of) = index;
	life->last = process;
	if (goes_on)
		return;
	life->first = process;
	life->begin_ns = process->log.start_ns;
	life->parent = before;
	file_life(finder, index);
}

/* The exec that ended an image, or what says that it was left alone; NULL: neither. */
static const struct log_event *find_leaving(const struct experiment_log *log)
{
	const struct log_event *found = NULL;
	uint64_t pid;

	for (size_t i = 0; i < log->events.count; i++) {
		const struct log_event *event = &log->events.items[i];

		if (is_kind(event, "exec") ||
		    (is_kind(event, "left_alone") && number_of(event, "pid", &pid) &&
		     (int64_t)pid == log->pid))
			found = event;
		else if (is_kind(event, "exec_failed") && found && is_kind(found, "exec"))
			found = NULL;
	}
	return found;
}

static void note_leaving(struct life *life)
{
	if (!life->last)
		return;
	life->named = find_leaving(&life->last->log);
	life->leaves = life->named;
	life->teller = life->last;
}

/* ---- ends ---- */

static void note_end(struct life *life, const struct log_event *event)
{
	uint64_t status = 0, number = 0;

	life->has_end = true;
	life->end_ns = event->time_ns;
	number_of(event, "status", &status);
	number_of(event, "signal", &number);
	life->status = (int)status;
	life->number = (int)number;
	life->has_usage = number_of(event, "user_us", &life->user_us) &&
			  number_of(event, "system_us", &life->system_us);
}

/* The latest word on a child in its parent's log before `end`. */
static const struct log_event *find_word(const struct experiment_log *log, size_t end, uint64_t pid)
{
	uint64_t other;

	while (end-- > 0) {
		const struct log_event *event = &log->events.items[end];

		if (!number_of(event, "pid", &other) || other != pid)
			continue;
		if (is_kind(event, "reaped"))
			return NULL;
		if (is_kind(event, "child_exec") || is_kind(event, "spawn") ||
		    is_kind(event, "left_alone"))
			return event;
	}
	return NULL;
}

static bool has_unmatched_child(const struct finder *finder, uint32_t parent)
{
	for (size_t i = 0; i < finder->lives.count; i++)
		if (finder->lives.items[i].parent == parent && finder->lives.items[i].first &&
		    !finder->lives.items[i].has_end)
			return true;
	return false;
}

/* A child that was awaited, and has no experiment under its process id. */
static void add_unseen(struct finder *finder, uint32_t parent, const struct process *teller,
		       size_t number, uint64_t pid)
{
	const struct experiment_log *log = &teller->log;
	const struct log_event *event = &log->events.items[number];
	const struct log_event *word = find_word(log, number, pid);
	const char *lineage = log_event_attribute(word, "lineage");
	uint32_t known = lineage ? life_of_lineage(finder, lineage, strlen(lineage)) : NO_LIFE;

	/* In a namespace of process ids it may be known by another one. */
	if (known != NO_LIFE && !finder->lives.items[known].has_end &&
	    (uint64_t)finder->lives.items[known].first->log.ppid != pid) {
		note_end(&finder->lives.items[known], event);
		return;
	}
	if (!word && has_unmatched_child(finder, parent))
		return;

	uint32_t index = add_life(finder, (int64_t)pid);
	struct life *life = &finder->lives.items[index];

	life->parent = parent;
	life->teller = teller;
	life->named = word;
	life->begin_ns = word ? word->time_ns : teller->log.start_ns;
	note_end(life, event);
	file_life(finder, index);
}

static void read_ends(struct finder *finder, const struct process *process)
{
	const struct experiment_log *log = &process->log;
	uint32_t own = life_of_lineage(finder, process->lineage, strlen(process->lineage));
	uint64_t pid, status;

	for (size_t i = 0; i < log->events.count; i++) {
		const struct log_event *event = &log->events.items[i];

		if (is_kind(event, "exit") && number_of(event, "status", &status)) {
			note_end(&finder->lives.items[own], event);
		} else if (is_kind(event, "reaped") && number_of(event, "pid", &pid)) {
			uint32_t life = find_life(finder, (int64_t)pid, event->time_ns, true);

			if (life == NO_LIFE)
				add_unseen(finder, own, process, i, pid);
			else
				note_end(&finder->lives.items[life], event);
		}
	}
}

/* The nearest that was recorded: a child of vfork has no image before its exec. */
static uint32_t nearest_in_lineage(const struct finder *finder, const char *lineage)
{
	uint32_t found = NO_LIFE;

	for (size_t length = strlen(lineage); length && found == NO_LIFE; length--)
		if (lineage[length - 1] == '_')
			found = life_of_lineage(finder, lineage, length - 1);
	return found;
}

/*
 * Who was started by something that was not recorded itself finds it by its process id, but not
 * where that is one of a namespace.
 */
static void find_parents(struct finder *finder)
{
	for (size_t i = 0; i < finder->lives.count; i++) {
		struct life *life = &finder->lives.items[i];
		uint32_t parent = life->first ? find_life(finder, life->first->log.ppid,
							  life->begin_ns, false)
					      : NO_LIFE;

		if (parent != NO_LIFE && parent != i && finder->lives.items[parent].pid)
			life->parent = parent;
		else if (life->first && life->parent == NO_LIFE)
			life->parent = nearest_in_lineage(finder, life->first->lineage);
	}
}

/* ---- what was used where ---- */

/* CPU time of the events of an image. */
static uint64_t profile_us(const struct process *process, size_t *threads)
{
	struct diag_list unheard = {0};
	struct read_context context = process_context(process, &unheard);
	struct experiment_profile own = {0};
	const struct experiment_profile *profile = &process->profile;
	uint64_t sum_us = 0;

	if (!profile->present) { /* only the logs were read so far */
		experiment_profile_read(&own, &context);
		profile = &own;
	}
	for (size_t i = 0; i < profile->threads.count; i++)
		sum_us += profile->threads.items[i].state_us[FORMAT_STATE_USER] +
			  profile->threads.items[i].state_us[FORMAT_STATE_SYSTEM] +
			  profile->threads.items[i].state_us[FORMAT_STATE_TRAP];
	*threads = profile->threads.count;
	experiment_profile_fini(&own);
	diag_fini(&unheard);
	return sum_us;
}

/* CPU time that an image accounts for, from the begin of its process on. */
static uint64_t seen_us(const struct life *life)
{
	size_t threads;

	if (!life->last)
		return 0;
	return life->last->log.counters.has_process_cpu
		       ? life->last->log.counters.process_cpu_ns / 1000
		       : profile_us(life->last, &threads);
}

static bool is_unseen(const struct life *life)
{
	return !life->first || life->leaves;
}

static const char *name_of(const struct life *life)
{
	const char *name = log_event_attribute(life->named, "name");

	if (!name || !*name)
		name = life->teller ? life->teller->log.executable : NULL;
	return name && *name ? name : "?";
}

/* What a process without a log of its own wrote into the founder's before it ended. */
static const struct log_event *find_farewell(const struct finder *finder, const struct life *life)
{
	const struct experiment_log *founder = &finder->experiment->processes.items[0].log;
	const struct log_event *found = NULL;
	uint64_t pid;

	for (size_t i = 0; i < founder->events.count; i++) {
		const struct log_event *event = &founder->events.items[i];

		if (is_kind(event, "left_alone") && number_of(event, "pid", &pid) &&
		    (int64_t)pid == life->pid && event->time_ns >= life->begin_ns &&
		    (!life->has_end || event->time_ns <= life->end_ns))
			found = event;
	}
	return found;
}

static struct unrecorded describe(const struct finder *finder, const struct life *life)
{
	const struct log_event *farewell = find_farewell(finder, life);
	const char *name = log_event_attribute(life->named, "name") || !farewell
				   ? name_of(life)
				   : log_event_attribute(farewell, "name"),
		   *lineage = log_event_attribute(life->named, "lineage");

	if (!lineage)
		lineage = arena_printf(&finder->experiment->arena, "%s_u%zu", life->teller->lineage,
				       finder->list->items.count + 1);
	return (struct unrecorded){
		.name = base_name(name),
		.program = name,
		.reason = log_event_attribute(farewell ? farewell : life->named, "reason"),
		.lineage = lineage,
		.ppid = life->leaves ? life->last->log.ppid : life->teller->log.pid,
		.pid = life->pid,
		.begin_ns = life->leaves ? life->named->time_ns : life->begin_ns,
		.end_ns = life->has_end ? life->end_ns : life->teller->log.last_ns,
		.has_status = life->has_end,
		.exit_status = life->status,
		.exit_signal = life->number,
	};
}

/* `us` of CPU time, in these parts of user and system time. */
static void report(struct finder *finder, struct unrecorded unrecorded, uint64_t us, uint64_t user,
		   uint64_t system)
{
	double part = user + system ? (double)user / (double)(user + system) : 1;

	unrecorded.user_us = (uint64_t)((double)us * part);
	unrecorded.system_us = us - unrecorded.user_us;
	*vec_push(&finder->list->items) = unrecorded;
}

/* Time of which a process is all that is known: it has that name with words before or behind. */
static struct unrecorded describe_rest(const struct finder *finder, const struct life *life,
				       const char *before, const char *behind)
{
	struct arena *arena = &finder->experiment->arena;
	const struct experiment_log *log = &life->last->log;
	const char *program = log->executable && *log->executable ? log->executable : "?";

	return (struct unrecorded){
		.name = arena_printf(arena, "%s%s%s", before, base_name(program), behind),
		.lineage = arena_printf(arena, "%s_u%zu", life->last->lineage,
					finder->list->items.count + 1),
		.ppid = log->pid,
		.begin_ns = log->start_ns,
		.end_ns = log->last_ns,
	};
}

/*
 * What a recorded process awaited unseen: of the one program that it can be, or of whatever it
 * started.  What recorded children used at their ends is in it, where nobody else tells, so a
 * little is nobody's.
 */
static void report_rest(struct finder *finder, const struct life *life, uint32_t index)
{
	enum { END_OF_CHILD_US = 1000 };
	const struct log_counters *counters = &life->last->log.counters;
	uint64_t all_us = counters->children_user_us + counters->children_system_us;
	uint64_t known_us = life->below_us + END_OF_CHILD_US;
	const struct life *only = NULL;
	bool several = false;

	for (size_t i = 0; all_us > known_us && i < finder->lives.count; i++) {
		const struct life *child = &finder->lives.items[i];

		if (child->parent != index || child->has_usage)
			continue;
		known_us += END_OF_CHILD_US;
		if (is_unseen(child)) {
			several |= only && strcmp(name_of(only), name_of(child)) != 0;
			only = child;
		}
	}
	if (all_us > known_us)
		report(finder,
		       only && !several ? describe(finder, only)
					: describe_rest(finder, life, "started by ", ""),
		       all_us - life->below_us, counters->children_user_us,
		       counters->children_system_us);
}

/* Now it is known below: it is not its parent's to report once more. */
static void know_rest(struct life *life)
{
	const struct log_counters *counters = &life->last->log.counters;
	uint64_t all_us = counters->children_user_us + counters->children_system_us;

	life->below_us = all_us > life->below_us ? all_us : life->below_us;
}

static uint64_t total_us(const struct life *life)
{
	return life->has_usage ? life->user_us + life->system_us : seen_us(life) + life->below_us;
}

/*
 * A process that ended by a system call of its own (Go) has not told what its children used,
 * only its parent has.  In that is its begin too, what its threads did since their last ticks,
 * and the collector's own; so a little is nobody's.
 */
static void report_unclosed(struct finder *finder, const struct life *life)
{
	enum { BEGIN_US = 10000 };
	const struct experiment_log *founder = &finder->experiment->processes.items[0].log;
	const char *clock = experiment_log_setting(founder, "clock");
	uint64_t interval_us = clock ? strtoull(clock, NULL, 10) : 0;
	size_t threads = 0;
	uint64_t known_us = profile_us(life->last, &threads) + life->below_us;
	uint64_t all_us = life->user_us + life->system_us;

	if (interval_us && !life->number &&
	    all_us > known_us + BEGIN_US + interval_us * (threads + 1) + all_us / 20)
		report(finder, describe_rest(finder, life, "", " or what it started"),
		       all_us - known_us, life->user_us, life->system_us);
}

static void account(struct finder *finder, uint32_t index)
{
	const struct life *life = &finder->lives.items[index];
	uint64_t known_us = seen_us(life) + life->below_us;

	if (is_unseen(life)) {
		if (life->has_usage && total_us(life) > known_us)
			report(finder, describe(finder, life), total_us(life) - known_us,
			       life->user_us, life->system_us);
	} else if (life->last->log.counters.has_children) {
		report_rest(finder, life, index);
		know_rest(&finder->lives.items[index]);
	} else if (life->has_usage) {
		report_unclosed(finder, life);
	}
}

/* Children before their parents; `order` ends as that. */
static void order_lives(const struct finder *finder, uint32_t *order)
{
	size_t count = finder->lives.count, done = 0;
	uint32_t *children = xcalloc(count + 1, sizeof(*children));
	uint32_t *stack = xcalloc(count + 1, sizeof(*stack)), top = 0;

	for (size_t i = 0; i < count; i++)
		if (finder->lives.items[i].parent != NO_LIFE)
			children[finder->lives.items[i].parent]++;
	for (uint32_t i = 0; i < count; i++)
		if (!children[i])
			stack[top++] = i;
	while (top) {
		uint32_t index = stack[--top], parent = finder->lives.items[index].parent;

		order[done++] = index;
		if (parent != NO_LIFE && !--children[parent])
			stack[top++] = parent;
	}
	while (done < count) /* a log that makes a circle of lives tells nothing of them */
		order[done++] = NO_LIFE;
	free(children);
	free(stack);
}

static void account_all(struct finder *finder)
{
	uint32_t *order = xcalloc(finder->lives.count + 1, sizeof(*order));

	order_lives(finder, order);
	for (size_t i = 0; i < finder->lives.count && order[i] != NO_LIFE; i++) {
		const struct life *life = &finder->lives.items[order[i]];

		account(finder, order[i]);
		if (life->parent != NO_LIFE)
			finder->lives.items[life->parent].below_us += total_us(life);
	}
	free(order);
}

static bool is_followed(const struct experiment *experiment)
{
	const struct experiment_log *log = &experiment->processes.items[0].log;
	const char *follow = experiment_log_setting(log, "follow");

	return !log->is_gprofng && !experiment->processes.items[0].lineage[0] && follow &&
	       !strcmp(follow, "on");
}

void unrecorded_find(struct experiment *experiment, struct unrecorded_list *list)
{
	struct finder finder = {.experiment = experiment, .list = list};

	*list = (struct unrecorded_list){0};
	if (!is_followed(experiment))
		return;
	for (size_t i = 0; i < experiment->processes.count; i++)
		add_image(&finder, &experiment->processes.items[i]);
	for (size_t i = 0; i < finder.lives.count; i++)
		note_leaving(&finder.lives.items[i]);
	for (size_t i = 0; i < experiment->processes.count; i++)
		read_ends(&finder, &experiment->processes.items[i]);
	find_parents(&finder);
	account_all(&finder);
	vec_fini(&finder.lives);
	vec_fini(&finder.life_of);
	hash_map_fini(&finder.by_pid);
	string_table_fini(&finder.lineages);
}

/* ---- as processes of the experiment ---- */

static void add_warning(struct experiment_log *log, struct arena *arena,
			const struct unrecorded *unrecorded)
{
	struct log_event *event = vec_push(&log->events);

	event->time_ns = unrecorded->begin_ns;
	event->kind = "warning";
	event->attributes = arena_array(arena, struct attribute, 1);
	event->attribute_count = 1;
	event->attributes[0].name = "text";
	event->attributes[0].value = arena_printf(
		arena, "nothing was recorded here (%s): only the CPU time is known",
		unrecorded->reason ? unrecorded->reason : "a static, Go or setuid program?");
}

static void fill_log(struct experiment_log *log, struct arena *arena,
		     const struct unrecorded *unrecorded)
{
	add_warning(log, arena, unrecorded);
	log->present = log->closed = log->has_process = true;
	log->pid = unrecorded->pid;
	log->ppid = unrecorded->ppid;
	log->executable = unrecorded->program ? unrecorded->program : unrecorded->name;
	log->lineage = unrecorded->lineage;
	log->start_ns = unrecorded->begin_ns;
	log->last_ns = unrecorded->end_ns;
	log->ended = true;
	log->has_status = unrecorded->has_status;
	log->exit_status = unrecorded->exit_status;
	log->exit_signal = unrecorded->exit_signal;
}

static void fill_map(struct experiment_map *map, const char *name)
{
	enum { START = 0x1000 };
	struct map_function *function = vec_push(&map->functions);
	struct map_segment *segment = vec_push(&map->segments);

	map->present = map->closed = true;
	*function = (struct map_function){.name = name,
					  .alias = "",
					  .source = "",
					  .object = "<not recorded>",
					  .address = START,
					  .size = 1};
	*segment = (struct map_segment){.start = START,
					.end = START + 1,
					.last_epoch = UINT32_MAX,
					.file = MAP_NONE,
					.function = 0};
	experiment_map_sort(map);
}

static void fill_profile(struct process *process, const struct unrecorded *unrecorded)
{
	struct stack_builder builder;
	uint64_t end_us = unrecorded->end_ns / 1000;
	struct profile_event events[] = {
		{1, end_us, unrecorded->user_us, 0, PROFILE_NO_CPU, FORMAT_STATE_USER},
		{1, end_us, unrecorded->system_us, 0, PROFILE_NO_CPU, FORMAT_STATE_SYSTEM},
	};

	stack_builder_init(&builder, &process->stacks);
	uint32_t location =
		stack_builder_location(&builder, process->map.segments.items[0].start, 0);

	for (size_t i = 0; i < 2; i++)
		events[i].stack = stack_builder_node(&builder, STACK_ROOT, location);
	stack_builder_fini(&builder);
	process->stacks.present = process->profile.present = true;
	experiment_profile_add_thread(&process->profile, 1, (uint64_t)unrecorded->pid);
	experiment_profile_fill(&process->profile, events, 2);
}

/* With a window or pauses others' time is left out too, and nobody knows how much of theirs. */
static bool is_whole(const struct experiment *experiment)
{
	const struct experiment_log *founder = &experiment->processes.items[0].log;
	const char *clock = experiment_log_setting(founder, "clock");

	if (experiment_log_setting(founder, "window") || !clock || !strcmp(clock, "0"))
		return false;
	for (size_t i = 0; i < experiment->processes.count; i++)
		for (size_t k = 0; k < experiment->processes.items[i].log.events.count; k++)
			if (is_kind(&experiment->processes.items[i].log.events.items[k], "pause"))
				return false;
	return true;
}

static int compare_lineages(const void *a, const void *b)
{
	return strverscmp(((const struct process *)a)->lineage,
			  ((const struct process *)b)->lineage);
}

void unrecorded_add(struct experiment *experiment)
{
	struct unrecorded_list list;

	if (!is_whole(experiment))
		return;
	unrecorded_find(experiment, &list);
	for (size_t i = 0; i < list.items.count; i++) {
		const struct unrecorded *unrecorded = &list.items.items[i];
		struct process process = {.path = experiment->path,
					  .folder = experiment->folder,
					  .directory = "",
					  .lineage = unrecorded->lineage,
					  .is_unrecorded = true};

		process.name = arena_printf(&experiment->arena, "%s/%s", experiment->name,
					    unrecorded->lineage);
		fill_log(&process.log, &experiment->arena, unrecorded);
		fill_map(&process.map, arena_printf(&experiment->arena, UNRECORDED_PREFIX "%s>",
						    unrecorded->name));
		fill_profile(&process, unrecorded);
		*vec_push(&experiment->processes) = process;
	}
	qsort(experiment->processes.items, experiment->processes.count,
	      sizeof(*experiment->processes.items), compare_lineages);
	vec_fini(&list.items);
}
