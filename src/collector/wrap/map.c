/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mmap: code of a load object may come to a place that the dynamic linker knows nothing of.  This
 * is only seen here, as it may be unmapped before the program ends.  Where memory is traced,
 * trace_heap.c has the wrapper in place of this one.
 */
#include "collector/arch/sys.h"
#include "collector/core/maps.h"
#include "collector/core/next_functions.h"
#include "collector/storage/recording.h"

#include <errno.h>
#include <sys/mman.h>

#define WRAPPED_MMAP(name)                                                                         \
	COLLECTOR_EXPORT __attribute__((weak)) void *name(void *hint, size_t size, int protection, \
							  int flags, int fd, off_t offset)

/* mmap and mmap64 are one; which of them the header calls mmap depends on _FILE_OFFSET_BITS. */
WRAPPED_MMAP(plain_mmap) __asm__("mmap");
WRAPPED_MMAP(plain_mmap64) __asm__("mmap64");

/* An allocator may call it before anything can be looked up, and while it is. */
static void *map(void *hint, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (next_functions.mmap)
		return next_functions.mmap(hint, size, protection, flags, fd, offset);

	long result = sys_call6(SYS_mmap, SYS_ARG(hint), SYS_ARG(size), protection, flags, fd,
				SYS_ARG(offset));

	if (result >= 0 || result <= -4096)
		return (void *)result;
	errno = (int)-result;
	return MAP_FAILED;
}

WRAPPED_MMAP(plain_mmap)
{
	void *address = map(hint, size, protection, flags, fd, offset);

	if (protection & PROT_EXEC && !(flags & MAP_ANONYMOUS) && address != MAP_FAILED)
		maps_mapped(address, size, fd, (uint64_t)offset);
	return address;
}

WRAPPED_MMAP(plain_mmap64)
{
	return plain_mmap(hint, size, protection, flags, fd, offset);
}
