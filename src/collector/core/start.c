/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The begin and the end of a recording in this process image.
 *
 * The constructor reads what `helio collect` left in the environment, makes the
 * experiment of a descendant (the founder's exists), and starts an engine.
 * Whatever goes wrong ends in a program that runs as if we were not there.
 */
#include "collector/core/start.h"

#include "base/own_calls.h"
#include "collector/arch/sys.h"
#include "collector/core/control.h"
#include "collector/core/dynamic.h"
#include "collector/core/handler_stack.h"
#include "collector/core/left_alone.h"
#include "collector/core/lineage.h"
#include "collector/core/log.h"
#include "collector/core/loss.h"
#include "collector/core/maps.h"
#include "collector/core/modules.h"
#include "collector/core/next_functions.h"
#include "collector/core/own_time.h"
#include "collector/core/params.h"
#include "collector/core/pending_call.h"
#include "collector/core/process_cpu.h"
#include "collector/core/profile_source.h"
#include "collector/core/rank.h"
#include "collector/core/rawthread.h"
#include "collector/core/sample.h"
#include "collector/core/signals.h"
#include "collector/core/stack.h"
#include "collector/core/tasks.h"
#include "collector/core/thread.h"
#include "collector/core/thread_name.h"
#include "collector/core/time.h"
#include "collector/core/trace.h"
#include "collector/core/unseen_threads.h"
#include "collector/core/wrappers.h"
#include "collector/core/writer.h"
#include "collector/storage/blockfile.h"
#include "collector/storage/descriptor.h"
#include "collector/storage/experiment.h"
#include "collector/storage/file.h"
#include "collector/storage/own_use.h"
#include "collector/storage/recording.h"
#include "collector/storage/recording_clock.h"
#include "collector/storage/stacktable.h"
#include "collector/storage/text.h"
#include "format/params.h"
#include "format/preload.h"

#include <elf.h>
#include <link.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <time.h>

/* ---- what to record ---- */

static void copy(char *to, size_t size, const char *from)
{
	struct text text = {.buffer = to, .size = size};

	to[0] = '\0';
	text_puts(&text, from);
}

/* -F =REGEX: by the program's base name or its lineage; the founder is always recorded. */
static bool wanted(const char *pattern)
{
	const char *base = modules_program();
	regex_t regex;

	for (const char *at = base; *at; at++)
		if (*at == '/')
			base = at + 1;
	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
		return true;
	bool match = !regexec(&regex, base, 0, NULL, 0) ||
		     !regexec(&regex, collector.lineage, 0, NULL, 0);
	regfree(&regex);
	return match;
}

static void read_lineage(char *slot)
{
	struct text lineage = TEXT_ON(collector.lineage);

	collector.lineage_slot = slot;
	collector.lineage_slot_size = text_length(slot) + 1;
	for (const char *at = slot; *at && *at != ' '; at++)
		text_putc(&lineage, *at);
	/* A slot as short as its name has no room for the next one. */
	if (collector.lineage_slot_size < lineage.length + 16)
		collector.lineage_slot = NULL;
}

/* What `helio attach` said, in place of the environment: see format/attach.h. */
static const char *late_words;

static const char *late_value(const char *name)
{
	size_t length = text_length(name);

	for (const char *word = late_words; *word; word += text_length(word) + 1)
		if (text_starts(word, name) && word[length] == '=')
			return word + length + 1;
	return NULL;
}

static const char *told(const char *name)
{
	return collector.late ? late_value(name) : getenv(name);
}

static bool read_environment(void)
{
	const char *params = told(PARAMS_ENV);
	const char *founder = told(PARAMS_ENV_EXPERIMENT);
	const char *library = told(PARAMS_ENV_LIBRARY);
	const char *pattern = told(PARAMS_ENV_FOLLOW);
	char *lineage = (char *)(uintptr_t)told(PARAMS_ENV_LINEAGE);

	if (!params || !*params || !founder || !library || !lineage)
		return false;
	const char *preload = getenv("LD_PRELOAD");

	/* Loaded by somebody else, with variables that were for another. */
	if (!collector.late && (!preload || !preload_find(preload, library)))
		return false;
	params_read(params);
	copy(collector.founder, sizeof(collector.founder), founder);
	copy(collector.library, sizeof(collector.library), library);
	read_lineage(lineage);
	collector.tracking = true;
	if (collector.ranks_only && !rank_take_name())
		return false;
	if (!collector.lineage[0] || collector.late)
		return true;
	return collector.follow && (!pattern || wanted(pattern));
}

/* ---- the experiment of this process image ---- */

/* The last number of a lineage, one up: a name that was taken by an unseen sibling. */
static void bump_lineage(void)
{
	size_t length = text_length(collector.lineage);
	struct text number;

	while (length && collector.lineage[length - 1] >= '0' &&
	       collector.lineage[length - 1] <= '9')
		length--;
	uint64_t next = text_number(collector.lineage + length, NULL) + 1;

	collector.names_taken++;
	number = (struct text){.buffer = collector.lineage + length,
			       .size = sizeof(collector.lineage) - length};
	text_decimal(&number, (int64_t)next);
}

static int make_directory(void)
{
	enum { TRIES = 10000 };
	int result = 0;

	collector.names_taken = 0;
	for (int i = 0; i < TRIES; i++) {
		struct text path = TEXT_ON(collector.directory);

		text_puts(&path, collector.founder);
		if (!collector.lineage[0])
			return 0;
		text_putc(&path, '/');
		text_puts(&path, collector.lineage);
		text_puts(&path, ".er");
		if (path.full)
			return -ENAMETOOLONG;
		result = file_make_directory(collector.directory);
		if (result != -EEXIST)
			return result;
		if (!rank_give_name_back())
			bump_lineage();
	}
	return result;
}

/*
 * Makes the directory and claims it with its first file.  A founder whose
 * directory is claimed is none: a child that lost its name on the way.
 */
static int claim_directory(const char *label)
{
	int result = make_directory();

	experiment_name_files();
	if (!result)
		result = sample_open(label);
	if (result != -EEXIST || collector.lineage[0])
		return result;
	copy(collector.lineage, sizeof(collector.lineage), "_c1");
	result = make_directory();
	experiment_name_files();
	return result ? result : sample_open(label);
}

/* Makes the files; used at the start of an image and in the child of a fork. 0, or -errno. */
static int begin_recording(const char *label)
{
	collector.begin_ns = clock_now_ns();
	atomic_store(&collector.pid, sys_getpid());
	collector.proc_pid = tasks_process_number();
	int result = claim_directory(label);
	if (!result)
		result = log_open();
	if (!result)
		result = modules_open();
	if (!result)
		result = writer_open();
	stacktable_open();
	if (!result)
		result = trace_open();
	if (result)
		log_error("the experiment could not be begun; this process is not recorded",
			  -result);
	else
		control_open();
	return result;
}

/* The calling thread's accounting begins now. */
static void begin_own_thread(uint64_t stack_low, uint64_t stack_high)
{
	struct thread *thread = thread_new();

	if (!thread)
		return;
	thread->stack_low = stack_low;
	thread->stack_high = stack_high;
	atomic_store(&thread->own_work, true); /* until own_time_begun() */
	thread->closed = true;
	own_time_note_before();
	process_cpu_begin();
	profile_source.begin_process(thread);
	thread_adopt(thread, thread->clock.last.now_ns);
	signal_inherit();
	thread_watch_end(thread);
}

static int find_own_text(struct dl_phdr_info *info, size_t size, void *unused)
{
	uint64_t here = (uint64_t)find_own_text;

	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && here >= start &&
		    here < start + segment->p_memsz) {
			collector.text_low = start;
			collector.text_high = start + segment->p_memsz;
			return 1;
		}
	}
	return 0;
}

