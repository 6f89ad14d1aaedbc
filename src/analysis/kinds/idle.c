/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call that waits for work is told by its name, in the C library or whatever wraps it; what
 * it calls in the same load object belongs to it.  Not so the mutex that is taken again at the
 * end of a wait for a condition, where symbols tell it.
 */
#include "analysis/kinds/idle.h"

#include "analysis/session/scan.h"
#include "analysis/session/symbols.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* What a thread did. */
struct thread_life {
	uint64_t thread;		    /* its number */
	uint64_t all_us, lock_us, sleep_us; /* the latter: waiting for work */
};

/* Of one process, by one thread of the scan. */
struct thread_lives {
	const bool *waits;	 /* by node of its stacks */
	struct hash_map numbers; /* thread → place in … */
	VEC(struct thread_life) of;
};

/* "___pthread_cond_wait", "__new_sem_wait_slow64.constprop.0", "epoll_wait". */
static bool waits_for_work(const char *name)
{
	static const char *const calls[] = {
		"pthread_cond_wait",
		"pthread_cond_timedwait",
		"pthread_cond_clockwait",
		"cnd_wait",
		"cnd_timedwait",
		"sem_wait",
		"sem_timedwait",
		"sem_clockwait",
		"epoll_wait",
		"epoll_pwait",
		"poll",
		"ppoll",
		"select",
		"pselect",
	};
	size_t length;

	name += strspn(name, "_");
	name += strncmp(name, "GI_", 3) ? 0 : 3;
	name += strspn(name, "_");
	name += strncmp(name, "new_sem", 7) ? 0 : 4;
	for (size_t i = 0; i < COUNT(calls); i++) {
		length = strlen(calls[i]);
		if (!strncmp(name, calls[i], length) &&
		    (!name[length] || strchr("@._", name[length])))
			return true;
	}
	return false;
}

/* The mutex of a condition, taken again when it is over. */
static bool takes_mutex(const char *name)
{
	name += strspn(name, "_");
	return !strncmp(name, "pthread_mutex_", 14) || !strncmp(name, "lll_lock_wait", 13);
}

/*
 * Locks that runtimes make of conditions.  Python's waits for conditions are all for its global
 * lock, whose functions are static; its other locks are semaphores.
 */
static bool takes_lock(const char *name)
{
	static const char *const locks[] = {
		"take_gil",	      "ObjectMonitor5enter",	 "ObjectMonitor6EnterI",
		"gvl_acquire",	      "thread_sched_to_running", "st_masterlock_acquire",
		"mono_monitor_enter", "mono_monitor_try_enter",	 "ObjectMonitor8ReenterI",
	};

	for (size_t i = 0; i < COUNT(locks); i++)
		if (strstr(name, locks[i]))
			return true;
	return false;
}

static bool is_python(const char *object)
{
	object += strncmp(object, "lib", 3) ? 0 : 3;
	return !strncmp(object, "python", 6);
}

/* By what it is to the calls below it. */
enum place_kind { PLACE_UNSEEN, PLACE_OTHER, PLACE_WAIT, PLACE_MUTEX, PLACE_LOCK };

struct place_known {
	enum place_kind kind;
	uint32_t object;
	bool is_condition, is_python;
};

static const struct place_known *place_at(struct session *session,
					  const struct session_process *process,
					  struct place_known *known, uint32_t location)
{
	struct place_known *place = &known[location];
	uint64_t address;

	if (place->kind != PLACE_UNSEEN)
		return place;
	uint32_t function = symbols_place(session, session->experiments.items[process->experiment],
					  process->process, location, &place->object, &address);
	const char *name = session->functions.items[function].mangled;

	place->kind = waits_for_work(name) ? PLACE_WAIT
		      : takes_mutex(name)  ? PLACE_MUTEX
		      : takes_lock(name)   ? PLACE_LOCK
					   : PLACE_OTHER;
	place->is_condition = place->kind == PLACE_WAIT && strstr(name, "cond_");
	place->is_python = is_python(session->objects.items[place->object].name);
	return place;
}

/* Whether a call stack waits for work, where its last call is at `place`. */
static bool waits_at(const struct place_known *place, const struct place_known *caller,
		     bool caller_waits)
{
	if (place->kind == PLACE_WAIT)
		return caller_waits || !(place->is_condition && caller->is_python);
	return caller_waits && place->kind == PLACE_OTHER && place->object == caller->object;
}

