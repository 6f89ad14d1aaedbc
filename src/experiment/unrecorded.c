/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descendants that could not be recorded (static, setuid, left alone) still end, and who awaits
 * one knows what CPU time it used, together with all children that it awaited itself.  Taken off
 * are those of them that are known by themselves; what is left was used where nothing was
 * recorded:
 * - by a process without an experiment, or after an exec that left none, or after it was left
 *   alone: it has the program's name;
 * - by children of a recorded process that it awaited out of the collector's sight (by a system
 *   call of its own, in system(3)): the process knows their sum;
 * - by a process that was recorded before, and again when that program had executed another one:
 *   the next image knows what the process had used by then.
 * Of a process that nobody awaited only its name is known.
 * What a recorded process used before its recording began and after it ended is not meant.
 */
#include "experiment/unrecorded.h"

#include "base/path.h"
#include "experiment/before.h"
#include "experiment/lives.h"

#include <stdlib.h>
#include <string.h>

enum { SINGLE_LIMIT = 1000 }; /* processes that are shown one by one */

struct farewell {
	const struct log_event *event;
	uint32_t earlier; /* with the same process id, or HASH_NONE */
};

struct finder {
	struct lives *lives;
	struct unrecorded_list *list;
	VEC(struct farewell) farewells;
	VEC(uint32_t) last_farewell; /* of a process id, by its number in `by_pid` */
	struct hash_map by_pid;
	uint32_t *child, *sibling; /* by index of a life: of those that have one awaiter */
};

/* ---- what was used where ---- */