/* All that a recording needs before its first thread. 0, or -errno. */
static int set_up(const char *label)
{
	room_find_stacks();
	dl_iterate_phdr(find_own_text, NULL);
	unwind_skip(collector.text_low, collector.text_high);
	thread_name_begin();
	signal_take_faults(); /* before there is a file that somebody can cut */
	int result = begin_recording(label);

	if (result) {
		signal_give_back();
		return result;
	}
	modules_update();
	modules_write_begin();
	if (collector.late)
		maps_log_code();
	if (!collector.lineage[0])
		modules_archive_vdso(getauxval(AT_SYSINFO_EHDR));
	return 0;
}

START_CONSTRUCTOR static void start(int count, char **arguments)
{
	(void)count;
	own_time_enter();
	/* A dynamic linker that was executed by itself has put its argument there. */
	log_note_image(arguments, getauxval(AT_BASE) ? (char *)getauxval(AT_EXECFN) : NULL);
	next_resolve();
	bool record = read_environment();

	const char *reason = collector.tracking ? program_left_alone() : NULL;

	if (reason) {
		lineage_program_left_alone(reason);
		collector.tracking = false;
	}
	if (!collector.tracking)
		return;
	atomic_store(&collector.pid, sys_getpid());
	process_install();
	own_use_work_begin();
	if (!record || set_up("start"))
		return;
	/* Last: what we did so far is not the program's time. */
	profile_source.prepare();
	begin_own_thread(collector.main_stack_low, collector.main_stack_high);
	atomic_store(&collector.recording, true);
	control_take_signals();
	profile_source.start();
	trace_begin();
	own_time_begun();
	own_use_work_end();
}

