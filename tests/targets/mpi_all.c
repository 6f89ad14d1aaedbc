/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls each function of MPI 3.1 that is traced at least once, with four ranks, and those of MPI 4
 * where they are; its argument is a file that MPI-IO may write.  What may fail in one
 * implementation or another (ports, names) may do so: it returns.  With LARGE functions that have
 * counts are those with counts of 64 bits, by macros that whoever compiles it adds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, ROOM = 4096, ATTACHED = 1 << 20 };

#ifdef LARGE
typedef MPI_Count number;
typedef MPI_Aint displacement;
#else
typedef int number;
typedef int displacement;
#endif

static int rank, next, before;
static const char *file_name, *program;
static int from[ROOM], to[ROOM];
static number ones[RANKS] = {1, 1, 1, 1};
static displacement places[RANKS] = {0, 1, 2, 3}, bytes[RANKS] = {0, 4, 8, 12};
static MPI_Datatype types[RANKS];
static MPI_Comm world;
static MPI_Status status;

static void blocking(void)
{
	static char attached[ATTACHED];
	void *detached;
	number size;

	MPI_Buffer_attach(attached, sizeof(attached));
	MPI_Bsend(from, 1, MPI_INT, next, 1, world);
	MPI_Recv(to, 1, MPI_INT, before, 1, world, &status);
	MPI_Buffer_detach(&detached, &size);
	MPI_Barrier(world);
	if (rank % 2) {
		MPI_Send(from, 1, MPI_INT, next, 2, world);
		MPI_Ssend(from, 1, MPI_INT, next, 2, world);
		MPI_Barrier(world);
		MPI_Rsend(from, 1, MPI_INT, next, 2, world);
	} else {
		MPI_Request request;

		MPI_Probe(before, 2, world, &status);
		MPI_Recv(to, 1, MPI_INT, before, 2, world, MPI_STATUS_IGNORE);
		MPI_Recv(to, 1, MPI_INT, before, 2, world, &status);
		MPI_Irecv(to, 1, MPI_INT, before, 2, world, &request);
		MPI_Barrier(world);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Sendrecv(from, 1, MPI_INT, next, 3, to, 1, MPI_INT, before, 3, world, &status);
	MPI_Sendrecv_replace(from, 1, MPI_INT, next, 4, before, 4, world, MPI_STATUS_IGNORE);
}

static void receive_begun(MPI_Request *requests)
{
	for (int i = 0; i < 4; i++)
		MPI_Irecv(&to[i], 1, MPI_INT, before, 10 + i, world, &requests[i]);
}

static void begun(void)
{
	static char attached[ATTACHED];
	MPI_Request requests[8];
	MPI_Status statuses[8];
	int index, count, flag, indices[8];
	number size;
	void *detached;

	MPI_Buffer_attach(attached, sizeof(attached));
	receive_begun(requests);
	MPI_Barrier(world);
	MPI_Isend(from, 1, MPI_INT, next, 10, world, &requests[4]);
	MPI_Ibsend(from, 1, MPI_INT, next, 11, world, &requests[5]);
	MPI_Irsend(from, 1, MPI_INT, next, 12, world, &requests[6]);
	MPI_Issend(from, 1, MPI_INT, next, 13, world, &requests[7]);
	MPI_Waitall(2, requests, statuses);
	MPI_Waitany(1, &requests[2], &index, &status);
	MPI_Waitsome(1, &requests[3], &count, indices, MPI_STATUSES_IGNORE);
	MPI_Waitall(4, &requests[4], MPI_STATUSES_IGNORE);
	receive_begun(requests);
	for (int i = 0; i < 4; i++)
		MPI_Send(from, 1, MPI_INT, next, 10 + i, world);
	for (flag = 0; !flag;)
		MPI_Request_get_status(requests[0], &flag, &status);
	for (flag = 0; !flag;)
		MPI_Test(&requests[0], &flag, &status);
	for (flag = 0; !flag;)
		MPI_Testall(1, &requests[1], &flag, MPI_STATUSES_IGNORE);
	for (flag = 0; !flag;)
		MPI_Testany(1, &requests[2], &index, &flag, MPI_STATUS_IGNORE);
	for (count = 0; count < 1;)
		MPI_Testsome(1, &requests[3], &count, indices, statuses);
	MPI_Buffer_detach(&detached, &size);
}

static void persistent(void)
{
	static char attached[ATTACHED];
	MPI_Request requests[5];
	void *detached;
	number size;

	MPI_Buffer_attach(attached, sizeof(attached));
	MPI_Recv_init(to, 1, MPI_INT, before, 20, world, &requests[0]);
	MPI_Send_init(from, 1, MPI_INT, next, 20, world, &requests[1]);
	MPI_Bsend_init(from, 1, MPI_INT, next, 20, world, &requests[2]);
	MPI_Ssend_init(from, 1, MPI_INT, next, 20, world, &requests[3]);
	MPI_Rsend_init(from, 1, MPI_INT, next, 20, world, &requests[4]);
	for (int i = 1; i < 5; i++) {
		MPI_Start(&requests[0]);
		MPI_Barrier(world);
		MPI_Startall(1, &requests[i]);
		MPI_Wait(&requests[0], &status);
		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < 5; i++)
		MPI_Request_free(&requests[i]);
	MPI_Recv_init(to, 1, MPI_INT, MPI_PROC_NULL, 20, world, &requests[0]); /* no message */
	MPI_Start(&requests[0]);
	MPI_Wait(&requests[0], &status);
	MPI_Request_free(&requests[0]);
	MPI_Irecv(to, 1, MPI_INT, before, 21, world, &requests[0]);
	MPI_Cancel(&requests[0]);
	MPI_Wait(&requests[0], &status);
	MPI_Buffer_detach(&detached, &size);
}

static void matched(void)
{
	MPI_Request request;
	MPI_Message message;
	int flag;

	MPI_Send(from, 1, MPI_INT, next, 30, world);
	MPI_Send(from, 1, MPI_INT, next, 30, world);
	for (flag = 0; !flag;)
		MPI_Iprobe(before, 30, world, &flag, &status);
	MPI_Mprobe(before, 30, world, &message, &status);
	MPI_Mrecv(to, 1, MPI_INT, &message, &status);
	for (flag = 0; !flag;)
		MPI_Improbe(before, 30, world, &flag, &message, MPI_STATUS_IGNORE);
	MPI_Imrecv(to, 1, MPI_INT, &message, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collective(void)
{
	MPI_Barrier(world);
	MPI_Bcast(from, 2, MPI_INT, 0, world);
	MPI_Gather(from, 1, MPI_INT, to, 1, MPI_INT, 0, world);
	MPI_Gatherv(from, 1, MPI_INT, to, ones, places, MPI_INT, 0, world);
	MPI_Scatter(from, 1, MPI_INT, to, 1, MPI_INT, 0, world);
	MPI_Scatterv(from, ones, places, MPI_INT, to, 1, MPI_INT, 0, world);
	MPI_Allgather(from, 1, MPI_INT, to, 1, MPI_INT, world);
	MPI_Allgatherv(from, 1, MPI_INT, to, ones, places, MPI_INT, world);
	MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, world);
	MPI_Alltoallv(from, ones, places, MPI_INT, to, ones, places, MPI_INT, world);
	MPI_Alltoallw(from, ones, bytes, types, to, ones, bytes, types, world);
	MPI_Reduce(from, to, 1, MPI_INT, MPI_SUM, 0, world);
	MPI_Allreduce(from, to, 1, MPI_INT, MPI_SUM, world);
	MPI_Reduce_scatter(from, to, ones, MPI_INT, MPI_SUM, world);
	MPI_Reduce_scatter_block(from, to, 1, MPI_INT, MPI_SUM, world);
	MPI_Scan(from, to, 1, MPI_INT, MPI_SUM, world);
	MPI_Exscan(from, to, 1, MPI_INT, MPI_SUM, world);
}

#define DONE(call)                                                                                 \
	do {                                                                                       \
		MPI_Request *r = &request;                                                         \
		call;                                                                              \
		MPI_Wait(&request, MPI_STATUS_IGNORE);                                             \
	} while (0)

static void collective_begun(void)
{
	MPI_Request request;

	DONE(MPI_Ibarrier(world, r));
	DONE(MPI_Ibcast(from, 2, MPI_INT, 0, world, r));
	DONE(MPI_Igather(from, 1, MPI_INT, to, 1, MPI_INT, 0, world, r));
	DONE(MPI_Igatherv(from, 1, MPI_INT, to, ones, places, MPI_INT, 0, world, r));
	DONE(MPI_Iscatter(from, 1, MPI_INT, to, 1, MPI_INT, 0, world, r));
	DONE(MPI_Iscatterv(from, ones, places, MPI_INT, to, 1, MPI_INT, 0, world, r));
	DONE(MPI_Iallgather(from, 1, MPI_INT, to, 1, MPI_INT, world, r));
	DONE(MPI_Iallgatherv(from, 1, MPI_INT, to, ones, places, MPI_INT, world, r));
	DONE(MPI_Ialltoall(from, 1, MPI_INT, to, 1, MPI_INT, world, r));
	DONE(MPI_Ialltoallv(from, ones, places, MPI_INT, to, ones, places, MPI_INT, world, r));
	DONE(MPI_Ialltoallw(from, ones, bytes, types, to, ones, bytes, types, world, r));
	DONE(MPI_Ireduce(from, to, 1, MPI_INT, MPI_SUM, 0, world, r));
	DONE(MPI_Iallreduce(from, to, 1, MPI_INT, MPI_SUM, world, r));
	DONE(MPI_Ireduce_scatter(from, to, ones, MPI_INT, MPI_SUM, world, r));
	DONE(MPI_Ireduce_scatter_block(from, to, 1, MPI_INT, MPI_SUM, world, r));
	DONE(MPI_Iscan(from, to, 1, MPI_INT, MPI_SUM, world, r));
	DONE(MPI_Iexscan(from, to, 1, MPI_INT, MPI_SUM, world, r));
}

/* Each rank has two neighbours, in a ring. */
static void neighbours(void)
{
	int size = RANKS, periodic = 1, stays = 1;
	MPI_Aint at[2] = {0, 4};
	MPI_Request request;
	MPI_Comm ring, line;

	MPI_Cart_create(world, 1, &size, &periodic, 0, &ring);
	MPI_Neighbor_allgather(from, 1, MPI_INT, to, 1, MPI_INT, ring);
	MPI_Neighbor_allgatherv(from, 1, MPI_INT, to, ones, places, MPI_INT, ring);
	MPI_Neighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, ring);
	MPI_Neighbor_alltoallv(from, ones, places, MPI_INT, to, ones, places, MPI_INT, ring);
	MPI_Neighbor_alltoallw(from, ones, at, types, to, ones, at, types, ring);
	DONE(MPI_Ineighbor_allgather(from, 1, MPI_INT, to, 1, MPI_INT, ring, r));
	DONE(MPI_Ineighbor_allgatherv(from, 1, MPI_INT, to, ones, places, MPI_INT, ring, r));
	DONE(MPI_Ineighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, ring, r));
	DONE(MPI_Ineighbor_alltoallv(from, ones, places, MPI_INT, to, ones, places, MPI_INT, ring,
				     r));
	DONE(MPI_Ineighbor_alltoallw(from, ones, at, types, to, ones, at, types, ring, r));
	MPI_Cart_sub(ring, &stays, &line);
	MPI_Comm_free(&line);
	MPI_Comm_free(&ring);
}

