/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Becomes echo, for which the kernel needs some time: it copies an argument from a page that is
 * not there before MS have passed.
 *
 *   slowexec MS   says "ready", then "done"; status 77: the kernel does not let it
 */
#include "target.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

enum { PAGE = 4096, NOT_ALLOWED = 77 };

static int faults;
static char *page;
static char content[PAGE] __attribute__((aligned(PAGE))) = "done";

static void *fill(void *ms)
{
	struct uffdio_copy copy = {
		.dst = (uint64_t)page, .src = (uint64_t)content, .len = sizeof(content)};

	usleep((useconds_t) * (long *)ms * 1000);
	if (ioctl(faults, UFFDIO_COPY, &copy))
		perror("UFFDIO_COPY");
	pause();
	return NULL;
}

static void *compute(void *unused)
{
	for (volatile uint64_t sum = 0;; sum++)
		;
	return unused;
}

static int watch_page(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uint64_t)page;
	range.range.len = PAGE;
	return faults < 0 || page == MAP_FAILED || ioctl(faults, UFFDIO_API, &api) ||
	       ioctl(faults, UFFDIO_REGISTER, &range);
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	pthread_t thread;

	if (watch_page())
		return NOT_ALLOWED;
	if (pthread_create(&thread, NULL, fill, &ms) ||
	    pthread_create(&thread, NULL, compute, NULL))
		return 1;
	puts("ready");
	fflush(stdout);
	execl("/bin/echo", "echo", page, (char *)NULL);
	return 1;
}