/* ---- the end ---- */

/* What a reader subtracts from what this process's parent knows of it: see docs/format.md. */
static void put_process_usage(struct text *line)
{
	struct timespec cpu = {0};
	struct rusage usage = {0};

	sys_call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &cpu, 0, 0);
	text_attribute_decimal(line, "process_cpu_ns",
			       (int64_t)cpu.tv_sec * 1000000000 + cpu.tv_nsec);
	text_attribute_decimal(line, "ppid", sys_call(SYS_getppid, 0, 0, 0, 0));
	if (collector.late) /* its children of before the recording are in the sum */
		return;
	sys_call(SYS_getrusage, RUSAGE_CHILDREN, &usage, 0, 0);
	lineage_put_usage(line, "children_", &usage);
}

enum { COUNTERS_ROOM = 1408 };

/* cpu_ns: the program's CPU time, with the ends of threads of ours. */
static void put_counters(struct text *line, uint64_t cpu_ns)
{
	uint64_t monitor_ns = process_cpu_own_ns(PROCESS_CPU_MONITOR);
	uint64_t recorded_ns = atomic_load(&collector.cpu_recorded_ns);
	uint64_t dropped = atomic_load(&collector.dropped);

	if (cpu_ns > recorded_ns && !dropped)
		cpu_ns -= process_cpu_of_own_ends_ns(cpu_ns - recorded_ns);
	log_event_begin(line, "counters");
	text_attribute_decimal(line, "events", (int64_t)atomic_load(&collector.events));
	text_attribute_decimal(line, "dropped", (int64_t)dropped);
	text_attribute_decimal(line, "unwind_failed",
			       (int64_t)atomic_load(&collector.unwind_failed));
	text_attribute_decimal(line, "truncated", (int64_t)atomic_load(&collector.truncated));
	if (collector_records_all()) { /* a check on completeness */
		text_attribute_decimal(line, "cpu_ns", (int64_t)cpu_ns);
		/* What threads used after their last event. */
		if (cpu_ns > recorded_ns && !dropped)
			text_attribute_decimal(line, "ends_cpu_ns",
					       (int64_t)(cpu_ns - recorded_ns));
		if (!collector.late)
			own_time_put_before(line);
	}
	unseen_threads_log(cpu_ns, recorded_ns);
	trace_log(line);
	if (collector.engine == ENGINE_MONITOR)
		text_attribute_decimal(line, "monitor_cpu_ns", (int64_t)monitor_ns);
	text_attribute_decimal(line, "cpu_recorded_ns", (int64_t)recorded_ns);
	put_process_usage(line);
	profile_source.log(line);
	text_puts(line, "/>\n");
}

