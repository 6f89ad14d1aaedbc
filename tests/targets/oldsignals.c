/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oldsignals NUMBER: what the oldest calls for signals do, and how deep a handler nests that raises
 * its own signal.  Prints what it saw; a run without us says what is right.
 */
#include "target.h"

#include <errno.h>
#include <signal.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* that is what they are */

static volatile int number, depth, deepest, runs;

static void handler(int unused)
{
	depth++;
	if (depth > deepest)
		deepest = depth;
	if (++runs < 4)
		raise(number);
	depth--;
}

static int is_blocked(void)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	return sigismember(&mask, number);
}

static int is_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, number);
}

static const char *name_of(__sighandler_t found)
{
	return found == SIG_DFL	   ? "default"
	       : found == SIG_HOLD ? "hold"
	       : found == SIG_ERR  ? "error"
	       : found == handler  ? "handler"
				   : "other";
}

static void nest(const char *how)
{
	depth = deepest = runs = 0;
	raise(number);
	printf("%s: runs %d deepest %d\n", how, runs, deepest);
}

int main(int argc, char **argv)
{
	number = argc > 1 ? atoi(argv[1]) : SIGUSR1;
	printf("hold %s", name_of(sigset(number, SIG_HOLD)));
	raise(number);
	printf(" blocked %d pending %d\n", is_blocked(), is_pending());
	runs = 4; /* it comes as soon as it is open */
	printf("handler %s", name_of(sigset(number, handler)));
	printf(" blocked %d runs %d\n", is_blocked(), runs);
	printf("handler %s\n", name_of(sigset(number, handler)));
	printf("hold %s", name_of(sigset(number, SIG_HOLD)));
	printf(" blocked %d\n", is_blocked());
	printf("handler %s blocked %d\n", name_of(sigset(number, handler)), is_blocked());
	errno = 0;
	printf("error %s", name_of(signal(number, SIG_ERR)));
	printf(" errno %d\n", errno);
	signal(number, handler);
	nest("signal");
	sigaction(number, &(struct sigaction){.sa_handler = handler}, NULL);
	nest("sigaction");
	sigaction(number, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_NODEFER}, NULL);
	nest("nodefer");
	return 0;
}
