/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the collector share: the recording of this process, and
 * the state of each of its threads.
 *
 * Laws of this module: code that a handler can reach takes no lock and
 * allocates nothing but by mmap.  What it may call of libc, and how much of
 * the stack it may use, tools/handler-symbols.txt says.  Loss is counted,
 * never silent.
 */
#ifndef HELIO_COLLECTOR_CORE_H
#define HELIO_COLLECTOR_CORE_H

#include "collector/arch/open_wait.h"
#include "collector/core/record_buffer.h"
#include "collector/unwind/unwind.h"
#include "format/counter.h"
#include "format/format.h"
#include "format/params.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define COLLECTOR_EXPORT __attribute__((visibility("default")))

enum { PATH_MAX_HERE = 4096 };

struct dirent;

/* The scandir of our own /proc that a thread is in. */
struct listing {
	int (*filter)(const struct dirent *); /* the program's */
	bool of_tasks;			      /* else of fd */
};

/* Usage of one thread, read at one moment. */
struct clock_reading {
	uint64_t now_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ns; /* CPU time of the thread */
	uint64_t system_us;
	uint64_t minor_faults, major_faults;
	uint64_t voluntary_switches, involuntary_switches;
	uint64_t usage_ns; /* now_ns of the reading that the five above are of */
};

/* Which tick's stack gets an interval of a young thread (clock_phase.c). */
enum phase_mode {
	PHASE_OLD,  /* the tick that ends an interval: all threads in the long run */
	PHASE_LAST, /* the tick that begins it; at first the last one of another thread */
	PHASE_NEXT, /* the tick that ends it: a process's first thread, in every second process */
};

enum { PHASE_RECENT = 16 };

struct clock_phase {
	enum phase_mode mode;
	uint64_t birth_cpu_ns; /* the thread's CPU clock at its begin */
	uint64_t due_cpu_ns;   /* … when its CPU timer is to expire next */
	uint64_t tick_cpu_ns;  /* … at its last tick */
	uint64_t held_ns; /* until its first tick, where no other thread's stack is to have it */
	uint64_t overpaid_ns;		/* what the next thread owes its predecessor */
	uint32_t stack, state;		/* who gets what is pending, or what is left; 0: nobody */
	struct runtime_context context; /* … then */
	bool ticked;			/* this thread has had a tick */
	bool pauses; /* an old one's recording has paused: its time goes to one of these ticks */
	struct {
		uint32_t stack, state;
		struct runtime_context context;
	} recent[PHASE_RECENT]; /* its last ticks */
	uint32_t recents;	/* how many there were so far */
	bool wall;		/* its timer is one of the wall clock, which expires in time */
	bool timer_first;	/* perf engine, the process's first tick: by a timer */
	uint32_t wary;		/* so many lives more that such a timer could meet waiting */
	uint64_t birth_waits;	/* how often it had waited at its begin */
	uint64_t early_waits;	/* … when its timer last expired too early */
};

/* Time of one thread that was accounted for, and what waits for a call stack. */
struct clock_account {
	struct clock_reading last;
	uint64_t delay_ns;		   /* run-queue delay accounted so far */
	int64_t cpu_pending_ns;		   /* used since the last clock tick */
	int64_t blocked_pending_ns;	   /* waited since the last wait that was sampled */
	int64_t queued_pending_ns;	   /* runnable but not running */
	int64_t stopped_pending_ns;	   /* monitor engine: the whole process stood still */
	uint64_t stopped_seen_ns;	   /* … of collector.stopped_ns */
	uint32_t switch_pauses;		   /* perf engine: at the last reading */
	bool gap_is_new;		   /* each switch since the last reading was signalled */
	uint64_t system_done_us;	   /* system time attributed so far */
	uint64_t tick_faults;		   /* minor + major faults at the last clock tick */
	uint64_t remote_slices;		   /* monitor engine: schedstat at the last look */
	uint64_t minor_since, major_since; /* faults between the last two readings */
	bool faulted;			   /* there were faults before the last look at the usage */
	bool paused;			   /* outside the window of -t */
	uint64_t recorded_ns;		   /* the recording clock at the last reading */
	uint32_t remote_stack;		   /* monitor engine: stack of the wait that goes on */
	uint32_t remote_state;
	struct runtime_context remote_context; /* … then */
	bool remote_over;		       /* it has been seen to have ended */
	uint64_t preempted;		       /* how often, when that wait began */
	struct clock_phase phase;
};

