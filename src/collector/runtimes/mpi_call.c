/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of an MPI function: what is noted before it, and its records behind it.
 *
 * The program may want no status, but the message that came is told by one: then the function gets
 * one of ours.  The library is asked (sizes of types, members of groups) after the call is timed
 * and before the thread's state is entered, since it may allocate memory, which may be traced, too.
 */
#include "collector/arch/sys.h"
#include "collector/core/log.h"
#include "collector/core/time.h"
#include "collector/runtimes/mpi.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"
#include "collector/storage/text.h"

/* The call that the thread is in, on its stack; NULL: it is in none. */
static __thread const struct mpi_call *inside;

/* ---- before the call ---- */

/* What a call says of itself where it lies: its frame, and where that returns to. */
static uint64_t mark_of(const struct mpi_call *call, uint64_t caller)
{
	return ((uint64_t)call->frame ^ (uint64_t)call->function) + caller;
}

/* Some sandboxes forbid to look at memory that may be gone. */
static bool may_look(const struct mpi_call *call)
{
	uint64_t word;

	return sys_read_memory((uint64_t)call->frame, &word, sizeof(word)) == sizeof(word);
}

/*
 * Within another one: further down the same stack.  One that was left by a jump may lie there too,
 * but what came behind it has mostly been written over it; its stack may even be gone.
 */
static bool is_within(const struct mpi_call *call)
{
	struct mpi_call outer;
	uint64_t record[2]; /* of a frame: the one before, and the return address */

	if (!inside || (uintptr_t)call->frame >= (uintptr_t)inside)
		return false;
	if (sys_read_memory((uint64_t)inside, &outer, sizeof(outer)) != sizeof(outer) ||
	    sys_read_memory((uint64_t)outer.frame, record, sizeof(record)) != sizeof(record))
		return !may_look(call);
	return outer.mark == mark_of(&outer, record[1]);
}

static void take_status(struct mpi_call *call, char letter, void *own)
{
	if (mpi_has(call, letter) && mpi_ignores_status(call, letter))
		call->arguments[call->function->at[letter - 'A'] - 1] = (uintptr_t)own;
}

/* The handles of several requests, and room for their statuses. */
static void take_requests(struct mpi_call *call)
{
	int count = mpi_number(call, 'm');
	const void *array = (const void *)mpi_word(call, 'Q');

	if (count <= 0 || !array)
		return;
	if (count > MPI_REQUESTS_ROOM || !call->room) {
		call->mapped = (size_t)count * MPI_REQUEST_BYTES;
		call->room = sys_mmap(call->mapped, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!call->room)
			call->mapped = 0;
	}
	if (!call->room) {
		atomic_fetch_add_explicit(&collector.dropped, 1, memory_order_relaxed);
		return;
	}
	call->requests = (uintptr_t *)(void *)call->room;
	call->request_count = (uint32_t)count;
	call->serials = (uint64_t *)(call->requests + count);
	for (uint32_t i = 0; i < call->request_count; i++) {
		call->requests[i] = mpi_request_in(call, array, i);
		call->serials[i] = mpi_request_serial(call->requests[i]);
	}
	call->statuses = (char *)(call->serials + count);
	take_status(call, 'A', call->statuses);
}

static const struct {
	char in, out;
	enum mpi_group_kind kind;
} groups[] = {{'c', 'C', MPI_GROUP_COMM}, {'w', 'W', MPI_GROUP_WIN}, {'f', 'F', MPI_GROUP_FILE}};

enum { GROUP_KINDS = sizeof(groups) / sizeof(groups[0]) };

/* Whether a call frees or closes the communicator, window or file of its argument C, W or F. */
static bool frees(const struct mpi_call *call, int kind)
{
	static const char *const names[] = {"MPI_Comm_free", "MPI_Comm_disconnect", "MPI_Win_free",
					    "MPI_File_close"};

	if (call->function->type != MPI_MANAGE && call->function->type != MPI_FILE)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (mpi_has(call, groups[kind].out) && text_equal(call->function->name, names[i]))
			return true;
	return false;
}

