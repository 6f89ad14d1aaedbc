/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liburing, which makes its system calls itself: the functions that set up, submit and wait.
 *
 * They are exported under liburing's versions, and not as the default ones: a program that is
 * linked with liburing asks for name and version and gets ours; one that asks by name alone, dlsym
 * or a weak reference of a program that does without liburing, does not.  So dlsym by name finds
 * what is behind ours, too.
 *
 * Where that is depends on who calls: a library that was loaded apart from the program may bring a
 * liburing in its own scope, and two of them two.  It is found for each load object that calls and
 * remembered by where that lies and its name.
 *
 * liburing calls its own functions by name, which leads here again.  What it calls within another
 * call, also by a jump at that call's end, is no event of its own.
 *
 * Requests are counted as they leave the program's part of the queue: what liburing returns is not
 * that number in all its versions, and with a polling thread of the kernel's in none.
 */
#include "collector/core/next_functions.h"
#include "collector/storage/text.h"
#include "collector/wrap/trace_io.h"

#include <dlfcn.h>
#include <link.h>

/* The beginning of struct io_uring, which is the same in all versions of liburing.so.2. */
struct ring {
	void *queue[8];
	uint32_t handed_over, filled; /* requests so far, by their numbers */
	void *queues[15];
	uint32_t flags;
	int fd; /* -1: there is none any more */
};

_Static_assert(offsetof(struct ring, filled) == 0x44, "");
_Static_assert(offsetof(struct ring, fd) == 0xc4, "");

enum { OBJECTS = 16, FUNCTIONS = 24, COPIES = 8 };

struct uring_function {
	const char *name;
};

extern struct uring_function uring_begin[] __asm__("__start_helio_uring")
	__attribute__((visibility("hidden")));
extern struct uring_function uring_end[] __asm__("__stop_helio_uring")
	__attribute__((visibility("hidden")));

struct range {
	const void *begin, *end;
};

/* What is behind ours for one load object. */
struct scope {
	_Atomic bool complete;
	struct range object;
	uint64_t name; /* a hash: another object may come to lie there */
	struct range liburing;
	void *next[FUNCTIONS];
};

static struct scope scopes[OBJECTS];
static _Atomic unsigned scope_count;
static _Atomic(const struct scope *) latest; /* that was called from outside liburing */

/* Weak: glibc has it since 2.35. */
extern int _dl_find_object(void *pc, struct dl_find_object *result) __attribute__((weak));

static bool lies_in(const void *address, const struct range *range)
{
	return address >= range->begin && address < range->end;
}

/* ---- finding it ---- */

/* The load object that holds an address. */
static bool find_object(const void *address, struct dl_find_object *object)
{
	return _dl_find_object && !_dl_find_object((void *)address, object);
}

/* An address in each copy of liburing that is loaded. */
struct copies {
	const void *in[COPIES];
	unsigned count;
};

static bool is_liburing(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return text_starts(name, "liburing");
}

static int note_copy(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct copies *copies = argument;

	(void)size;
	if (is_liburing(info->dlpi_name))
		copies->in[copies->count++] = (const void *)info->dlpi_phdr;
	return copies->count == COPIES;
}

/*
 * An address whose scope has liburing.  The caller's has not where the call was made by a jump at
 * the end of a function, whose own caller it then seems to come from.
 */
static const void *place_with_liburing(const void *caller)
{
	struct copies copies = {.count = 0};

	if (next_of_caller("io_uring_submit", caller))
		return caller;
	dl_iterate_phdr(note_copy, &copies);
	for (unsigned i = 0; i < copies.count; i++)
		if (next_of_caller("io_uring_submit", copies.in[i]))
			return copies.in[i];
	return caller;
}

static uint64_t name_of(const struct dl_find_object *object)
{
	const char *name = object->dlfo_link_map ? object->dlfo_link_map->l_name : "";

	return text_hash(TEXT_HASH_START, name, text_length(name));
}

/* All functions at once: later a call may come in a handler, which must not meet the loader's lock.
 */
static void fill(struct scope *scope, const struct dl_find_object *object, const void *caller)
{
	const void *place = place_with_liburing(caller);
	struct dl_find_object liburing;

	scope->object = (struct range){object->dlfo_map_start, object->dlfo_map_end};
	scope->name = name_of(object);
	for (struct uring_function *function = uring_begin; function < uring_end; function++) {
		void *next = next_of_caller(function->name, place);

		scope->next[function - uring_begin] = next;
		if (!next || lies_in(next, &scope->liburing) || !find_object(next, &liburing))
			continue;
		scope->liburing = (struct range){liburing.dlfo_map_start, liburing.dlfo_map_end};
		next_keep_loaded(next);
	}
	dlerror(); /* what older versions lack is no error of the program's */
}

