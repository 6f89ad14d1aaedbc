# SPDX-License-Identifier: Apache-2.0
"""
Calls that a signal could end: the program sees no EINTR and no short transfer
that it would not have seen alone, and every one that it would.
"""
from harness import Skip, perf_allowed, test
from test_code import build


def counts(result):
    """{line's first words: {word: number}} of lines like "poll interrupted 0 wrong 0"."""
    found = {}
    for line in result.out.splitlines():
        words = line.split()
        numbers = [i for i, word in enumerate(words) if word.isdigit()]
        found[' '.join(words[:numbers[0] - 1])] = {words[i - 1]: int(words[i]) for i in numbers}
    return found


def all_zero(t, result, least):
    found = counts(result)
    t.check(len(found) >= least, f'only {len(found)} kinds of call')
    for name, numbers in found.items():
        t.check(not any(numbers.values()), f'{name}: {numbers}')


@test(engines=True)
def unsignalled(t, engine):
    """Nobody but the collector sends a signal: no call with a timeout ends early, and each wait is seen where it is."""
    for result, _ in t.like_bare(engine, t.target('waits'), 0.04):
        all_zero(t, result, 23)
        rows = t.functions(result.experiment, 'i.total')
        t.ratio(rows['_start']['i.total'], rows['<Total>']['i.total'], 0.98, 1.0001, 'time below _start')


@test(engines=True)
def transfers(t, engine):
    """Reads of devices, writes to pipes and sockets: none is short."""
    for result, _ in t.like_bare(engine, t.target('transfers'), 0.1):
        all_zero(t, result, 7)


@test(engines=True)
def own_signals(t, engine):
    """Each signal of the program ends the one call that sleeps, after its handler, or none with SA_RESTART."""
    for result, _ in t.like_bare(engine, t.target('interrupted')):
        t.equal(result.out.count(': 30 signals, 30 handled, 30 ended, 0 too early\n'), 22, 'calls ended as often as signalled')


@test(engines=True)
def signals_of_our_numbers(t, engine):
    """The same with SIGTRAP and SIGRTMAX-1, which do the recording."""
    for which in ('trap', 'real'):
        for result, _ in t.like_bare(engine, t.target('interrupted'), which):
            t.equal(result.out.count(': 30 signals, 30 handled, 30 ended, 0 too early\n'), 22, 'calls ended as often as signalled')
        for result, _ in t.like_bare(engine, t.target('interrupted'), which, 'stopped', options=('-F', 'off'), intervals=('100u', '10m')):
            t.equal(result.out.count(': 30 signals, 30 handled, 30 ended, 0 too early\n'), 18, 'calls that had been stopped')


@test(engines=True)
def taken_without_a_handler(t, engine):
    """SIGTRAP and SIGRTMAX-1 by signalfd and sigtimedwait: each that was sent is told once, and none of ours is."""
    for words in ((), ('threads',)):
        for result, _ in t.like_bare(engine, t.target('signalfds'), *words, options=('-F', 'off')):
            t.equal(result.out.count(': 30 signals, wrong 0, foreign 0\n'), 6, 'ways to take signals')
    for _ in t.like_bare(engine, t.target('signalfds'), options=('-F', 'off', '-i', 'on'), intervals=('1m',)):
        pass


@test
def unseen_handlers(t):
    """The same where the program installs its handlers out of our sight; the monitor's own signals leave a doubt there."""
    if not perf_allowed():
        raise Skip('the kernel does not let this process use perf events with sigtrap')
    for result, _ in t.like_bare('perf', t.target('interrupted'), 'unseen'):
        t.equal(result.out.count(': 30 signals, 30 handled, 30 ended, 0 too early\n'), 22, 'calls ended as often as signalled')


@test(engines=True)
def stopped(t, engine):
    """SIGSTOP and SIGCONT: a sleep goes on with the time that remains."""
    for result, _ in t.like_bare(engine, t.target('interrupted'), 'stop'):
        for line in result.out.splitlines():
            t.check(line.endswith(': 0 errno 0, too short 0, too long 0'), line)


THREADS = r"""
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int failed[4];
static void *in_select(void *arg)
{
	struct timeval time = {1, 0};
	failed[0] = select(0, NULL, NULL, NULL, &time) ? errno : 0;
	return arg;
}
static void *in_ppoll(void *arg)
{
	struct timespec time = {1, 0};
	failed[1] = ppoll(NULL, 0, &time, NULL) ? errno : 0;
	return arg;
}
static void *in_poll(void *arg)
{
	failed[2] = poll(NULL, 0, 1000) ? errno : 0;
	return arg;
}
static void *in_nanosleep(void *arg)
{
	struct timespec time = {1, 0};
	failed[3] = nanosleep(&time, NULL) ? errno : 0;
	return arg;
}
int main(void)
{
	void *(*const calls[])(void *) = {in_select, in_ppoll, in_poll, in_nanosleep};
	pthread_t threads[4];
	pid_t parent = getpid();
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, calls[i], NULL);
	if (!fork()) {
		usleep(300000);
		kill(parent, SIGSTOP);
		usleep(300000);
		kill(parent, SIGCONT);
		_exit(0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	wait(NULL);
	printf("failed: %d %d %d %d\n", failed[0], failed[1], failed[2], failed[3]);
	return 0;
}
"""


@test(engines=True)
def stopped_threads(t, engine):
    """The same of several threads: libc's own handlers, which it has for its threads, end no call."""
    for result, _ in t.like_bare(engine, build(t, 'threads', ('threads.c', THREADS), flags=('-O1', '-pthread'))):
        t.equal(result.out, 'failed: 0 0 0 0\n', 'calls')


@test(engines=True)
def stopped_over_and_over(t, engine):
    """A signal of ours that comes when the kernel is about to continue a call after a stop."""
    for result, _ in t.like_bare(engine, t.target('interrupted'), 'storm', intervals=('100u',)):
        t.equal(result.out, 'failed: 0 polls, 0 sleeps\n', 'calls')