/* Open /proc files of a thread: descriptors of the monitor, which has a table of its own. */
struct clock_files {
	int32_t tid; /* 0: none are open */
	int32_t schedstat, syscall;
	int32_t status, wchan;	       /* below 0: not needed so far, or cannot be opened */
	uint64_t seen_ns, seen_cpu_ns; /* the last look at a thread that was not blocked */
	uint64_t waiting_ns;	       /* the last look at which the known wait went on */
	uint64_t looked_cpu_ns;	       /* its CPU time at the last look */
};

/* What handlers have taken of one thread's time, and what of that is not paid (overhead.h). */
struct overhead_account {
	uint64_t clock_ns;     /* up to when it is settled, on the clock that pays; 0: not begun */
	uint64_t debt_ns;      /* more than was allowed, then */
	uint64_t unsettled_ns; /* taken since */
	uint64_t left_ns;      /* CLOCK_MONOTONIC at the last handler's end */
	_Atomic uint64_t rest_until_ns; /* monitor engine: of the thread's CPU clock */
};

/* When recording is switched on, on CLOCK_MONOTONIC; end 0: for good. */
struct window {
	uint64_t start_ns, end_ns;
};

/* Executions of one OpenMP construct that have not been written yet. */
struct omp_sums {
	uint32_t construct, stack, calls, threads; /* construct 0: none */
	uint64_t took, worked, longest;		   /* ticks, as omp_ticks() */
	uint64_t since;				   /* … the begin of the first */
};

enum { OMP_LEVELS = 4 };

/* What the OpenMP layer knows of a thread (runtimes/omp.h). */
struct omp_account {
	uint32_t level;		   /* regions that it encountered and that go on */
	uint64_t waited, executed; /* ticks so far: waiting in regions; in tasks */
	struct ompt_thread *ompt;  /* what runtimes/ompt.c keeps of it, or NULL */
	struct omp_sums regions, tasks;
	struct {
		uint64_t function;
		uint32_t stack, parent, number;
	} last; /* the construct that it encountered last */
};

enum { WAIT_LASTS = 1 << 30 }; /* no result so far */

/* A system call that our handler makes for the program, and where the program made it. */
struct call_place {
	uint64_t pc, sp; /* sp 0: none */
	long call;
	struct open_wait open;
};

/* A traced call that has begun (pending_call.h). */
struct pending_call {
	uint64_t since_ns;    /* CLOCK_MONOTONIC */
	uint64_t recorded_ns; /* the recording clock then */
	uint64_t sp;	      /* of the wrapped function */
	uint64_t object, owner;
	uint8_t kind, type;
};

enum { UNDER_WAY_MAX = 4 };

/*
 * The handler, the monitor and the exit hold the lock until they are done.  A recording of a traced
 * call may be interrupted by a handler of the program, which may last, or never return.
 */
enum thread_lock { LOCK_FREE, LOCK_TAKEN, LOCK_BY_CALL };

/* One live thread. Lives in its own mapping, which the next thread takes over. */
struct thread {
	/* Of the state, which one thread after another has. */
	uint32_t index;		   /* in the table of all states */
	uint32_t next_free;	   /* index + 1 of the next free one */
	_Atomic int32_t tid;	   /* 0: free */
	_Atomic uint32_t busy;	   /* enum thread_lock: taken by whoever writes */
	struct record_buffer lane; /* of `profile` */
	bool begun;		   /* its first record is there */
	uint64_t begin_us;	   /* what it says */
	struct record_buffer traces[TRACE_KINDS];
	_Atomic uint64_t guard_ns;     /* when it expires, on CLOCK_MONOTONIC */
	_Atomic uint64_t signalled_ns; /* when the monitor's signal under way was sent; 0: none */
	struct clock_files files;      /* the monitor's: outlive the thread until it looks again */
	void *runtime;		       /* working room of who gives stacks a second one, or NULL */
	struct team_ends teams[OMP_LEVELS]; /* of its regions, by level */
	struct unwind_memory *unwind;	    /* behind this struct, in the same mapping */

