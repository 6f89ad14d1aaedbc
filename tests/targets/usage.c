/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads, writes and fresh pages in known numbers: usage N THREADS SECONDS
 *
 * The main thread and each other one make N reads of 50 bytes and N writes of 100, and touch N
 * pages of fresh memory.  Then it sleeps.  Prints, with one write, the page faults of the process
 * between the begin and the end of main.
 */
#include "target.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

enum { PAGE = 4096, THREADS_MAX = 16, READ_SIZE = 50, WRITE_SIZE = 100 };

static long wanted;

static void *work(void *unused)
{
	static char from[WRITE_SIZE];
	char to[READ_SIZE];
	int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
	volatile char *memory = mmap(NULL, (size_t)wanted * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)memory, (size_t)wanted * PAGE, MADV_NOHUGEPAGE);
	for (long i = 0; i < wanted; i++) {
		if (read(zero, to, sizeof(to)) != sizeof(to) ||
		    write(null, from, sizeof(from)) != sizeof(from))
			abort();
		memory[i * PAGE] = 1;
	}
	close(zero);
	close(null);
	return unused;
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	long before = faults();
	int count = argc > 2 ? atoi(argv[2]) : 0;
	double seconds = argc > 3 ? atof(argv[3]) : 0;

	wanted = argc > 1 ? atol(argv[1]) : 1000;
	for (int i = 0; i < count && i < THREADS_MAX; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < count && i < THREADS_MAX; i++)
		pthread_join(threads[i], NULL);
	work(NULL);
	usleep((useconds_t)(seconds * 1e6));
	printf("faults %ld\n", faults() - before);
	fflush(stdout); /* the recording ends before exit writes */
	return 0;
}