static void note_freed(struct mpi_call *call)
{
	for (int kind = 0; kind < GROUP_KINDS; kind++) {
		char out = groups[kind].out;
		const void *place = frees(call, kind) ? (const void *)mpi_word(call, out) : NULL;

		if (!place)
			continue;
		call->freed = mpi_handle_at(call, place, out);
		call->group = mpi_group_of(groups[kind].kind, call->freed);
	}
}

static bool completes(const struct mpi_call *call)
{
	return call->function->type == MPI_WAIT || call->function->type == MPI_TEST;
}

/* Messages of a matching probe are kept in the table of requests, under keys of their own. */
static uintptr_t message_key(uintptr_t message)
{
	return message ^ (uintptr_t)1 << 60;
}

static void look_before(struct mpi_call *call)
{
	enum format_mpi_type type = call->function->type;

	/* one that makes a communicator gives its request back */
	if (mpi_has(call, 'q') &&
	    (completes(call) || type == MPI_START || (type == MPI_MANAGE && !mpi_has(call, 'C'))))
		call->request = mpi_request_in(call, (const void *)mpi_word(call, 'q'), 0);
	if (mpi_has(call, 'M') && !completes(call))
		call->message = mpi_request_in(call, (const void *)mpi_word(call, 'M'), 0);
	if (call->request)
		call->request_serial = mpi_request_serial(call->request);
	if (call->message)
		call->message_serial = mpi_request_serial(message_key(call->message));
	if (mpi_has(call, 'Q'))
		take_requests(call);
	take_status(call, 'S', call->own_status);
	if (type == MPI_MANAGE || type == MPI_FILE)
		note_freed(call);
}

/* ---- behind it ---- */

uint32_t mpi_text(const char *text)
{
	struct thread *thread = trace_enter(TRACE_MPI);
	uint32_t number = 0;

	if (!thread)
		return 0;
	number = trace_text(thread, TRACE_MPI, text);
	trace_leave(thread);
	return number;
}

static uint32_t name_of(struct mpi_function *function)
{
	uint32_t text = atomic_load_explicit(&function->text, memory_order_relaxed);

	if (!text) { /* two threads may write it twice */
		text = mpi_text(function->name);
		atomic_store_explicit(&function->text, text, memory_order_relaxed);
	}
	return text;
}

/* What its communicator, window or file is, and those that it makes. */
static void find_groups(struct mpi_call *call)
{
	for (int kind = 0; kind < GROUP_KINDS; kind++) {
		enum mpi_group_kind of = groups[kind].kind;

		if (mpi_has(call, groups[kind].in))
			call->group = mpi_group_of(of, mpi_handle(call, groups[kind].in));
		char out = groups[kind].out;

		if (mpi_has(call, out) && !call->freed && !mpi_has(call, 'q'))
			mpi_group_of(of,
				     mpi_handle_at(call, (const void *)mpi_word(call, out), out));
		if (call->freed && frees(call, kind))
			mpi_group_forget(of, call->freed);
	}
}

static void rename_group(const struct mpi_call *call)
{
	if (text_equal(call->function->name, "MPI_Comm_set_name"))
		mpi_group_renamed(MPI_GROUP_COMM, mpi_handle(call, 'c'));
	else if (text_equal(call->function->name, "MPI_Win_set_name"))
		mpi_group_renamed(MPI_GROUP_WIN, mpi_handle(call, 'w'));
}

/* The records of one call. */
struct records {
	struct thread *thread;
	uint64_t end_ns;
	uint32_t stack;
};

static void put(const struct records *records, enum format_mpi_type type, const uint64_t *fields)
{
	trace_event(records->thread, TRACE_MPI, type, records->end_ns, records->stack, fields);
}

static const void *status_of(const struct mpi_call *call, char letter, size_t index)
{
	return (const char *)mpi_word(call, letter) + index * (mpi_abi.is_open_mpi ? 24 : 20);
}