	/* From here on of one thread: the next one finds zeros. */
	int32_t proc_tid; /* its number in /proc */
	uint32_t number;  /* from 1, within the process */
	uint32_t
		blocked; /* of our signals, those that the program believes it blocks: a bit each */
	uint32_t vfork_index;	/* of the vfork under way */
	uint32_t vfork_blocked; /* `blocked` of its child, which runs on our memory */
	bool takes_signals;	/* by hand, and none of ours may be sent to it then */
	bool lends_memory;	/* perhaps: a child that runs on it was made */
	uint64_t stack_size;	/* that the C library was asked for; 0: it did not make the stack */
	uint64_t stack_low, stack_high;		/* readable without care; 0: unknown */
	uint64_t alternate_low, alternate_high; /* of its alternate signal stack, if it has one */
	void *(*start_routine)(void *);
	void *start_argument;
	uint32_t inside;		   /* a traced call is being recorded */
	uint64_t inside_sp;		   /* where the stack was then */
	uint64_t measured_ticks;	   /* it is measured, since then; 0: it is not */
	uint32_t to_measure, measured_gap; /* calls up to the next that is; between the last two */
	struct pending_call call[UNDER_WAY_MAX]; /* outermost first */
	uint32_t calls;
	bool over;			/* nothing more is recorded of them, nor of what follows */
	uint64_t written_until_ns;	/* calls from before that have had their record; 0: none */
	uint64_t counted[COUNTERS_MAX]; /* by counter: what has been said of its exact count */
	uint64_t looked_at[COUNTERS_MAX];   /* … that count at the last look */
	struct runtime_context before;	    /* room for the one before its team was over */
	const struct runtime_context *then; /* of the stack that is written; NULL: the one of now */
	struct runtime_context context;	    /* set by itself alone */
	struct omp_account omp;
	struct clock_account clock;
	struct overhead_account overhead;
	struct call_place continued; /* what the thread waits for in our handler */
	struct window open;	     /* of collector_thread_pause; written under the lock */
	int32_t timer;		     /* the CPU timer of this thread + 1; 0: none */
	int32_t guard;		     /* a timer + 1 (clock_stop.c); 0: none, -1: none to be had */
	bool closed;	    /* accounted for up to the end, but for the collector's own work */
	bool watched;	    /* waits without a switch event (clock_watch.c) */
	uint32_t cpu_stack; /* of its last tick; 0: none has seen it */
	struct runtime_context cpu_context; /* … then */
	uint32_t start_stack;		    /* the start routine: for waits that no event saw */
	struct listing listing;
	uint32_t goodbyes; /* rounds of thread-specific destructors seen */
};

enum engine { ENGINE_NONE, ENGINE_PERF, ENGINE_MONITOR };

/* The recording of this process. */
struct collector {
	_Atomic bool recording;
	bool partial;  /* not all of the time was to be recorded */
	bool tracking; /* descendants get their names, also where this process is not recorded */
	_Atomic bool finished;
	_Atomic bool silent; /* no system call of ours any more */
	_Atomic int32_t pid; /* whose recording this is; another: a child that shares our memory */
	int32_t proc_pid; /* its number in /proc: another in a pid namespace below that of /proc */
	enum engine engine;
	int monitor_signal;
	bool follow;
	bool java_off;	      /* Java machines are recorded as native code */
	uint64_t faults_here; /* SIGBUS as a set, where it is not handled on the alternate stack */
	bool late;	      /* the program ran already: our wrappers stand in for nothing */
	uint64_t start_ns;    /* CLOCK_MONOTONIC at time 0 of the family */
	uint64_t begin_ns;    /* … at the begin of this process image's recording */
	uint64_t window_start_ns, window_end_ns; /* CLOCK_MONOTONIC; end 0: none */
	_Atomic uint64_t interval_ns; /* of the clock, in force; 0: there is no clock profile */
	uint64_t first_interval_ns, last_interval_ns; /* equal: it stays (clock_interval.c) */
	uint32_t depth;
	char founder[PATH_MAX_HERE];   /* the founder's directory */
	uint64_t launcher_key[2];      /* what the launcher knows us by, see format/broker.h */
	char directory[PATH_MAX_HERE]; /* this process image's */
	char lineage[PARAMS_LINEAGE_ROOM];
	int32_t names_taken; /* by others that were given the same name, so that `lineage` has a
				number as much higher */
	char library[PATH_MAX_HERE];
	char *lineage_slot; /* in the environment: the name for the next combination child */
	size_t lineage_slot_size;
	uint64_t text_low, text_high; /* our own code */
	_Atomic uint64_t stopped_ns;  /* monitor engine: SIGSTOP and its kin, all in all */
	uint64_t main_stack_low, main_stack_high;
	uint64_t default_stack_size;