static void direct(MPI_Win window)
{
	MPI_Request request;

	MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
	MPI_Put(from, 1, MPI_INT, next, 0, 1, MPI_INT, window);
	MPI_Win_flush(next, window);
	MPI_Get(to, 1, MPI_INT, next, 0, 1, MPI_INT, window);
	MPI_Win_flush_local(next, window);
	MPI_Accumulate(from, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, window);
	MPI_Get_accumulate(from, 1, MPI_INT, to, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, window);
	MPI_Fetch_and_op(from, to, MPI_INT, next, 0, MPI_SUM, window);
	MPI_Compare_and_swap(from, to, to + 1, MPI_INT, next, 0, window);
	DONE(MPI_Rput(from, 1, MPI_INT, next, 0, 1, MPI_INT, window, r));
	DONE(MPI_Rget(to, 1, MPI_INT, next, 0, 1, MPI_INT, window, r));
	DONE(MPI_Raccumulate(from, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, window, r));
	DONE(MPI_Rget_accumulate(from, 1, MPI_INT, to, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM,
				 window, r));
	MPI_Win_unlock(next, window);
	MPI_Win_lock_all(0, window);
	MPI_Win_flush_all(window);
	MPI_Win_flush_local_all(window);
	MPI_Win_sync(window);
	MPI_Win_unlock_all(window);
}

