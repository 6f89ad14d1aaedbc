/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may pause, resume and end the recording: the program itself (api.c), a signal of the
 * user's choice (-y), the limit on the experiment's size (-L), `helio ctl` from outside.  All
 * of them only set the recording clock (format/control.h), which the accounting reads.
 *
 * What is to be written about it (-l: a sample point; a line in the log) needs more stack
 * and time than a handler has: it is noted in a ring, and a raw thread that lives as long
 * as there are notes writes it down.  Whoever ends the recording writes what is left.
 */
#include "collector/core/control.h"

#include "collector/arch/sys.h"
#include "collector/core/child_io.h"
#include "collector/core/log.h"
#include "collector/core/rawthread.h"
#include "collector/core/sample.h"
#include "collector/core/signals.h"
#include "collector/core/time.h"
#include "collector/storage/blocks.h"
#include "collector/storage/family.h"
#include "collector/storage/own_use.h"
#include "collector/storage/recording.h"
#include "collector/storage/recording_clock.h"
#include "collector/storage/text.h"
#include "format/control.h"

enum note_kind { NOTE_SAMPLE, NOTE_PAUSE, NOTE_RESUME, NOTE_LIMIT };

struct note {
	_Atomic uint64_t time_ns; /* CLOCK_MONOTONIC; 0: not filled in yet */
	enum note_kind kind;
};

enum { NOTES = 64, WRITER_STACK = 32 * 1024 };

static int sample_signal, pause_signal; /* 0: none */
static bool begin_paused;

static struct note notes[NOTES];
static _Atomic uint32_t notes_put, notes_got;
static _Atomic unsigned writing;
static char writer_stack[WRITER_STACK] __attribute__((aligned(16)));

static void stop_for_good(void);

/* ---- what is asked for ---- */

void control_read_sample_signal(const char *value)
{
	sample_signal = (int)text_number(value, NULL);
}

void control_read_pause_signal(const char *value)
{
	const char *end;

	pause_signal = (int)text_number(value, &end);
	begin_paused = *end == 'p';
}

void control_read_size_limit(const char *value)
{
	blocks_set_limit(text_number(value, NULL) << 20, stop_for_good);
}

void control_forget_params(void)
{
	sample_signal = pause_signal = 0;
	begin_paused = false;
	blocks_set_limit(0, stop_for_good);
}

/* ---- the recording clock ---- */

bool control_pause(void)
{
	return recording_clock_stop(clock_now_ns(), 0);
}

bool control_resume(void)
{
	return recording_clock_go_on(clock_now_ns());
}

void control_open(void)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t asked = begin_paused ? CONTROL_PAUSED : 0;

	family_open();
	if (collector.lineage[0]) /* paused where its founder is: there the whole family is */
		asked = family_control_word();
	recording_clock_open((void *)(collector.profile.arena[0].base + CONTROL_OFFSET));
	own_use_open((void *)(collector.profile.arena[0].base + OWN_USE_OFFSET),
		     (void *)(collector.profile.arena[0].base + LEFT_OFFSET));
	if (asked & CONTROL_PAUSED)
		recording_clock_stop(now_ns, asked & CONTROL_FINAL);
}

void control_forget(void)
{
	recording_clock_forget();
	own_use_forget();
	child_io_forget();
	family_forget();
	blocks_forget();
	atomic_store(&notes_got, atomic_load(&notes_put));
	atomic_store(&writing, 0);
}

/* ---- what is written about it ---- */

static void write_note(const struct note *note)
{
	static const struct {
		const char *event, *text;
	} lines[] = {
		[NOTE_PAUSE] = {"pause", "signal"},
		[NOTE_RESUME] = {"resume", "signal"},
		[NOTE_LIMIT] = {"warning",
				"the experiment has reached its size limit: recording stops"},
	};
	char room[256];
	struct text line = TEXT_ON(room);

	if (note->kind != NOTE_SAMPLE) {
		log_event_begin_at(&line, lines[note->kind].event, note->time_ns);
		text_attribute(&line, "text", lines[note->kind].text);
		log_event_end(&line);
	}
	sample_write(FORMAT_SAMPLE_MANUAL, note->kind == NOTE_LIMIT ? "size limit" : "signal");
}

void control_write_notes(void)
{
	uint32_t got = atomic_load(&notes_got);

	while (got != atomic_load(&notes_put)) {
		struct note note = {.kind = notes[got % NOTES].kind};

		note.time_ns = atomic_load(&notes[got % NOTES].time_ns);
		if (!note.time_ns) /* its handler is about to fill it in, and then to ask again */
			return;
		if (!atomic_compare_exchange_strong(&notes_got, &got, got + 1))
			continue;
		atomic_store(&notes[got++ % NOTES].time_ns, 0);
		write_note(&note);
	}
}

static void write_and_end(void)
{
	control_write_notes();
	rawthread_exit(&writing);
}

/* In a handler. With the ring full the oldest notes are enough. */
static void put_note(enum note_kind kind, uint64_t now_ns)
{
	uint32_t put = atomic_load(&notes_put);

	do
		if (put - atomic_load(&notes_got) >= NOTES)
			return;
	while (!atomic_compare_exchange_weak(&notes_put, &put, put + 1));
	notes[put % NOTES].kind = kind;
	atomic_store(&notes[put % NOTES].time_ns, now_ns);
	if (!atomic_exchange(&writing, 1) &&
	    rawthread_start(write_and_end, writer_stack, sizeof(writer_stack), false) < 0)
		atomic_store(&writing, 0);
}

/* ---- who asks ---- */

/* The size limit is reached.  In a handler, too. */
static void stop_for_good(void)
{
	uint64_t now_ns = clock_now_ns();

	if (recording_clock_stop(now_ns, CONTROL_FINAL))
		put_note(NOTE_LIMIT, now_ns);
}

static void toggle(uint64_t now_ns)
{
	if (control_pause())
		put_note(NOTE_PAUSE, now_ns);
	else if (control_resume())
		put_note(NOTE_RESUME, now_ns);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	signal_open_faults(context);
	if (atomic_load(&collector.recording) && collector_is_ours()) {
		if (signal == sample_signal)
			put_note(NOTE_SAMPLE, clock_now_ns());
		else
			toggle(clock_now_ns());
	}
	signal_forward(signal, info, context);
}

void control_take_signals(void)
{
	if (sample_signal)
		signal_take(sample_signal, on_signal);
	if (pause_signal)
		signal_take(pause_signal, on_signal);
}
