/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of collectorAPI.h.  A pause of the process stops its recording
 * clock; a pause of a thread ends a window to which the accounting cuts its time.
 *
 * The program may define functions of these names itself (libcollectorAPI linked
 * statically): so the code is in static functions, and the names are aliases.
 */
#include "collector/core/api.h"

#include "collector/arch/sys.h"
#include "collector/core/control.h"
#include "collector/core/dynamic.h"
#include "collector/core/log.h"
#include "collector/core/profile_source.h"
#include "collector/core/sample.h"
#include "collector/core/start.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"
#include "format/api.h"

#include <pthread.h>

enum { TRIES_MAX = 1000000 };

static bool active(void)
{
	return atomic_load(&collector.recording) && collector_is_ours();
}

/* Who is in here: process << 32 | thread. */
static _Atomic uint64_t owner;

/*
 * One call at a time.  False when recording is not active, or in a signal
 * handler that interrupted a call, which would wait for itself.  The child of a
 * fork does not wait for a thread of its parent.
 */
bool api_enter(void)
{
	uint64_t own = (uint64_t)sys_getpid() << 32 | (uint32_t)sys_gettid();

	if (!active())
		return false;
	for (int tries = 0; tries < TRIES_MAX; tries++) {
		uint64_t other = atomic_load_explicit(&owner, memory_order_relaxed);

		if (other == own)
			return false;
		if (other >> 32 != own >> 32 && atomic_compare_exchange_strong(&owner, &other, own))
			return true;
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	}
	log_warning("a call of the collector API was left out: another one did not end", 0);
	return false;
}

void api_leave(void)
{
	atomic_store_explicit(&owner, 0, memory_order_release);
}

/* ---- the whole process ---- */

/* `who` is for the header, the label for the sample point. */
static void note(const char *kind, const char *who, const char *label)
{
	char room[160];
	struct text line = TEXT_ON(room);

	log_event_begin(&line, kind);
	if (who)
		text_attribute(&line, "text", who);
	log_event_end(&line);
	sample_write(FORMAT_SAMPLE_MANUAL, label);
}

static void api_sample(const char *name)
{
	if (active())
		sample_write(FORMAT_SAMPLE_MANUAL, name ? name : "");
}

static void api_pause(void)
{
	if (!api_enter())
		return;
	/* What led here belongs here, and not to where the next event comes. */
	profile_source.settle_all(profile_source.own_stack());
	if (control_pause())
		note("pause", "API", "collector_pause(API)");
	api_leave();
}

static void api_resume(void)
{
	if (!api_enter())
		return;
	profile_source.settle_all(profile_source.own_stack());
	if (control_resume())
		note("resume", NULL, "collector_resume");
	api_leave();
}

static void api_terminate_expt(void)
{
	if (!api_enter())
		return;
	note("close", "API", "collector_close_experiment");
	collector_terminate();
	api_leave();
}

/* ---- one thread ---- */

struct thread_search {
	int32_t tid;
	struct thread *found;
};

static void match_tid(struct thread *thread, void *search)
{
	if (thread->tid == ((struct thread_search *)search)->tid)
		((struct thread_search *)search)->found = thread;
}

/* The clock id of a thread's CPU time holds the kernel's number of the thread. */
static struct thread *find_thread(pthread_t id)
{
	struct thread_search search = {0};
	clockid_t clock;

	if (pthread_getcpuclockid(id, &clock))
		return NULL;
	search.tid = ~(clock >> 3);
	/* A new thread is known once it runs. */
	for (int tries = 0; tries < TRIES_MAX; tries++) {
		thread_for_each(match_tid, &search);
		if (search.found || !atomic_load(&collector.threads_to_begin))
			break;
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	}
	return search.found;
}

static void note_thread(const char *kind, const struct thread *thread)
{
	char room[160];
	struct text line = TEXT_ON(room);

	log_event_begin(&line, kind);
	text_attribute_decimal(&line, "thread", thread->number);
	log_event_end(&line);
}

static void api_thread_pause(pthread_t id)
{
	struct thread *thread;

	if (!api_enter())
		return;
	thread = find_thread(id);
	if (thread && !thread->open.end_ns) {
		collector.partial = true;
		profile_source.settle(thread, profile_source.own_stack());
		thread->open.end_ns = clock_now_ns();
		note_thread("thread_pause", thread);
	}
	api_leave();
}

static void api_thread_resume(pthread_t id)
{
	struct thread *thread;

	if (!api_enter())
		return;
	thread = find_thread(id);
	if (thread && thread->open.end_ns) {
		note_thread("thread_resume", thread);
		profile_source.settle(thread, profile_source.own_stack());
		thread->open.start_ns = clock_now_ns();
		thread->open.end_ns = 0;
	}
	api_leave();
}

/* ---- functions made at run time ---- */

_Static_assert(sizeof(Lineno) == sizeof(struct format_line), "a table is written as it is");

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static void api_func_load(const char *name, const char *alias, const char *sourcename, void *vaddr,
			  int size, int lntsize, Lineno *lntable)
{
	struct dynamic_function function = {
		.name = or_empty(name),
		.alias = or_empty(alias),
		.source = or_empty(sourcename),
		.start = (uint64_t)vaddr,
		.size = size > 0 ? (uint64_t)size : 0,
		.lines = (const struct format_line *)lntable,
		.line_count = lntable && lntsize > 0 ? (uint32_t)lntsize : 0,
	};

	if (!function.size || !api_enter())
		return;
	dynamic_load(&function);
	api_leave();
}

static void api_func_unload(void *vaddr)
{
	if (!api_enter())
		return;
	dynamic_unload((uint64_t)vaddr);
	api_leave();
}

/* ---- the names ---- */

#define X(name, parameters, arguments)                                                             \
	extern __typeof__(api_##name) collector_##name __attribute__((alias("api_" #name)))        \
	COLLECTOR_EXPORT;
FORMAT_API_FUNCTIONS(X)
#undef X

COLLECTOR_EXPORT const struct format_api helio_collector_api_1 = {
#define X(name, parameters, arguments) .name = api_##name,
	FORMAT_API_FUNCTIONS(X)
#undef X
};
