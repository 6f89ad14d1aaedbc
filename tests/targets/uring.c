/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to rings of liburing, known by construction.  Compiled as a program, and as a library
 * that another program loads apart from itself.
 *
 *   uring             submissions and waits of each kind
 *   uring polled      a thread of the kernel's takes the requests
 *   uring many SECONDS  waits that a request of 100 us ends, one after the other
 */
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void prepare(struct io_uring *ring, int count)
{
	for (int i = 0; i < count; i++) {
		struct io_uring_sqe *entry = io_uring_get_sqe(ring);

		need(entry != NULL, "io_uring_get_sqe");
		io_uring_prep_nop(entry);
	}
}

static void take(struct io_uring *ring, int count)
{
	struct io_uring_cqe *done;

	for (int i = 0; i < count; i++) {
		need(io_uring_wait_cqe(ring, &done) == 0, "io_uring_wait_cqe");
		io_uring_cqe_seen(ring, done);
	}
}

/* A jump, where the compiler makes one of it: what is called seems to come from our caller. */
__attribute__((noinline)) int uring_submit(struct io_uring *ring);
int uring_submit(struct io_uring *ring)
{
	return io_uring_submit(ring);
}

/* 20 submissions of 100 requests in all. */
static void submit(struct io_uring *ring)
{
	for (int i = 0; i < 10; i++) {
		prepare(ring, 7);
		need(uring_submit(ring) == 7, "io_uring_submit");
		take(ring, 7);
	}
	for (int i = 0; i < 10; i++) {
		prepare(ring, 3);
		need(io_uring_submit_and_get_events(ring) == 3, "io_uring_submit_and_get_events");
		take(ring, 3);
	}
}

/* 4 waits that hand over 11 requests, and 3 that hand over none, of which 2 fail. */
static void wait_for(struct io_uring *ring)
{
	struct __kernel_timespec soon = {.tv_nsec = 20 * 1000 * 1000};
	struct io_uring_cqe *done;
	struct io_uring_sqe *entry;

	for (int i = 0; i < 3; i++) {
		prepare(ring, 2);
		need(io_uring_submit_and_wait(ring, 2) == 2, "io_uring_submit_and_wait");
		take(ring, 2);
	}
	prepare(ring, 5);
	need(io_uring_submit_and_wait_timeout(ring, &done, 5, &soon, NULL) >= 0,
	     "io_uring_submit_and_wait_timeout");
	take(ring, 5);
	need(io_uring_wait_cqe_timeout(ring, &done, &soon) == -ETIME, "io_uring_wait_cqe_timeout");
	need(io_uring_wait_cqes(ring, &done, 1, &soon, NULL) == -ETIME, "io_uring_wait_cqes");
	entry = io_uring_get_sqe(ring);
	io_uring_prep_timeout(entry, &soon, 0, 0);
	need(io_uring_submit(ring) == 1, "timeout");
	need(io_uring_wait_cqe(ring, &done) == 0 && done->res == -ETIME, "io_uring_wait_cqe");
	io_uring_cqe_seen(ring, done);
}

/* 1 submission of 4 requests and 1 wait that hands over 2, by the ring's descriptor. */
static void enter(struct io_uring *ring)
{
	prepare(ring, 4);
	*ring->sq.ktail = ring->sq.sqe_tail;
	need(io_uring_enter((unsigned)ring->ring_fd, 4, 0, 0, NULL) == 4, "io_uring_enter");
	ring->sq.sqe_head = ring->sq.sqe_tail;
	prepare(ring, 2);
	*ring->sq.ktail = ring->sq.sqe_tail;
	need(io_uring_enter((unsigned)ring->ring_fd, 2, 6, IORING_ENTER_GETEVENTS, NULL) == 2,
	     "io_uring_enter");
	ring->sq.sqe_head = ring->sq.sqe_tail;
	take(ring, 6);
}

/* 118 requests in 22 submissions and 6 waits that do not fail; 2 that do. */
static void run(struct io_uring *ring)
{
	submit(ring);
	wait_for(ring);
	enter(ring);
}

static void run_long(struct io_uring *ring, double seconds)
{
	struct __kernel_timespec soon = {.tv_nsec = 100 * 1000};
	struct io_uring_cqe *done;
	long rounds = (long)(seconds * 5000), interrupted = 0;

	for (long i = 0; i < rounds; i++) {
		io_uring_prep_timeout(io_uring_get_sqe(ring), &soon, 0, 0);
		need(io_uring_submit(ring) == 1, "timeout");
		for (;;) {
			int value = io_uring_wait_cqe(ring, &done);

			if (!value)
				break;
			need(value == -EINTR, "io_uring_wait_cqe");
			interrupted++;
		}
		io_uring_cqe_seen(ring, done);
		for (volatile int n = 0; n < 30000; n++)
			;
	}
	printf("interrupted %ld\n", interrupted);
}

/* A ring with 3 requests that are ready. */
struct io_uring *uring_ready(void);
struct io_uring *uring_ready(void)
{
	static struct io_uring ring;

	if (io_uring_queue_init(16, &ring, 0))
		return NULL;
	prepare(&ring, 3);
	return &ring;
}

int uring_run(int argc, char **argv);
int uring_run(int argc, char **argv)
{
	int polled = argc > 1 && !strcmp(argv[1], "polled");
	struct io_uring ring;
	int error = io_uring_queue_init(16, &ring, polled ? IORING_SETUP_SQPOLL : 0);

	printf("ring %d\n", !error);
	if (error)
		return 0;
	if (argc > 2)
		run_long(&ring, atof(argv[2]));
	else if (polled)
		for (int i = 0; i < 10; i++) {
			prepare(&ring, 7);
			need(io_uring_submit(&ring) >= 7, "io_uring_submit");
			take(&ring, 7);
		}
	else
		run(&ring);
	io_uring_queue_exit(&ring);
	fflush(stdout);
	return 0;
}

#ifndef URING_PLUGIN
int main(int argc, char **argv)
{
	return uring_run(argc, argv);
}
#endif
