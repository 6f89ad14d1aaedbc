/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers that a signal of ours has cut short: what is left is transferred in
 * our handler, and the program gets the sum.
 *
 * Only where nothing but a signal cuts a transfer short, or where trying again does
 * no harm.  A read that returns what there is has not been cut short, except
 * from a device that never lacks data.  Files are left alone: their transfers are not
 * interrupted, and a short write means a full disk or a limit.
 */
#include "collector/wrap/partial_transfer.h"

#include "collector/arch/context.h"
#include "collector/arch/sys.h"
#include "collector/wrap/wait_call.h"
#include "collector/wrap/wait_handlers.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

static bool is_file(long fd)
{
	struct stat status = {0};

	return sys_call(SYS_fstat, fd, &status, 0, 0) || S_ISREG(status.st_mode);
}

/* /dev/zero, /dev/urandom and their like. */
static bool is_endless(long fd)
{
	enum { MEMORY_DEVICES = 1 };
	struct stat status = {0};

	return !sys_call(SYS_fstat, fd, &status, 0, 0) && S_ISCHR(status.st_mode) &&
	       major(status.st_rdev) == MEMORY_DEVICES;
}

static bool is_stream(long fd)
{
	int type = 0;
	socklen_t size = sizeof(type);

	return !sys_call6(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, SYS_ARG(&type), SYS_ARG(&size),
			  0) &&
	       type == SOCK_STREAM;
}

static bool wants_all(const ucontext_t *context)
{
	return arch_argument(context, 3) & MSG_WAITALL && !(arch_argument(context, 3) & MSG_PEEK) &&
	       is_stream(arch_argument(context, 0));
}

/* What is left of a call whose count is an argument. False: nothing, or not our business. */
static bool find_rest(const ucontext_t *context, struct request *rest)
{
	long done = arch_result(context);

	switch (rest->call) {
	case SYS_read:
	case SYS_write:
	case SYS_sendto:
	case SYS_recvfrom:
		rest->b += done;
		rest->c -= done;
		break;
	case SYS_getrandom:
		rest->a += done;
		rest->b -= done;
		return rest->b > 0;
	case SYS_sendfile:
		rest->d -= done;
		return rest->d > 0;
	default:
		return false;
	}
	if (rest->c <= 0)
		return false;
	if (rest->call == SYS_read)
		return is_endless(rest->a);
	if (rest->call == SYS_recvfrom)
		return wants_all(context);
	return !is_file(rest->a);
}

/* The rest of a writev, piece by piece. Returns the bytes written in all. */
static long finish_writev(const ucontext_t *context, long done)
{
	const struct iovec *pieces = (const struct iovec *)arch_argument(context, 1);
	long skip = done;

	for (long i = 0; i < arch_argument(context, 2); i++) {
		long size = (long)pieces[i].iov_len;

		if (skip >= size) {
			skip -= size;
			continue;
		}
		struct request rest = {.call = SYS_write,
				       .a = arch_argument(context, 0),
				       .b = (long)pieces[i].iov_base + skip,
				       .c = size - skip};
		long got = wait_make_call(context, SYS_writev, &rest);

		done += got > 0 ? got : 0;
		if (got < rest.c)
			break;
		skip = 0;
	}
	return done;
}

void transfer_finish(ucontext_t *context, long call)
{
	struct request rest = {.call = call,
			       .a = arch_argument(context, 0),
			       .b = arch_argument(context, 1),
			       .c = arch_argument(context, 2),
			       .d = arch_argument(context, 3),
			       .e = arch_argument(context, 4),
			       .f = arch_argument(context, 5)};

	bool vector = call == SYS_writev && !is_file(rest.a);

	if (!vector && !find_rest(context, &rest))
		return;
	if (wait_pending_handlers(context, true)) /* the short count is their due */
		return;
	if (vector) {
		arch_set_result(context, finish_writev(context, arch_result(context)));
		return;
	}
	long got = wait_make_call(context, call, &rest);

	if (got > 0)
		arch_set_result(context, arch_result(context) + got);
}
