/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/runtimes/omp.h"

#include "collector/arch/sys.h"
#include "collector/core/log.h"

#include <sys/mman.h>

enum {
	OWN_MAX = 1 << 14,	 /* numbers below are of one construct each */
	FUNCTIONS_MAX = 1 << 13, /* beyond: those of one kind and function have one together */
	CONSTRUCTS_MAX = OWN_MAX + FUNCTIONS_MAX,
	SLOTS = 1 << 16,
	CHAIN_MAX = 64,	       /* enclosing tasks that are compared to find recursion */
	UNKNOWN_RATE_US = 100, /* too early to tell how long a tick is */
};

/* ---- the table of constructs ---- */

struct slot {
	_Atomic uint32_t number; /* 0: free; BEING_MADE */
	uint32_t stack;
	uint32_t parent, kind;
	uint64_t function;
};

#define BEING_MADE UINT32_MAX

struct constructs {
	uint32_t generation; /* of the recording that they are of */
	_Atomic uint32_t count;
	struct slot slots[SLOTS];
	uint32_t slot_of[CONSTRUCTS_MAX]; /* by number */
	uint64_t ticks, ns;		  /* the same moment, to tell what a tick is */
};

static struct constructs *_Atomic constructs;

/* Executions are not summed. */
static bool each_execution;

static struct constructs *make_constructs(void)
{
	struct constructs *made =
		sys_mmap(sizeof(*made), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct constructs *before = NULL;

	if (!made)
		return NULL;
	made->generation = trace_generation();
	stamp_begin();
	made->ns = clock_now_ns();
	made->ticks = omp_ticks();
	if (atomic_compare_exchange_strong(&constructs, &before, made))
		return made;
	sys_munmap(made, sizeof(*made));
	return before;
}

/* Those of this recording; after a fork the parent's are forgotten. */
static struct constructs *constructs_now(void)
{
	struct constructs *now = atomic_load(&constructs);

