/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faraway: a program in whose address space a new library lies farther from the C library than a
 * jump reaches, as in Java's: it reserves 5 GB below and above it, but for holes of 160 KiB.
 * Then it waits for a line, and becomes `echo done`.
 */
#include "target.h"

#include <dlfcn.h>
#include <sys/mman.h>

enum { HOLE = 160 * 1024 };

static void reserve(uintptr_t from, uintptr_t to)
{
	if (to > from + HOLE)
		mmap((void *)(from + HOLE), to - from - HOLE, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

int main(void)
{
	uintptr_t libc = (uintptr_t)dlsym(RTLD_DEFAULT, "execve") & ~4095ul;
	uintptr_t low = libc - (5ul << 30), high = libc + (5ul << 30), start, end;
	struct {
		uintptr_t from, to;
	} gaps[256];
	int count = 0;
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start >= low && start < high &&
		    count < 256) {
			gaps[count].from = low;
			gaps[count++].to = strstr(line, "[stack]") ? start - (9 << 20) : start;
			low = end;
		}
	if (maps)
		fclose(maps);
	if (count < 256) {
		gaps[count].from = low;
		gaps[count++].to = high < 0x7ffffffff000 ? high : 0x7ffffffff000;
	}
	for (int i = 0; i < count; i++)
		reserve(gaps[i].from, gaps[i].to);
	puts("ready");
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin))
		execlp("echo", "echo", "done", NULL);
	return 1;
}
