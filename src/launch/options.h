/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `helio collect`, understood; meanings as in the Sun Studio collect(1). */
#ifndef HELIO_LAUNCH_OPTIONS_H
#define HELIO_LAUNCH_OPTIONS_H

#include "base/option.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "format/kinds.h"
#include "launch/counter/counter.h"
#include "launch/run/target_java.h"

#include <stdbool.h>
#include <stdint.h>

/* The clock intervals with names; odd, so as not to beat with the system's tick. */
enum {
	OPTIONS_CLOCK_ON_US = 10007,
	OPTIONS_CLOCK_FIRST_US = 997, /* … on, at first */
	OPTIONS_CLOCK_HIGH_US = 997,
	OPTIONS_CLOCK_LOW_US = 100003,
	OPTIONS_CLOCK_MIN_US = 10,
	OPTIONS_CLOCK_MAX_US = 1000000,
	OPTIONS_COMMENTS_MAX = 10,
	OPTIONS_TRACE_ROOM = 512,
	OPTIONS_OVERHEAD_MAX =
		90, /* percent; what is left to the program must be more than noise */
};

enum options_engine { OPTIONS_ENGINE_AUTO, OPTIONS_ENGINE_PERF, OPTIONS_ENGINE_MONITOR };

enum options_action {
	OPTIONS_RUN,
	OPTIONS_HELP, /* asked for, or no argument at all */
	OPTIONS_VERSION,
	OPTIONS_COUNTERS, /* -h alone */
};

struct options {
	enum options_action action;
	uint32_t clock_us;	 /* 0: no clock profiling */
	uint32_t clock_first_us; /* the interval at first, where it grows to that; 0: it does not */
	uint32_t sample_s;	 /* 0: no periodic sample points */
	/* what the collector's parameters say of each kind of trace data; "": it is off */
	char trace[TRACE_KINDS][OPTIONS_TRACE_ROOM];
	struct counter_list counters; /* of -h */
	bool follow;
	const char *follow_regex; /* -F =REGEX without the sign, else NULL */
	const char *launcher;	  /* the word of -M, else NULL */
	bool traces_mpi;	  /* -m was given, on or off */
	bool ranks;		  /* the target is a launcher of MPI: only its ranks are recorded */
	const char *output;	  /* NULL: test.N.er */
	bool overwrite;		  /* -O */
	const char *comments[OPTIONS_COMMENTS_MAX];
	unsigned comment_count;
	int sample_signal, pause_signal; /* 0: none */
	bool begin_paused;		 /* -y without r */
	uint32_t size_limit_mb;		 /* 0: none */
	const char *directory;		 /* for experiments and groups; NULL: this one */
	const char *group;		 /* NULL: none */
	const char *archive;		 /* a word of -A, or where archive_newer, of -a */
	bool archive_newer;
	bool window; /* -t was given */
	uint64_t window_start_ms;
	uint64_t window_end_ms; /* 0: no end */
	bool dry_run;
	bool verbose;
	bool quiet;
	bool view; /* open the experiment afterwards */
	enum options_engine engine;
	uint32_t max_overhead;	 /* percent of a thread's time; 0: no bound */
	uint32_t depth;		 /* deepest call stack, frames; 0: the collector's default */
	bool java_off;		 /* -j off: a Java machine is recorded as native code */
	struct target_java java; /* -j DIR, -J */
	const char *attach;	 /* -P: the process to attach to, which takes the program's place */
	char **target;		 /* the program and its arguments, in argv; *target NULL: none */
};

/* The rows of the options, and the help. */
extern const struct option_syntax options_syntax;

/*
 * Fills options from argv[1]….  STATUS_INVALID: errors say why; warnings may
 * be there in either case.  All pointers point into argv.
 */
enum status options_parse(struct options *options, char **argv, struct diag_list *diags);
/* The same in pieces, for another subcommand with these options: what is so unless an option says
 * otherwise; what remains to be done when they have been read, and options->target is set. */
void options_init(struct options *options);
enum status options_finish(struct options *options, struct diag_list *diags);

const char *options_engine_name(enum options_engine engine);

/* Whether any trace data is asked for; … any that takes the program's calls to be wrapped. */
bool options_trace(const struct options *options);
bool options_wrap(const struct options *options);
/* Whether it needs the file `mounts`. */
bool options_need_mounts(const struct options *options);

/* Appends the -F setting as the log has it: on, off or =REGEX. */
void options_follow_text(const struct options *options, struct strbuf *out);

/* The arguments' grammar; each returns false for what it cannot read. */

/* off, on, lo, hi or a time: "1.5", "1.5m", "1ms" in ms, "500u", "500us" in µs, "1s" → µs,
 * within the limits and whole; warns where the time had to be changed. */
bool options_read_clock(const char *text, uint32_t *us, struct diag_list *diags);
/* DURATION, START-END, -END or START-, each number with m (minutes), s or ms; 0: no limit. */
enum options_window_result {
	OPTIONS_WINDOW_OK,
	OPTIONS_WINDOW_JUNK,
	OPTIONS_WINDOW_BACKWARDS, /* the start is not before the end */
};
enum options_window_result options_read_window(const char *text, uint64_t *start_ms,
					       uint64_t *end_ms);
/*
 * A signal's name, with or without SIG, or number; one that a program can handle and that
 * neither libc nor the collector uses.
 */
bool options_read_signal(const char *text, size_t length, int *number);
/* USR1, RTMIN+3 */
enum { OPTIONS_SIGNAL_ROOM = 16 };
void options_signal_name(int number, char name[OPTIONS_SIGNAL_ROOM]);
/* A percentage up to OPTIONS_OVERHEAD_MAX, with or without its sign, or off: 0. */
bool options_read_overhead(const char *text, uint32_t *percent);
/* A whole number 1..max in decimal digits. */
bool options_read_count(const char *text, uint32_t max, uint32_t *value);

#endif
