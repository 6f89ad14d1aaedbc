/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MPI tracing: what a call of an MPI function becomes.
 *
 * The wrapped functions (wrap/trace_mpi.c) are made of one table (mpi_functions.h) and know no
 * mpi.h: all arguments are words, which hold a pointer, a number or a handle of whichever
 * implementation.  What differs between Open MPI and MPICH is in mpi_abi.c and is found when the
 * program calls its first MPI function.  Programs that are not traced go straight through.
 *
 * A wrapped function does
 *
 *   if (!mpi_begin(&call, …)) … just the call
 *   … the call, with call.arguments …
 *   mpi_end(&call, result)
 *
 * An MPI function that is called within another one (by MPICH's Fortran functions, MPI-IO, a
 * reduction of the program's) is part of that one.  Nothing is allocated but mappings; MPI
 * functions are never called in a handler of ours.
 */
#ifndef HELIO_COLLECTOR_MPI_H
#define HELIO_COLLECTOR_MPI_H

#include "collector/core/trace.h"

enum { MPI_ARGUMENTS_MAX = 13, MPI_LETTERS = 'z' - 'A' + 1 };

enum mpi_rule {
	MPI_RULE_NONE,
	MPI_RULE_BCAST,
	MPI_RULE_GATHER,
	MPI_RULE_SCATTER,
	MPI_RULE_ALL,
	MPI_RULE_REDUCE,
	MPI_RULE_ALLREDUCE,
	MPI_RULE_EXSCAN,
	MPI_RULE_REDUCE_SCATTER,
	MPI_RULE_NEIGHBOR,
};

/* A row of mpi_functions.h, in one language.  Aligned, so that they lie in a section as an array.
 */
struct mpi_function {
	_Alignas(64) const char *name; /* MPI_Send */
	const char *symbol;	       /* MPI_Send, mpi_send_ or mpi_send_f08_ */
	const char *letters;
	uint8_t type, rule;
	bool is_fortran; /* a subroutine: its error is an argument behind those of C */
	bool is_by_c;	 /* in MPICH it calls the C function, which is wrapped */
	bool is_large;	 /* its counts have 64 bits */
	_Atomic bool is_ready;
	void *next;
	int8_t at[MPI_LETTERS]; /* by letter: 1 + its first argument; 0: there is none */
	_Atomic uint32_t text;	/* the number of its name */
};

enum {
	MPI_STATUS_ROOM = 24,	/* bytes of a status, of each implementation */
	MPI_REQUESTS_ROOM = 64, /* that are looked at without a mapping */
	MPI_REQUEST_BYTES = sizeof(uintptr_t) + sizeof(uint64_t) + MPI_STATUS_ROOM, /* each */
};

/* What is known of a communicator, a window or a file (mpi_groups.c). */
struct mpi_group {
	uint32_t text;	  /* its description's number; 0: none */
	uint32_t ordinal; /* among those with the same members */
	int32_t size;	  /* members of the group that one communicates with */
	int32_t rank;
	bool is_inter;
	int32_t sources, destinations; /* of its topology */
};

/* A call under way, on the stack of the wrapped function. */
struct mpi_call {
	struct mpi_function *function;
	uintptr_t *arguments; /* as the function behind gets them */
	const void *frame;    /* of the wrapped function */
	uint64_t mark;	      /* by which one within it knows that it goes on */
	uint64_t begin_ns;
	uintptr_t request, message;		 /* of q and M, before the call */
	uint64_t request_serial, message_serial; /* in the table (mpi_requests.c) */
	uintptr_t freed;			 /* of C, W or F */
	struct mpi_group group; /* of the argument c, w or f, or of what is freed */
	int32_t own_status[MPI_STATUS_ROOM / sizeof(int32_t)];
	/* of several requests: their handles before the call, and statuses; NULL: no memory */
	uintptr_t *requests;
	uint64_t *serials;
	char *statuses;
	uint32_t request_count;
	size_t mapped; /* bytes at `requests`, to be unmapped; 0: they lie in `room` */
	char *room;    /* for MPI_REQUESTS_ROOM of both; NULL: this function has one at most */
};

/* Finds a function as `caller` would, behind ours: next_of_caller. */
typedef void *mpi_finder(const char *name, const void *caller);

/* ---- mpi.c, for all libraries ---- */

/* Where the recording begins; NULL: this library wraps no MPI function. */
extern void (*mpi_recording_begins)(void);

/* ---- mpi_call.c ---- */

/* False: it is not to be recorded.  Of `call` the arguments, the room and the frame are set. */
bool mpi_begin(struct mpi_call *call, struct mpi_function *function);
void mpi_end(struct mpi_call *call, int result);
/* The number of a text in the trace; 0: nothing is recorded. */
uint32_t mpi_text(const char *text);
/* Behind MPI_Init: who this process is, for the log. */
void mpi_started(void);

/* ---- mpi_abi.c: what differs between implementations ---- */

struct mpi_abi {
	bool is_open_mpi, is_known;
	uint8_t source_at, tag_at; /* words of a status */
	int any_source, nobody, any_tag, root;
	uintptr_t world, no_comm, no_request, no_win, no_file;
	uintptr_t in_place, fortran_in_place, fortran_no_status, fortran_no_statuses;
};
extern struct mpi_abi mpi_abi;

/* Functions of the library that we call ourselves: of the profiling interface, which nobody wraps.
 */
#define MPI_LIBRARY_FUNCTIONS(X)                                                                   \
	X(Comm_size, (uintptr_t, int *))                                                           \
	X(Comm_rank, (uintptr_t, int *))                                                           \
	X(Comm_group, (uintptr_t, uintptr_t *))                                                    \
	X(Comm_remote_group, (uintptr_t, uintptr_t *))                                             \
	X(Comm_test_inter, (uintptr_t, int *))                                                     \
	X(Comm_get_name, (uintptr_t, char *, int *))                                               \
	X(Win_get_group, (uintptr_t, uintptr_t *))                                                 \
	X(Win_get_name, (uintptr_t, char *, int *))                                                \
	X(File_get_group, (uintptr_t, uintptr_t *))                                                \
	X(Group_size, (uintptr_t, int *))                                                          \
	X(Group_rank, (uintptr_t, int *))                                                          \
	X(Group_translate_ranks, (uintptr_t, int, const int *, uintptr_t, int *))                  \
	X(Group_free, (uintptr_t *))                                                               \
	X(Type_size_x, (uintptr_t, int64_t *))                                                     \
	X(Topo_test, (uintptr_t, int *))                                                           \
	X(Cartdim_get, (uintptr_t, int *))                                                         \
	X(Graph_neighbors_count, (uintptr_t, int, int *))                                          \
	X(Dist_graph_neighbors_count, (uintptr_t, int *, int *, int *))                            \
	X(Get_library_version, (char *, int *))                                                    \
	X(Initialized, (int *))                                                                    \
	X(Finalized, (int *))

struct mpi_library {
#define X(name, parameters) int(*name) parameters;
	MPI_LIBRARY_FUNCTIONS(X)
#undef X
	/* Open MPI's functions, where handles are pointers; NULL: in Fortran they are the same. */
	uintptr_t (*Comm_f2c)(int);
	uintptr_t (*Type_f2c)(int);
	uintptr_t (*Win_f2c)(int);
	uintptr_t (*File_f2c)(int);
};
extern struct mpi_library mpi_library;

/* Once, where a function has been found behind ours. */
void mpi_abi_find(mpi_finder *find, const void *caller);

/* Arguments by letter, of either language. */
static inline bool mpi_has(const struct mpi_call *call, char letter)
{
	return call->function->at[letter - 'A'];
}

static inline uintptr_t mpi_word(const struct mpi_call *call, char letter)
{
	return call->arguments[call->function->at[letter - 'A'] - 1];
}

/* A number, a count, one of an array of counts, or a handle. */
int mpi_number(const struct mpi_call *call, char letter);
int64_t mpi_count(const struct mpi_call *call, char letter);
int64_t mpi_count_in(const struct mpi_call *call, char letter, size_t index);
uintptr_t mpi_handle(const struct mpi_call *call, char letter);
/* A handle where a pointer leads to it. */
uintptr_t mpi_handle_at(const struct mpi_call *call, const void *place, char letter);
/* The request at a place of an array, as it stands: in Fortran its number; of no array 0. */
uintptr_t mpi_request_in(const struct mpi_call *call, const void *array, size_t index);
bool mpi_is_in_place(const struct mpi_call *call, char letter);
/* Whether the program wants no status: its argument S, or A. */
bool mpi_ignores_status(const struct mpi_call *call, char letter);

struct mpi_message {
	int source, tag;
	uint64_t bytes;
	bool was_cancelled;
};

/* What a status says. */
struct mpi_message mpi_message_of(const void *status);
/* Fields of an event. */
uint64_t mpi_peer_field(int rank);
uint64_t mpi_tag_field(int tag);
/* Bytes of one element; 0: not known. */
uint64_t mpi_type_size(uintptr_t type);

/* ---- mpi_groups.c: communicators and windows ---- */

enum mpi_group_kind { MPI_GROUP_COMM, MPI_GROUP_WIN, MPI_GROUP_FILE };

/* What is known of a handle; looked up where it is new. */
struct mpi_group mpi_group_of(enum mpi_group_kind kind, uintptr_t handle);
/* It is freed; it has another name. */
void mpi_group_forget(enum mpi_group_kind kind, uintptr_t handle);
void mpi_group_renamed(enum mpi_group_kind kind, uintptr_t handle);
void mpi_groups_begin(void);

/* ---- mpi_requests.c: requests whose completion has a record ---- */

enum mpi_request_kind {
	MPI_REQUEST_RECEIVE,
	MPI_REQUEST_PERSISTENT_RECEIVE,
	MPI_REQUEST_PERSISTENT_SEND,
	MPI_REQUEST_PERSISTENT_COLLECTIVE,
};

struct mpi_request {
	uint32_t kind;
	uint32_t communicator; /* text */
	uint64_t peer, tag;    /* fields */
	uint64_t serial;       /* of its entry */
	uint64_t number; /* of the request in events; a persistent one has one for each start */
	uint64_t sent, received; /* fields of what is begun; of a collective function also … */
	uint64_t arrived;
	uint64_t sends, receives;
	bool is_exchange; /* a send is begun beside it */
};

/* Returns its number; 0: there is no room. */
uint64_t mpi_request_note(uintptr_t handle, const struct mpi_request *request);
/* A persistent one that is started has another number from now on.  False: it is not known. */
bool mpi_request_start(uintptr_t handle, struct mpi_request *request);
/* Of who holds the handle: the latest one that was noted.  Its serial; 0: it is none of those. */
uint64_t mpi_request_serial(uintptr_t handle);
/* By the serial that it had before the call.  Those that are not persistent are forgotten. */
bool mpi_request_take(uintptr_t handle, uint64_t serial, struct mpi_request *request);
void mpi_request_forget(uintptr_t handle, uint64_t serial);
void mpi_requests_begin(void);

/* ---- mpi_bytes.c: the accounting ---- */

/* Sets the fields of bytes and counts of a call; `group`: of its communicator. */
void mpi_account(const struct mpi_call *call, const struct mpi_group *group, uint64_t *fields);

#endif