	_Atomic uint32_t forks, execs, combos;
	_Atomic uint32_t threads; /* numbers given out */
	_Atomic uint32_t births;  /* threads created that have not begun */
	_Atomic uint64_t events, dropped, unwind_failed, truncated;
	_Atomic uint64_t cpu_recorded_ns;
	/* process CPU time that is not recorded: before, and our own */
	_Atomic uint64_t cpu_before_ns;
	atomic_bool raw_calls; /* the program makes system calls of its own, as Go does */

	struct blockfile profile, stacks;
};

extern struct collector collector;

/* start.c */
/* The end of the process: accounts for all threads, writes the end sample. Once. */
void collector_finish(void);
/* room.c: calls it with NULL, on a stack of our own where this one is small; by one thread only. */
void run_with_room(void (*work)(void *));
/* Calls work(arg) on the stack that ends there, with all signals blocked. Safe in a handler. */
void run_on_stack(char *top, void (*work)(void *), void *arg);
/* Where the first thread's stack lies, and how large those of others are. */
void room_find_stacks(void);
/* Whether all that the program does, from the recording's begin on, is to be recorded. */
bool collector_records_all(void);
/* Accounts for the time of all threads up to now. */
void collector_settle_all(void);
void collector_settle_thread(struct thread *thread);
/* Ends the recording of this process for good; the program goes on. */
void collector_terminate(void);
/* Ends the recording for good, and all that we do in this process and its descendants. */
void collector_fall_silent(const char *reason);
/* Before exec, which ends this image with all its threads: returns up to when they are accounted
 * for. */
uint64_t collector_suspend(void);
/* When the exec failed after all. */
void collector_go_on(void);
/* hold_signals.c: no signal of ours reaches the process in between; time stays pending. */
void hold_signals_begin(void);
void hold_signals_end(void);
/* Begins a new recording in the child of a fork. */
void collector_restart_after_fork(void);
/* Begins a recording in a program that runs already, all but its engine; `words` as in
 * format/attach.h.  0, or a negative errno. */
int collector_begin_late(const char *words);
/* Unmaps the files of a recording that has ended; in_use as of blockfile_abandon. */
void collector_drop_files(bool in_use);
/* Says in the log which engine is at work, and why not the one that was asked for. */
void collector_log_engine(enum engine asked, const char *reason);
/* CPU time of the program's threads since the recording began, ours taken out. */
uint64_t collector_cpu_ns(void);
/* True in the process whose recording this is, false in a child of vfork. */
bool collector_is_ours(void);

/* thread.c */
/* The calling thread's state, NULL before its first event; or thread_gone, once the thread has said
 * goodbye: late events of it are not recorded. */
extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));
extern struct thread thread_gone;
struct thread *thread_make_current(void);

/* As thread_current, but never makes one. */
static inline struct thread *thread_current_if_known(void)
{
	return thread_self == &thread_gone ? NULL : thread_self;
}

/* The calling thread's state, made on the first call; NULL: no memory. Safe in a handler. */
static inline struct thread *thread_current(void)
{
	return thread_self ? thread_current_if_known() : thread_make_current();
}

/*
 * In a handler: the state of the thread that was interrupted there.  One made by
 * a raw clone without CLONE_SETTLS runs on its creator's thread-local variables.
 */
struct thread *thread_interrupted(const struct unwind_regs *regs);
/* The state of the thread with this number, or NULL. */
struct thread *thread_find(int tid);
/* A state for a thread about to be created, and the way back if it is not. */
struct thread *thread_new(void);
void thread_release(struct thread *thread);
/* Makes the state the calling thread's: its begin is accounted from `birth_ns`. */
void thread_adopt(struct thread *thread, uint64_t birth_ns);

/* A state for a thread that runs already and has not had an event: it finds it by its id. `dir` is
 * an open /proc/self/task. */
void thread_announce(int tid, int dir);
/* The thread `tid` has left without a word: its state is free again. */
void thread_bury(struct thread *thread, int tid);
/* For a new recording in the same process: the states of living threads stay theirs. */
void thread_empty_lanes(void);

/* The calling thread is about to end: takes its state away; nothing is recorded of it any more. */
void thread_end(void);
/* Calls visit for every live thread. */
void thread_for_each(void (*visit)(struct thread *thread, void *arg), void *arg);
uint32_t thread_count(void);
/* Whether there is no other one. */
bool thread_is_alone(const struct thread *thread);
/* … for every state, whether it is a thread's or waits for the next one. */
void thread_for_each_state(void (*visit)(struct thread *thread, void *arg), void *arg);
/* The state of that index, or NULL. */
struct thread *thread_state_at(uint32_t index);
/*
 * In the child of a fork: no thread is known any more, lanes are empty.  `in_use`, or NULL, is the
 * state of a recording that a handler has interrupted and that goes on when that returns: it
 * ends on that state, which is nobody's from now on.
 */
