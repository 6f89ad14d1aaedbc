/* SPDX-License-Identifier: Apache-2.0 */
#include "print/progress.h"

#include "base/terminal.h"
#include "object/elf/debuginfod.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static const double patience = 0.5; /* seconds without a line */
static volatile sig_atomic_t interrupted;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void erase(struct progress *progress)
{
	if (progress->is_shown)
		terminal_control(stderr, "\r\033[K");
	progress->is_shown = false;
}

/* What comes now is an answer in part: nobody is to see it. */
static void throw_away(struct print *print)
{
	FILE *nowhere = fopen("/dev/null", "w");

	if (!nowhere)
		return;
	print->progress.kept = print->output.file;
	print->output.file = nowhere;
}

static bool tell(void *data, double done)
{
	struct print *print = data;
	struct progress *progress = &print->progress;

	if (interrupted && !print->presenter.page.file) {
		erase(progress);
		throw_away(print);
		return false;
	}
	if (!progress->is_terminal || now() - progress->begin < patience)
		return true;
	terminal_control(stderr, "\r\033[K");
	fprintf(stderr, "%3.0f %%", done < 1 ? 100 * done : 100);
	fflush(stderr);
	progress->is_shown = true;
	return true;
}

static bool is_interrupted(void)
{
	return interrupted;
}

void progress_init(struct print *print)
{
	debuginfod_watch(is_interrupted);
	print->progress = (struct progress){.is_terminal = isatty(STDERR_FILENO)};
	print->watch = (struct watch){.tell = tell, .data = print};
	progress_begin(print);
}

void progress_begin(struct print *print)
{
	if (!print->said) /* Ctrl-C is for who has a terminal */
		interrupted = 0;
	print->watch.cancelled = false;
	print->query.watch = &print->watch;
	print->progress.begin = now();
}

bool progress_end(struct print *print)
{
	struct progress *progress = &print->progress;

	erase(progress);
	if (progress->kept) {
		fclose(print->output.file);
		print->output.file = progress->kept;
		progress->kept = NULL;
	}
	return !print->watch.cancelled;
}

static void note_interrupt(int number)
{
	interrupted = 1;
}

void progress_catch_interrupts(bool on)
{
	static struct sigaction before;
	struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = SA_RESTART};

	if (on)
		sigaction(SIGINT, &action, &before);
	else
		sigaction(SIGINT, &before, NULL);
}