/* No tick of the calling thread is the program's meanwhile. */
static void set_own_work(bool own_work)
{
	struct thread *thread = thread_current_if_known();

	if (thread)
		atomic_store(&thread->own_work, own_work);
}

/*
 * What the end of an image and an exec have in common.  Returns the moment up to
 * which time is accounted for; what we do after it is not the program's time.  `line` gets what
 * is to be said of it in the log.
 */
static uint64_t close_accounts(enum format_sample_kind kind, const char *label, struct text *line)
{
	own_use_work_begin();
	set_own_work(true);
	own_time_program_ends();
	loss_look();
	profile_source.finish_counts();
	modules_update();
	maps_log_code();
	profile_source.collect_unsampled();
	/* What it waited for was not here. */
	profile_source.settle_accounted(FORMAT_NO_STACK);
	profile_source.settle_all(FORMAT_NO_STACK);
	profile_source.leave_process();
	own_time_settled();
	uint64_t settled_ns = clock_now_ns(), before_ns = clock_own_cpu_ns();

	thread_name_all();
	pending_call_write_all();
	profile_source.settle_all(FORMAT_NO_STACK);
	atomic_store(&collector.settled, true);
	profile_source.distribute_unsampled();
	uint64_t cpu_ns = collector_cpu_ns() - (clock_own_cpu_ns() - before_ns);

	/* What sources do at the end may take seconds, in which the other threads go on: that is no
	 * time of the recording. */
	trace_finish();

	/* Before the handlers do nothing any more, and make no rest. */
	profile_source.disable_frequent_events();
	atomic_store(&collector.recording, false);
	set_own_work(false);

	control_write_notes();
	sample_write(kind, label);
	loss_log();
	profile_source.log_last_warnings();
	put_counters(line, cpu_ns);
	own_use_work_end();
	return settled_ns;
}

static void finish(void *unused)
{
	char room[2 * COUNTERS_ROOM];
	struct text line = TEXT_ON(room);

	(void)unused;
	uint64_t settled_ns = close_accounts(FORMAT_SAMPLE_END, "end", &line);

	profile_source.log_before_close();
	log_event_begin_at(&line, "exit", settled_ns);
	text_puts(&line, collector.lineage[0] ? "/>\n</experiment>\n" : "/>\n");
	experiment_append(FORMAT_FILE_LOG, &line);
}

void collector_finish(void)
{
	if (atomic_exchange(&collector.finished, true))
		return;
	run_with_room(finish);
}

void collector_terminate(void)
{
	collector_finish();
	profile_source.stop();
}

void collector_disable(const char *reason)
{
	if (!atomic_load(&collector.recording) || !collector_is_ours())
		return;
	log_warning(reason, 0);
	lineage_left_alone(0, NULL, reason);
	collector_terminate();
	descriptor_drop(&file_broker);
	signal_show_real();
	/* Programs that this one starts inherit the restriction: they find us switched off. */
	char *params = getenv(PARAMS_ENV);

	if (params)
		*params = '\0';
	collector.tracking = false;
	atomic_store(&collector.silent, true);
}

/* Of a program that ran already; for others there is a later moment (wrap/end.c). */
__attribute__((destructor)) static void end(void)
{
	if (collector.late && atomic_load(&collector.recording) && collector_is_ours())
		collector_finish();
}

uint64_t collector_suspend(void)
{
	char room[COUNTERS_ROOM];
	struct text line = TEXT_ON(room);
	uint64_t settled_ns = close_accounts(FORMAT_SAMPLE_END, "exec", &line);

	experiment_append(FORMAT_FILE_LOG, &line);

	profile_source.hold_signals_begin();
	signal_show_real();
	return settled_ns;
}

void collector_exec_failed(void)
{
	own_time_exec_failed();
	atomic_store(&collector.settled, false);
	pending_call_exec_failed();
	atomic_store(&collector.recording, true);
	signal_hide_again();
	profile_source.hold_signals_end();
}

void collector_drop_files(bool in_use)
{
	control_forget();
	blockfile_abandon(&collector.profile, in_use);
	trace_abandon(in_use);
	stacktable_abandon(in_use);
}

