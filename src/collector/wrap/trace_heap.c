/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator's functions, and those that map memory.
 *
 * They are called before any constructor has run, by the dynamic linker first of all, and by
 * dlsym itself while it looks up what is behind them.  Until that is known, memory comes from a
 * small reserve, whose blocks are never given back.  What is behind them may be any allocator: it
 * is the next definition in the program's search order.
 */
#include "collector/wrap/trace_heap.h"

#include "collector/core/maps.h"
#include "collector/core/next_functions.h"
#include "collector/core/time.h"
#include "collector/storage/recording.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAP_FUNCTIONS(X)                                                                          \
	X(void *, malloc, (size_t))                                                                \
	X(void *, calloc, (size_t, size_t))                                                        \
	X(void *, realloc, (void *, size_t))                                                       \
	X(void *, reallocarray, (void *, size_t, size_t))                                          \
	X(void *, memalign, (size_t, size_t))                                                      \
	X(void *, aligned_alloc, (size_t, size_t))                                                 \
	X(int, posix_memalign, (void **, size_t, size_t))                                          \
	X(void *, valloc, (size_t))                                                                \
	X(void *, pvalloc, (size_t))                                                               \
	X(void, free, (void *))                                                                    \
	X(void, free_sized, (void *, size_t))                                                      \
	X(void, free_aligned_sized, (void *, size_t, size_t))                                      \
	X(void *, mmap, (void *, size_t, int, int, int, off_t))                                    \
	X(int, munmap, (void *, size_t))                                                           \
	X(void *, mremap, (void *, size_t, size_t, int, void *))                                   \
	X(int, brk, (void *))                                                                      \
	X(void *, sbrk, (intptr_t))

static struct {
#define X(result, name, arguments) result(*name) arguments;
	HEAP_FUNCTIONS(X)
#undef X
} next;

__thread uint64_t heap_newest;
__thread const void *heap_leaving;

/* ---- before the allocator is known ---- */

enum { RESERVE_SIZE = 16 * 1024, RESERVE_ALIGN = 16 };

static char reserve[RESERVE_SIZE] __attribute__((aligned(RESERVE_ALIGN)));
static _Atomic size_t reserve_used;
static _Atomic bool resolving;

static bool is_reserve(const void *block)
{
	return (const char *)block >= reserve && (const char *)block < reserve + RESERVE_SIZE;
}

/* Zeroed.  Behind the block's size, which lies in front of it. */
static void *reserve_take(size_t size)
{
	size_t whole = (size + 2 * RESERVE_ALIGN - 1) & ~(size_t)(RESERVE_ALIGN - 1);
	size_t at = whole > size ? atomic_fetch_add(&reserve_used, whole) : RESERVE_SIZE;

	if (at > RESERVE_SIZE - RESERVE_ALIGN || whole > RESERVE_SIZE - at) {
		errno = ENOMEM;
		return NULL;
	}
	*(size_t *)(reserve + at) = size;
	return reserve + at + RESERVE_ALIGN;
}

/* A symbol is a void *; memcpy is the conversion that C allows. */
static void resolve(void)
{
	void *symbol;

	atomic_store(&resolving, true);
#define X(result, name, arguments)                                                                 \
	symbol = next_symbol(#name);                                                               \
	memcpy(&next.name, &symbol, sizeof(symbol));
	HEAP_FUNCTIONS(X)
#undef X
	atomic_store(&resolving, false);
}

/* False: this call is one that looking them up makes. */
static inline bool resolved(void)
{
	if (__builtin_expect(!next.sbrk, 0)) {
		if (atomic_load(&resolving))
			return false;
		resolve();
	}
	return true;
}

/* ---- LeakSanitizer ---- */

/* The program's, if it is built with it. */
extern void __lsan_ignore_object(const void *block) __attribute__((weak));

/* Whether the code at an address is the dynamic linker's. */
static bool is_linker(const void *address)
{
	static uint64_t low, high;

	if (!high) {
		const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)getauxval(AT_BASE);
		const ElfW(Phdr) * segment;

		if (!elf)
			return false;
		segment = (const ElfW(Phdr) *)((const char *)elf + elf->e_phoff);
		low = (uint64_t)elf;
		for (int i = 0; i < elf->e_phnum; i++)
			if (segment[i].p_type == PT_LOAD)
				high = low + segment[i].p_vaddr + segment[i].p_memsz;
	}
	return (uint64_t)address >= low && (uint64_t)address < high;
}