/* Fields of a receive, by its status. */
static void set_message(uint64_t *fields, const struct mpi_message *message)
{
	if (message->was_cancelled)
		return;
	fields[MPI_PEER] = mpi_peer_field(message->source);
	fields[MPI_TAG] = mpi_tag_field(message->tag);
	fields[MPI_ARRIVED] = message->bytes;
}

static void complete(const struct records *records, uintptr_t handle, uint64_t serial,
		     const void *status)
{
	struct mpi_request request;

	if (!mpi_request_take(handle, serial, &request) ||
	    request.kind == MPI_REQUEST_PERSISTENT_SEND ||
	    request.kind == MPI_REQUEST_PERSISTENT_COLLECTIVE)
		return;
	struct mpi_message message = mpi_message_of(status);
	uint64_t fields[MPI_FIELDS] = {
		[MPI_COMMUNICATOR] = request.communicator, [MPI_REQUEST] = request.number};

	if (request.is_exchange && !mpi_abi.is_open_mpi) {
		/* MPICH 4.0 leaves the status of MPI_Isendrecv as it was. */
		if (request.peer == MPI_PEER_ANY || request.tag == MPI_TAG_ANY)
			return;
		fields[MPI_PEER] = request.peer;
		fields[MPI_TAG] = request.tag;
	} else {
		if (message.was_cancelled)
			return;
		set_message(fields, &message);
	}
	put(records, MPI_RECEIVED, fields);
}

/* Whether a request is another one than before the call: it was completed. */
static bool has_changed(const struct mpi_call *call, int index)
{
	return index >= 0 && (uint32_t)index < call->request_count &&
	       mpi_request_in(call, (const void *)mpi_word(call, 'Q'), (size_t)index) !=
		       call->requests[index];
}

/* Fortran counts from 1, but MPICH 4.0's module mpi_f08 from 0. */
static int index_at(const struct mpi_call *call, char letter, int at)
{
	int index = ((const int *)mpi_word(call, letter))[at];

	if (!call->function->is_fortran)
		return index;
	if (!mpi_abi.is_open_mpi && !has_changed(call, index - 1) && has_changed(call, index))
		return index;
	return index - 1;
}

static void complete_some(const struct mpi_call *call, const struct records *records)
{
	int count = *(const int *)mpi_word(call, 'o');

	for (int i = 0; i < count; i++) {
		int index = index_at(call, 'I', i);

		if (index >= 0 && (uint32_t)index < call->request_count)
			complete(records, call->requests[index], call->serials[index],
				 status_of(call, 'A', (size_t)i));
	}
}

static void complete_all(const struct mpi_call *call, const struct records *records)
{
	if (mpi_has(call, 'q')) {
		complete(records, call->request, call->request_serial, status_of(call, 'S', 0));
	} else if (mpi_has(call, 'o')) {
		complete_some(call, records);
	} else if (mpi_has(call, 'i')) {
		int index = index_at(call, 'i', 0);

		if (index >= 0 && (uint32_t)index < call->request_count)
			complete(records, call->requests[index], call->serials[index],
				 status_of(call, 'S', 0));
	} else {
		for (uint32_t i = 0; i < call->request_count; i++)
			complete(records, call->requests[i], call->serials[i],
				 status_of(call, 'A', i));
	}
}

static void start(const struct records *records, uintptr_t handle)
{
	struct mpi_request request;

	if (!mpi_request_start(handle, &request))
		return;
	static const uint8_t types[] = {
		[MPI_REQUEST_PERSISTENT_SEND] = MPI_SEND_BEGIN,
		[MPI_REQUEST_PERSISTENT_RECEIVE] = MPI_RECEIVE_BEGIN,
		[MPI_REQUEST_PERSISTENT_COLLECTIVE] = MPI_COLLECTIVE,
	};
	uint64_t fields[MPI_FIELDS] = {[MPI_COMMUNICATOR] = request.communicator,
				       [MPI_REQUEST] = request.number,
				       [MPI_PEER] = request.peer,
				       [MPI_TAG] = request.tag,
				       [MPI_SENT] = request.sent,
				       [MPI_RECEIVED_BYTES] = request.received};

	if (request.kind == MPI_REQUEST_PERSISTENT_COLLECTIVE) {
		fields[MPI_ARRIVED] = request.arrived;
		fields[MPI_SENDS] = request.sends;
		fields[MPI_RECEIVES] = request.receives;
	}
	put(records, types[request.kind], fields);
}

