/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks from inside a signal handler of the measured program.
 *
 * A program counter leads to a 64-bit rule ("CFA = rsp + 48, rbp saved at
 * CFA - 16") through a cache that all threads share; a miss interprets one FDE
 * of the module's .eh_frame in place.  Each thread remembers its last stack, so
 * that a new one costs the frames that changed and a verification of the rest.
 * docs/internals/unwind.md tells why it is done this way.
 *
 * Everything here may run in a signal handler unless it says otherwise: no libc
 * call, no lock, no allocation, no thread-local variable, less than 1 KiB of
 * stack.  One thread may not enter with the same memory twice at a time.
 */
#ifndef HELIO_COLLECTOR_UNWIND_H
#define HELIO_COLLECTOR_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The registers of the innermost frame, by DWARF number; the last one is the
 * program counter.  Bit r of `known` says that reg[r] holds something; UNWIND_CALLED that
 * the program counter is that of a caller: a return address - 1.
 */
enum { UNWIND_REGS = 17, UNWIND_CALLED = 1 << UNWIND_REGS };

struct unwind_regs {
	uint64_t reg[UNWIND_REGS];
	uint32_t known;
};

/* All registers, from the third argument of a signal handler. */
void unwind_regs_from_context(struct unwind_regs *regs, const void *ucontext);

enum { UNWIND_PREEMPT_SIZE = 5 };
/*
 * Whether code is the begin of runtime.asyncPreempt, a call that Go's signal handler injects where
 * it preempts a goroutine.  Nothing of it has run yet where a thread is interrupted there: a signal
 * of ours that had to wait for the handler's end belongs to what was preempted, whose registers are
 * the thread's but for the program counter, which is on the stack.
 */
bool unwind_is_async_preempt(const uint8_t code[UNWIND_PREEMPT_SIZE]);

/* What is known of a thread blocked in a system call. */
void unwind_regs_from_syscall(struct unwind_regs *regs, uint64_t pc, uint64_t sp);

/* One executable segment of the program. */
struct unwind_module {
	uint64_t start, end;	     /* the executable range; its bytes are readable */
	uint64_t shift;		     /* … at address + shift: 0, or a copy of them is */
	uint64_t bias;		     /* address - ELF address; for the caller, not used here */
	const uint8_t *eh_frame_hdr; /* NULL: no call-frame information */
	uint64_t eh_frame_hdr_size;  /* p_memsz of PT_GNU_EH_FRAME */
	/*
	 * CFI reads stay inside this range, all of which must be readable.  The
	 * segment that holds .eh_frame_hdr and .eh_frame is enough, and safer than
	 * the whole object where that has inaccessible holes.
	 */
	uint64_t map_start, map_end;
	bool stays; /* is never unmapped: may be read while unwind_modules_hold is in force */
};

/* All segments, sorted by start, without overlap. Immutable once published. */
struct unwind_modules {
	uint32_t generation; /* set by unwind_modules_publish */
	uint32_t count;
	struct unwind_module items[];
};

/*
 * Makes `modules` the ones in force, numbers them with a new generation and so
 * drops every cached rule and remembered stack.  One caller at a time.  Unwindings that
 * began before may go on using earlier snapshots: the caller changes or frees one only
 * when it has seen since that none goes on (as who unwinds holds a lock, taken by a
 * sequentially consistent operation, until it is done), or never.  NULL: none.
 */
void unwind_modules_publish(struct unwind_modules *modules);

/* The segment that holds `pc` in the snapshot in force, or NULL. Not beside a publisher. */
const struct unwind_module *unwind_module_find(uint64_t pc);

/*
 * Around anything that unmaps code (dlclose): hold, wait until quiet, unmap,
 * publish, release.  While held, CFI and code of modules that may go are read
 * through read_slow of struct unwind_stack only.  The wait
 * is the caller's (sched_yield, with a limit of some milliseconds). Holds nest and may come from
 * several threads. Not for handlers.
 */
void unwind_modules_hold(void);
bool unwind_modules_quiet(void);
void unwind_modules_release(void);

/* In a forked child: the readers of other threads are gone. */
void unwind_after_fork(void);

/* Frames whose pc lies in [low, high) are left out: the collector's own text. */
void unwind_skip(uint64_t low, uint64_t high);

/* What is loaded at an address, by somebody who knows better than the snapshot. */
enum unwind_object {
	UNWIND_OBJECT_NONE,
	UNWIND_OBJECT_KNOWN, /* the snapshot's */
	UNWIND_OBJECT_NEW,   /* the snapshot has none there, or another one */
};

/*
 * How to read the stack: what lies in [low, high) from the stack pointer up directly, where
 * the stack pointer is in there (or comes there out of a signal handler), or less than
 * UNWIND_STACK_SLACK below: the stack's end is not known exactly.  Anything else
 * through `read_slow`, which copies up to `size` bytes without ever faulting and returns how
 * many it copied.  It may be NULL.
 */
struct unwind_stack {
	uint64_t low, high;
	size_t (*read_slow)(uint64_t address, void *to, size_t size, void *arg);
	void *arg;
	/*
	 * Asked of code outside the snapshot, and while unwind_modules_hold is in force of that
	 * in it.  Where the object is UNWIND_OBJECT_NEW the walk ends with
	 * UNWIND_REASON_NO_CODE, for the caller to learn it.  May be NULL.
	 */
	enum unwind_object (*object_at)(uint64_t pc, const struct unwind_module *known);
};

/*
 * Finds or makes the stack node (parent, pc); 0 when it cannot. `pc` is as in
 * docs/format.md: exact for the leaf and for frames interrupted by a signal,
 * return address - 1 for callers, below FORMAT_PC_LIMIT for pseudo-functions.
 */
typedef uint32_t unwind_intern(uint32_t parent, uint64_t pc, void *arg);

enum unwind_end {
	UNWIND_COMPLETE,  /* reached the thread's first frame */
	UNWIND_TRUNCATED, /* outer frames left out, the marker FORMAT_PC_TRUNCATED is the root */
	UNWIND_FAILED,	  /* could not go on, the marker FORMAT_PC_UNWIND_FAILED is the root */
};

/* Why the last UNWIND_FAILED was one. */
enum unwind_reason {
	UNWIND_REASON_NONE,
	UNWIND_REASON_NO_CODE, /* a pc outside all modules, and no frame pointer */
	UNWIND_REASON_NO_CFI,  /* code without CFI, and no frame pointer */
	UNWIND_REASON_BAD_CFI, /* CFI that makes no sense or is out of bounds */
	/* From here on: perhaps not the next time. */
	UNWIND_REASON_BAD_STACK,  /* the stack pointer did not grow */
	UNWIND_REASON_UNREADABLE, /* a stack slot could not be read */
	UNWIND_REASON_REGISTER,	  /* a register that is needed is not known */
	UNWIND_REASON_HELD,	  /* unwind_modules_hold was in force, and copies did not help */
	UNWIND_REASON_COUNT,
};

enum {
	UNWIND_DEPTH_DEFAULT = 1024,
	UNWIND_DEPTH_MIN = 16,
	UNWIND_STACK_SLACK = 64 * 1024,
	UNWIND_CHUNK = 2048, /* bytes read at a time through read_slow */
	UNWIND_SCRATCH_WORDS = 192,
	UNWIND_COPY = 2048, /* of a CIE and an FDE together */
	UNWIND_KNOWN_SHIFT = 60,
	/* Stacks of traced calls that are kept, two to each place that a leaf may fall on, … */
	UNWIND_KNOWN = 2 << (64 - UNWIND_KNOWN_SHIFT),
	UNWIND_KNOWN_WORDS = 64, /* … by up to so many words of the stack: one or two a frame. */
};

/* A frame as it stands: what the way outwards from it depends on. */
struct unwind_frame {
	uint64_t sp; /* the CFA of the frame that it called */
	uint64_t pc; /* the pc to look up */
	uint64_t bp;
	uint32_t node;
	int32_t bp_slot; /* where bp was read, from sp; see rule.h */
};

/* What the unwinder counts about itself; plain adds, by one thread at a time. */
struct unwind_counts {
	uint64_t stacks;
	uint64_t frames; /* walked, not reused */
	uint64_t reused;
	uint64_t known;	 /* stacks found among those of earlier traced calls */
	uint64_t misses; /* rules that were not in the cache */
	uint64_t slow;	 /* steps that needed all registers */
	uint64_t reasons[UNWIND_REASON_COUNT];
};

/* A word of the stack, and what is in it. */
struct unwind_word {
	uint64_t at, value;
};

/* A stack that a traced call was made from: its leaf, and what the way outwards depends on. */
struct unwind_known {
	uint64_t sp, pc, bp;
	uint64_t low, high; /* as in struct unwind_stack */
	uint32_t node;
	uint32_t generation;
	uint32_t count; /* of its words; 0: they have not been kept yet */
	bool by_bp;	/* the way depends on bp of the leaf, too */
};

/*
 * One thread's last stack, root first, and working room: memory of
 * unwind_memory_size() bytes, zeroed, made ready by unwind_memory_init().  The
 * pages beyond the stack depths met are never touched.
 */
struct unwind_memory {
	uint32_t limit; /* deepest stack */
	uint32_t depth; /* frames remembered */
	uint32_t generation;
	enum unwind_end end;
	enum unwind_reason reason; /* of the last failure */
	struct unwind_counts counts;
	uint64_t chunk_address; /* what `chunk` holds, for one event */
	uint64_t chunk_size;
	uint64_t chunk[UNWIND_CHUNK / 8];
	uint64_t scratch[UNWIND_SCRATCH_WORDS];
	struct unwind_module copied; /* CFI of a module that could not be read in place, in … */
	uint64_t copy[UNWIND_COPY / 8];
	struct unwind_known known[UNWIND_KNOWN];
	uint32_t known_last; /* a bit for each place: it was the second one that was found last */
	struct unwind_word known_words[UNWIND_KNOWN][UNWIND_KNOWN_WORDS];
	/* [0] is a sentinel, the root's frame is [1], the leaf's [depth]. */
	struct unwind_frame frames[];
};

/* Bytes for stacks of up to `limit` frames; 0: UNWIND_DEPTH_DEFAULT. */
size_t unwind_memory_size(uint32_t limit);
void unwind_memory_init(struct unwind_memory *memory, uint32_t limit);

/* Forgets the last stack: after anything that makes its node ids invalid (a new epoch, a fork). */
void unwind_memory_reset(struct unwind_memory *memory);

/*
 * The registers that calls preserve, as they are in the frame outside of `regs` that has this `sp`
 * (as in struct unwind_frame).  Those that are not known are not in found->known; false: no way led
 * to the frame.  What is remembered stays.  Slower than a stack.
 */
bool unwind_preserved(struct unwind_memory *memory, const struct unwind_regs *regs,
		      const struct unwind_stack *stack, uint64_t sp, struct unwind_regs *found);

/* Whether a stack has met code that is in no module: a compiler's, or what the program has mapped.
 */
bool unwind_met_foreign(void);

/* The pc at which the last stack ended, if it is remembered; else 0. */
uint64_t unwind_outermost_pc(const struct unwind_memory *memory);

/*
 * Unwinds from `regs` and returns the stack node of the leaf; 0 when interning
 * failed.  The bytes of `stack` may change under it only if they are not this
 * thread's own stack: what results is then a wrong or failed stack, not a fault.
 */
uint32_t unwind_stack_node(struct unwind_memory *memory, const struct unwind_regs *regs,
			   const struct unwind_stack *stack, unwind_intern *intern, void *arg,
			   enum unwind_end *end);

#endif
