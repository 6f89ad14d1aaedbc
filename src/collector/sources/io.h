/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracing of input and output: one event for each call of the program that opens, reads,
 * writes, waits for, changes or closes files and sockets.
 *
 * A wrapper asks io_begin, makes the call, and tells io_end what it was.  Nothing is held
 * meanwhile: a call may be cancelled or left by a jump, and what a signal handler of the program
 * reads and writes during it is recorded like all else.  What the C library does inside
 * a call does not come by here: a call of stdio is one event, with the bytes that the
 * program gave or got, whenever they reach the file.
 */
#ifndef HELIO_COLLECTOR_IO_H
#define HELIO_COLLECTOR_IO_H

#include "collector/core/trace.h"

#include <sys/socket.h>

enum { IO_NO_FD = -1 };

/* For an event that is a second part of a call: it took no time of its own. */
#define IO_NO_TIME UINT64_MAX

/* What a call was. What does not apply is 0. */
struct io_event {
	enum format_io_type type;
	bool failed;	     /* errno tells why, unless `error` does */
	bool renames;	     /* the descriptor leads elsewhere from now on */
	bool has_offset;     /* it named a place in the file, or copied a descriptor */
	int error;	     /* of a call that returns its errno; 0: it did not fail */
	int fd;		     /* or IO_NO_FD; of IO_OPEN the new one */
	uint32_t name;	     /* as io_release gave it */
	uint64_t bytes;	     /* that were transferred */
	uint64_t offset;     /* the place; of an opening: the descriptor that it is a copy of */
	uint64_t requests;   /* IO_WAIT, IO_SUBMIT: that were handed to an io_uring */
	const char *path;    /* the name that it was given, or NULL */
	const void *address; /* connect: the peer's, of `address_size` bytes */
	socklen_t address_size;
};

/* The time; 0: this call is not to be recorded. */
uint64_t io_begin(void);
/* After the call, whose function was `function`, with errno as it left it. */
void io_end(uint64_t begin_ns, const void *function, const struct io_event *event);
/* Where a recording begins, in the child of a fork too, and is about to end; NULL: nothing to do.
 */
extern void (*io_streams_begin)(void), (*io_streams_finish)(void);
/* Before a call that ends what a descriptor means; the name that it had, or 0. */
uint32_t io_release(int fd);
/* The same for all of [first, last]. */
void io_release_range(unsigned first, unsigned last);

/* Of messages that were sent or received at once. */
uint64_t io_bytes_of(const struct mmsghdr *messages, long count);

/* io_numbers.c: whether a call by number is to be traced, and the call. */
bool io_is_number(long number);
long io_by_number(long number, long a, long b, long c, long d, long e, long f);

/* What a system call that a thread is blocked in does, and on which descriptor or IO_NO_FD. */
void io_number_under_way(long number, const uint64_t *arguments, unsigned *type, int *fd);

/* Of io_uring_enter(2): what it is, by how many completions it waits for, and on which descriptor.
 */
enum format_io_type io_ring_type(unsigned least, unsigned flags);
int io_ring_fd(int fd, unsigned flags);

/* io_names.c: numbers of texts, 0: not known; for a thread that has entered the trace */
uint32_t io_name_of_fd(struct thread *thread, int fd);
uint32_t io_name_of_path(struct thread *thread, const char *path);
uint32_t io_name_of_address(struct thread *thread, int fd, const void *address, socklen_t size);
/* What open's path says of the descriptor: NULL where it is only the directory of a file without a
 * name, which the kernel calls after its number there. */
const char *io_opened_path(const char *path, int flags);
/* What a descriptor is called from now on; 0: ask when it is used. */
void io_names_set(int fd, uint32_t name);
void io_names_forget(unsigned first, unsigned last);
/* No name has been written down yet. */
void io_names_begin(void);

/* io_mounts.c: the number of the family's mount namespace, as a parameter says it */
void io_mounts_of_family(const char *number);
/* Writes down which file systems this process sees, where they are not the family's. */
void io_mounts_note(void);

#endif