/* A call that sends and receives: two messages. */
static bool is_exchange(const struct mpi_call *call)
{
	return mpi_has(call, 'd') && mpi_has(call, 's');
}

/* The receive of an exchange: a record of its own. */
static void exchange(const struct mpi_call *call, const struct records *records,
		     const uint64_t *whole)
{
	bool begins = call->function->type == MPI_SEND_BEGIN;
	uint64_t fields[MPI_FIELDS] = {[MPI_COMMUNICATOR] = whole[MPI_COMMUNICATOR],
				       [MPI_PEER] = mpi_peer_field(mpi_number(call, 's')),
				       [MPI_TAG] = mpi_tag_field(mpi_number(call, 'G')),
				       [MPI_RECEIVED_BYTES] = whole[MPI_RECEIVED_BYTES]};

	if (begins) {
		fields[MPI_REQUEST] = whole[MPI_REQUEST];
	} else {
		struct mpi_message message = mpi_message_of(status_of(call, 'S', 0));

		set_message(fields, &message);
	}
	put(records, begins ? MPI_RECEIVE_BEGIN : MPI_RECEIVE, fields);
}

static bool is_done(const struct mpi_call *call)
{
	return !mpi_has(call, 'x') || *(const int *)mpi_word(call, 'x');
}

/* Fields that arguments of most functions tell. */
static void set_fields(const struct mpi_call *call, uint64_t *fields)
{
	fields[MPI_COMMUNICATOR] = call->group.text;
	if (mpi_has(call, 'd'))
		fields[MPI_PEER] = mpi_peer_field(mpi_number(call, 'd'));
	else if (mpi_has(call, 's'))
		fields[MPI_PEER] = mpi_peer_field(mpi_number(call, 's'));
	else if (mpi_has(call, 'r'))
		fields[MPI_PEER] = mpi_peer_field(mpi_number(call, 'r'));
	if (mpi_has(call, 'g') || mpi_has(call, 'G'))
		fields[MPI_TAG] = mpi_tag_field(mpi_number(call, mpi_has(call, 'g') ? 'g' : 'G'));
	fields[MPI_REQUEST] = call->request_serial;
}

static void set_bytes(const struct mpi_call *call, uint64_t *fields)
{
	const struct mpi_function *function = call->function;
	bool no_peer = mpi_has(call, 'd') && fields[MPI_PEER] == MPI_PEER_NOBODY;

	mpi_account(call, &call->group, fields);
	if (is_exchange(call) && !mpi_has(call, 'N'))
		fields[MPI_RECEIVED_BYTES] = fields[MPI_SENT];
	if (no_peer)
		fields[MPI_SENT] = 0;
	if (function->type == MPI_RECEIVE || function->type == MPI_FILE ||
	    (mpi_has(call, 's') && completes(call) && is_done(call))) {
		struct mpi_message message = {0};

		if (mpi_has(call, 'S'))
			message = mpi_message_of(status_of(call, 'S', 0));
		if (function->type == MPI_FILE)
			fields[MPI_ARRIVED] = mpi_has(call, 'N') ? message.bytes : 0;
		else
			set_message(fields, &message);
		if (completes(call)) /* a probe: nothing has been received */
			fields[MPI_ARRIVED] = 0;
	}
}

static uintptr_t message_after(const struct mpi_call *call)
{
	return mpi_request_in(call, (const void *)mpi_word(call, 'M'), 0);
}

static enum mpi_request_kind request_kind(const struct mpi_call *call)
{
	if (call->function->type != MPI_PREPARE)
		return MPI_REQUEST_RECEIVE;
	return mpi_has(call, 'd')   ? MPI_REQUEST_PERSISTENT_SEND
	       : mpi_has(call, 's') ? MPI_REQUEST_PERSISTENT_RECEIVE
				    : MPI_REQUEST_PERSISTENT_COLLECTIVE;
}