static void epochs(MPI_Win window)
{
	MPI_Group all, one;
	int flag;

	MPI_Comm_group(world, &all);
	for (int round = 0; round < 2; round++) {
		MPI_Group_incl(all, 1, &before, &one);
		MPI_Win_post(one, 0, window);
		MPI_Group_free(&one);
		MPI_Group_incl(all, 1, &next, &one);
		MPI_Win_start(one, 0, window);
		MPI_Put(from, 1, MPI_INT, next, 0, 1, MPI_INT, window);
		MPI_Win_complete(window);
		if (round)
			MPI_Win_wait(window);
		for (flag = round; !flag;)
			MPI_Win_test(window, &flag);
		MPI_Group_free(&one);
	}
	MPI_Group_free(&all);
}

static void windows(void)
{
	MPI_Win window;
	MPI_Comm node;
	int *base;

	MPI_Win_create(to, sizeof(to), sizeof(int), MPI_INFO_NULL, world, &window);
	MPI_Win_set_name(window, "named");
	MPI_Win_fence(0, window);
	MPI_Win_fence(0, window);
	epochs(window);
	direct(window);
	MPI_Win_free(&window);
	MPI_Win_allocate(sizeof(to), sizeof(int), MPI_INFO_NULL, world, &base, &window);
	MPI_Win_free(&window);
	MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Win_allocate_shared(sizeof(to), sizeof(int), MPI_INFO_NULL, node, &base, &window);
	MPI_Win_free(&window);
	MPI_Comm_free(&node);
	MPI_Win_create_dynamic(MPI_INFO_NULL, world, &window);
	MPI_Win_attach(window, from, sizeof(from));
	MPI_Win_detach(window, from);
	MPI_Win_free(&window);
}