void thread_forget_all(const struct thread *in_use);
/* What the program believes of its signal mask goes on in the calling thread. */
void thread_inherit_masks(const struct thread *from);
bool thread_try_lock(struct thread *thread);
/*
 * For normal context: gives way until the handler or the monitor is done.  What a recording of a
 * call holds in the calling thread itself, below a handler of the program, is taken over.
 */
void thread_lock(struct thread *thread);
/* The same for a recording of a call of the thread itself. */
void thread_lock_by_call(struct thread *thread);
/* The same for another thread. False: such a recording does not end. */
bool thread_lock_other(struct thread *thread);
void thread_unlock(struct thread *thread);

/* writer.c: the caller holds the thread's lock */
void writer_thread_begin(struct thread *thread, uint64_t time_ns);
void writer_thread_end(struct thread *thread, uint64_t time_ns);
/* Recording stops or goes on for the thread, by the window of -t. */
void writer_thread_pause(struct thread *thread, uint64_t time_ns);
void writer_thread_resume(struct thread *thread, uint64_t time_ns);
/* `weight_us` in a state, up to now. False: there is no room; the drop has been counted. */
bool writer_event(struct thread *thread, uint64_t time_ns, enum format_state state,
		  uint64_t weight_us, uint32_t stack);
int writer_open(void);
/* Of a pair its stack, in *stack, and what runtimes say of the event (RUNTIME_JAVA). */
uint8_t *writer_put_pair(struct record_buffer *lane, uint8_t *out, uint32_t *stack);

/* stacktable.c */
void stacktable_open(void);
/* Before the program gives up rights that are needed to make the file. */
void stacktable_make_file(void);
void stacktable_abandon(bool in_use);
/* The node of (parent, pc), or FORMAT_NO_STACK when there is no room. */
uint32_t stacktable_intern(uint32_t parent, uint64_t pc, void *unused);
/* The same of another epoch than the one in force. */
uint32_t stacktable_intern_in(uint32_t parent, uint64_t pc, uint32_t in_epoch);
/* The parent of a pair, whose pc *pc becomes; of all others themselves, and *pc 0. */
uint32_t stacktable_of_pair(uint32_t id, uint64_t *pc);
void stacktable_next_epoch(void);
uint32_t stacktable_epoch(void);
/* The one of the latest stack: the one before while no stack is of this epoch yet. */
uint32_t stacktable_last_epoch(void);
/* Visits the nodes of this epoch from that id on, 0 for all; returns where to go on. */
uint32_t stacktable_visit(uint32_t from, void (*visit)(uint64_t pc));
/* … of all epochs. */
uint32_t stacktable_visit_all(uint32_t from, void (*visit)(uint64_t pc));

/* modules.c */
/* Looks at the loaded objects and records what is new or gone. Not in a handler. False: it cannot.
 */
bool modules_update(void);
/* Tells the unwinder, at the next update, which of them are never unmapped. Not in a handler. */
void modules_note_staying(void);
/* In the child of a fork; alone: there was no other thread; in_use: a recording goes on (see
 * thread_forget_all). */
void modules_after_fork(bool alone, bool in_use);
/* In a handler: the loader's word on an object (see struct unwind_stack). */
enum unwind_object modules_at(uint64_t pc, const struct unwind_module *known);
/* In a handler: the object that holds a pc which no snapshot knows. True: it is known now.  The
 * caller holds the lock of a thread, whose unwinding is over.  patient: may give way to who
 * changes the list, which a handler must not. */
bool modules_learn(uint64_t pc, bool patient);
/* The calling thread was in there, in a recording that was left by a jump. */
void modules_left(void);
/* Writes all of them into a new experiment's map.xml. */
int modules_open(void);
/* What modules_open and the first look at the objects had to say is written now, at once. */
void modules_write_begin(void);
/* The program's path as it was at the start: another root may have no /proc. */
const char *modules_program(void);
/* Whether an object's code is or ever was within [start, end). */
bool modules_were_at(uint64_t start, uint64_t end);
/* The path of the object whose code is at this address; "": none. Not in a handler. */
const char *modules_path_at(uint64_t pc);
/* Other code is at known addresses from now on. Not in a handler. */
void modules_next_epoch(void);
/* Keeps a copy of the vDSO at `address` (0: none) in the experiment. Not in a handler. */
void modules_archive_vdso(uint64_t address);