/* Whether its request is one of a receive, or may be started. */
static bool has_request(const struct mpi_call *call, const struct mpi_request *request)
{
	enum format_mpi_type type = call->function->type;

	return type == MPI_PREPARE ||
	       ((type == MPI_RECEIVE_BEGIN || (type == MPI_SEND_BEGIN && is_exchange(call))) &&
		request->peer != MPI_PEER_NOBODY);
}

/* Whether later calls need to know of this one. */
static bool is_noted(const struct mpi_call *call)
{
	enum format_mpi_type type = call->function->type;

	return type == MPI_PREPARE || type == MPI_RECEIVE_BEGIN || type == MPI_SEND_BEGIN ||
	       type == MPI_MANAGE || completes(call);
}

/* What later calls need to know. */
static void note(const struct mpi_call *call, uint64_t *fields)
{
	struct mpi_request request = {
		.kind = request_kind(call),
		.communicator = (uint32_t)fields[MPI_COMMUNICATOR],
		.peer = fields[MPI_PEER],
		.tag = fields[MPI_TAG],
		.sent = fields[MPI_SENT],
		.received = fields[MPI_RECEIVED_BYTES],
		.arrived = fields[MPI_ARRIVED],
		.sends = fields[MPI_SENDS],
		.receives = fields[MPI_RECEIVES],
	};

	request.is_exchange = is_exchange(call);
	if (request.is_exchange) {
		request.peer = mpi_peer_field(mpi_number(call, 's'));
		request.tag = mpi_tag_field(mpi_number(call, 'G'));
	}
	if (completes(call) && mpi_has(call, 'M') && is_done(call))
		mpi_request_note(message_key(message_after(call)), &request);
	else if (has_request(call, &request))
		fields[MPI_REQUEST] = mpi_request_note(
			mpi_request_in(call, (const void *)mpi_word(call, 'q'), 0), &request);
	else if (call->function->type == MPI_MANAGE && mpi_has(call, 'q') && !mpi_has(call, 'C'))
		mpi_request_forget(call->request, call->request_serial);
}

/* A receive of a message that was matched before: the probe knew its communicator. */
static void set_matched(const struct mpi_call *call, uint64_t *fields)
{
	struct mpi_request request;

	if (!mpi_request_take(message_key(call->message), call->message_serial, &request))
		return;
	fields[MPI_COMMUNICATOR] = request.communicator;
	if (call->function->type == MPI_RECEIVE_BEGIN) {
		fields[MPI_PEER] = request.peer;
		fields[MPI_TAG] = request.tag;
	}
}

/* Afterwards the library answers no question. */
static bool is_final(const struct mpi_function *function)
{
	return function->type == MPI_MANAGE && text_equal(function->name, "MPI_Finalize");
}

static void describe(struct mpi_call *call, uint64_t *fields)
{
	bool is_idle = call->function->type == MPI_TEST && !is_done(call);

	fields[MPI_FUNCTION] = name_of(call->function);
	if (is_idle || fields[MPI_ERROR] || is_final(call->function))
		return;
	find_groups(call);
	rename_group(call);
	set_fields(call, fields);
	set_bytes(call, fields);
	if (mpi_has(call, 'M') && !completes(call))
		set_matched(call, fields);
	if (is_noted(call))
		note(call, fields);
}

/* Of which types the counts of sends and receives are not said by the type itself. */
static void drop_counts(enum format_mpi_type type, uint64_t *fields)
{
	if (type == MPI_COLLECTIVE || type == MPI_ONE_SIDED)
		return;
	fields[MPI_SENDS] = fields[MPI_RECEIVES] = 0;
}

