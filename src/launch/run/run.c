/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program is a child in the launcher's process group, with the launcher's
 * descriptors, signal mask and dispositions.  The launcher sleeps until a
 * signal or the sample timer wakes it:
 * - SIGINT, SIGQUIT (^C, ^\) come to the whole process group, so the program
 *   has them already; the launcher only must not die of them.
 * - SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 sent to the launcher alone are passed
 *   on.  Those that the terminal sends (SI_KERNEL) reach the program by itself.
 * - When the program is stopped from the terminal the launcher stops too, so
 *   that the shell sees a stopped job; when it is continued it continues the program.
 * Signals are taken from a descriptor, with their dispositions untouched: what
 * was ignored at the start (nohup) stays ignored, here and in the program.  SIGXFSZ,
 * which is ignored here, and SIGCHLD are put back in the program.
 */
#include "launch/run/run.h"

#include "base/array.h"
#include "launch/run/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct runner {
	const struct run_request *request;
	sigset_t old_mask;
	struct sigaction old_child_action;
	int signal_fd;
	int timer_fd; /* -1: no ticks */
	pid_t pid;
	int wait_status;
	struct rusage usage;
	bool ended;
	bool stopped; /* the program is, as far as we know */
};

static const int watched_signals[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP, SIGUSR1,
				      SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD};

uint64_t run_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct sigaction old_limit_action;

void run_ignore_file_limit(void)
{
	struct sigaction action = {.sa_handler = SIG_IGN};

	sigaction(SIGXFSZ, &action, &old_limit_action);
}

void run_restore_file_limit(void)
{
	sigaction(SIGXFSZ, &old_limit_action, NULL);
}

/* In the child: everything as the launcher found it, then the program. */
static _Noreturn void become_program(const struct runner *runner, int error_fd)
{
	const struct run_request *request = runner->request;

	request->announce(request->context, getpid());
	sigaction(SIGCHLD, &runner->old_child_action, NULL);
	run_restore_file_limit();
	sigprocmask(SIG_SETMASK, &runner->old_mask, NULL);
	execve(request->path, request->argv, request->environment);
	int error = errno;

	if (write(error_fd, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* Forks; 0, or the errno that kept the program from running. */
static int start(struct runner *runner)
{
	int pipe_fds[2];
	int error = 0;

	if (pipe2(pipe_fds, O_CLOEXEC))
		return errno;
	runner->pid = fork();
	if (!runner->pid)
		become_program(runner, pipe_fds[1]);
	if (runner->pid < 0)
		error = errno;
	close(pipe_fds[1]);
	ssize_t size;

	/* The end of file comes with the exec, which closes the child's side. */
	do
		size = runner->pid > 0 ? read(pipe_fds[0], &error, sizeof(error)) : 0;
	while (size < 0 && errno == EINTR);
	close(pipe_fds[0]);
	return error;
}

static void open_signals(struct runner *runner)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < COUNT(watched_signals); i++)
		sigaddset(&set, watched_signals[i]);
	runner->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sigaddset(&set,
		  SIGPIPE); /* a closed stderr must not end us before the experiment is closed */
	sigprocmask(SIG_BLOCK, &set, &runner->old_mask);
	/* An inherited SIG_IGN would make the kernel forget the program's exit status. */
	sigaction(SIGCHLD, &action, &runner->old_child_action);
}

static void open_timer(struct runner *runner)
{
	time_t period = (time_t)runner->request->tick_s;
	struct itimerspec times = {.it_interval.tv_sec = period, .it_value.tv_sec = period};

	runner->timer_fd = -1;
	if (!period)
		return;
	runner->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (runner->timer_fd >= 0)
		timerfd_settime(runner->timer_fd, 0, &times, NULL);
}

/* Stop as the program did; the shell's `fg` or a SIGCONT makes us go on from here. */
static void stop_too(struct runner *runner)
{
	raise(SIGSTOP);
	/* The program has its own SIGCONT if the whole job was continued; one more does nothing. */
	kill(runner->pid, SIGCONT);
	runner->stopped = false;
}

static void reap(struct runner *runner)
{
	int status;

	while (!runner->ended) {
		pid_t pid = wait4(runner->pid, &status, WNOHANG | WUNTRACED | WCONTINUED,
				  &runner->usage);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return;
		if (WIFSTOPPED(status)) {
			int by = WSTOPSIG(status);

			runner->stopped = true;
			/* Somebody who sends SIGSTOP wants the program to stop, not the job. */
			if (by == SIGTSTP || by == SIGTTIN || by == SIGTTOU)
				stop_too(runner);
		} else if (WIFCONTINUED(status)) {
			runner->stopped = false;
		} else {
			runner->wait_status = status;
			runner->ended = true;
		}
	}
}

static void on_signal(struct runner *runner, const struct signalfd_siginfo *info)
{
	int number = (int)info->ssi_signo;

	switch (number) {
	case SIGCHLD:
	case SIGINT:
	case SIGQUIT:
		break;
	case SIGCONT:
		if (runner->stopped)
			kill(runner->pid, SIGCONT);
		break;
	default:
		if (info->ssi_code != SI_KERNEL && (pid_t)info->ssi_pid != runner->pid)
			kill(runner->pid, number);
	}
}

static void read_signals(struct runner *runner)
{
	struct signalfd_siginfo info;

	/* Reap first: a signal must not go to a process id that is free again. */
	reap(runner);
	while (!runner->ended && read(runner->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		on_signal(runner, &info);
		reap(runner);
	}
}

static void read_timer(struct runner *runner)
{
	uint64_t ticks; /* more than one after a stop: they are one sample */

	if (read(runner->timer_fd, &ticks, sizeof(ticks)) == sizeof(ticks))
		runner->request->tick(runner->request->context, runner->pid);
}

static void wait_for_end(struct runner *runner)
{
	struct pollfd fds[] = {
		{.fd = runner->signal_fd, .events = POLLIN},
		{.fd = runner->timer_fd, .events = POLLIN},
		{.fd = broker_descriptor(runner->request->broker), .events = POLLIN}};

	reap(runner);
	while (!runner->ended && runner->signal_fd >= 0) {
		if (poll(fds, COUNT(fds), -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			read_signals(runner);
		if (fds[1].revents && !runner->ended)
			read_timer(runner);
		if (fds[2].revents && !runner->ended) {
			broker_serve(runner->request->broker);
			fds[2].fd = -1;
		}
	}
	while (!runner->ended && wait4(runner->pid, &runner->wait_status, 0, &runner->usage) < 0 &&
	       errno == EINTR)
		;
}

enum status run_program(const struct run_request *request, struct run_result *result,
			struct diag_list *diags)
{
	struct runner runner = {.request = request};

	open_signals(&runner);
	int error = start(&runner);

	if (runner.pid <= 0) {
		diag_add(diags, DIAG_ERROR, "No process could be made for the program: %s",
			 strerror(error));
		sigprocmask(SIG_SETMASK, &runner.old_mask, NULL);
		close(runner.signal_fd);
		return STATUS_IO;
	}
	if (!error)
		request->started(request->context, runner.pid);
	open_timer(&runner);
	wait_for_end(&runner);
	*result = (struct run_result){.pid = runner.pid,
				      .wait_status = runner.wait_status,
				      .exec_errno = error,
				      .end_ns = run_now_ns(),
				      .usage = runner.usage};
	if (runner.timer_fd >= 0)
		close(runner.timer_fd);
	close(runner.signal_fd);
	return STATUS_OK;
}