/* CPU time that all its images account for, from the begin of the process on. */
static uint64_t seen_us(const struct life *life)
{
	if (!life->last)
		return 0;
	return life->last->log.counters.has_process_cpu
		       ? life->last->log.counters.process_cpu_ns / 1000
		       : lives_earlier_us(life) + lives_read_use(life->last).cpu_us;
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

/* What processes without a log of their own wrote into the founder's before they ended. */
static void find_farewells(struct finder *finder)
{
	const struct experiment_log *founder = &finder->lives->experiment->processes.items[0].log;
	uint64_t pid;

	for (size_t i = 0; i < founder->events.count; i++) {
		const struct log_event *event = &founder->events.items[i];

		if (!log_event_is(event, "left_alone") || !log_event_number(event, "pid", &pid))
			continue;

		uint32_t number =
			hash_map_put(&finder->by_pid, pid, (uint32_t)finder->last_farewell.count);

		if (number == finder->last_farewell.count)
			*vec_push(&finder->last_farewell) = HASH_NONE;
		*vec_push(&finder->farewells) =
			(struct farewell){event, finder->last_farewell.items[number]};
		finder->last_farewell.items[number] = (uint32_t)finder->farewells.count - 1;
	}
}

static const struct log_event *find_farewell(const struct finder *finder, const struct life *life)
{
	uint32_t number = hash_map_get(&finder->by_pid, (uint64_t)life->pid);
	uint32_t index = number == HASH_NONE ? HASH_NONE : finder->last_farewell.items[number];

	for (; index != HASH_NONE; index = finder->farewells.items[index].earlier) {
		const struct log_event *event = finder->farewells.items[index].event;

		if (event->time_ns >= life->begin_ns &&
		    (!life->has_end || event->time_ns <= life->end_ns))
			return event;
	}
	return NULL;
}

static struct unrecorded describe(const struct finder *finder, const struct life *life)
{
	const struct log_event *farewell = find_farewell(finder, life);
	const char *name = log_event_attribute(life->named, "name") || !farewell
				   ? name_of(life)
				   : log_event_attribute(farewell, "name"),
		   *lineage = log_event_attribute(life->named, "lineage");

	if (!lineage)
		lineage = arena_printf(&finder->lives->experiment->arena, "%s_u%zu",
				       life->teller->lineage, finder->list->items.count + 1);
	return (struct unrecorded){
		.name = path_name(name),
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
	unrecorded.user_us = profile_user_part(us, user, system);
	unrecorded.system_us = us - unrecorded.user_us;
	*vec_push(&finder->list->items) = unrecorded;
}

/* Time of which a process is all that is known: it has that name with words before or behind. */
static struct unrecorded describe_rest(const struct finder *finder, const struct life *life,
				       const char *before, const char *behind)
{
	struct arena *arena = &finder->lives->experiment->arena;
	const struct experiment_log *log = &life->last->log;
	const char *program = log->executable && *log->executable ? log->executable : "?";

	return (struct unrecorded){
		.name = arena_printf(arena, "%s%s%s", before, path_name(program), behind),
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
 * little is nobody's: it is more on a slow or busy machine, as is what a program uses before its
 * recording begins.
 */
static void report_rest(struct finder *finder, const struct life *life, uint32_t index)
{
	enum { END_OF_CHILD_US = 1000, LEAST_PROGRAM_US = 100 };
	struct life *parent = &finder->lives->items.items[index];
	const struct log_counters *counters = &life->last->log.counters;
	uint64_t all_us = counters->children_user_us + counters->children_system_us;
	uint64_t known_us = life->below_us + END_OF_CHILD_US;
	uint64_t recorded_us = life->below_us + LEAST_PROGRAM_US;
	uint64_t slow_us = (counters->before_user_us + counters->before_system_us) / 2;
	const struct life *only = NULL;
	bool several = false, some_recorded = false;

	for (uint32_t i = finder->child[index]; all_us > recorded_us && i != NO_LIFE;
	     i = finder->sibling[i]) {
		const struct life *child = &finder->lives->items.items[i];

		if (child->has_usage)
			continue;
		known_us += END_OF_CHILD_US;
		if (is_unseen(child)) {
			several |= only && strcmp(name_of(only), name_of(child)) != 0;
			only = child;
		} else {
			recorded_us += END_OF_CHILD_US;
			some_recorded = true;
		}
	}
	if (some_recorded)
		known_us += slow_us;
	parent->tells_children = all_us > recorded_us;
	if (all_us > known_us)
		report(finder,
		       only && !several ? describe(finder, only)
					: describe_rest(finder, life, "started by ", ""),
		       all_us - life->below_us, counters->children_user_us,
		       counters->children_system_us);
}

/* All that its children used which it awaited: what the process itself says, if it does. */
static uint64_t children_us(const struct life *life)
{
	const struct log_counters *counters = life->last ? &life->last->log.counters : NULL;

	return counters && counters->has_children && !life->leaves
		       ? counters->children_user_us + counters->children_system_us
		       : life->below_us;
}

/* What a life has in the sum of who awaited it. */
static uint64_t total_us(const struct life *life)
{
	return life->has_usage ? life->user_us + life->system_us
			       : seen_us(life) + children_us(life);
}

/*
 * A process that ended by a system call of its own (Go) has not told what its children used, or
 * only what they had when it was last looked at.  What is more than its threads can have used since
 * their last events is theirs.
 */
static void report_unclosed(struct finder *finder, struct life *life)
{
	uint64_t most_us, rest_us = lives_rest_us(finder->lives, life, &most_us);

	life->tells_children = rest_us > most_us && !life->number;
	if (life->tells_children)
		report(finder, describe_rest(finder, life, "", " or what it started"), rest_us,
		       life->user_us, life->system_us);
}

static void account(struct finder *finder, uint32_t index)
{
	struct life *life = &finder->lives->items.items[index];
	uint64_t known_us = seen_us(life) + life->below_us;

	if (is_unseen(life)) {
		life->tells_children = life->has_usage;
		if (life->has_usage && total_us(life) > known_us)
			report(finder, describe(finder, life), total_us(life) - known_us,
			       life->user_us, life->system_us);
		return;
	}
	if (life->last->log.counters.has_children)
		report_rest(finder, life, index);
	if (!life->last->log.counters.present)
		report_unclosed(finder, life);
}

/* Whether its CPU time is in no row, however much it was. */
static bool is_untold(const struct finder *finder, const struct life *life)
{
	return is_unseen(life) && !life->has_usage && !life->was_awaited &&
	       (life->awaiter == NO_LIFE ||
		!finder->lives->items.items[life->awaiter].tells_children);
}

static void report_untold(struct finder *finder)
{
	for (size_t i = 0; i < finder->lives->items.count; i++) {
		const struct life *life = &finder->lives->items.items[i];

		if (!is_untold(finder, life))
			continue;
		struct unrecorded unrecorded = describe(finder, life);

		unrecorded.is_untold = true;
		report(finder, unrecorded, 0, 0, 0);
	}
}

/* Children before their parents; `order` ends as that. */
static void order_lives(const struct finder *finder, uint32_t *order)
{
	size_t count = finder->lives->items.count, done = 0;
	uint32_t *children = xcalloc(count + 1, sizeof(*children));
	uint32_t *stack = xcalloc(count + 1, sizeof(*stack)), top = 0;

	for (size_t i = 0; i < count; i++)
		if (finder->lives->items.items[i].awaiter != NO_LIFE)
			children[finder->lives->items.items[i].awaiter]++;
	for (uint32_t i = 0; i < count; i++)
		if (!children[i])
			stack[top++] = i;
	while (top) {
		uint32_t index = stack[--top], parent = finder->lives->items.items[index].awaiter;

		order[done++] = index;
		if (parent != NO_LIFE && !--children[parent])
			stack[top++] = parent;
	}
	while (done < count) /* a log that makes a circle of lives tells nothing of them */
		order[done++] = NO_LIFE;
	free(children);
	free(stack);
}

static void find_children(struct finder *finder)
{
	size_t count = finder->lives->items.count;

	finder->child = xcalloc(count + 1, sizeof(*finder->child));
	finder->sibling = xcalloc(count + 1, sizeof(*finder->sibling));
	for (size_t i = 0; i < count; i++)
		finder->child[i] = NO_LIFE;
	for (size_t i = count; i-- > 0;) { /* the first one first */
		uint32_t awaiter = finder->lives->items.items[i].awaiter;

		if (awaiter == NO_LIFE)
			continue;
		finder->sibling[i] = finder->child[awaiter];
		finder->child[awaiter] = (uint32_t)i;
	}
}

/* ---- what was between two images of a process ---- */

static struct unrecorded describe_between(const struct finder *finder,
					  const struct between *between)
{
	struct life life = {.pid = between->next->log.pid,
			    .begin_ns = between->exec->time_ns,
			    .has_end = true,
			    .end_ns = between->next->log.start_ns};
	const struct log_event *farewell = find_farewell(finder, &life);
	const char *name = log_event_attribute(between->exec, "name");

	return (struct unrecorded){
		.name = path_name(name),
		.program = name,
		.reason = farewell ? log_event_attribute(farewell, "reason") : NULL,
		.lineage = arena_printf(&finder->lives->experiment->arena, "%s_u%zu",
					between->teller->lineage, finder->list->items.count + 1),
		.ppid = between->next->log.ppid,
		.pid = life.pid,
		.begin_ns = life.begin_ns,
		.end_ns = life.end_ns,
	};
}

/* It is in the CPU time of the next image's process, and so in no other row. */
static void account_between(struct finder *finder)
{
	struct between_list list;

	before_find_between(finder->lives->experiment, &list);
	for (size_t i = 0; i < list.items.count; i++) {
		const struct between *between = &list.items.items[i];
		uint64_t us = between->user_us + between->system_us;

		if (us)
			report(finder, describe_between(finder, between), us, between->user_us,
			       between->system_us);
	}
	vec_fini(&list.items);
}

static void account_all(struct finder *finder)
{
	uint32_t *order = xcalloc(finder->lives->items.count + 1, sizeof(*order));

	find_farewells(finder);
	find_children(finder);
	order_lives(finder, order);
	for (size_t i = 0; i < finder->lives->items.count && order[i] != NO_LIFE; i++) {
		const struct life *life = &finder->lives->items.items[order[i]];

		account(finder, order[i]);
		if (life->awaiter != NO_LIFE)
			finder->lives->items.items[life->awaiter].below_us += total_us(life);
	}
	free(order);
	report_untold(finder);
	account_between(finder);
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
	struct finder finder = {.lives = experiment->lives, .list = list};

	*list = (struct unrecorded_list){0};
	if (!is_followed(experiment))
		return;
	lives_find_awaiters(finder.lives);
	account_all(&finder);
	vec_fini(&finder.farewells);
	vec_fini(&finder.last_farewell);
	hash_map_fini(&finder.by_pid);
	free(finder.child);
	free(finder.sibling);
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
		arena, "nothing was recorded here (%s): %s",
		unrecorded->reason ? unrecorded->reason : "a static, Go or setuid program?",
		unrecorded->is_untold ? "its CPU time is not known, for nobody awaited it"
				      : "only the CPU time is known");
}

static void fill_log(struct experiment_log *log, struct arena *arena,
		     const struct unrecorded *unrecorded)
{
	add_warning(log, arena, unrecorded);
	log->present = log->closed = log->has_process = true;
	log->pid = unrecorded->pid;
	log->ppid = unrecorded->ppid;
	log->executable = unrecorded->program ? unrecorded->program : unrecorded->name;
	*vec_push(&log->arguments) = arena_strdup(arena, log->executable); /* all that is known */
	*vec_push(&log->arguments) = NULL;
	log->arguments.count--;
	log->lineage = unrecorded->lineage;
	log->start_ns = unrecorded->begin_ns;
	log->last_ns = unrecorded->end_ns;
	log->ended = true;
	log->has_status = unrecorded->has_status;
	log->exit_status = unrecorded->exit_status;
	log->exit_signal = unrecorded->exit_signal;
}

/* A function for each program; number_of: those of the processes. */
static void fill_map(struct process *process, struct arena *arena, const struct unrecorded *items,
		     size_t count, uint32_t *number_of)
{
	enum { START = 0x1000 };
	struct experiment_map *map = &process->map;
	struct string_table names = {0};

	map->present = map->closed = true;
	for (size_t i = 0; i < count; i++) {
		uint32_t number = number_of[i] = string_table_add(&names, items[i].name);
		uint64_t address = START + number;

		if (number < map->functions.count)
			continue;
		*vec_push(&map->functions) = (struct map_function){
			.name = arena_printf(arena, UNRECORDED_PREFIX "%s>", items[i].name),
			.alias = "",
			.source = "",
			.object = "<not recorded>",
			.address = address,
			.size = 1};
		*vec_push(&map->segments) = (struct map_segment){.start = address,
								 .end = address + 1,
								 .last_epoch = UINT32_MAX,
								 .file = MAP_NONE,
								 .function = number};
	}
	string_table_fini(&names);
	experiment_map_sort(map);
}

/* The processes by their ends. */
static void fill_profile(struct process *process, const struct unrecorded *items, size_t count,
			 const uint32_t *number_of)
{
	struct stack_builder builder;
	struct profile_event *events = xcalloc(2 * count, sizeof(*events));

	stack_builder_init(&builder, &process->stacks);
	for (size_t i = 0; i < count; i++) {
		uint64_t end_us = items[i].end_ns / 1000;
		uint64_t pc = process->map.functions.items[number_of[i]].address;
		uint32_t node = stack_builder_node(&builder, STACK_ROOT,
						   stack_builder_location(&builder, pc, 0));

		events[2 * i] = (struct profile_event){1,    end_us,	     items[i].user_us,
						       node, PROFILE_NO_CPU, FORMAT_STATE_USER};
		events[2 * i + 1] = (struct profile_event){
			1, end_us, items[i].system_us, node, PROFILE_NO_CPU, FORMAT_STATE_SYSTEM};
	}
	stack_builder_fini(&builder);
	process->stacks.present = process->profile.present = true;
	experiment_profile_add_thread(&process->profile, 1, (uint64_t)process->log.pid);
	experiment_profile_fill(&process->profile, events, 2 * count);
	free(events);
}

/* All of them as one process, which is described by `whole`. */
static void add_process(struct experiment *experiment, const struct unrecorded *whole,
			const struct unrecorded *items, size_t count)
{
	uint32_t *number_of = xcalloc(count, sizeof(*number_of));
	struct process process = {.path = experiment->path,
				  .folder = experiment->folder,
				  .directory = "",
				  .lineage = whole->lineage,
				  .is_unrecorded = true,
				  .is_untold = whole->is_untold};

	process.name = arena_printf(&experiment->arena, "%s/%s", experiment->name, whole->lineage);
	fill_log(&process.log, &experiment->arena, whole);
	fill_map(&process, &experiment->arena, items, count, number_of);
	fill_profile(&process, items, count, number_of);
	*vec_push(&experiment->processes) = process;
	free(number_of);
}

static int compare_use(const void *a, const void *b)
{
	const struct unrecorded *x = a, *y = b;
	uint64_t x_us = x->user_us + x->system_us, y_us = y->user_us + y->system_us;

	return x_us != y_us ? (x_us < y_us) - (x_us > y_us) : strverscmp(x->lineage, y->lineage);
}

static int compare_ends(const void *a, const void *b)
{
	const struct unrecorded *x = a, *y = b;

	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* A process costs many times the line of a log that tells of it: the smallest are one. */
static void add_rest(struct experiment *experiment, struct unrecorded *items, size_t count)
{
	struct arena *arena = &experiment->arena;
	const struct process *founder = &experiment->processes.items[0];

	qsort(items, count, sizeof(*items), compare_ends);
	struct unrecorded whole = {.program = arena_printf(arena, "%zu others", count),
				   .lineage = arena_printf(arena, "%s_uothers", founder->lineage),
				   .ppid = founder->log.pid,
				   .begin_ns = UINT64_MAX,
				   .end_ns = items[count - 1].end_ns};

	for (size_t i = 0; i < count; i++)
		if (items[i].begin_ns < whole.begin_ns)
			whole.begin_ns = items[i].begin_ns;
	add_process(experiment, &whole, items, count);
}

static int compare_lineages(const void *a, const void *b)
{
	return strverscmp(((const struct process *)a)->lineage,
			  ((const struct process *)b)->lineage);
}

void unrecorded_add(struct experiment *experiment)
{
	struct unrecorded_list list;

	if (!lives_are_whole(experiment))
		return;
	unrecorded_find(experiment, &list);
	if (list.items.count) { /* the processes move */
		lives_free(experiment->lives);
		experiment->lives = NULL;
	}
	size_t single = list.items.count;

	if (single > SINGLE_LIMIT) {
		single = SINGLE_LIMIT;
		qsort(list.items.items, list.items.count, sizeof(*list.items.items), compare_use);
	}
	for (size_t i = 0; i < single; i++)
		add_process(experiment, &list.items.items[i], &list.items.items[i], 1);
	if (single < list.items.count)
		add_rest(experiment, list.items.items + single, list.items.count - single);
	qsort(experiment->processes.items, experiment->processes.count,
	      sizeof(*experiment->processes.items), compare_lineages);
	vec_fini(&list.items);
}