/*
 * It knows the linker's blocks, which only the linker's memory leads to, by their caller, and
 * sees us in its place.
 */
static inline __attribute__((always_inline)) void spare(const void *block)
{
	if (__builtin_expect(__lsan_ignore_object && block, 0) &&
	    is_linker(__builtin_return_address(0)))
		__lsan_ignore_object(block);
}

/* ---- allocations ---- */

static __attribute__((noinline)) void *traced_malloc(size_t size)
{
	heap_forget_newest();
	void *block = next.malloc(size);

	spare(block);
	heap_note_unless_noted(HEAP_MALLOC, block, size);
	return block;
}

static __attribute__((noinline)) void *traced_calloc(size_t count, size_t size)
{
	heap_forget_newest();
	void *block = next.calloc(count, size);

	spare(block);
	heap_note_unless_noted(HEAP_CALLOC, block, count * size);
	return block;
}

/*
 * All ways on are jumps: the caller is the program, for the traced functions and, where the heap
 * is not traced, for the allocator, which may look who it is.
 */
COLLECTOR_EXPORT void *malloc(size_t size)
{
	if (!resolved())
		return reserve_take(size);
	return heap_is_traced() ? traced_malloc(size) : next.malloc(size);
}

COLLECTOR_EXPORT void *calloc(size_t count, size_t size)
{
	if (!resolved())
		return reserve_take(count * size);
	return heap_is_traced() ? traced_calloc(count, size) : next.calloc(count, size);
}

static void *move_out_of_reserve(const void *old, size_t size)
{
	size_t before = *(const size_t *)((const char *)old - RESERVE_ALIGN);
	char *block = malloc(size);

	for (size_t i = 0; block && i < before && i < size; i++)
		block[i] = ((const char *)old)[i];
	return block;
}

COLLECTOR_EXPORT void *realloc(void *old, size_t size)
{
	if (is_reserve(old))
		return move_out_of_reserve(old, size);
	if (!resolved())
		return reserve_take(size);
	if (heap_samples)
		heap_sample_released(old);
	uint64_t begin_ns = heap_traces_all ? clock_now_ns() : 0;
	heap_forget_newest();
	heap_leaving = old;
	void *block = next.realloc(old, size);

	heap_leaving = NULL;
	spare(block);
	if (!begin_ns)
		heap_note_unless_noted(HEAP_REALLOC, block, size);
	else if (block && heap_is_newest(block))
		heap_released(old); /* what it went on to has allocated the new one */
	else if (block || !size)
		heap_reallocated(old, begin_ns, block, size);
	return block;
}

COLLECTOR_EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
	size_t whole;

	if (!__builtin_mul_overflow(count, size, &whole))
		return realloc(old, whole);
	errno = ENOMEM;
	return NULL;
}

COLLECTOR_EXPORT void *memalign(size_t alignment, size_t size)
{
	if (!resolved())
		return reserve_take(size);
	heap_forget_newest();
	void *block = next.memalign(alignment, size);

	heap_note_unless_noted(HEAP_ALIGNED, block, size);
	return block;
}

COLLECTOR_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	if (!resolved())
		return reserve_take(size);
	heap_forget_newest();
	void *block = next.aligned_alloc(alignment, size);

	heap_note_unless_noted(HEAP_ALIGNED, block, size);
	return block;
}

COLLECTOR_EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
	if (!resolved())
		return ENOMEM;
	heap_forget_newest();
	int result = next.posix_memalign(block, alignment, size);

	if (!result)
		heap_note_unless_noted(HEAP_ALIGNED, *block, size);
	return result;
}

