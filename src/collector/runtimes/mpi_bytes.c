/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call sends and receives, by the seeds' simple model: a receive counts the buffer that it
 * is given; a collective function's root sends to, or receives from, all processes of the group,
 * itself included; one without a root has each process communicate with each, itself included.
 * With a group of G and N bytes a Bcast is G sends of N bytes for the root and a receive of N for
 * all; an Allreduce G of N each way; a Reduce_scatter G of N/G each way.
 *
 * Beside it what arrives indeed: a collective's part of this process's receive buffer; of other
 * calls the status says it.  Neighbourhood functions, which the model does not know, count what
 * they send to each neighbour.
 */
#include "collector/runtimes/mpi.h"

struct sums {
	uint64_t sent, received, arrived, sends, receives;
};

/* Bytes of a count of a type; where either is missing, 0. */
static uint64_t bytes(const struct mpi_call *call, char count, char type)
{
	char partitions = count == 'n' ? 'p' : 'P';

	if (!mpi_has(call, count) || !mpi_has(call, type))
		return 0;
	int64_t number = mpi_count(call, count);

	if (mpi_has(call, partitions))
		number *= mpi_number(call, partitions);
	return number > 0 ? (uint64_t)number * mpi_type_size(mpi_handle(call, type)) : 0;
}

/* Bytes of one of an array of counts. */
static uint64_t bytes_of(const struct mpi_call *call, char counts, size_t index, char type)
{
	int64_t count = mpi_count_in(call, counts, index);

	return count > 0 ? (uint64_t)count * mpi_type_size(mpi_handle(call, type)) : 0;
}

static uint64_t type_in(const struct mpi_call *call, char letter, size_t index)
{
	const char *array = (const char *)mpi_word(call, letter);
	bool wide = mpi_abi.is_open_mpi && !call->function->is_fortran;

	return mpi_type_size(mpi_handle_at(
		call, array + index * (wide ? sizeof(uintptr_t) : sizeof(int)), letter));
}

/* The same of an array of counts, with one type or an array of them. */
static uint64_t bytes_of_each(const struct mpi_call *call, char counts, char type, char types,
			      int size)
{
	bool has_one = mpi_has(call, type);
	uint64_t sum = 0, one = has_one ? mpi_type_size(mpi_handle(call, type)) : 0;

	for (int i = 0; i < size; i++) {
		int64_t count = mpi_count_in(call, counts, (size_t)i);

		if (count > 0)
			sum += (uint64_t)count * (has_one ? one : type_in(call, types, (size_t)i));
	}
	return sum;
}

/* What goes to, or comes from, all of `size`: by one count, which is that for each, or by an array.
 */
static uint64_t sent_to(const struct mpi_call *call, int size)
{
	if (mpi_has(call, 'v'))
		return bytes_of_each(call, 'v', 't', 'u', size);
	return (uint64_t)size * bytes(call, 'n', 't');
}

static uint64_t received_from(const struct mpi_call *call, int size)
{
	if (mpi_has(call, 'V'))
		return bytes_of_each(call, 'V', 'T', 'U', size);
	return (uint64_t)size * bytes(call, 'N', 'T');
}

static bool is_root(const struct mpi_call *call, const struct mpi_group *group)
{
	int root = mpi_number(call, 'r');

	return group->is_inter ? root == mpi_abi.root : root == group->rank;
}

/* In an inter-communicator those beside the root have no part. */
static bool has_part(const struct mpi_call *call, const struct mpi_group *group)
{
	return !group->is_inter || mpi_number(call, 'r') != mpi_abi.nobody;
}

static struct sums bcast(const struct mpi_call *call, const struct mpi_group *group)
{
	uint64_t size = bytes(call, 'n', 't'), members = (uint64_t)group->size;

	if (!has_part(call, group))
		return (struct sums){0};
	if (!is_root(call, group))
		return (struct sums){.received = size, .arrived = size, .receives = 1};
	return (struct sums){.sent = members * size,
			     .sends = members,
			     .received = group->is_inter ? 0 : size,
			     .receives = !group->is_inter};
}

static struct sums gather(const struct mpi_call *call, const struct mpi_group *group)
{
	struct sums sums = {0};
	bool root = is_root(call, group), sends = !root || !group->is_inter;

	if (!has_part(call, group))
		return sums;
	if (root) {
		sums.received = sums.arrived = received_from(call, group->size);
		sums.receives = (uint64_t)group->size;
	}
	if (sends && root && mpi_is_in_place(call, 'b'))
		sums.sent = mpi_has(call, 'V') ? bytes_of(call, 'V', (size_t)group->rank, 'T')
					       : bytes(call, 'N', 'T');
	else if (sends)
		sums.sent = bytes(call, 'n', 't');
	sums.sends = sends;
	return sums;
}

static struct sums scatter(const struct mpi_call *call, const struct mpi_group *group)
{
	struct sums sums = {0};
	bool root = is_root(call, group), receives = !root || !group->is_inter;
	bool in_place = root && mpi_is_in_place(call, 'B');