static void reset_counts(void)
{
	atomic_store(&collector.forks, 0);
	atomic_store(&collector.execs, 0);
	atomic_store(&collector.combos, 0);
	atomic_store(&collector.finished, false);
	atomic_store(&collector.settled, false);
	atomic_store(&collector.events, 0);
	atomic_store(&collector.dropped, 0);
	atomic_store(&collector.unwind_failed, 0);
	atomic_store(&collector.truncated, 0);
	atomic_store(&collector.cpu_recorded_ns, 0);
	profile_source.reset();
}

/* In the child of a fork: the threads, events and descriptors that the parent has. */
static void forget_parents(void)
{
	atomic_store(&collector.threads_to_begin, 0);
	profile_source.forget();
	rawthread_forget_all();
	namespace_forget();
	unwind_after_fork();
}

/* The recording before this one, in this process or in the one that it was forked from. */
static void forget_last(void)
{
	reset_counts();
	maps_forget();
	if (collector_is_ours()) { /* an attacher that was killed has ended nothing */
		profile_source.stop_abandoned();
	} else {
		forget_parents();
		thread_forget_all(NULL);
	}
	thread_empty_lanes();
	collector_drop_files(false);
	control_forget_params();
	collector.window_start_ns = collector.window_end_ns = 0;
	collector.partial = false;
}

int collector_begin_late(const char *words)
{
	/* In a program that was started with us the wrappers have the experiment's variables. */
	if (atomic_load(&collector.recording) || atomic_load(&collector.silent) ||
	    (collector.tracking && !collector.late))
		return -EBUSY;
	forget_last();
	collector.late = true;
	late_words = words;
	if (!read_environment())
		return -EINVAL;
	collector.lineage_slot = NULL; /* it lies in what will be unmapped */
	late_words = "";
	atomic_store(&collector.pid, sys_getpid());
	process_install();
	own_use_work_begin();
	int result = set_up("attach");

	own_use_work_end();
	if (result)
		return result;
	process_cpu_begin();
	return 0;
}

/* Too large for the stack of a small thread that forks. */
static char parents_directory[PATH_MAX_HERE];

static __attribute__((noinline)) void note_parents_directory(void)
{
	struct text path = TEXT_ON(parents_directory);

	text_puts(&path, collector.directory);
}

/* Who notices that the launcher is gone disconnects the socket for all. */
static bool is_left_alone(int result)
{
	return result == -EACCES || result == -ECONNREFUSED || result == -ENOTCONN;
}

static __attribute__((noinline)) bool begin_in_child(void)
{
	const char *pattern = told(PARAMS_ENV_FOLLOW);

	note_parents_directory();
	if (!collector.follow || (pattern && !wanted(pattern)))
		return false;
	int result = begin_recording("fork");

	if (is_left_alone(result))
		lineage_fork_left_alone(parents_directory);
	return !result;
}

/* `before`: the thread that has forked, as the parent knew it. */
static void go_on_in_child(const struct thread *before)
{
	modules_write_begin();
	dynamic_inherit();
	begin_own_thread(before->stack_low, before->stack_high);
	thread_inherit_masks(before);
	signal_open_again();
	atomic_store(&collector.recording, true);
	profile_source.start();
	trace_begin();
	own_time_begun();
}

void collector_restart_after_fork(void)
{
	own_time_enter();
	const struct thread *thread = thread_current_if_known();
	static struct thread before; /* too large for the stack of a small thread that forks */

	before = thread ? *thread : (struct thread){0};
	atomic_store(&collector.pid, sys_getpid());
	if (collector.late)
		signal_make_real();
	reset_counts();
	atomic_store(&collector.threads_to_begin, 0);
	if (!atomic_exchange(&collector.recording, false))
		return;
	maps_forget();
	forget_parents();
	/* A handler of the program may have interrupted a recording: it goes on when this returns.
	 */
	collector_drop_files(before.inside);
	modules_after_fork(thread_count() <= 1, before.inside);
	thread_forget_all(before.inside ? thread : NULL);
	own_use_work_begin();
	if (begin_in_child())
		go_on_in_child(&before);
	own_use_work_end();
}
