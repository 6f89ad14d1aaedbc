/* SPDX-License-Identifier: Apache-2.0 */
/* The program's signals of our numbers that it takes by signalfd(2). */
#ifndef HELIO_COLLECTOR_SIGNAL_FD_H
#define HELIO_COLLECTOR_SIGNAL_FD_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

/* signalfd(2), as the program sees it; `next` is the call itself. */
int signal_fd_make(int fd, const sigset_t *set, int flags, int (*next)(int, const sigset_t *, int));
void signal_fd_close(int fd);

/* One of the program's is pending, and the calling thread has it blocked. Safe in a handler. */
void signal_fd_tell(int number);
/* It may be taken by now: the thread is about to open them again, and meets what is still there. */
void signal_fd_tell_no_more(void);

/* read(2), which may be of a signalfd. */
typedef ssize_t signal_fd_reader(int fd, void *to, size_t size);
ssize_t signal_fd_read(signal_fd_reader *next, int fd, void *to, size_t size);

#endif