static void file_pointers(MPI_File file)
{
	MPI_Offset offset;

	MPI_File_seek(file, 0, MPI_SEEK_SET);
	MPI_File_get_position(file, &offset);
	MPI_File_write(file, from, 4, MPI_INT, &status);
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	MPI_File_read(file, to, 4, MPI_INT, &status);
	MPI_File_write_all(file, from, 4, MPI_INT, &status);
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	MPI_File_read_all(file, to, 4, MPI_INT, &status);
	MPI_File_write_all_begin(file, from, 4, MPI_INT);
	MPI_File_write_all_end(file, from, &status);
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	MPI_File_read_all_begin(file, to, 4, MPI_INT);
	MPI_File_read_all_end(file, to, &status);
	MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
	MPI_File_get_position_shared(file, &offset);
	MPI_File_write_shared(file, from, 4, MPI_INT, &status);
	MPI_File_write_ordered(file, from, 4, MPI_INT, &status);
	MPI_File_write_ordered_begin(file, from, 4, MPI_INT);
	MPI_File_write_ordered_end(file, from, &status);
	MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
	MPI_File_read_shared(file, to, 1, MPI_INT, &status);
	MPI_File_read_ordered(file, to, 1, MPI_INT, &status);
	MPI_File_read_ordered_begin(file, to, 1, MPI_INT);
	MPI_File_read_ordered_end(file, to, &status);
}