/* startup.c */
/* Calls visit with the bias of each object that the program was started with, or most of them. */
void startup_for_each_object(void (*visit)(uint64_t bias));

/* api.c: around the functions below.  False: the recording is not active, or in a handler that has
 * interrupted who is in there. */
bool api_enter(void);
void api_leave(void);

/* dynamic.c: functions that the program made and announced; one caller at a time */
struct dynamic_function {
	const char *name, *alias, *source; /* "": not given */
	uint64_t start, size;
	const struct format_line *lines;
	uint32_t line_count;
	const void *code; /* a copy of it to keep, for dynamic_add */
	uint64_t code_size;
	bool late; /* it ran before: what was there without a name is this */
};
/* One at addresses that are no machine's, which nothing else takes: for good, in all epochs. */
void dynamic_add(const struct dynamic_function *function);
void dynamic_load(const struct dynamic_function *function);
void dynamic_unload(uint64_t start);
/* The same of one that is known not to run any more: what takes its place ends the epoch. */
void dynamic_retire(uint64_t start);
/* In the child of a fork: what the parent had announced holds here too. */
void dynamic_inherit(void);

/* log.c */
struct text;
/* Of this process image: the command, for a descendant's log, and the name that its exec was given
 * (a script's, not its interpreter's) or NULL. */
void log_note_image(char *const *words, const char *executed);
int log_open(void);
/* Creates a binary file of the experiment with its header. 0 or negative errno. */
enum { LOG_HEADER = 1024 };
int log_create(const char *file, const char *description);
/* The same with the file's first `size` bytes, at most LOG_HEADER, in the same write. */
int log_create_with(const char *file, const char *description, const void *first, size_t size);
/* Names the files below; after each change of collector.directory. */
void log_name_files(void);
/* Opens a file of the experiment to read and append to; a descriptor or negative errno. */
int log_open_file(const char *file, int flags);
/* Appends whole lines. 0 or negative errno. */
int log_append(const char *file, struct text *line);
/* Begins `<event kind="…" tstamp="…"`; log_event_end closes and appends it. */
void log_event_begin(struct text *line, const char *kind);
void log_event_begin_at(struct text *line, const char *kind, uint64_t time_ns);
void log_event_end(struct text *line);
void log_warning(const char *message, int error);
/* From now on the clock profile is this engine's. */
void log_engine(const char *name);
/* The same, for what ended the recording. */
void log_error(const char *message, int error);

/* sample.c */
void sample_write(enum format_sample_kind kind, const char *label);
/* Makes the file, with the sample of the recording's begin. */
int sample_open(const char *label);

/* stack.c: call stacks as nodes; the caller holds the thread's lock */
/*
 * What a runtime knows beside the stack of the calling thread, whose registers these are, or NULL:
 * of another thread: the node of the pair (FORMAT_PC_PAIR), or `stack`.  In a handler.
 */
typedef uint32_t stack_pair_function(struct thread *thread, const struct unwind_regs *regs,
				     uint32_t stack);
void stack_set_runtime(stack_pair_function *runtime); /* NULL: none does from now on */
/* The registers of an interruption, at the place where the time before it was spent. */
void stack_interrupted(struct unwind_regs *regs, const void *context);
/* Of the registers at an interruption of the calling thread. */
uint32_t stack_of_context(struct thread *thread, const struct unwind_regs *regs);
/* Of the caller, our own frames left out. */
uint32_t stack_of_caller(struct thread *thread);
/* Of the caller of the function whose __builtin_frame_address(0) this is: none of our own frames
 * has to be walked. */
uint32_t stack_above_frame(struct thread *thread, const void *frame);
/* The registers that calls preserve, in the frame of the calling thread that has this sp. */
bool stack_preserved(struct thread *thread, uint64_t sp, struct unwind_regs *found);
/* Of another thread, blocked in a system call. */
uint32_t stack_of_blocked(struct thread *thread, uint64_t pc, uint64_t sp);

/* sources/clock.c: CLOCK_MONOTONIC, and the calling thread's CPU time */
uint64_t clock_now_ns(void);
uint64_t clock_own_cpu_ns(void);

#endif