COLLECTOR_EXPORT void *valloc(size_t size)
{
	if (!resolved())
		return NULL;
	heap_forget_newest();
	void *block = next.valloc(size);

	heap_note_unless_noted(HEAP_ALIGNED, block, size);
	return block;
}

COLLECTOR_EXPORT void *pvalloc(size_t size)
{
	if (!resolved())
		return NULL;
	heap_forget_newest();
	void *block = next.pvalloc(size);

	heap_note_unless_noted(HEAP_ALIGNED, block, size);
	return block;
}

/* ---- releases ---- */

/* True: the block is the allocator's, and its release has been recorded. */
static bool release(const void *block)
{
	if (is_reserve(block) || !resolved())
		return false;
	if (block != heap_leaving)
		heap_note_release(block);
	return true;
}

COLLECTOR_EXPORT void free(void *block)
{
	if (release(block))
		next.free(block);
}

/* C23; where the allocator has them, which may go on to free. */
COLLECTOR_EXPORT void free_sized(void *block, size_t size);
COLLECTOR_EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size);

void free_sized(void *block, size_t size)
{
	if (!next.free_sized) {
		free(block);
	} else if (release(block)) {
		heap_leaving = block;
		next.free_sized(block, size);
		heap_leaving = NULL;
	}
}

void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	if (!next.free_aligned_sized) {
		free(block);
	} else if (release(block)) {
		heap_leaving = block;
		next.free_aligned_sized(block, alignment, size);
		heap_leaving = NULL;
	}
}

/* ---- mappings ---- */

/* mmap and mmap64 are one; which of them the header calls mmap depends on _FILE_OFFSET_BITS. */
COLLECTOR_EXPORT void *wrapped_mmap(void *hint, size_t size, int protection, int flags, int fd,
				    off_t offset) __asm__("mmap");

void *wrapped_mmap(void *hint, size_t size, int protection, int flags, int fd, off_t offset)
{
	resolved();
	void *address = next.mmap(hint, size, protection, flags, fd, offset);

	if (heap_traces_all && address != MAP_FAILED)
		heap_mapped(HEAP_MMAP, (uint64_t)address, size, 0);
	if (protection & PROT_EXEC && !(flags & MAP_ANONYMOUS) && address != MAP_FAILED)
		maps_mapped(address, size, fd, (uint64_t)offset);
	return address;
}

COLLECTOR_EXPORT void *wrapped_mmap64(void *hint, size_t size, int protection, int flags, int fd,
				      off_t offset) __asm__("mmap64")
	__attribute__((alias("mmap")));

COLLECTOR_EXPORT int munmap(void *address, size_t size)
{
	resolved();
	if (heap_traces_all)
		heap_mapped(HEAP_MUNMAP, (uint64_t)address, size, 0);
	return next.munmap(address, size);
}

/* Defined under the name of a variadic function, whose arguments are in the same places. */
COLLECTOR_EXPORT void *wrapped_mremap(void *old, size_t old_size, size_t size, int flags,
				      void *place) __asm__("mremap");

void *wrapped_mremap(void *old, size_t old_size, size_t size, int flags, void *place)
{
	resolved();
	void *address = next.mremap(old, old_size, size, flags, place);

	if (heap_traces_all && address != MAP_FAILED)
		heap_mapped(HEAP_MREMAP, (uint64_t)address, size, (uint64_t)old);
	return address;
}

static void broken(uint64_t before, uint64_t after)
{
	heap_mapped(HEAP_BRK, after, after > before ? after - before : 0, 0);
}

COLLECTOR_EXPORT int brk(void *end)
{
	resolved();
	uint64_t before = heap_traces_all ? (uint64_t)next.sbrk(0) : 0;
	int result = next.brk(end);

	if (heap_traces_all && !result)
		broken(before, (uint64_t)end);
	return result;
}

COLLECTOR_EXPORT void *sbrk(intptr_t increment)
{
	resolved();
	void *before = next.sbrk(increment);

	if (heap_traces_all && increment && before != (void *)-1)
		broken((uint64_t)before, (uint64_t)before + (uint64_t)increment);
	return before;
}