static void write_records(const struct mpi_call *call, uint64_t end_ns, uint64_t *fields)
{
	enum format_mpi_type type = call->function->type;
	struct records records = {.thread = trace_enter(TRACE_MPI), .end_ns = end_ns};

	if (!records.thread)
		return;
	uint64_t received = fields[MPI_RECEIVED_BYTES];
	bool exchanges = type == MPI_EXCHANGE || (type == MPI_SEND_BEGIN && is_exchange(call));

	records.stack = stacktable_intern_leaf(trace_stack_above(records.thread, call->frame),
					       (uint64_t)call->function->next);
	if (exchanges)
		fields[MPI_RECEIVED_BYTES] = 0;
	put(&records, type, fields);
	fields[MPI_RECEIVED_BYTES] = received;
	if (!fields[MPI_ERROR] && exchanges)
		exchange(call, &records, fields);
	else if (!fields[MPI_ERROR] && completes(call) && is_done(call) &&
		 (call->requests || mpi_has(call, 'q')))
		complete_all(call, &records);
	else if (!fields[MPI_ERROR] && type == MPI_START && call->requests)
		for (uint32_t i = 0; i < call->request_count; i++)
			start(&records, call->requests[i]);
	else if (!fields[MPI_ERROR] && type == MPI_START)
		start(&records, call->request);
	trace_leave(records.thread);
}

/* Modules of Fortran let the argument be missing. */
static int error_of(const struct mpi_call *call, int result)
{
	if (!call->function->is_fortran)
		return result;
	const int *error =
		call->arguments ? (const int *)call->arguments[text_length(call->function->letters)]
				: NULL;

	return error ? *error : 0;
}

void mpi_end(struct mpi_call *call, int result)
{
	uint64_t end_ns = clock_now_ns();
	int error = error_of(call, result);
	uint64_t fields[MPI_FIELDS] = {
		[MPI_DURATION] = end_ns > call->begin_ns ? end_ns - call->begin_ns : 0,
		[MPI_ERROR] = error > 0 ? (uint64_t)error : 0,
	};

	describe(call, fields);
	drop_counts(call->function->type, fields);
	write_records(call, end_ns, fields);
	if (call->mapped)
		sys_munmap(call->room, call->mapped);
	inside = NULL;
}

/* It does not return: its record is written before. */
static bool is_last(const struct mpi_function *function)
{
	return function->type == MPI_MANAGE && text_equal(function->name, "MPI_Abort");
}

bool mpi_begin(struct mpi_call *call, struct mpi_function *function)
{
	if (!trace_is_on(TRACE_MPI) ||
	    !atomic_load_explicit(&collector.recording, memory_order_relaxed) ||
	    !mpi_abi.is_known || (function->is_by_c && !mpi_abi.is_open_mpi) || is_within(call))
		return false;
	*call = (struct mpi_call){.function = function,
				  .arguments = call->arguments,
				  .frame = call->frame,
				  .room = call->room};
	call->mark = mark_of(call, ((const uint64_t *)call->frame)[1]);
	inside = call; /* so that calls of ours are not taken for the program's */
	look_before(call);
	call->begin_ns = clock_now_ns();
	if (!is_last(function))
		return true;
	mpi_end(call, 0);
	return false;
}

/* ---- who this is ---- */

void mpi_started(void)
{
	enum { VERSION_ROOM = 8192, VERSION_SHOWN = 60 };
	static char version[VERSION_ROOM];
	char room[512];
	struct text line = TEXT_ON(room);
	int rank = -1, size = 0, length = 0, unused;

	if (!mpi_abi.is_known || !trace_is_on(TRACE_MPI) || !collector_is_ours() ||
	    mpi_library.Comm_rank(mpi_abi.world, &rank) ||
	    mpi_library.Comm_size(mpi_abi.world, &size))
		return;
	unused = mpi_library.Get_library_version(version, &length);
	(void)unused;
	for (int i = 0; i <= VERSION_SHOWN; i++)
		if (version[i] == '\n' || version[i] == ',' || i == VERSION_SHOWN)
			version[i] = '\0';
	log_event_begin(&line, "mpi");
	text_attribute_decimal(&line, "rank", rank);
	text_attribute_decimal(&line, "size", size);
	text_attribute(&line, "library", version);
	log_event_end(&line);
}