static void file_places(MPI_File file)
{
	MPI_Offset at = rank * 16;

	MPI_File_write_at(file, at, from, 4, MPI_INT, &status);
	MPI_File_read_at(file, at, to, 4, MPI_INT, &status);
	MPI_File_write_at_all(file, at, from, 4, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_read_at_all(file, at, to, 4, MPI_INT, &status);
	MPI_File_write_at_all_begin(file, at, from, 4, MPI_INT);
	MPI_File_write_at_all_end(file, from, &status);
	MPI_File_read_at_all_begin(file, at, to, 4, MPI_INT);
	MPI_File_read_at_all_end(file, to, &status);
}

static void file_begun(MPI_File file)
{
	MPI_Offset at = rank * 16;
	MPI_Request request;

	DONE(MPI_File_iwrite_at(file, at, from, 4, MPI_INT, r));
	DONE(MPI_File_iread_at(file, at, to, 4, MPI_INT, r));
	DONE(MPI_File_iwrite_at_all(file, at, from, 4, MPI_INT, r));
	DONE(MPI_File_iread_at_all(file, at, to, 4, MPI_INT, r));
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	DONE(MPI_File_iwrite(file, from, 4, MPI_INT, r));
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	DONE(MPI_File_iread(file, to, 4, MPI_INT, r));
	DONE(MPI_File_iwrite_all(file, from, 4, MPI_INT, r));
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	DONE(MPI_File_iread_all(file, to, 4, MPI_INT, r));
	DONE(MPI_File_iwrite_shared(file, from, 4, MPI_INT, r));
	MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
	DONE(MPI_File_iread_shared(file, to, 1, MPI_INT, r));
}

static void files(void)
{
	MPI_Offset size;
	MPI_File file;
	MPI_Info info;

	if (MPI_File_open(world, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file))
		return;
	MPI_Info_create(&info);
	MPI_File_set_info(file, info);
	MPI_Info_free(&info);
	MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
	MPI_File_set_size(file, 1024);
	MPI_File_preallocate(file, 1024);
	MPI_File_get_size(file, &size);
	MPI_File_set_atomicity(file, 0);
	file_places(file);
	file_pointers(file);
	file_begun(file);
	MPI_File_sync(file);
	MPI_File_close(&file);
	MPI_Barrier(world);
	if (!rank)
		MPI_File_delete(file_name, MPI_INFO_NULL);
}

static void communicators(void)
{
	MPI_Comm one, two, three;
	MPI_Request request;
	MPI_Group group;
	int result;

	MPI_Comm_dup(world, &one);
	MPI_Comm_set_name(one, "copy");
	MPI_Comm_compare(world, one, &result);
	MPI_Comm_dup_with_info(world, MPI_INFO_NULL, &two);
	MPI_Comm_disconnect(&two);
	DONE(MPI_Comm_idup(world, &two, r));
	MPI_Comm_free(&two);
	MPI_Comm_group(world, &group);
	MPI_Comm_create(world, group, &two);
	MPI_Comm_free(&two);
	MPI_Comm_create_group(world, group, 5, &two);
	MPI_Comm_free(&two);
	MPI_Group_free(&group);
	MPI_Comm_split(world, rank % 2, rank, &two);
	MPI_Intercomm_create(two, 0, world, rank % 2 ? 0 : 1, 6, &three);
	MPI_Send(from, 1, MPI_INT, rank / 2, 7, three);
	MPI_Recv(to, 1, MPI_INT, rank / 2, 7, three, &status);
	MPI_Comm_free(&two);
	MPI_Intercomm_merge(three, rank % 2, &two);
	MPI_Comm_free(&three);
	MPI_Comm_free(&two);
	MPI_Comm_free(&one);
}

static void graphs(void)
{
	int index[RANKS] = {1, 2, 3, 4}, edges[RANKS] = {1, 0, 3, 2}, degree = 1;
	MPI_Comm graph;

	MPI_Graph_create(world, RANKS, index, edges, 0, &graph);
	MPI_Neighbor_allgather(from, 1, MPI_INT, to, 1, MPI_INT, graph);
	MPI_Comm_free(&graph);
	MPI_Dist_graph_create(world, 1, &rank, &degree, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
			      &graph);
	MPI_Comm_free(&graph);
	MPI_Dist_graph_create_adjacent(world, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
				       MPI_INFO_NULL, 0, &graph);
	MPI_Neighbor_allgather(from, 1, MPI_INT, to, 1, MPI_INT, graph);
	MPI_Comm_free(&graph);
}

static void names(void)
{
	char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";

	if (rank)
		return;
	MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Publish_name("helio-name", MPI_INFO_NULL, port);
	MPI_Lookup_name("helio-name", MPI_INFO_NULL, found);
	MPI_Unpublish_name("helio-name", MPI_INFO_NULL, port);
	MPI_Close_port(port);
}

static void connection(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm other = MPI_COMM_NULL;

	if (!rank)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, world);
	if (rank == 0)
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
	if (rank == 1)
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
	if (other != MPI_COMM_NULL)
		MPI_Comm_disconnect(&other);
}

