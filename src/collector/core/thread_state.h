/* SPDX-License-Identifier: Apache-2.0 */
/* The state of each thread of the program: data only.  What is done with it is in thread.h. */
#ifndef HELIO_COLLECTOR_THREAD_STATE_H
#define HELIO_COLLECTOR_THREAD_STATE_H

#include "collector/arch/open_wait.h"
#include "collector/storage/context.h"
#include "collector/storage/record_buffer.h"
#include "collector/unwind/unwind.h"
#include "format/counter.h"
#include "format/kinds.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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
	PHASE_OLD,   /* the tick that ends an interval: all threads in the long run */
	PHASE_LAST,  /* the tick that begins it; at first the last one of another thread */
	PHASE_STEPS, /* the tick of each step has that step: a process's first thread */
};

enum { PHASE_RECENT = 16 };

struct clock_phase {
	enum phase_mode mode;
	uint64_t begin_cpu_ns; /* the thread's CPU clock at its begin */
	uint64_t due_cpu_ns;   /* … when its CPU timer is to expire next */
	uint64_t tick_cpu_ns;  /* … at its last tick */
	uint64_t held_ns; /* until its first tick, where no other thread's stack is to have it */
	uint64_t first_due_ns;		/* PHASE_STEPS, ages: when the first tick was due */
	uint64_t paid_until_ns;		/* … up to where time goes to the last tick */
	uint64_t step_end_ns;		/* … the end of the step whose tick comes next */
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
	uint32_t without_wall;	/* so many lives more have no such timer: it would meet waits */
	uint64_t begin_waits;	/* how often it had waited at its begin */
	uint64_t early_waits;	/* … when its timer last expired too early */
	uint64_t rest_ns;	/* at the end of a recording: no tick of the thread stands for it */
	uint32_t rest_state;
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
	bool was_slow;	       /* what was charged last needs a longer rest than usual */
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

/* Short waits for one critical section or lock that have not been written yet. */
struct omp_lock_sums {
	uint64_t object;
	uint32_t type, owner, stack, calls; /* calls 0: none */
	uint32_t generation;		    /* of the recording */
	uint64_t waited, longest;	    /* ticks */
	uint64_t since, until;		    /* … the begin of the first, the end of the last */
	struct runtime_context context;	    /* then */
};

/* A region that the thread has encountered, and that goes on. */
struct omp_open {
	uint32_t construct, stack;
	uint32_t generation; /* of the recording */
	uint64_t since;	     /* ticks */
};

enum { OMP_LEVELS = 4, OMP_LOCK_SUMS = 4, OMP_OPEN_MAX = 16 };

/* A share of a region that is over: its thread may still execute tasks at the barrier behind it. */
struct omp_over {
	struct omp_region *region; /* NULL: none is */
	uint64_t worked;	   /* ticks, with those tasks */
};

/* What the OpenMP layer knows of a thread (runtimes/omp.h). */
struct omp_account {
	uint32_t level;		   /* regions that it encountered and that go on */
	uint64_t waited, executed; /* ticks so far: waiting in regions; in tasks */
	struct ompt_thread *ompt;  /* what runtimes/ompt.c keeps of it, or NULL */
	struct omp_over over;
	struct omp_sums regions, tasks;
	struct omp_open open[OMP_OPEN_MAX]; /* by level; deeper ones are not told */
	struct omp_lock_sums locks[OMP_LOCK_SUMS];
	const void *lock_name; /* of the lock that the program asks a runtime with OMPT for */
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
	uint64_t caller; /* of the wrapped function, where its kind asks for that; or 0 */
	uint8_t kind, type;
};

enum { UNDER_WAY_MAX = 4 };

/*
 * The handler, the monitor and the exit hold the lock until they are done.  A recording of a traced
 * call may be interrupted by a handler of the program, which may last, or never return.
 */
enum thread_lock { LOCK_FREE, LOCK_TAKEN, LOCK_BY_CALL };

/* A place of the clock in the processor's counter, and its rate (stamp.h). */
struct stamp {
	uint64_t ticks, ns;		/* the last look at the clock */
	uint64_t scale;			/* ns per tick << 32; 0: the rate is not known */
	uint64_t reach;			/* ticks up to the next look; 0: look now */
	uint64_t since_ticks, since_ns; /* the look from which on the rate is measured */
};

/* A wait that a runtime tells of, by calls of its own at both ends. */
struct runtime_wait {
	uint64_t since_ns, recorded_ns; /* 0: there is none */
	uint64_t object;
	uint8_t type; /* enum format_sync_type */
};

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
	struct stamp stamp;
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
	struct runtime_wait wait;    /* of a runtime, which tells of its begin and end */
	bool is_named;		     /* by a runtime, which knows better than the kernel */
	struct window open;	     /* of collector_thread_pause; written under the lock */
	int32_t timer;		     /* the CPU timer of this thread + 1; 0: none */
	int32_t guard;		     /* a timer + 1 (clock_stop.c); 0: none, -1: none to be had */
	_Atomic bool own_work; /* begins or ends a recording: its CPU time is not the program's */
	/* Of its CPU clock, when it began to end the recording; what the collector used for that.
	 */
	uint64_t left_cpu_ns, end_cpu_ns;
	bool closed;  /* nothing is accounted for: it has not begun, or has been up to its end */
	bool watched; /* waits without a switch event (clock_watch.c) */
	uint32_t cpu_stack;		    /* of its last tick; 0: none has seen it */
	struct runtime_context cpu_context; /* … then */
	uint32_t start_stack;		    /* the start routine: for waits that no event saw */
	struct listing listing;
	uint32_t destructor_rounds; /* of thread-specific data, seen so far */
};

#endif
