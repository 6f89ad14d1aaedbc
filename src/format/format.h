/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The experiment on disk, defined once for the writer inside the program and
 * for every reader.  docs/format.md is the same in prose.
 *
 * An experiment is a directory NAME.er (all its files: format/files.h):
 *   log.xml   what was recorded, where, and what happened
 *   map.xml   load objects with the times at which they were there
 *   overview  process-wide usage at sample points: fixed records
 *   profile   clock profile events: blocks of records
 *   stacks    the tree of call stacks: blocks of nodes
 *   dyntext   code that the program made and announced: records
 *   _LINEAGE.er/  the same files for each descendant process
 *
 * All numbers are little-endian.  Times count from the start of the founder
 * experiment (CLOCK_MONOTONIC), in all files and all descendants.
 */
#ifndef HELIO_FORMAT_FORMAT_H
#define HELIO_FORMAT_FORMAT_H

#include <stdint.h>

#define FORMAT_VERSION	    1
#define FORMAT_VERSION_TEXT "1.0" /* the version attribute in log.xml */

#define FORMAT_FILE_LOG	       "log.xml"
#define FORMAT_FILE_MAP	       "map.xml"
#define FORMAT_FILE_OVERVIEW   "overview"
#define FORMAT_FILE_PROFILE    "profile"
#define FORMAT_FILE_STACKS     "stacks"
#define FORMAT_FILE_DYNTEXT    "dyntext"
#define FORMAT_FILE_NOTES      "notes"
#define FORMAT_NOTES_MOST      (1 << 20) /* bytes of them that are read */
#define FORMAT_FILE_MOUNTS     "mounts"
#define FORMAT_FILE_MOUNTS_OWN "mounts.own"
#define FORMAT_DIR_ARCHIVES    "archives"

/* Code in map.xml, of one file or one function, is never longer than this; more is damage. */
#define FORMAT_SEGMENT_SIZE_MAX (1ull << 40)

/* The first line of a group file (NAME.erg), whose other lines name experiments. */
#define FORMAT_GROUP_MAGIC "#analyzer experiment group"

/* The first bytes of overview, profile, stacks and dyntext. */
#define FORMAT_FILE_MAGIC "HELIO\r\n\032" /* 8 bytes, without the NUL */

struct format_file_header {
	char magic[8];
	uint32_t version;
	uint32_t header_size; /* the first block or record begins here; a multiple of 8 */
	char kind[16];	      /* the file's name, NUL-padded */
			      /* then text that describes the records, NUL-padded to header_size */
};

#define FORMAT_BLOCK_MAGIC 0x4b4c4248u /* "HBLK" */

/*
 * While the program runs, blocks lie at multiples of FORMAT_BLOCK_ALIGN and are
 * longer than what is used; afterwards `helio collect` packs them.  A reader
 * that finds no block where one should be looks at the next such multiple.
 */
#define FORMAT_BLOCK_ALIGN 4096u

enum format_encoding {
	FORMAT_EVENTS = 1,	 /* profile: see enum format_tag */
	FORMAT_NODES_RAW = 2,	 /* stacks: struct format_node each */
	FORMAT_NODES_PACKED = 3, /* stacks: varints, see docs/format.md */
	FORMAT_TRACE = 4,	 /* format/trace.h */
};

struct format_block_header {
	uint32_t magic;
	uint32_t size;	    /* the whole block, this header included; a multiple of 8 */
	uint32_t used;	    /* bytes that are valid after this header; grows while recording */
	uint32_t first;	    /* profile: the thread number in force; stacks: the first node's id */
	uint64_t base_time; /* profile: time in force, µs; stacks: 0 */
	uint32_t dropped;   /* events that this writer had to drop while it used this block */
	uint16_t encoding;  /* enum format_encoding */
	uint16_t epoch;	    /* packed nodes: the epoch of all nodes of the block */
	uint32_t count;	    /* packed nodes: how many; otherwise 0 */
	uint32_t checksum;  /* format/checksum.h; 0: none, as while recording */
};

_Static_assert(sizeof(struct format_file_header) == 32, "on disk");
_Static_assert(sizeof(struct format_block_header) == 40, "on disk");

/*
 * stacks: node 0 is the root and is not stored.  A node's parent has a smaller
 * id.  pc is an address to look up: the interrupted instruction itself, or
 * for a caller the last byte of its call instruction (return address - 1).
 * The same (parent, pc) may occur twice; readers merge.
 */
struct format_node {
	uint32_t parent;
	uint32_t epoch; /* the address space in force, see map.xml */
	uint64_t pc;	/* 0: this slot is not in use */
};

/* In an event, in place of a node: as FORMAT_PC_NO_STACK. */
enum { FORMAT_NO_STACK = 0 };

/*
 * Addresses that no code has stand for what could not be recorded, or for what a thread did that is
 * no function: number, name, what views show.  Those from 9 on are in no file: readers make them.
 */