/* The children do nothing but begin and end. */
static void children(void)
{
	char name[1024], *commands[1] = {name};
	char *arguments[] = {"child", NULL}, **all[1] = {arguments};
	int count = 1, errors[1];
	MPI_Info info = MPI_INFO_NULL;
	MPI_Comm child;

	if (rank)
		return;
	snprintf(name, sizeof(name), "%s", program);
	MPI_Comm_spawn(name, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, errors);
	MPI_Comm_disconnect(&child);
	MPI_Comm_spawn_multiple(1, commands, all, &count, &info, 0, MPI_COMM_SELF, &child, errors);
	MPI_Comm_disconnect(&child);
}

static void memory(void)
{
	char packed[64];
	number at = 0;
	void *room;

	MPI_Alloc_mem(64, MPI_INFO_NULL, &room);
	MPI_Free_mem(room);
	MPI_Pack(from, 1, MPI_INT, packed, sizeof(packed), &at, world);
	at = 0;
	MPI_Unpack(packed, sizeof(packed), &at, to, 1, MPI_INT, world);
}

#if MPI_VERSION >= 4
/* Once: MPICH 4.0 hangs at some that are started again. */
#define STARTED(call)                                                                              \
	do {                                                                                       \
		MPI_Request request, *r = &request;                                                \
		MPI_Info i = MPI_INFO_NULL;                                                        \
                                                                                                   \
		call;                                                                              \
		MPI_Start(&request);                                                               \
		MPI_Wait(&request, MPI_STATUS_IGNORE);                                             \
		MPI_Request_free(&request);                                                        \
	} while (0)

static void collective_prepared(void)
{
	STARTED(MPI_Barrier_init(world, i, r));
	STARTED(MPI_Bcast_init(from, 2, MPI_INT, 0, world, i, r));
	STARTED(MPI_Gather_init(from, 1, MPI_INT, to, 1, MPI_INT, 0, world, i, r));
	STARTED(MPI_Gatherv_init(from, 1, MPI_INT, to, ones, places, MPI_INT, 0, world, i, r));
	STARTED(MPI_Scatter_init(from, 1, MPI_INT, to, 1, MPI_INT, 0, world, i, r));
	STARTED(MPI_Scatterv_init(from, ones, places, MPI_INT, to, 1, MPI_INT, 0, world, i, r));
	STARTED(MPI_Allgather_init(from, 1, MPI_INT, to, 1, MPI_INT, world, i, r));
	STARTED(MPI_Allgatherv_init(from, 1, MPI_INT, to, ones, places, MPI_INT, world, i, r));
	STARTED(MPI_Alltoall_init(from, 1, MPI_INT, to, 1, MPI_INT, world, i, r));
	STARTED(MPI_Alltoallv_init(from, ones, places, MPI_INT, to, ones, places, MPI_INT, world, i,
				   r));
	STARTED(MPI_Alltoallw_init(from, ones, bytes, types, to, ones, bytes, types, world, i, r));
	STARTED(MPI_Reduce_init(from, to, 1, MPI_INT, MPI_SUM, 0, world, i, r));
	STARTED(MPI_Allreduce_init(from, to, 1, MPI_INT, MPI_SUM, world, i, r));
	STARTED(MPI_Reduce_scatter_init(from, to, ones, MPI_INT, MPI_SUM, world, i, r));
	STARTED(MPI_Reduce_scatter_block_init(from, to, 1, MPI_INT, MPI_SUM, world, i, r));
	STARTED(MPI_Scan_init(from, to, 1, MPI_INT, MPI_SUM, world, i, r));
	STARTED(MPI_Exscan_init(from, to, 1, MPI_INT, MPI_SUM, world, i, r));
}