/* `room` is for a scope that there is no place to remember. */
static const struct scope *scope_of(const void *caller, struct scope *room)
{
	struct dl_find_object object;

	if (!find_object(caller, &object))
		object = (struct dl_find_object){0};
	for (unsigned i = 0; i < OBJECTS; i++) {
		struct scope *scope = &scopes[i];

		if (atomic_load_explicit(&scope->complete, memory_order_acquire) &&
		    scope->object.begin == object.dlfo_map_start &&
		    scope->object.end == object.dlfo_map_end && scope->name == name_of(&object))
			return scope;
	}
	unsigned place = object.dlfo_map_start ? atomic_fetch_add(&scope_count, 1) : OBJECTS;
	struct scope *scope = place < OBJECTS ? &scopes[place] : room;

	fill(scope, &object, caller);
	atomic_store_explicit(&scope->complete, true, memory_order_release);
	return scope;
}

/* ---- calls ---- */

struct uring_call {
	void *next;
	bool within; /* another call of liburing */
};

static struct uring_call find(const struct uring_function *function, const void *caller)
{
	const struct range ours = {(const void *)collector.text_low,
				   (const void *)collector.text_high};
	struct scope room = {.complete = false};
	bool within = lies_in(caller, &ours);
	const struct scope *scope =
		within ? atomic_load_explicit(&latest, memory_order_relaxed) : NULL;

	if (!scope)
		scope = scope_of(caller, &room);
	within |= lies_in(caller, &scope->liburing);
	if (!within && scope != &room &&
	    atomic_load_explicit(&latest, memory_order_relaxed) != scope)
		atomic_store_explicit(&latest, scope, memory_order_relaxed);
	return (struct uring_call){scope->next[function - uring_begin], within};
}

/* Between them the requests that the program has made ready, which a call hands over. */
static uint32_t ready(const struct ring *ring)
{
	return ring->filled - ring->handed_over;
}

