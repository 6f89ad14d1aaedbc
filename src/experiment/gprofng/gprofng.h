/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experiments of GNU gprofng (format 12), read into the tables of our own ones.
 *
 * log.xml describes the packets of the data files: which field lies where.  A
 * packet begins with its size and kind (u16 each); a size of 0 means that the
 * rest of the chunk of 16 KiB is empty.  data.frameinfo has the call stacks by
 * their numbers: the addresses from the leaf to the root, of callers the last
 * byte of the call, then perhaps the number of the stack that goes on from
 * there.  What was mapped when is in map.xml; there are no epochs, addresses
 * are resolved by the times of events, so each moment at which the map
 * changed begins an epoch.
 */
#ifndef HELIO_EXPERIMENT_GPROFNG_H
#define HELIO_EXPERIMENT_GPROFNG_H

#include "experiment/process.h"

/* gprofng.c: the files of a process, whose log says that they are gprofng's; the founder's first.
 */
void gprofng_read(struct experiment *experiment, struct process *process,
		  struct diag_list *warnings);

/* What packets say that is used here. */
#define GPROFNG_PROPERTIES(X)                                                                      \
	X(LWPID)                                                                                   \
	X(THRID)                                                                                   \
	X(CPUID)                                                                                   \
	X(TSTAMP)                                                                                  \
	X(FRINFO)                                                                                  \
	X(MSTATE)                                                                                  \
	X(NTICK)                                                                                   \
	X(HTYPE)                                                                                   \
	X(HSIZE)                                                                                   \
	X(HVADDR)                                                                                  \
	X(HOVADDR)                                                                                 \
	X(SRQST)                                                                                   \
	X(SOBJ)                                                                                    \
	X(IOTYPE)                                                                                  \
	X(IOFD)                                                                                    \
	X(IOOFD)                                                                                   \
	X(IONBYTE)                                                                                 \
	X(IORQST)                                                                                  \
	X(IOFNAME)

enum gprofng_property {
#define X(name) GPROFNG_##name,
	GPROFNG_PROPERTIES(X)
#undef X
		GPROFNG_PROPERTY_COUNT,
};

enum gprofng_data { GPROFNG_CLOCK, GPROFNG_HEAP, GPROFNG_SYNC, GPROFNG_IO, GPROFNG_DATA_KINDS };

/* Of all but the clock. */
static inline enum trace_kind gprofng_trace(enum gprofng_data data)
{
	return data == GPROFNG_HEAP ? TRACE_HEAP : data == GPROFNG_SYNC ? TRACE_SYNC : TRACE_IO;
}

/* The packets of one kind of data. */
struct gprofng_layout {
	const char *file; /* NULL: nothing of this kind was recorded */
	uint32_t kind;	  /* of its packets */
	uint64_t interval_us;
	struct gprofng_field {
		uint32_t offset;
		uint8_t size; /* 0: there is no such field; GPROFNG_TEXT: the rest of the packet */
	} fields[GPROFNG_PROPERTY_COUNT];
};

enum { GPROFNG_TEXT = UINT8_MAX };

struct gprofng_log {
	struct gprofng_layout layouts[GPROFNG_DATA_KINDS];
	bool narrow;		  /* the program has 32-bit addresses */
	uint64_t run_ns;	  /* CLOCK_MONOTONIC at the start of this process's experiment */
	uint64_t base_ns;	  /* … of the founder's, which all times are counted from */
	VEC(const char *) labels; /* of sample points, from the first */
};

struct gprofng_packet {
	unsigned kind;
	size_t size;
	const uint8_t *data; /* valid until the next packet */
};

/* A data file while it is read. */
struct gprofng_file {
	struct block_file file;
	const char *name;
	uint64_t damaged; /* bytes that are no packets */
};

/* The moments, ns since the founder's start, at which the map changed: epoch i + 1 begins. */
struct gprofng_changes {
	uint64_t *items;
	size_t count, capacity;
};

/* The call stacks of data.frameinfo. */
struct gprofng_stacks;

/* gprofng_log.c: into process->log; times are of the founder, which is read first. */
void gprofng_log_read(struct process *process, struct gprofng_log *log,
		      const struct process *founder, struct arena *arena,
		      const struct read_context *context);
void gprofng_log_fini(struct gprofng_log *log);
/* "1.25", seconds, as ns; 0 where it is none. */
uint64_t gprofng_seconds(const char *text);

/* A range of a load object's code: addresses in ELF from places in the file. */
struct gprofng_load {
	uint64_t offset, size, address;
};

struct gprofng_object {
	VEC(struct gprofng_load) loads;
	char build_id[129]; /* hex; "": none, or not known */
};

/* gprofng_object.c: the only copy of a file of this name in archives/, or NULL. */
const char *gprofng_object_copy(const struct experiment *experiment, const char *path,
				struct arena *arena);
/* Fills a zeroed object from a 64-bit ELF file; nothing where it cannot be read. */
void gprofng_object_read(struct gprofng_object *object, const char *path);
void gprofng_object_fini(struct gprofng_object *object);

/* gprofng_map.c: into process->map. */
void gprofng_map_read(struct process *process, const struct gprofng_log *log,
		      struct experiment *experiment, struct gprofng_changes *changes,
		      const struct read_context *context);
uint32_t gprofng_epoch(const struct gprofng_changes *changes, uint64_t time_ns);

/* gprofng_packet.c. Open: a missing file is not reported. */
enum file_state gprofng_file_open(struct gprofng_file *file, const struct read_context *context,
				  const char *name);
bool gprofng_file_next(struct gprofng_file *file, struct gprofng_packet *packet);
/* Reports what was damaged. */
void gprofng_file_close(struct gprofng_file *file, const struct read_context *context);
/* A field's number; 0 where the packet does not have it. */
uint64_t gprofng_value(const struct gprofng_layout *layout, const struct gprofng_packet *packet,
		       enum gprofng_property property);
/* A signed field of four bytes. */
int32_t gprofng_signed(const struct gprofng_layout *layout, const struct gprofng_packet *packet,
		       enum gprofng_property property);
/* A text of the packet in the arena; NULL: it has none. */
const char *gprofng_text(const struct gprofng_layout *layout, const struct gprofng_packet *packet,
			 enum gprofng_property property, struct arena *arena);

/* gprofng_stacks.c */
struct gprofng_stacks *gprofng_stacks_read(struct process *process,
					   const struct read_context *context);
/* The node of a stack's number in an epoch; STACK_UNKNOWN where it is missing. */
uint32_t gprofng_stacks_node(struct gprofng_stacks *stacks, uint64_t number, uint32_t epoch);
/* Reports the missing ones. */
void gprofng_stacks_free(struct gprofng_stacks *stacks, const struct read_context *context);

/* gprofng_events.c: profile and traces. */
void gprofng_events_read(struct process *process, const struct gprofng_log *log,
			 const struct gprofng_changes *changes, struct gprofng_stacks *stacks,
			 struct arena *arena, const struct read_context *context);

/* gprofng_overview.c */
void gprofng_overview_read(struct process *process, const struct gprofng_log *log,
			   const struct read_context *context);

#endif