#define FORMAT_PSEUDO_PCS(X)                                                                       \
	/* an address of 0 was called; outer frames left out; the unwinder stopped here */         \
	X(3, UNKNOWN, "<Unknown>")                                                                 \
	X(1, TRUNCATED, "<Truncated-stack>")                                                       \
	X(2, UNWIND_FAILED, "<Stack-unwind-failed>")                                               \
	/* time whose stack was not recorded */                                                    \
	X(4, NO_STACK, "<no call stack recorded>")                                                 \
	/* what a counter counted but no overflow tells, see docs/format.md: within the collector; \
	   after the last overflow; the signal was lost; the counter had no register */            \
	X(5, RECORD_COUNTS, "collector_record_counters")                                           \
	X(6, FINAL_COUNTS, "collector_final_counters")                                             \
	X(7, LOST_COUNTS, "collector_hwcs_out_of_range")                                           \
	X(8, FROZEN_COUNTS, "collector_hwcs_frozen")                                               \
	/* what a process used before its recording began, from its log */                         \
	X(9, BEFORE, "<before recording>")                                                         \
	/* what threads did in an OpenMP runtime, by their states */                               \
	X(10, OMP_OVERHEAD, "<OMP-overhead>")                                                      \
	X(11, OMP_IDLE, "<OMP-idle>")                                                              \
	X(12, OMP_REDUCTION, "<OMP-reduction>")                                                    \
	X(13, OMP_IMPLICIT_BARRIER, "<OMP-implicit_barrier>")                                      \
	X(14, OMP_EXPLICIT_BARRIER, "<OMP-explicit_barrier>")                                      \
	X(15, OMP_LOCK_WAIT, "<OMP-lock_wait>")                                                    \
	X(16, OMP_CRITICAL_WAIT, "<OMP-critical_section_wait>")                                    \
	X(17, OMP_ORDERED_WAIT, "<OMP-ordered_section_wait>")                                      \
	X(18, OMP_ATOMIC_WAIT, "<OMP-atomic_section_wait>")                                        \
	X(19, OMP_TASK_WAIT, "<OMP-task_wait>")                                                    \
	/* a Java machine at its own work; threads that run Java, whose Java stack is not known */ \
	X(24, JAVA_SYSTEM, "<JVM-System>")                                                         \
	X(25, JAVA_NO_STACK, "<no Java callstack recorded>")

enum format_pseudo_pc {
#define X(number, name, text) FORMAT_PC_##name = (number),
	FORMAT_PSEUDO_PCS(X)
#undef X
		FORMAT_PC_LIMIT = 64,
};

/*
 * Addresses of no machine's code.  A frame of Java: the id of its method, and the index of its
 * bytecode; a `load` event says what method that is.  A pair, which no event has, is the
 * collector's own: its node stands for its parent, and for a Java stack beside that, the node of
 * the id in the lower 32 bits, or, if that is 0, why there is none, above it.  Both are of epoch 0.
 */
#define FORMAT_PC_JAVA		  ((uint64_t)1 << 63)
#define FORMAT_JAVA_BYTECODE_BITS 16
#define FORMAT_JAVA_NATIVE	  0xffffu /* in place of the index: a native method */
#define FORMAT_PC_PAIR		  ((uint64_t)1 << 62)
#define FORMAT_PAIR_REASON_SHIFT  32

static inline int format_pc_is_pair(uint64_t pc)
{
	return pc >> 62 == 1;
}

/* Why the Java stack of a thread that runs Java is not known: as AsyncGetCallTrace has it, and … */
#define FORMAT_JAVA_REASONS(X)                                                                     \
	X(1, NO_CLASS_LOAD, "classes not followed")                                                \
	X(2, GC, "garbage collection")                                                             \
	X(3, NATIVE_UNKNOWN, "native code that cannot be walked")                                  \
	X(4, NATIVE_UNWALKABLE, "native frame that cannot be walked")                              \
	X(5, JAVA_UNKNOWN, "Java code that cannot be walked")                                      \
	X(6, JAVA_UNWALKABLE, "Java frame that cannot be walked")                                  \
	X(7, STATE_UNKNOWN, "thread in an unknown state")                                          \
	X(8, THREAD_EXIT, "thread that ends")                                                      \
	X(9, DEOPTIMIZATION, "deoptimization")                                                     \
	X(10, SAFEPOINT, "safepoint")                                                              \
	X(11, NO_FRAME, "no Java frame")                                                           \
	X(12, FAULT, "fault")                                                                      \
	X(13, NO_ROOM, "no room")                                                                  \
	X(14, BLOCKED, "wait that another thread has seen")

enum format_java_reason {
#define X(number, name, text) FORMAT_JAVA_##name = number,
	FORMAT_JAVA_REASONS(X)
#undef X
};

/*
 * profile: records of one tag byte and varints.  A record with bit 7 clear is
 * an event: `weight` µs of the thread in a state, spent up to the time in force.
 */