/* By node of a process's stacks, whether it waits for work there; the caller frees the array. */
static bool *find_waits(struct session *session, const struct session_process *process)
{
	const struct stack_tree *tree = &process->process->stacks;
	struct place_known *known = xcalloc(tree->locations.count + 1, sizeof(*known));
	bool *waits = xcalloc(tree->nodes.count + 1, sizeof(*waits));
	bool *locks = xcalloc(tree->nodes.count + 1, sizeof(*locks));

	for (size_t i = STACK_ROOT + 1; i < tree->nodes.count; i++) {
		const struct stack_node *node = &tree->nodes.items[i];
		const struct place_known nobody = {0}, *caller = &nobody;
		const struct place_known *place = place_at(session, process, known, node->location);

		if (node->parent != STACK_ROOT)
			caller = &known[tree->nodes.items[node->parent].location];
		locks[i] = place->kind == PLACE_LOCK || locks[node->parent];
		waits[i] = !locks[i] && waits_at(place, caller, waits[node->parent]);
	}
	free(locks);
	free(known);
	return waits;
}

static struct thread_life *life_of(struct thread_lives *lives, uint64_t thread)
{
	uint32_t fresh = (uint32_t)lives->of.count;
	uint32_t number = hash_map_put(&lives->numbers, thread, fresh);

	if (number == fresh)
		*vec_push(&lives->of) = (struct thread_life){.thread = thread};
	return &lives->of.items[number];
}

static void count_piece(const struct scan_piece *piece, void *state)
{
	const struct event_run *run = piece->run;
	const uint8_t *chosen = piece->measuring.chosen;
	struct thread_lives *lives = state;

	if (run->kind != EVENTS_CLOCK)
		return;

	const uint64_t *weights = event_field(run, PROFILE_WEIGHT);
	const uint64_t *states = event_column(run, ROW_TYPE);
	const uint32_t *stacks = event_stacks(run);
	struct thread_life *life = life_of(lives, run->thread);

	for (size_t row = 0; row < run->count; row++) {
		if (chosen && !chosen[row])
			continue;
		life->all_us += weights[row];
		if (!lives->waits[stacks[row]])
			continue;
		life->lock_us += states[row] == FORMAT_STATE_USER_LOCK ? weights[row] : 0;
		life->sleep_us += states[row] == FORMAT_STATE_SLEEP ? weights[row] : 0;
	}
}

static void add_lives(struct thread_lives *to, const struct thread_lives *from)
{
	for (size_t i = 0; i < from->of.count; i++) {
		const struct thread_life *part = &from->of.items[i];
		struct thread_life *life = life_of(to, part->thread);

		life->all_us += part->all_us;
		life->lock_us += part->lock_us;
		life->sleep_us += part->sleep_us;
	}
}

static void lives_fini(struct thread_lives *lives)
{
	hash_map_fini(&lives->numbers);
	vec_fini(&lives->of);
}

/* The first thread is in no pool: it waits for an answer, or for the others' end. */
static void judge(const struct thread_lives *lives, uint64_t first_thread,
		  struct idle_threads *idle)
{
	for (size_t i = 0; i < lives->of.count; i++) {
		const struct thread_life *life = &lives->of.items[i];

		if (life->thread == first_thread ||
		    life->lock_us + life->sleep_us <= life->all_us / 2)
			continue;
		idle->lock_threads += life->lock_us >= life->sleep_us;
		idle->sleep_threads += life->lock_us < life->sleep_us;
		idle->lock_seconds += (double)life->lock_us / 1e6;
		idle->sleep_seconds += (double)life->sleep_us / 1e6;
	}
}

static void add_process(struct tally *tally, const struct session_process *process,
			struct idle_threads *idle)
{
	size_t threads = scan_threads();
	struct thread_lives *lives = xcalloc(threads, sizeof(*lives));
	void **states = xcalloc(threads, sizeof(*states));
	bool *waits = find_waits(tally->session, process);

	for (size_t i = 0; i < threads; i++) {
		lives[i].waits = waits;
		states[i] = &lives[i];
	}
	scan_process(tally, process, count_piece, states);
	for (size_t i = 1; i < threads; i++) {
		add_lives(&lives[0], &lives[i]);
		lives_fini(&lives[i]);
	}
	judge(&lives[0], process->first_thread, idle);
	lives_fini(&lives[0]);
	free(states);
	free(lives);
	free(waits);
}

void view_idle_threads(struct session *session, const struct query *query,
		       struct idle_threads *idle)
{
	struct tally *tally = tally_of(session, query);

	*idle = (struct idle_threads){0};
	for (size_t i = 0; i < session->scanned.count; i++)
		if (session->scanned.items[i].process->profile.event_count)
			add_process(tally, &session->scanned.items[i], idle);
	tally_release(tally);
}
