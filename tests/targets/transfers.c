/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large transfers that a signal may cut short: from a device that never lacks data, and
 * to and from a thread that takes and gives in small portions.  Without signals none is
 * short, and what arrives is what was sent.
 *
 * Argument: seconds per kind of transfer.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { SIZE = 1 << 20, PORTION = 8192, WORDS = SIZE / 8 };

static uint64_t buffer[WORDS];
static int zero, file, ends[2]; /* ends[1] is written to and ends[0] read from */
static volatile uint64_t sink;

/* A stream of ascending words: each of them is checked where it arrives. */
static uint64_t sent, received;
static long corrupt;

static void fill(void)
{
	for (int i = 0; i < WORDS; i++)
		buffer[i] = sent++;
}

static void check(const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		corrupt += words[i] != received++;
}

static ssize_t read_zero(void)
{
	return read(zero, buffer, SIZE);
}

static ssize_t get_random(void)
{
	return getrandom(buffer, SIZE, 0);
}

static ssize_t write_all(void)
{
	fill();
	return write(ends[1], buffer, SIZE);
}

static ssize_t writev_all(void)
{
	const size_t half = SIZE / 2;
	struct iovec pieces[] = {
		{buffer, 8}, {buffer + 1, half}, {(char *)buffer + 8 + half, half - 8}};

	fill();
	return writev(ends[1], pieces, 3);
}

static ssize_t send_all(void)
{
	fill();
	return send(ends[1], buffer, SIZE, 0);
}

static ssize_t sendfile_all(void)
{
	off_t start = 0;

	sent = received;
	return sendfile(ends[1], file, &start, SIZE);
}

/* The other side of what is written: takes PORTION after PORTION until the end. */
static void *take(void *argument)
{
	static char portion[PORTION] __attribute__((aligned(8)));
	ssize_t got;

	while ((got = recv(ends[0], portion, PORTION, MSG_WAITALL)) > 0 ||
	       (got < 0 && errno == ENOTSOCK && (got = read(ends[0], portion, PORTION)) > 0)) {
		if (argument)
			check((const uint64_t *)portion, (size_t)got / 8);
		sink += churn(sink | 1, 500);
	}
	return NULL;
}

static ssize_t receive_all(void)
{
	ssize_t got = recv(ends[0], buffer, SIZE, MSG_WAITALL);

	check(buffer, WORDS);
	return got;
}

/* The other side of what is received. */
static void *give(void *argument)
{
	uint64_t portion[PORTION / 8];

	for (;;) {
		for (int i = 0; i < PORTION / 8; i++)
			portion[i] = sent++;
		sink += churn(sink | 1, 500);
		if (send(ends[1], portion, PORTION, MSG_NOSIGNAL) != PORTION)
			return NULL;
	}
}

static void repeat(const char *name, ssize_t (*transfer)(void), double seconds)
{
	double end = wall_now() + seconds;
	long part = 0, failed = 0, rounds = 0;

	do {
		ssize_t got = transfer();

		rounds++;
		failed += got < 0;
		part += got >= 0 && got != SIZE;
	} while (wall_now() < end);
	printf("%s partial %ld failed %ld corrupt %ld\n", name, part, failed, corrupt);
	fprintf(stderr, "%s %ld rounds\n", name, rounds);
}

/* With a thread at the other end; `checked`: the words ascend. */
static void repeat_with(const char *name, ssize_t (*transfer)(void), double seconds,
			void *(*other)(void *), void *checked)
{
	pthread_t thread;

	sent = received = 0;
	if (pthread_create(&thread, NULL, other, checked))
		exit(1);
	repeat(name, transfer, seconds);
	close(ends[other == give ? 0 : 1]);
	pthread_join(thread, NULL);
	close(ends[other == give ? 1 : 0]);
}

static void open_pipe(void)
{
	if (pipe(ends))
		exit(1);
}

static void open_sockets(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		exit(1);
}

static void make_file(void)
{
	char name[] = "transfers.XXXXXX";

	file = mkstemp(name);
	unlink(name);
	if (write(file, buffer, SIZE) != SIZE)
		exit(1);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.1;

	make_file();
	zero = open("/dev/zero", O_RDONLY);
	repeat("read zero", read_zero, seconds);
	repeat("getrandom", get_random, seconds);
	open_pipe();
	repeat_with("write pipe", write_all, seconds, take, buffer);
	open_pipe();
	repeat_with("writev pipe", writev_all, seconds, take, buffer);
	open_sockets();
	repeat_with("send socket", send_all, seconds, take, buffer);
	open_sockets();
	repeat_with("sendfile socket", sendfile_all, seconds, take, NULL);
	open_sockets();
	repeat_with("receive socket", receive_all, seconds, give, NULL);
	return 0;
}
