/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is whose child is found by process ids, but a process that was not recorded may have started
 * others that were not, and they one that was: its parent is in no log.  The names that processes
 * are given (their lineages) lead past these: each passes the name on that it found.
 */
#include "experiment/lives.h"

#include "format/lineage.h"

#include <stdlib.h>
#include <string.h>

/* So many lives of one number are looked at for an event: real ones are fewer by far. */
enum { LOOKS = 100 };

static uint32_t add_life(struct lives *lives, int64_t pid)
{
	uint32_t index = (uint32_t)lives->items.count;
	struct life *life = vec_push(&lives->items);

	*life = (struct life){
		.pid = pid, .awaiter = NO_LIFE, .same_pid = NO_LIFE, .unended_ns = UINT64_MAX};
	return index;
}

/* The first life with a process id stands in the map, the others behind it in no order. */
static void file_life(struct lives *lives, uint32_t index)
{
	struct life *life = &lives->items.items[index];
	uint32_t first = hash_map_put(&lives->by_pid, (uint64_t)life->pid, index);

	if (first == index)
		return;
	life->same_pid = lives->items.items[first].same_pid;
	lives->items.items[first].same_pid = index;
}

static int by_own_pid(const void *a, const void *b, void *data)
{
	const struct lives *lives = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t own_x = lives->items.items[x].first->log.own_pid;
	int64_t own_y = lives->items.items[y].first->log.own_pid;

	if (own_x != own_y)
		return own_x < own_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Those whose ends are looked for: of most their own logs tell. */
static void sort_own(struct lives *lives)
{
	for (uint32_t i = 0; i < lives->items.count; i++) {
		const struct life *life = &lives->items.items[i];

		if (life->first->log.own_pid != life->pid && !life->has_end)
			*vec_push(&lives->by_own) = i;
	}
	if (lives->by_own.count)
		qsort_r(lives->by_own.items, lives->by_own.count, sizeof(*lives->by_own.items),
			by_own_pid, lives);
}

/* Of the lives with a process id the last to begin by `time_ns`, among those that no log ends, or
 * not before that. */
static uint32_t find_life(const struct lives *lives, int64_t pid, uint64_t time_ns, bool open)
{
	uint32_t found = NO_LIFE, index = hash_map_get(&lives->by_pid, (uint64_t)pid);

	for (unsigned i = 0; index != NO_LIFE && i < LOOKS;
	     i++, index = lives->items.items[index].same_pid) {
		const struct life *life = &lives->items.items[index];
		bool over = life->has_end && (open || life->end_ns < time_ns);

		if (life->begin_ns <= time_ns && !over &&
		    (found == NO_LIFE || life->begin_ns > lives->items.items[found].begin_ns))
			found = index;
	}
	return found;
}

static uint32_t life_of_lineage(const struct lives *lives, const char *lineage, size_t length)
{
	char *text = xstrndup(lineage, length);
	uint32_t number = string_table_find(&lives->lineages, text);

	free(text);
	return number == HASH_NONE ? NO_LIFE : lives->life_of.items[number];
}

/* The nearest that was recorded: a child of vfork has no image before its exec. */
static uint32_t nearest_in_lineage(const struct lives *lives, const char *lineage)
{
	uint32_t found = NO_LIFE;

	for (size_t length = strlen(lineage); length && found == NO_LIFE; length--)
		if (lineage[length - 1] == '_')
			found = life_of_lineage(lives, lineage, length - 1);
	return found;
}

/* What an image was before its last exec, if that was recorded, or the life that it came from. */
static uint32_t life_before(const struct lives *lives, const char *lineage)
{
	size_t length;

	return lineage_step(lineage, &length) ? life_of_lineage(lives, lineage, length) : NO_LIFE;
}

static void add_image(struct lives *lives, const struct process *process)
{
	bool goes_on = experiment_image_before(lives->experiment, process);
	uint32_t index =
		goes_on ? life_before(lives, process->lineage) : add_life(lives, process->log.pid);
	struct life *life = &lives->items.items[index];

	if (string_table_add(&lives->lineages, process->lineage) == lives->life_of.count)
		*vec_push(&lives->life_of) = index;
	life->earlier = life->last;
	life->last = process;
	if (goes_on)
		return;
	life->first = process;
	life->begin_ns = process->log.start_ns;
	file_life(lives, index);
}

/* The exec that ended an image, or what says that it was left alone; NULL: neither. */
static const struct log_event *find_leaving(const struct experiment_log *log)
{
	const struct log_event *found = NULL;
	uint64_t pid;

	for (size_t i = 0; i < log->events.count; i++) {
		const struct log_event *event = &log->events.items[i];

		if (log_event_is(event, "exec") ||
		    (log_event_is(event, "left_alone") && log_event_number(event, "pid", &pid) &&
		     (int64_t)pid == log->pid))
			found = event;
		else if (log_event_is(event, "exec_failed") && found && log_event_is(found, "exec"))
			found = NULL;
	}
	return found;
}

static void note_leaving(struct life *life)
{
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
	log_event_number(event, "status", &status);
	log_event_number(event, "signal", &number);
	life->status = (int)status;
	life->number = (int)number;
	life->has_usage = log_event_number(event, "user_us", &life->user_us) &&
			  log_event_number(event, "system_us", &life->system_us);
}

static void note_awaited(struct life *life, const struct log_event *event, uint32_t awaiter)
{
	note_end(life, event);
	life->was_awaited = true;
	life->awaiter = awaiter;
}

/* The first of by_own that calls itself `pid` and comes after a process. */
static size_t first_own_after(const struct lives *lives, const struct process *process, int64_t pid)
{
	size_t low = 0, high = lives->by_own.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct process *first = lives->items.items[lives->by_own.items[middle]].first;
		int64_t own = first->log.own_pid;

		if (own < pid || (own == pid && first <= process))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool descends_from(const struct process *process, const struct process *ancestor)
{
	size_t length = strlen(ancestor->lineage);

	return !strncmp(process->lineage, ancestor->lineage, length) &&
	       process->lineage[length] == '_';
}

/*
 * In a namespace of process ids it may be known by another one.  It descends from who awaits it:
 * these stand behind that one, before all others.
 */
static uint32_t find_in_namespace(const struct lives *lives, const struct process *teller,
				  uint64_t pid, uint64_t time_ns)
{
	size_t at = first_own_after(lives, teller, (int64_t)pid);

	for (unsigned i = 0; i < LOOKS && at + i < lives->by_own.count; i++) {
		uint32_t index = lives->by_own.items[at + i];
		const struct life *life = &lives->items.items[index];

		if (life->first->log.own_pid != (int64_t)pid || !descends_from(life->first, teller))
			break;
		if (!life->has_end && life->begin_ns <= time_ns)
			return index;
	}
	return NO_LIFE;
}

/* A child that was awaited, and has no experiment under its process id. */
struct unseen {
	const struct process *teller;
	const struct log_event *event, *word; /* its end; the latest that named it, or NULL */
	uint64_t pid;
	uint32_t parent;
};
struct unseen_list {
	VEC(struct unseen) items;
};

/* The latest event about each child in its parent's log so far. */
struct last_mentions {
	struct hash_map by_pid;
	VEC(const struct log_event *) items;
};

/* Where it stands, or is to be put. */
static const struct log_event **mention_of(struct last_mentions *last, uint64_t pid)
{
	uint32_t index = hash_map_put(&last->by_pid, pid, (uint32_t)last->items.count);

	if (index == last->items.count)
		*vec_push(&last->items) = NULL;
	return &last->items.items[index];
}

static void read_child(struct lives *lives, struct unseen_list *list, struct unseen child)
{
	uint32_t life = find_life(lives, (int64_t)child.pid, child.event->time_ns, true);

	if (life == NO_LIFE)
		*vec_push(&list->items) = child;
	else
		note_awaited(&lives->items.items[life], child.event, child.parent);
}

static void read_ends(struct lives *lives, struct unseen_list *list, const struct process *process)
{
	const struct experiment_log *log = &process->log;
	uint32_t own = life_of_lineage(lives, process->lineage, strlen(process->lineage));
	struct last_mentions last = {0};
	uint64_t pid, status;

	for (size_t i = 0; i < log->events.count; i++) {
		const struct log_event *event = &log->events.items[i];

		if (log_event_is(event, "exit") && log_event_number(event, "status", &status)) {
			note_end(&lives->items.items[own], event);
		} else if (log_event_is(event, "reaped") && log_event_number(event, "pid", &pid)) {
			const struct log_event **word = mention_of(&last, pid);

			read_child(lives, list, (struct unseen){process, event, *word, pid, own});
			*word = NULL;
		} else if ((log_event_is(event, "child_exec") || log_event_is(event, "spawn") ||
			    log_event_is(event, "left_alone")) &&
			   log_event_number(event, "pid", &pid)) {
			*mention_of(&last, pid) = event;
		}
	}
	hash_map_fini(&last.by_pid);
	vec_fini(&last.items);
}

/* Leaves those that are not known in a namespace either. */
static void find_in_namespaces(struct lives *lives, struct unseen_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->items.count; i++) {
		const struct unseen *unseen = &list->items.items[i];
		uint32_t known = find_in_namespace(lives, unseen->teller, unseen->pid,
						   unseen->event->time_ns);

		if (known == NO_LIFE)
			list->items.items[kept++] = *unseen;
		else
			note_awaited(&lives->items.items[known], unseen->event, unseen->parent);
	}
	list->items.count = kept;
}

static void note_unended(struct lives *lives)
{
	for (size_t i = 0; i < lives->items.count; i++) {
		const struct life *life = &lives->items.items[i];
		uint32_t before = life_before(lives, life->first->lineage);
		uint64_t *parents =
			before == NO_LIFE ? NULL : &lives->items.items[before].unended_ns;

		if (parents && !life->has_end && life->last->log.last_ns < *parents)
			*parents = life->last->log.last_ns;
	}
}

static void add_unseen(struct lives *lives, const struct unseen *unseen)
{
	/* without a name it may be one that is known by a number which nobody else knows */
	if (!unseen->word &&
	    lives->items.items[unseen->parent].unended_ns <= unseen->event->time_ns)
		return;

	uint32_t index = add_life(lives, (int64_t)unseen->pid);
	struct life *life = &lives->items.items[index];

	life->teller = unseen->teller;
	life->named = unseen->word;
	life->begin_ns = unseen->word ? unseen->word->time_ns : unseen->teller->log.start_ns;
	note_awaited(life, unseen->event, unseen->parent);
	file_life(lives, index);
}

/* ---- who awaited the others ---- */

static void note_names(struct lives *lives)
{
	for (size_t i = 0; i < lives->items.count; i++) {
		const char *name = log_event_attribute(lives->items.items[i].named, "lineage");

		if (name && string_table_add(&lives->names, name) == lives->named_life.count)
			*vec_push(&lives->named_life) = (uint32_t)i;
	}
}

char *lives_given_name(const struct process *process)
{
	const char *lineage = process->lineage;
	size_t length = strlen(lineage);

	while (length && lineage[length - 1] >= '0' && lineage[length - 1] <= '9')
		length--;

	uint64_t number = strtoull(lineage + length, NULL, 10) - process->log.names_taken;

	return xasprintf("%.*s%llu", (int)length, lineage, (unsigned long long)number);
}

/* Who was not recorded and had the name that this image found, before it was taken. */
static uint32_t find_namesake(const struct lives *lives, const struct process *process)
{
	char *name = lives_given_name(process);
	uint32_t found = string_table_find(&lives->names, name);

	free(name);
	return found == HASH_NONE ? NO_LIFE : lives->named_life.items[found];
}

/* Process ids of a namespace are others; a parent that is in no log has an ancestor there. */
static uint32_t find_parent(const struct lives *lives, uint32_t index)
{
	const struct life *life = &lives->items.items[index];
	uint32_t parent = life->first->log.ppid
				  ? find_life(lives, life->first->log.ppid, life->begin_ns, false)
				  : NO_LIFE;

	if (parent == NO_LIFE || parent == index)
		parent = find_namesake(lives, life->first);
	if (parent == NO_LIFE || parent == index ||
	    lives->items.items[parent].begin_ns > life->begin_ns)
		parent = nearest_in_lineage(lives, life->first->lineage);
	return parent == index ? NO_LIFE : parent;
}

struct image_use lives_read_use(const struct process *process)
{
	struct diag_list unheard = {0};
	struct read_context context = process_context(process, &unheard);
	struct experiment_profile own = {0};
	const struct experiment_profile *profile = &process->profile;

	if (!profile->present) { /* only the logs were read so far */
		experiment_profile_read(&own, &context);
		profile = &own;
	}

	struct image_use use = {.events = profile->event_count,
				.last_ns = profile->last_us * 1000,
				.threads = profile->threads.count,
				.cpu_us = profile->state_us[FORMAT_STATE_USER] +
					  profile->state_us[FORMAT_STATE_SYSTEM] +
					  profile->state_us[FORMAT_STATE_TRAP]};

	experiment_profile_fini(&own);
	diag_fini(&unheard);
	return use;
}

uint64_t lives_earlier_us(const struct life *life)
{
	return life->earlier ? life->earlier->log.counters.process_cpu_ns / 1000 : 0;
}

bool lives_are_whole(const struct experiment *experiment)
{
	const struct experiment_log *founder = &experiment->processes.items[0].log;
	const char *clock = experiment_log_setting(founder, "clock");

	if (experiment_log_setting(founder, "window") || !clock || log_clock_is_off(clock))
		return false;
	for (size_t i = 0; i < experiment->processes.count; i++)
		for (size_t k = 0; k < experiment->processes.items[i].log.events.count; k++)
			if (log_event_is(&experiment->processes.items[i].log.events.items[k],
					 "pause"))
				return false;
	return true;
}

/*
 * The longest time of one thread that waits for a tick to write it: a young one has up to an
 * interval on both sides of its ticks, which jitter, and come with the kernel's where it waits.
 */
static uint64_t longest_rest_us(const struct lives *lives)
{
	enum { KERNEL_TICK_US = 4000 };
	const char *clock =
		experiment_log_setting(&lives->experiment->processes.items[0].log, "clock");
	uint64_t interval_us = log_clock_us(clock);

	if (!interval_us || interval_us > UINT32_MAX)
		return 0;
	return (interval_us > KERNEL_TICK_US ? interval_us : KERNEL_TICK_US) * 5 / 2;
}

uint64_t lives_rest_us(const struct lives *lives, const struct life *life, uint64_t *most_us)
{
	enum { END_US = 10000 }; /* and a twentieth: the kernel's work at begin and end */
	const struct log_left *left = &life->last->log.left;
	uint64_t before_us = left->before_user_us + left->before_system_us;
	uint64_t earlier_us = lives_earlier_us(life);
	uint64_t children_us = left->children_user_us + left->children_system_us;
	uint64_t all_us = life->user_us + life->system_us, thread_us = longest_rest_us(lives);

	*most_us = 0;
	if (life->last->log.counters.present || life->leaves || !life->has_usage || !thread_us)
		return 0;
	if (children_us < life->below_us)
		children_us = life->below_us;

	struct image_use use = lives_read_use(life->last);
	uint64_t known_us = (before_us > earlier_us ? before_us : earlier_us) + use.cpu_us +
			    children_us + left->collector_us;

	*most_us = END_US + thread_us * (use.threads + 1) + all_us / 20;
	return all_us > known_us ? all_us - known_us : 0;
}

/* A process that still runs, or was killed, has said nothing else in its log. */
static uint64_t last_seen_ns(const struct process *process)
{
	uint64_t log_ns = process->log.last_ns;
	uint64_t event_ns = process->log.ended ? 0 : lives_read_use(process).last_ns;

	return event_ns > log_ns ? event_ns : log_ns;
}

/* Whether a life went on after its parent's end, so that this has not awaited it. */
static bool has_outlived(const struct life *life, const struct life *parent)
{
	uint64_t last_ns = last_seen_ns(life->last);

	if (parent->has_end)
		return last_ns > parent->end_ns;
	return parent->last && !parent->leaves && parent->last->log.ended &&
	       last_ns > parent->last->log.last_ns;
}

/* Whether it was no descendant's child any more when its recording began. */
static bool was_left_before(const struct lives *lives, const struct experiment_log *log)
{
	const struct experiment_log *founder = &lives->experiment->processes.items[0].log;
	const char *text = experiment_log_setting(founder, "ancestors");
	char *end;

	if (log == founder || log->own_pid != log->pid)
		return false;
	for (; text && *text; text = *end ? end : NULL) {
		if (strtoll(text, &end, 10) == log->ppid && end > text)
			return true;
		if (end == text)
			break;
	}
	return false;
}

/* Of what no log says that it was awaited: by its parent, unless that ended earlier. */
static uint32_t guess_awaiter(const struct lives *lives, uint32_t index)
{
	const struct life *life = &lives->items.items[index];
	const struct log_counters *counters = &life->last->log.counters;

	if (was_left_before(lives, &life->first->log))
		return NO_LIFE;
	if (counters->has_ppid && counters->ppid != life->first->log.ppid)
		return find_life(lives, counters->ppid, life->last->log.last_ns, false);

	uint32_t parent = find_parent(lives, index);

	return parent != NO_LIFE && has_outlived(life, &lives->items.items[parent]) ? NO_LIFE
										    : parent;
}

struct lives *lives_new(struct experiment *experiment)
{
	struct lives *lives = xcalloc(1, sizeof(*lives));
	struct unseen_list list = {0};

	lives->experiment = experiment;
	for (size_t i = 0; i < experiment->processes.count; i++)
		add_image(lives, &experiment->processes.items[i]);
	for (size_t i = 0; i < lives->items.count; i++)
		note_leaving(&lives->items.items[i]);
	for (size_t i = 0; i < experiment->processes.count; i++)
		read_ends(lives, &list, &experiment->processes.items[i]);
	sort_own(lives);
	find_in_namespaces(lives, &list);
	note_unended(lives);
	for (size_t i = 0; i < list.items.count; i++)
		add_unseen(lives, &list.items.items[i]);
	vec_fini(&list.items);
	return lives;
}

void lives_find_awaiters(struct lives *lives)
{
	note_names(lives);
	for (size_t i = 0; i < lives->items.count; i++)
		if (!lives->items.items[i].was_awaited)
			lives->items.items[i].awaiter = guess_awaiter(lives, (uint32_t)i);
}

void lives_free(struct lives *lives)
{
	if (!lives)
		return;
	vec_fini(&lives->items);
	vec_fini(&lives->life_of);
	vec_fini(&lives->named_life);
	hash_map_fini(&lives->by_pid);
	vec_fini(&lives->by_own);
	string_table_fini(&lives->lineages);
	string_table_fini(&lives->names);
	free(lives);
}