static void neighbours_prepared(void)
{
	int size = RANKS, periodic = 1;
	MPI_Aint at[2] = {0, 4};
	MPI_Comm ring;

	MPI_Cart_create(world, 1, &size, &periodic, 0, &ring);
	STARTED(MPI_Neighbor_allgather_init(from, 1, MPI_INT, to, 1, MPI_INT, ring, i, r));
	STARTED(MPI_Neighbor_allgatherv_init(from, 1, MPI_INT, to, ones, places, MPI_INT, ring, i,
					     r));
	STARTED(MPI_Neighbor_alltoall_init(from, 1, MPI_INT, to, 1, MPI_INT, ring, i, r));
	STARTED(MPI_Neighbor_alltoallv_init(from, ones, places, MPI_INT, to, ones, places, MPI_INT,
					    ring, i, r));
	STARTED(MPI_Neighbor_alltoallw_init(from, ones, at, types, to, ones, at, types, ring, i,
					    r));
	MPI_Comm_free(&ring);
}

static void partitioned(void)
{
	int last = 3, flag;
	MPI_Request requests[2];

	MPI_Psend_init(from, 4, 2, MPI_INT, next, 40, world, MPI_INFO_NULL, &requests[0]);
	MPI_Precv_init(to, 4, 2, MPI_INT, before, 40, world, MPI_INFO_NULL, &requests[1]);
	for (int round = 0; round < 2; round++) {
		MPI_Startall(2, requests);
		MPI_Pready(0, requests[0]);
		MPI_Pready_range(1, 2, requests[0]);
		MPI_Pready_list(1, &last, requests[0]);
		for (flag = 0; !flag;)
			MPI_Parrived(requests[1], 0, &flag);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}

static void exchanges_begun(void)
{
	MPI_Request request;
	MPI_Comm copy;

	DONE(MPI_Isendrecv(from, 1, MPI_INT, next, 41, to, 2, MPI_INT, before, 41, world, r));
	DONE(MPI_Isendrecv_replace(from, 1, MPI_INT, next, 42, before, 42, world, r));
	DONE(MPI_Comm_idup_with_info(world, MPI_INFO_NULL, &copy, r));
	MPI_Comm_free(&copy);
}

static void four(void)
{
	collective_prepared();
	neighbours_prepared();
	partitioned();
	exchanges_begun();
}
#else
static void four(void)
{
}
#endif

static void set_up(void)
{
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	world = MPI_COMM_WORLD;
	next = (rank + 1) % RANKS;
	before = (rank + RANKS - 1) % RANKS;
	for (int i = 0; i < RANKS; i++)
		types[i] = MPI_INT;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static int is_asked(int count, char **arguments, const char *word)
{
	return count > 1 && !strcmp(arguments[1], word);
}

int main(int count, char **arguments)
{
	void (*const parts[])(void) = {
		blocking,	  begun,      persistent, matched, collective,
		collective_begun, neighbours, windows,	  files,   communicators,
		graphs,		  memory,     four};
	MPI_Comm parent;
	int provided;

	if (is_asked(count, arguments, "thread"))
		MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided);
	else
		MPI_Init(&count, &arguments);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) {
		MPI_Comm_disconnect(&parent);
		MPI_Finalize();
		return 0;
	}
	set_up();
	program = arguments[0];
	file_name = arguments[count - 1];
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		parts[i]();
	if (is_asked(count, arguments, "spawn"))
		children();
	if (is_asked(count, arguments, "names"))
		names();
	if (is_asked(count, arguments, "connect"))
		connection();
	if (is_asked(count, arguments, "join"))
		MPI_Comm_join(-1, &parent);
	if (is_asked(count, arguments, "abort") && rank == 1)
		MPI_Abort(world, 3);
	if (!rank)
		printf("done\n");
	MPI_Finalize();
	return 0;
}