	if (!has_part(call, group))
		return sums;
	if (root) {
		sums.sent = sent_to(call, group->size);
		sums.sends = (uint64_t)group->size;
	}
	if (receives && in_place && mpi_has(call, 'v'))
		sums.received = bytes_of(call, 'v', (size_t)group->rank, 't');
	else if (receives)
		sums.received = in_place ? bytes(call, 'n', 't') : bytes(call, 'N', 'T');
	sums.arrived = in_place ? 0 : sums.received;
	sums.receives = receives;
	return sums;
}

/* What a process sends in place: its part of what it receives, to each; of an exchange all of it.
 */
static uint64_t sent_in_place(const struct mpi_call *call, const struct mpi_group *group)
{
	if (!mpi_has(call, 'V') || mpi_has(call, 'v'))
		return received_from(call, group->size);
	return (uint64_t)group->size * bytes_of(call, 'V', (size_t)group->rank, 'T');
}

/* One that gathers has one count of what it sends, for all; one that exchanges one for each. */
static struct sums all(const struct mpi_call *call, const struct mpi_group *group)
{
	uint64_t received = received_from(call, group->size);
	uint64_t sent = mpi_is_in_place(call, 'b') ? sent_in_place(call, group)
						   : sent_to(call, group->size);

	return (struct sums){.sent = sent,
			     .sends = (uint64_t)group->size,
			     .received = received,
			     .arrived = received,
			     .receives = (uint64_t)group->size};
}

static struct sums reduce(const struct mpi_call *call, const struct mpi_group *group)
{
	uint64_t size = bytes(call, 'n', 't'), members = (uint64_t)group->size;
	bool root = is_root(call, group), sends = !root || !group->is_inter;

	if (!has_part(call, group))
		return (struct sums){0};
	return (struct sums){.sent = sends ? size : 0,
			     .sends = sends,
			     .received = root ? members * size : 0,
			     .arrived = root ? size : 0,
			     .receives = root ? members : 0};
}

static struct sums allreduce(const struct mpi_call *call, const struct mpi_group *group)
{
	uint64_t size = bytes(call, 'n', 't'), members = (uint64_t)group->size;
	bool nothing = call->function->rule == MPI_RULE_EXSCAN && !group->rank;

	return (struct sums){.sent = members * size,
			     .sends = members,
			     .received = members * size,
			     .arrived = nothing ? 0 : size,
			     .receives = members};
}

static struct sums reduce_scatter(const struct mpi_call *call, const struct mpi_group *group)
{
	uint64_t members = (uint64_t)group->size, own, sum;

	if (mpi_has(call, 'V')) {
		own = bytes_of(call, 'V', (size_t)group->rank, 't');
		sum = bytes_of_each(call, 'V', 't', 'U', group->size);
	} else {
		own = bytes(call, 'n', 't');
		sum = members * own;
	}
	return (struct sums){.sent = sum,
			     .sends = members,
			     .received = sum,
			     .arrived = own,
			     .receives = members};
}

static struct sums neighbour(const struct mpi_call *call, const struct mpi_group *group)
{
	uint64_t received = received_from(call, group->sources);

	return (struct sums){.sent = sent_to(call, group->destinations),
			     .sends = (uint64_t)group->destinations,
			     .received = received,
			     .arrived = received,
			     .receives = (uint64_t)group->sources};
}

static struct sums direct(const struct mpi_call *call)
{
	bool atomic = mpi_has(call, 't') && !mpi_has(call, 'n') && mpi_has(call, 'b') &&
		      mpi_has(call, 'B'); /* of one element */
	uint64_t one = atomic ? mpi_type_size(mpi_handle(call, 't')) : 0;
	struct sums sums = {.sent = atomic ? one : bytes(call, 'n', 't'),
			    .received = atomic ? one : bytes(call, 'N', 'T')};

	if (call->function->type == MPI_ONE_SIDED) {
		sums.sends = atomic || mpi_has(call, 'n');
		sums.receives = atomic || mpi_has(call, 'N');
		sums.arrived = sums.received;
	}
	return sums;
}

void mpi_account(const struct mpi_call *call, const struct mpi_group *group, uint64_t *fields)
{
	static struct sums (*const rules[])(const struct mpi_call *, const struct mpi_group *) = {
		[MPI_RULE_BCAST] = bcast,	 [MPI_RULE_GATHER] = gather,
		[MPI_RULE_SCATTER] = scatter,	 [MPI_RULE_ALL] = all,
		[MPI_RULE_REDUCE] = reduce,	 [MPI_RULE_ALLREDUCE] = allreduce,
		[MPI_RULE_EXSCAN] = allreduce,	 [MPI_RULE_REDUCE_SCATTER] = reduce_scatter,
		[MPI_RULE_NEIGHBOR] = neighbour,
	};
	uint8_t rule = call->function->rule;
	struct sums sums = rule ? rules[rule](call, group) : direct(call);

	fields[MPI_SENT] = sums.sent;
	fields[MPI_RECEIVED_BYTES] = sums.received;
	fields[MPI_ARRIVED] = sums.arrived;
	fields[MPI_SENDS] = sums.sends;
	fields[MPI_RECEIVES] = sums.receives;
}
