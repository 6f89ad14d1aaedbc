/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped_twice [WAIT]: maps its own code once more, as V8 does, and works there: the function
 * `copied`, in the process and in its child, half of the time each.  WAIT: says "ready" and works
 * until it reads something.
 */
#include "target.h"

#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>

static volatile uint64_t sink;

/* No call to a place outside: in the copy it would lead elsewhere. */
static NOINLINE uint64_t copied(uint64_t rounds)
{
	volatile uint64_t sum = 0;

	for (uint64_t i = 0; i < rounds; i++)
		sum += i * i;
	return sum;
}

static uint64_t (*copy)(uint64_t);

static int map_copy(struct dl_phdr_info *info, size_t size, void *unused)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		char *at = mmap(NULL, (part->p_memsz + 4095) & ~4095ul, PROT_READ | PROT_EXEC,
				MAP_PRIVATE, fd, (off_t)part->p_offset);

		copy = (uint64_t(*)(uint64_t))(
			at + ((uintptr_t)copied - info->dlpi_addr - part->p_vaddr));
	}
	close(fd);
	return 1;
}

static void work(void)
{
	for (double end = cpu_now() + 0.4; cpu_now() < end;)
		sink += copy(1000000);
}

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};

	dl_iterate_phdr(map_copy, NULL);
	if (argc > 1) {
		puts("ready");
		fflush(stdout);
		while (!poll(&input, 1, 0))
			sink += copy(1000000);
		return 0;
	}
	work();
	if (!fork()) {
		work();
		_exit(0);
	}
	wait(NULL);
	return 0;
}