	if (now && now->generation != trace_generation() &&
	    atomic_compare_exchange_strong(&constructs, &now, NULL)) {
		sys_munmap(now, sizeof(*now));
		now = NULL;
	}
	return now ? now : make_constructs();
}

static uint64_t to_ns(const struct constructs *of, uint64_t ticks)
{
	uint64_t ns = clock_now_ns() - of->ns, passed = omp_ticks() - of->ticks;

	if (!stamp_trusted)
		return ticks;
	return passed ? (uint64_t)((unsigned __int128)ticks * ns / passed) : 0;
}

uint64_t omp_ns(uint64_t ticks)
{
	const struct constructs *of = atomic_load(&constructs);

	return of ? to_ns(of, ticks) : 0;
}

uint64_t omp_ms_ticks(void)
{
	static _Atomic uint64_t known;
	const uint64_t ms_ns = 1000000, unknown_ns = UNKNOWN_RATE_US * 1000;
	uint64_t ms = atomic_load_explicit(&known, memory_order_relaxed);
	const struct constructs *of = ms ? NULL : atomic_load(&constructs);
	uint64_t ns, ticks;

	if (!of)
		return ms;
	ns = clock_now_ns() - of->ns;
	ticks = omp_ticks() - of->ticks;
	if (ns < unknown_ns)
		return 0;
	ms = (uint64_t)((unsigned __int128)ticks * ms_ns / ns);
	atomic_store_explicit(&known, ms, memory_order_relaxed);
	return ms;
}

uint64_t omp_sum_ticks(void)
{
	return each_execution ? 0 : omp_ms_ticks();
}

/* Where a construct was encountered: what its record has, but does not always tell it from others.
 */
struct site {
	uint32_t stack;
	bool is_call; /* the construct's `function` is the address of the call */
};

static uint64_t mix(uint64_t key)
{
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdu;
	return key ^ key >> 33;
}

static void write_construct(struct thread *thread, const struct slot *slot, uint32_t number,
			    const struct site *site)
{
	const uint64_t fields[OMP_FIELDS] = {[OMP_NUMBER] = number,
					     [OMP_KIND] = slot->kind,
					     [OMP_PARENT] = slot->parent,
					     [OMP_FUNCTION] = site->is_call ? 0 : slot->function};

	trace_event(thread, TRACE_OMP, OMP_CONSTRUCT, clock_now_ns(), site->stack, fields);
}

/* A number below `most`; 0: there is none left. */
static uint32_t take_number(struct constructs *of, uint32_t most)
{
	uint32_t count = atomic_load(&of->count);

	do
		if (count + 1 >= most)
			return 0;
	while (!atomic_compare_exchange_weak(&of->count, &count, count + 1));
	return count + 1;
}

/* Of a slot that is this thread's to fill. */
static uint32_t fill(struct constructs *of, struct thread *thread, struct slot *slot,
		     const struct slot *wanted, const struct site *site, uint32_t most)
{
	uint32_t number = take_number(of, most);

	if (!number) {
		atomic_store(&slot->number, 0);
		return 0;
	}
	slot->stack = wanted->stack;
	slot->parent = wanted->parent;
	slot->kind = wanted->kind;
	slot->function = wanted->function;
	of->slot_of[number] = (uint32_t)(slot - of->slots);
	write_construct(thread, slot, number, site);
	atomic_store(&slot->number, number);
	return number;
}

/* That of the construct, or one below `most`; 0: it has none, and there is none left. */
static uint32_t number_of(struct constructs *of, struct thread *thread, const struct slot *wanted,
			  const struct site *site, uint32_t most)
{
	uint64_t at = mix(wanted->function ^ (uint64_t)wanted->stack << 32 ^
			  (uint64_t)wanted->parent << 8 ^ wanted->kind);

	for (uint32_t i = 0; i < SLOTS; i++, at++) {
		struct slot *slot = &of->slots[at % SLOTS];
		uint32_t number = atomic_load(&slot->number);

		if (!number && atomic_compare_exchange_strong(&slot->number, &number, BEING_MADE))
			return fill(of, thread, slot, wanted, site, most);
		while ((number = atomic_load(&slot->number)) == BEING_MADE)
			sys_call(SYS_sched_yield, 0, 0, 0, 0);
		if (number && slot->stack == wanted->stack && slot->parent == wanted->parent &&
		    slot->kind == wanted->kind && slot->function == wanted->function)
			return number;
	}
	return 0;
}

/* Once in a recording. */
static void say(_Atomic uint32_t *said, const char *message)
{
	uint32_t now = trace_generation() + 1;

	if (atomic_load(said) != now && atomic_exchange(said, now) != now)
		log_warning(message, 0);
}

/* Constructs without end, as of a recursion, are told apart by their function alone. */
static uint32_t number_of_any(struct constructs *of, struct thread *thread,
			      const struct slot *wanted, const struct site *site)
{
	static _Atomic uint32_t by_function, by_nothing;
	const struct slot alike = {.kind = wanted->kind, .function = wanted->function};
	uint32_t number = number_of(of, thread, wanted, site, OWN_MAX);

	if (number)
		return number;
	say(&by_function,
	    "OpenMP constructs were reached by more than 16383 call paths: of the "
	    "others those of one function are one, shown at the call path of the first");
	number = number_of(of, thread, &alike, site, CONSTRUCTS_MAX);
	if (number)
		return number;
	say(&by_nothing, "OpenMP constructs have more than 8192 functions: executions of others "
			 "are not counted, and their time is shown in what is around them");
	return wanted->parent;
}

/* A task that creates others like itself is one construct, however deep. */
static uint32_t same_above(const struct constructs *of, uint32_t number, uint64_t function)
{
	for (int i = 0; number && number < CONSTRUCTS_MAX && i < CHAIN_MAX; i++) {
		const struct slot *slot = &of->slots[of->slot_of[number]];

		if (slot->kind == OMP_TASK && slot->function == function)
			return number;
		number = slot->parent;
	}
	return 0;
}

static uint32_t encounter(struct thread *thread, enum format_omp_construct kind,
			  const void *function, bool is_call, const void *frame)
{
	struct constructs *of = constructs_now();
	uint32_t task = omp_field(thread, OMP_CONTEXT_TASK);
	uint32_t parent = task ? task : omp_field(thread, OMP_CONTEXT_REGION);
	struct slot wanted = {.parent = parent, .kind = kind, .function = (uint64_t)function};
	bool is_inner = kind == OMP_TASK && task;
	uint32_t stack;

	if (!of)
		return 0;
	if (is_inner) {
		uint32_t same = same_above(of, task, wanted.function);

		if (same)
			return same;
	}
	/* What tasks create is told apart by what creates it: their stacks are without end. */
	if (is_inner && thread->omp.last.parent == parent &&
	    thread->omp.last.function == wanted.function && thread->omp.last.number)
		return thread->omp.last.number;
	stack = trace_stack_above(thread, frame);
	if (thread->omp.last.stack == stack && thread->omp.last.parent == parent &&
	    thread->omp.last.function == wanted.function && thread->omp.last.number)
		return thread->omp.last.number;
	wanted.stack = is_inner ? 0 : stack;
	const struct site site = {stack, is_call};

	thread->omp.last.number = number_of_any(of, thread, &wanted, &site);
	thread->omp.last.stack = stack;
	thread->omp.last.parent = parent;
	thread->omp.last.function = wanted.function;
	return thread->omp.last.number;
}

static uint32_t encounter_any(enum format_omp_construct kind, const void *function, bool is_call,
			      const void *frame)
{
	struct thread *thread;
	uint32_t number;

	if (!trace_make(TRACE_OMP) || !(thread = trace_enter(TRACE_OMP)))
		return 0;
	number = encounter(thread, kind, function, is_call, frame);
	trace_leave(thread);
	return number;
}

uint32_t omp_encounter(enum format_omp_construct kind, void *function, const void *frame)
{
	return encounter_any(kind, function, false, frame);
}

uint32_t omp_encounter_call(enum format_omp_construct kind, const void *code, const void *frame)
{
	return encounter_any(kind, code, true, frame);
}

/* ---- states ---- */

static struct omp_before note(struct thread *thread)
{
	return (struct omp_before){.thread = thread,
				   .state = omp_field(thread, OMP_CONTEXT_STATE),
				   .region = omp_field(thread, OMP_CONTEXT_REGION),
				   .task = omp_field(thread, OMP_CONTEXT_TASK),
				   .generation = trace_generation(),
				   .until = thread->context.until,
				   .until_value = thread->context.until_value,
				   .executed = thread->omp.executed,
				   .waited = thread->omp.waited,
				   .since = omp_ticks()};
}

static inline bool is_same(const struct thread *thread, uint32_t generation)
{
	return thread && generation == trace_generation() && thread == thread_current_if_known();
}

bool omp_is_same_recording(const struct omp_before *before)
{
	return is_same(before->thread, before->generation);
}

static void go_back(const struct omp_before *before)
{
	omp_set(before->thread, OMP_CONTEXT_STATE, before->state);
	omp_set(before->thread, OMP_CONTEXT_REGION, before->region);
	omp_set(before->thread, OMP_CONTEXT_TASK, before->task);
	before->thread->context.until = before->until;
	before->thread->context.until_value = before->until_value;
}

struct omp_before omp_enter(enum format_omp_state state)
{
	struct thread *thread = omp_thread();
	struct omp_before before;

