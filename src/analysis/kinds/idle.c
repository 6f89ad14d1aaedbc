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
	uint64_t all_us, lock_us, sleep_us; /* the latter: waiting for work */
};

/*
 * Of some threads of one process.  Where there are very many, they are looked at in pieces: all at
 * once would take more memory than what is recorded of them.
 */
struct thread_lives {
	bool *waits;	     /* by node of the process's stacks */
	size_t first, count; /* of the profile's threads */
	struct thread_life *of;
};
enum { PIECES = 8, PIECE_LEAST = 1 << 18 };

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

/* NULL: the thread is not of this piece. */
static struct thread_life *life_of(const struct thread_lives *lives,
				   const struct experiment_profile *profile, uint64_t thread)
{
	const struct profile_thread *known = profile_find_thread(profile, thread);
	size_t at = known ? (size_t)(known - profile->threads.items) - lives->first : SIZE_MAX;

	return at < lives->count ? &lives->of[at] : NULL;
}

/* Several threads of ours may have events of one thread. */
static void add_up(uint64_t *sum, uint64_t us)
{
	__atomic_fetch_add(sum, us, __ATOMIC_RELAXED);
}

static void count_piece(const struct scan_piece *piece, void *state)
{
	const struct event_run *run = piece->run;
	const uint8_t *chosen = piece->measuring.chosen;
	const struct thread_lives *lives = state;
	struct thread_life *life = NULL, piece_life = {0};

	if (run->kind == EVENTS_CLOCK)
		life = life_of(lives, &run->process->profile, run->thread);
	if (!life)
		return;

	const uint64_t *weights = event_field(run, PROFILE_WEIGHT);
	const uint64_t *states = event_column(run, ROW_TYPE);
	const uint32_t *stacks = event_stacks(run);

	for (size_t row = 0; row < run->count; row++) {
		if (chosen && !chosen[row])
			continue;
		piece_life.all_us += weights[row];
		if (!lives->waits[stacks[row]])
			continue;
		piece_life.lock_us += states[row] == FORMAT_STATE_USER_LOCK ? weights[row] : 0;
		piece_life.sleep_us += states[row] == FORMAT_STATE_SLEEP ? weights[row] : 0;
	}
	add_up(&life->all_us, piece_life.all_us);
	add_up(&life->lock_us, piece_life.lock_us);
	add_up(&life->sleep_us, piece_life.sleep_us);
}

/* The first thread is in no pool: it waits for an answer, or for the others' end. */
static void judge(const struct thread_lives *lives, const struct session_process *process,
		  struct idle_threads *idle)
{
	const struct profile_thread *threads = process->process->profile.threads.items;

	for (size_t i = 0; i < lives->count; i++) {
		const struct thread_life *life = &lives->of[i];

		if (threads[lives->first + i].number == process->first_thread ||
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
	size_t threads = scan_threads(), count = process->process->profile.threads.count;
	size_t most = count / PIECES > PIECE_LEAST ? count / PIECES + 1 : PIECE_LEAST;
	struct thread_lives lives = {.waits = find_waits(tally->session, process)};
	void **states = xcalloc(threads, sizeof(*states));

	for (size_t i = 0; i < threads; i++)
		states[i] = &lives;
	for (; lives.first < count; lives.first += most) {
		lives.count = count - lives.first < most ? count - lives.first : most;
		lives.of = xcalloc(lives.count, sizeof(*lives.of));
		scan_process(tally, process, count_piece, states);
		judge(&lives, process, idle);
		free(lives.of);
	}
	free(states);
	free(lives.waits);
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