#define URING_FUNCTION(result, version, name, parameters)                                          \
	static struct uring_function uring_##name                                                  \
		__attribute__((section("helio_uring"), used)) = {#name};                           \
	__asm__(".symver wrapped_" #name ", " #name "@" version ", remove");                       \
	COLLECTOR_EXPORT result wrapped_##name parameters;                                         \
	result wrapped_##name parameters

/*
 * liburing returns a negative errno.  What follows, fields of struct io_event, may use the
 * arguments, `value`, and `before`: `before_` as it was before the call.
 */
#define URING_CALL_IF(condition, version, name, parameters, arguments, before_, ...)               \
	URING_FUNCTION(int, version, name, parameters)                                             \
	{                                                                                          \
		struct uring_call call = find(&uring_##name, __builtin_return_address(0));         \
		int(*next) parameters = (int(*) parameters)call.next;                              \
		uint64_t begin_ns = call.next && !call.within && (condition) ? io_begin() : 0;     \
		uint32_t before = begin_ns ? (before_) : 0;                                        \
		int value = next ? next arguments : -ENOSYS;                                       \
                                                                                                   \
		(void)before;                                                                      \
		if (begin_ns)                                                                      \
			io_end(begin_ns, call.next,                                                \
			       &(struct io_event){.error = value < 0 ? -value : 0, __VA_ARGS__});  \
		return value;                                                                      \
	}

#define URING_CALL(...) URING_CALL_IF(true, __VA_ARGS__)
#define URING_WAIT_CALL(version, name, parameters, arguments)                                      \
	URING_CALL(version, name, parameters, arguments, 0, .type = IO_WAIT, .fd = ring->fd)
#define URING_SUBMIT_CALL(version, name, parameters, arguments, least)                             \
	URING_CALL(version, name, parameters, arguments, ready(ring),                              \
		   .type = (least) ? IO_WAIT : IO_SUBMIT, .fd = ring->fd, .requests = before)
#define URING_OPEN_CALL(version, name, parameters, arguments, fd_)                                 \
	URING_CALL(version, name, parameters, arguments, 0, .type = IO_OPEN,                       \
		   .fd = value < 0 ? IO_NO_FD : (fd_))

URING_OPEN_CALL("LIBURING_2.0", io_uring_queue_init,
		(unsigned entries, struct ring *ring, unsigned flags), (entries, ring, flags),
		ring->fd)
URING_OPEN_CALL("LIBURING_2.0", io_uring_queue_init_params,
		(unsigned entries, struct ring *ring, void *params), (entries, ring, params),
		ring->fd)
URING_OPEN_CALL("LIBURING_2.5", io_uring_queue_init_mem,
		(unsigned entries, struct ring *ring, void *params, void *memory, size_t size),
		(entries, ring, params, memory, size), ring->fd)
URING_OPEN_CALL("LIBURING_2.3", io_uring_setup, (unsigned entries, void *params), (entries, params),
		value)

URING_SUBMIT_CALL("LIBURING_2.0", io_uring_submit, (struct ring * ring), (ring), 0)
URING_SUBMIT_CALL("LIBURING_2.0", io_uring_submit_and_wait, (struct ring * ring, unsigned least),
		  (ring, least), least)
URING_SUBMIT_CALL("LIBURING_2.2", io_uring_submit_and_wait_timeout,
		  (struct ring * ring, void **done, unsigned least, void *timeout, void *mask),
		  (ring, done, least, timeout, mask), least)
URING_SUBMIT_CALL("LIBURING_2.3", io_uring_submit_and_get_events, (struct ring * ring), (ring), 0)
URING_CALL("LIBURING_2.3", io_uring_get_events, (struct ring * ring), (ring), 0, .type = IO_SUBMIT,
	   .fd = ring->fd)
URING_SUBMIT_CALL("LIBURING_2.8", io_uring_submit_and_wait_min_timeout,
		  (struct ring * ring, void **done, unsigned least, void *timeout, unsigned us,
		   void *mask),
		  (ring, done, least, timeout, us, mask), least)
URING_SUBMIT_CALL("LIBURING_2.9", io_uring_submit_and_wait_reg,
		  (struct ring * ring, void **done, unsigned least, int place),
		  (ring, done, least, place), least)

/* Of none it is a look into memory. */
URING_CALL_IF(least, "LIBURING_2.0", __io_uring_get_cqe,
	      (struct ring * ring, void **done, unsigned submit, unsigned least, void *mask),
	      (ring, done, submit, least, mask), 0, .type = IO_WAIT, .fd = ring->fd)
URING_WAIT_CALL("LIBURING_2.0", io_uring_wait_cqes,
		(struct ring * ring, void **done, unsigned least, void *timeout, void *mask),
		(ring, done, least, timeout, mask))
URING_WAIT_CALL("LIBURING_2.0", io_uring_wait_cqe_timeout,
		(struct ring * ring, void **done, void *timeout), (ring, done, timeout))
URING_WAIT_CALL("LIBURING_2.8", io_uring_wait_cqes_min_timeout,
		(struct ring * ring, void **done, unsigned least, void *timeout, unsigned us,
		 void *mask),
		(ring, done, least, timeout, us, mask))
URING_WAIT_CALL("LIBURING_2.0", __io_uring_sqring_wait, (struct ring * ring), (ring))

/* By the ring's descriptor, as the system call. */
#define URING_ENTER_CALL(name, parameters, arguments)                                              \
	URING_CALL("LIBURING_2.3", name, parameters, arguments, 0,                                 \
		   .type = io_ring_type(least, flags), .fd = io_ring_fd(fd, flags),                \
		   .requests = value < 0 ? 0 : (uint64_t)value)

URING_ENTER_CALL(io_uring_enter,
		 (int fd, unsigned submit, unsigned least, unsigned flags, void *mask),
		 (fd, submit, least, flags, mask))
URING_ENTER_CALL(io_uring_enter2,
		 (int fd, unsigned submit, unsigned least, unsigned flags, void *mask, size_t size),
		 (fd, submit, least, flags, mask, size))

/* ---- the end of a ring ---- */

URING_FUNCTION(void, "LIBURING_2.0", io_uring_queue_exit, (struct ring * ring))
{
	struct uring_call call = find(&uring_io_uring_queue_exit, __builtin_return_address(0));
	uint64_t begin_ns = call.next && !call.within ? io_begin() : 0;
	int fd = begin_ns ? ring->fd : IO_NO_FD;
	uint32_t name = io_release(fd);

	if (call.next)
		((void (*)(struct ring *))call.next)(ring);
	if (begin_ns)
		io_end(begin_ns, call.next,
		       &(struct io_event){.type = IO_CLOSE, .fd = fd, .name = name});
}

/* The ring goes on under a number that only the kernel knows. */
URING_FUNCTION(int, "LIBURING_2.4", io_uring_close_ring_fd, (struct ring * ring))
{
	struct uring_call call = find(&uring_io_uring_close_ring_fd, __builtin_return_address(0));
	uint64_t begin_ns = call.next && !call.within ? io_begin() : 0;
	int fd = begin_ns ? ring->fd : IO_NO_FD;
	uint32_t name = io_release(fd);
	int value = call.next ? ((int (*)(struct ring *))call.next)(ring) : -ENOSYS;

	if (begin_ns)
		io_end(begin_ns, call.next,
		       &(struct io_event){.type = IO_CLOSE,
					  .error = value < 0 ? -value : 0,
					  .fd = fd,
					  .name = name});
	return value;
}
