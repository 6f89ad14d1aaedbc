/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which runtime's function a caller finds behind ours.  A load object that does not find the name
 * in the program's scope has a list entry, with where the object lies.  It keeps that runtime, as
 * it keeps what it has bound, also when another one comes into the program's scope.  Entries are
 * added and never change, but that an object may be closed, and another one lie in its place: after
 * a dlclose each is looked up again, once.
 */
#include "collector/core/next_functions.h"
#include "collector/wrap/dl.h"
#include "collector/wrap/gomp.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>

enum { OWN_MAX = 1024 }; /* more are looked up each time */

struct gomp_own {
	struct gomp_own *after;
	uintptr_t from, size; /* of the callers' load object */
	struct gomp_function function;
	_Atomic uint32_t closes; /* when this was last found to be so */
};

__thread const void *gomp_body;

static struct gomp_own pool[OWN_MAX];
static _Atomic uint32_t used;

static bool is_of_gomp(const void *symbol)
{
	Dl_info info;

	return dladdr(symbol, &info) && strstr(info.dli_fname, "libgomp");
}

static struct gomp_function describe(void *symbol)
{
	next_keep_loaded(symbol);
	return (struct gomp_function){symbol, !is_of_gomp(symbol)};
}

/* ---- the caller's load object ---- */

/* Of the linker: where the collector begins and ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_ours(const void *caller)
{
	return (uintptr_t)caller >= (uintptr_t)__ehdr_start && (uintptr_t)caller < (uintptr_t)_end;
}

static int find_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct gomp_own *own = arg;
	uintptr_t caller = own->from, low = UINTPTR_MAX, high = 0;

	(void)size;
	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		low = begin < low ? begin : low;
		if (begin + info->dlpi_phdr[i].p_memsz > high)
			high = begin + info->dlpi_phdr[i].p_memsz;
	}
	if (caller < low || caller >= high)
		return 0;
	own->from = low;
	own->size = high - low;
	return 1;
}

/* ---- entries ---- */

static struct gomp_own *entry_of(const struct next *next, uintptr_t caller)
{
	struct gomp_own *own = atomic_load_explicit(&next->own, memory_order_acquire);

	while (own && caller - own->from >= own->size)
		own = own->after;
	return own;
}

static void add_entry(struct next *next, const struct gomp_own *found)
{
	uint32_t number = atomic_fetch_add_explicit(&used, 1, memory_order_relaxed);
	struct gomp_own *own, *before = atomic_load(&next->own);

	if (number >= OWN_MAX) {
		atomic_fetch_sub_explicit(&used, 1, memory_order_relaxed);
		return;
	}
	own = &pool[number];
	own->from = found->from;
	own->size = found->size;
	own->function = found->function;
	atomic_store_explicit(&own->closes, found->closes, memory_order_relaxed);
	do
		own->after = before;
	while (!atomic_compare_exchange_weak(&next->own, &before, own));
}

/* known: the entry of what lay there before the last dlclose, or NULL. */
static struct gomp_function look_up_own(struct next *next, const char *name, const void *caller,
					struct gomp_own *known, uint32_t closes)
{
	struct gomp_own found = {.from = (uintptr_t)caller, .closes = closes};
	void *symbol = known ? next_in_scope(name, caller) : NULL;

	if (!symbol)
		symbol = next_of_caller(name, caller);
	if (!symbol)
		return (struct gomp_function){0};
	found.function = describe(symbol);
	if (!dl_iterate_phdr(find_object, &found))
		return found.function;
	if (known && known->function.address == symbol && known->from == found.from &&
	    known->size == found.size)
		atomic_store_explicit(&known->closes, closes, memory_order_relaxed);
	else
		add_entry(next, &found);
	return found.function;
}

struct gomp_function gomp_look_up(struct next *next, const char *name, const void *caller)
{
	void *function = atomic_load_explicit(&next->function, memory_order_acquire);
	uint32_t closes = dl_close_count();
	struct gomp_function found;
	struct gomp_own *own;

	if (gomp_body && is_ours(caller))
		caller = gomp_body;
	own = entry_of(next, (uintptr_t)caller);
	if (own && atomic_load_explicit(&own->closes, memory_order_relaxed) == closes)
		return own->function;
	if (!own && function)
		return (struct gomp_function){function, next->is_other};
	function = own ? NULL : next_symbol(name);
	if (!function)
		return look_up_own(next, name, caller, own, closes);
	found = describe(function);
	next->is_other = found.is_other;
	atomic_store_explicit(&next->function, found.address, memory_order_release);
	return found;
}