	if (!thread)
		return (struct omp_before){0};
	before = note(thread);
	omp_set(thread, OMP_CONTEXT_STATE, state);
	return before;
}

void omp_leave_unwaited(const struct omp_before *before)
{
	omp_set(before->thread, OMP_CONTEXT_STATE, before->state);
}

void omp_leave_at(const struct omp_before *before, uint64_t now)
{
	struct thread *thread = before->thread;

	omp_leave_unwaited(before);
	/* Tasks that were executed meanwhile are no wait. */
	thread->omp.waited += now - before->since;
	thread->omp.waited -= thread->omp.executed - before->executed;
}

void omp_leave(const struct omp_before *before)
{
	if (omp_is_same_recording(before))
		omp_leave_at(before, omp_ticks());
}

/* ---- sums of executions ---- */

static void write_sums(struct thread *thread, struct omp_sums *sums, enum format_omp_type type,
		       bool locked)
{
	const struct constructs *of = atomic_load(&constructs);
	uint64_t fields[OMP_FIELDS];

	if (!sums->construct || !of || of->generation != trace_generation())
		return;
	fields[OMP_NUMBER] = sums->construct;
	fields[OMP_DURATION] = to_ns(of, sums->took);
	fields[OMP_CALLS] = sums->calls;
	fields[OMP_THREADS] = sums->threads;
	fields[OMP_WORKED] = to_ns(of, sums->worked);
	fields[OMP_LONGEST] = to_ns(of, sums->longest);
	sums->construct = 0;
	/* With every record the counter is looked at again: until then it is the clock of teams. */
	if (locked)
		trace_event_locked(thread, TRACE_OMP, type, clock_now_ns(), sums->stack, fields);
	else
		trace_event(thread, TRACE_OMP, type, stamp_look(&thread->stamp), sums->stack,
			    fields);
}

static inline void sum(struct omp_sums *sums, enum format_omp_type type, const struct omp_sums *one)
{
	sums->calls += one->calls;
	sums->took += one->took;
	sums->worked += one->worked;
	if (type == OMP_REGION)
		sums->longest += one->longest;
	else if (one->longest > sums->longest)
		sums->longest = one->longest;
}

/* One more execution, which has just ended. */
static void add(struct thread *thread, struct omp_sums *sums, enum format_omp_type type,
		const struct omp_sums *one, uint64_t until)
{
	uint64_t most_ticks = omp_sum_ticks();
	/* Their time is that of all threads: those of larger and smaller teams are not one sum. */
	bool is_alike = sums->construct == one->construct && sums->threads == one->threads;

	/* Mostly there is nothing to write. */
	if (is_alike && until - sums->since < most_ticks) {
		if (trace_is_recording(thread, TRACE_OMP))
			sum(sums, type, one);
		return;
	}
	if (!atomic_load(&constructs) || !trace_enter(TRACE_OMP))
		return;
	if (!is_alike)
		write_sums(thread, sums, type, false);
	if (!sums->construct)
		*sums = *one;
	else
		sum(sums, type, one);
	if (until - sums->since >= most_ticks)
		write_sums(thread, sums, type, false);
	trace_leave(thread);
}

/*
 * Regions that have not ended when the recording, or their thread, does: what their threads have
 * worked so far is known to these alone, so their number is left out as well.
 */
static bool write_open(struct thread *thread)
{
	uint32_t level = thread->omp.level, count = level < OMP_OPEN_MAX ? level : OMP_OPEN_MAX;
	uint64_t now = omp_ticks();
	bool any = false;

	for (uint32_t i = 0; i < count; i++) {
		const struct omp_open *open = &thread->omp.open[i];
		struct omp_sums one = {.construct = open->construct,
				       .stack = open->stack,
				       .calls = 1,
				       .took = now > open->since ? now - open->since : 0};

		if (open->generation != trace_generation())
			continue;
		write_sums(thread, &one, OMP_REGION, true);
		any = true;
	}
	return any;
}

static _Atomic bool any_open; /* of the threads that finish() has looked at */

static void write_thread(struct thread *thread, void *own)
{
	if (thread == own)
		thread_lock(thread);
	else if (!thread_lock_other(thread))
		return;
	thread->traces[TRACE_OMP].elsewhere = thread != own;
	write_sums(thread, &thread->omp.regions, OMP_REGION, true);
	write_sums(thread, &thread->omp.tasks, OMP_TASKS, true);
	if (write_open(thread))
		any_open = true;
	omp_lock_write_all(thread);
	thread->traces[TRACE_OMP].elsewhere = false;
	thread_unlock(thread);
}

void omp_thread_end(struct thread *thread)
{
	if (trace_is_on(TRACE_OMP))
		write_thread(thread, thread);
}

/* ---- regions ---- */

static void note_open(struct thread *thread, const struct omp_region *region)
{
	uint32_t level = thread->omp.level;

	if (level < OMP_OPEN_MAX)
		thread->omp.open[level] =
			(struct omp_open){region->construct, region->stack,
					  region->before.generation, region->before.since};
	/* Who ends the recording looks from elsewhere. */
	atomic_signal_fence(memory_order_seq_cst);
	thread->omp.level = level + 1;
}

void omp_region_begin(struct omp_region *region, uint32_t construct)
{
	struct thread *thread = construct ? omp_thread() : NULL;

	region->thread = thread;
	if (!thread)
		return;
	region->until = &thread->teams[thread->omp.level % OMP_LEVELS];
	region->until_value = atomic_load_explicit(&region->until->count, memory_order_relaxed);
	region->construct = construct;
	atomic_store_explicit(&region->threads, 0, memory_order_relaxed);
	atomic_store_explicit(&region->worked, 0, memory_order_relaxed);
	atomic_store_explicit(&region->longest, 0, memory_order_relaxed);
	region->stack = thread->omp.last.stack;
	region->own_threads = 0;
	region->own_worked = region->own_longest = 0;
	region->over = thread->omp.over;
	region->before = note(thread);
	note_open(thread, region);
}

/* CLOCK_MONOTONIC at a reading of omp_ticks() just now. */
static uint64_t ns_at(const struct thread *thread, uint64_t ticks)
{
	uint64_t ns;

	if (!stamp_trusted)
		return ticks;
	return stamp_count_at(&thread->stamp, ticks, &ns) ? ns : clock_now_ns();
}

static void end_team(struct thread *thread, const struct omp_region *region, uint32_t threads,
		     uint64_t now)
{
	struct team_ends *team = &thread->teams[thread->omp.level % OMP_LEVELS];

	if (threads > 1)
		atomic_store_explicit(&team->ns, ns_at(thread, now), memory_order_relaxed);
	atomic_store_explicit(&team->count, region->until_value + 1, memory_order_release);
}

void omp_region_end(struct omp_region *region)
{
	const struct omp_before *before = &region->before;
	struct thread *thread = region->thread;
	struct omp_sums one;
	uint64_t now, longest;
	uint32_t threads;

	if (!thread || !omp_is_same_recording(before))
		return;
	now = omp_ticks();
	threads =
		atomic_load_explicit(&region->threads, memory_order_relaxed) + region->own_threads;
	longest = atomic_load_explicit(&region->longest, memory_order_relaxed);
	thread->omp.level--;
	/* From here on what its threads do is up to others. */
	end_team(thread, region, threads, now);
	go_back(before);
	thread->omp.over = region->over;
	/* To the region around it all of that is no work: it has a record of its own. */
	thread->omp.waited = before->waited + (now - before->since);
	one = (struct omp_sums){
		.construct = region->construct,
		.calls = 1,
		.threads = threads,
		.took = now - before->since,
		.worked = atomic_load_explicit(&region->worked, memory_order_relaxed) +
			  region->own_worked,
		.longest = longest > region->own_longest ? longest : region->own_longest,
		.since = before->since,
		.stack = region->stack,
	};
	add(thread, &thread->omp.regions, OMP_REGION, &one, now);
}

struct omp_share omp_share_begin(const struct omp_region *region)
{
	struct thread *thread = region->thread ? omp_thread() : NULL;