enum format_tag {
	FORMAT_TAG_STATE_MASK = 0x0f,	/* enum format_state */
	FORMAT_TAG_SAME_STACK = 0x10,	/* no stack field: the block's previous event's */
	FORMAT_TAG_SAME_TIME = 0x20,	/* no dt field: 0 */
	FORMAT_TAG_WEIGHT_IS_DT = 0x40, /* no weight field: equal to dt */
	FORMAT_TAG_CONTROL = 0x80,
	/* event: [dt varint µs] [weight varint µs] [stack zigzag: id - previous event's id in this
	   block, at first 0] */

	FORMAT_TAG_THREAD =
		0x80, /* thread varint, tid varint, time varint µs: a thread begins here */
	FORMAT_TAG_THREAD_END = 0x81, /* dt varint: the thread in force ends */
	FORMAT_TAG_PAUSE = 0x82,      /* dt varint: recording stops for this thread */
	FORMAT_TAG_RESUME = 0x83, /* dt varint: … and goes on; the time between is not recorded */
	FORMAT_TAG_CPU = 0x84, /* cpu varint: processor of the events that follow in this block */
	FORMAT_TAG_CONTEXT = 0x87, /* see format/context.h */
	FORMAT_TAG_NAME = 0x88, /* length varint, so many bytes: the thread in force is called so */
	FORMAT_TAG_GROUP = 0x89,  /* the same: it is a thread of Java, its group is called so */
	FORMAT_TAG_PARENT = 0x8a, /* the same: the group around that group */
	/* begin varint, duration varint, both ns: a Java machine collected garbage, and the thread
	   in force did it */
	FORMAT_TAG_COLLECTION = 0x8b,
	/* before varint, after varint, cause and collector as a name: of the one just before */
	FORMAT_TAG_COLLECTION_MORE = 0x8c,
	FORMAT_TAG_CLASS = 0x8d, /* time varint µs: the thread in force has linked a class */
};

enum { FORMAT_NAME_ROOM = 64 }; /* of one of these names, with the byte 0 */

/* The seeds' microstates (Solaris LMS_*), as far as Linux can tell them apart. */
#define FORMAT_STATES(X)                                                                           \
	X(0, USER, "user")                                                                         \
	X(1, SYSTEM, "system")                                                                     \
	X(2, TRAP, "trap")                                                                         \
	X(3, TEXT_FAULT, "textpfault")                                                             \
	X(4, DATA_FAULT, "datapfault")                                                             \
	X(5, KERNEL_FAULT, "kernelpfault")                                                         \
	X(6, USER_LOCK, "lock")                                                                    \
	X(7, SLEEP, "sleep")                                                                       \
	X(8, WAIT_CPU, "wait")                                                                     \
	X(9, STOPPED, "stop")

enum format_state {
#define X(number, name, text) FORMAT_STATE_##name = number,
	FORMAT_STATES(X)
#undef X
		FORMAT_STATE_COUNT,
};

/* overview: one per sample point, appended with one write each. Times in ns, sizes in bytes. */
enum format_sample_kind {
	FORMAT_SAMPLE_START = 0, /* the process (image) begins */
	FORMAT_SAMPLE_PERIODIC = 1,
	FORMAT_SAMPLE_END = 2,	  /* … ends */
	FORMAT_SAMPLE_MANUAL = 3, /* by the API or a signal */
};

/* Process-wide usage since the process began (not since the start of the image). */
#define FORMAT_USAGE_FIELDS(X)                                                                     \
	X(user_ns)                                                                                 \
	X(system_ns)                                                                               \
	X(minor_faults)                                                                            \
	X(major_faults)                                                                            \
	X(voluntary_switches)                                                                      \
	X(involuntary_switches)                                                                    \
	X(input_blocks)                                                                            \
	X(output_blocks)                                                                           \
	X(read_bytes)                                                                              \
	X(write_bytes)                                                                             \
	X(read_calls)                                                                              \
	X(write_calls)                                                                             \
	X(rss_bytes)                                                                               \
	X(max_rss_bytes)                                                                           \
	X(threads)                                                                                 \
	X(run_delay_ns)

struct format_sample {
	uint64_t time_ns;
	uint32_t kind;
	uint32_t reserved;
	char label[32]; /* NUL-padded */
#define X(name) uint64_t name;
	FORMAT_USAGE_FIELDS(X)
#undef X
};

/*
 * dyntext: the line table and the code of each function that map.xml says was
 * loaded, where its `text` attribute points to; appended with one write each.
 */
#define FORMAT_TEXT_MAGIC 0x54584448u /* "HDXT" */

struct format_text {
	uint32_t magic;
	uint32_t line_count;
	uint64_t size; /* the whole record, this header included; a multiple of 8 */
	uint64_t address;
	uint64_t code_size;
	/* then line_count times struct format_line, code_size bytes of code, and zeros up to size
	 */
};

/* From this byte of the code on, it comes from this line. */
struct format_line {
	uint32_t offset;
	uint32_t line;
};

_Static_assert(sizeof(struct format_text) == 32, "on disk");
_Static_assert(sizeof(struct format_node) == 16, "on disk");
_Static_assert(sizeof(struct format_sample) == 176, "on disk");

#endif