	if (!thread)
		return (struct omp_share){0};
	omp_set(thread, OMP_CONTEXT_STATE, OMP_STATE_WORK);
	omp_set(thread, OMP_CONTEXT_TASK, 0);
	omp_set(thread, OMP_CONTEXT_REGION, region->construct);
	thread->context.until = region->until;
	thread->context.until_value = region->until_value;
	return (struct omp_share){.thread = thread,
				  .generation = trace_generation(),
				  .waited = thread->omp.waited,
				  .since = omp_ticks()};
}

/* `worked` more of a thread, which then has worked so long in all. */
static void add_worked(struct omp_region *region, const struct thread *thread, uint64_t worked,
		       uint64_t whole)
{
	uint64_t longest;

	if (thread == region->thread) {
		region->own_worked += worked;
		if (whole > region->own_longest)
			region->own_longest = whole;
		return;
	}
	longest = atomic_load_explicit(&region->longest, memory_order_relaxed);
	atomic_fetch_add_explicit(&region->worked, worked, memory_order_relaxed);
	while (whole > longest &&
	       !atomic_compare_exchange_weak_explicit(&region->longest, &longest, whole,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

/* A clock may have gone back. */
static uint64_t positive(uint64_t ticks)
{
	return ticks >> 63 ? 0 : ticks;
}

void omp_share_end(struct omp_region *region, const struct omp_share *share)
{
	struct thread *thread = share->thread;
	uint64_t worked;

	if (!is_same(thread, share->generation))
		return;
	worked = positive(omp_ticks() - share->since - (thread->omp.waited - share->waited));
	omp_set(thread, OMP_CONTEXT_STATE, OMP_STATE_REGION_BARRIER);
	thread->omp.over = (struct omp_over){region, worked};
	if (thread == region->thread)
		region->own_threads++;
	else
		atomic_fetch_add_explicit(&region->threads, 1, memory_order_relaxed);
	add_worked(region, thread, worked, worked);
}

/* ---- tasks ---- */

struct omp_before omp_task_begin(uint32_t construct, uint32_t region)
{
	struct thread *thread = construct ? omp_thread() : NULL;
	struct omp_before before;

	if (!thread)
		return (struct omp_before){0};
	before = note(thread);
	omp_set(thread, OMP_CONTEXT_STATE, OMP_STATE_WORK);
	omp_set(thread, OMP_CONTEXT_REGION, region);
	omp_set(thread, OMP_CONTEXT_TASK, construct);
	return before;
}

/*
 * A task that a thread executed at the barrier behind its share: its work is the region's, which
 * lasts until all threads and tasks are done.
 */
static void add_late_work(const struct thread *own, const struct omp_before *before, uint64_t now)
{
	struct omp_over *over = &before->thread->omp.over;
	uint64_t worked;

	if (before->state != OMP_STATE_REGION_BARRIER || !over->region || !before->until ||
	    atomic_load_explicit(&before->until->count, memory_order_acquire) !=
		    before->until_value)
		return;
	worked = positive(now - before->since - (own->omp.waited - before->waited));
	over->worked += worked;
	add_worked(over->region, own, worked, over->worked);
}

void omp_task_end(const struct omp_before *before, uint32_t construct, uint64_t created)
{
	struct thread *thread = before->thread;
	uint64_t now, delay, inner;
	struct omp_sums one;

	if (!omp_is_same_recording(before))
		return;
	now = omp_ticks();
	go_back(before);
	inner = thread->omp.executed - before->executed;
	add_late_work(thread, before, now);
	/* Of tasks within tasks the inner ones are in the outer one's time. */
	thread->omp.executed = before->executed + (now - before->since);
	delay = before->since > created ? before->since - created : 0;
	one = (struct omp_sums){.construct = construct,
				.calls = 1,
				.took = now - before->since - inner,
				.worked = delay,
				.longest = delay,
				.since = before->since};
	add(thread, &thread->omp.tasks, OMP_TASKS, &one, now);
}

static void finish(void)
{
	any_open = false;
	thread_for_each(write_thread, thread_current_if_known());
	if (any_open)
		log_warning("OpenMP regions had not ended when the recording did: of these their "
			    "duration is counted, but not the work of their threads",
			    0);
}

static bool read_param(const char *value)
{
	each_execution = value[0] == 't'; /* trace */
	return !(value[0] == 'o' && value[1] == 'f');
}

const struct trace_source omp_source = {
	.kind = TRACE_OMP,
	.unmade = "OpenMP's regions and states are not recorded: its file could not be made",
	.made_late = true,
	.read_param = read_param,
	.finish = finish};
