/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of MPI that are traced: X(C name, Fortran name, arguments in C, type of event,
 * rule of the accounting (mpi_bytes.c), what the arguments are, strings among them).
 *
 * A letter for each argument: b buffer, n count and t type of what is sent, v counts and u types of
 * what is sent to each; the capitals B N T V U of what is received; d destination or target,
 * s source, g tag of what is sent, G of what is received, r root; c communicator, w window, f file,
 * their capitals C W F: where one is returned or freed; q a request, m a count of requests and Q
 * these; M a message of a matching probe; S a status, A statuses; x whether it is done, i which one
 * is, o how many are, I which ones; . none of that.
 *
 * A partitioned message has p or P partitions of that count, which is of 64 bits in any case.
 *
 * Not here: what only asks or describes (ranks, sizes, types, groups, attributes, infos, error
 * handlers, MPI_T), and MPI_Init and MPI_Init_thread, whose arguments are others in Fortran.
 */
#ifndef HELIO_COLLECTOR_MPI_FUNCTIONS_H
#define HELIO_COLLECTOR_MPI_FUNCTIONS_H

/* clang-format off */
/* Those with counts: MPI 4 has each a second time, MPI_Send_c, in C, with counts of 64 bits. */
#define MPI_FUNCTIONS_OF_COUNTS(X) \
	X(Send, send, 6, SEND, NONE, "bntdgc", 0) \
	X(Bsend, bsend, 6, SEND, NONE, "bntdgc", 0) \
	X(Rsend, rsend, 6, SEND, NONE, "bntdgc", 0) \
	X(Ssend, ssend, 6, SEND, NONE, "bntdgc", 0) \
	X(Isend, isend, 7, SEND_BEGIN, NONE, "bntdgcq", 0) \
	X(Ibsend, ibsend, 7, SEND_BEGIN, NONE, "bntdgcq", 0) \
	X(Irsend, irsend, 7, SEND_BEGIN, NONE, "bntdgcq", 0) \
	X(Issend, issend, 7, SEND_BEGIN, NONE, "bntdgcq", 0) \
	X(Recv, recv, 7, RECEIVE, NONE, "BNTsGcS", 0) \
	X(Irecv, irecv, 7, RECEIVE_BEGIN, NONE, "BNTsGcq", 0) \
	X(Mrecv, mrecv, 5, RECEIVE, NONE, "BNTMS", 0) \
	X(Imrecv, imrecv, 5, RECEIVE_BEGIN, NONE, "BNTMq", 0) \
	X(Sendrecv, sendrecv, 12, EXCHANGE, NONE, "bntdgBNTsGcS", 0) \
	X(Sendrecv_replace, sendrecv_replace, 9, EXCHANGE, NONE, "bntdgsGcS", 0) \
	X(Isendrecv, isendrecv, 12, SEND_BEGIN, NONE, "bntdgBNTsGcq", 0) \
	X(Isendrecv_replace, isendrecv_replace, 9, SEND_BEGIN, NONE, "bntdgsGcq", 0) \
	X(Send_init, send_init, 7, PREPARE, NONE, "bntdgcq", 0) \
	X(Bsend_init, bsend_init, 7, PREPARE, NONE, "bntdgcq", 0) \
	X(Rsend_init, rsend_init, 7, PREPARE, NONE, "bntdgcq", 0) \
	X(Ssend_init, ssend_init, 7, PREPARE, NONE, "bntdgcq", 0) \
	X(Recv_init, recv_init, 7, PREPARE, NONE, "BNTsGcq", 0) \
	X(Bcast, bcast, 5, COLLECTIVE, BCAST, "Bntrc", 0) \
	X(Ibcast, ibcast, 6, COLLECTIVE, BCAST, "Bntrcq", 0) \
	X(Bcast_init, bcast_init, 7, PREPARE, BCAST, "Bntrc.q", 0) \
	X(Gather, gather, 8, COLLECTIVE, GATHER, "bntBNTrc", 0) \
	X(Igather, igather, 9, COLLECTIVE, GATHER, "bntBNTrcq", 0) \
	X(Gather_init, gather_init, 10, PREPARE, GATHER, "bntBNTrc.q", 0) \
	X(Gatherv, gatherv, 9, COLLECTIVE, GATHER, "bntBV.Trc", 0) \
	X(Igatherv, igatherv, 10, COLLECTIVE, GATHER, "bntBV.Trcq", 0) \
	X(Gatherv_init, gatherv_init, 11, PREPARE, GATHER, "bntBV.Trc.q", 0) \
	X(Scatter, scatter, 8, COLLECTIVE, SCATTER, "bntBNTrc", 0) \
	X(Iscatter, iscatter, 9, COLLECTIVE, SCATTER, "bntBNTrcq", 0) \
	X(Scatter_init, scatter_init, 10, PREPARE, SCATTER, "bntBNTrc.q", 0) \
	X(Scatterv, scatterv, 9, COLLECTIVE, SCATTER, "bv.tBNTrc", 0) \
	X(Iscatterv, iscatterv, 10, COLLECTIVE, SCATTER, "bv.tBNTrcq", 0) \
	X(Scatterv_init, scatterv_init, 11, PREPARE, SCATTER, "bv.tBNTrc.q", 0) \
	X(Allgather, allgather, 7, COLLECTIVE, ALL, "bntBNTc", 0) \
	X(Iallgather, iallgather, 8, COLLECTIVE, ALL, "bntBNTcq", 0) \
	X(Allgather_init, allgather_init, 9, PREPARE, ALL, "bntBNTc.q", 0) \
	X(Allgatherv, allgatherv, 8, COLLECTIVE, ALL, "bntBV.Tc", 0) \
	X(Iallgatherv, iallgatherv, 9, COLLECTIVE, ALL, "bntBV.Tcq", 0) \
	X(Allgatherv_init, allgatherv_init, 10, PREPARE, ALL, "bntBV.Tc.q", 0) \
	X(Alltoall, alltoall, 7, COLLECTIVE, ALL, "bntBNTc", 0) \
	X(Ialltoall, ialltoall, 8, COLLECTIVE, ALL, "bntBNTcq", 0) \
	X(Alltoall_init, alltoall_init, 9, PREPARE, ALL, "bntBNTc.q", 0) \
	X(Alltoallv, alltoallv, 9, COLLECTIVE, ALL, "bv.tBV.Tc", 0) \
	X(Ialltoallv, ialltoallv, 10, COLLECTIVE, ALL, "bv.tBV.Tcq", 0) \
	X(Alltoallv_init, alltoallv_init, 11, PREPARE, ALL, "bv.tBV.Tc.q", 0) \
	X(Alltoallw, alltoallw, 9, COLLECTIVE, ALL, "bv.uBV.Uc", 0) \
	X(Ialltoallw, ialltoallw, 10, COLLECTIVE, ALL, "bv.uBV.Ucq", 0) \
	X(Alltoallw_init, alltoallw_init, 11, PREPARE, ALL, "bv.uBV.Uc.q", 0) \
	X(Reduce, reduce, 7, COLLECTIVE, REDUCE, "bBnt.rc", 0) \
	X(Ireduce, ireduce, 8, COLLECTIVE, REDUCE, "bBnt.rcq", 0) \
	X(Reduce_init, reduce_init, 9, PREPARE, REDUCE, "bBnt.rc.q", 0) \
	X(Allreduce, allreduce, 6, COLLECTIVE, ALLREDUCE, "bBnt.c", 0) \
	X(Iallreduce, iallreduce, 7, COLLECTIVE, ALLREDUCE, "bBnt.cq", 0) \
	X(Allreduce_init, allreduce_init, 8, PREPARE, ALLREDUCE, "bBnt.c.q", 0) \
	X(Reduce_scatter, reduce_scatter, 6, COLLECTIVE, REDUCE_SCATTER, "bBVt.c", 0) \
	X(Ireduce_scatter, ireduce_scatter, 7, COLLECTIVE, REDUCE_SCATTER, "bBVt.cq", 0) \
	X(Reduce_scatter_init, reduce_scatter_init, 8, PREPARE, REDUCE_SCATTER, "bBVt.c.q", 0) \
	X(Reduce_scatter_block, reduce_scatter_block, 6, COLLECTIVE, REDUCE_SCATTER, "bBnt.c", 0) \
	X(Ireduce_scatter_block, ireduce_scatter_block, 7, COLLECTIVE, REDUCE_SCATTER, \
	  "bBnt.cq", 0) \
	X(Reduce_scatter_block_init, reduce_scatter_block_init, 8, PREPARE, REDUCE_SCATTER, \
	  "bBnt.c.q", 0) \
	X(Scan, scan, 6, COLLECTIVE, ALLREDUCE, "bBnt.c", 0) \
	X(Iscan, iscan, 7, COLLECTIVE, ALLREDUCE, "bBnt.cq", 0) \
	X(Scan_init, scan_init, 8, PREPARE, ALLREDUCE, "bBnt.c.q", 0) \
	X(Exscan, exscan, 6, COLLECTIVE, EXSCAN, "bBnt.c", 0) \
	X(Iexscan, iexscan, 7, COLLECTIVE, EXSCAN, "bBnt.cq", 0) \
	X(Exscan_init, exscan_init, 8, PREPARE, EXSCAN, "bBnt.c.q", 0) \
	X(Neighbor_allgather, neighbor_allgather, 7, COLLECTIVE, NEIGHBOR, "bntBNTc", 0) \
	X(Ineighbor_allgather, ineighbor_allgather, 8, COLLECTIVE, NEIGHBOR, "bntBNTcq", 0) \
	X(Neighbor_allgather_init, neighbor_allgather_init, 9, PREPARE, NEIGHBOR, "bntBNTc.q", 0) \
	X(Neighbor_allgatherv, neighbor_allgatherv, 8, COLLECTIVE, NEIGHBOR, "bntBV.Tc", 0) \
	X(Ineighbor_allgatherv, ineighbor_allgatherv, 9, COLLECTIVE, NEIGHBOR, "bntBV.Tcq", 0) \
	X(Neighbor_allgatherv_init, neighbor_allgatherv_init, 10, PREPARE, NEIGHBOR, \
	  "bntBV.Tc.q", 0) \
	X(Neighbor_alltoall, neighbor_alltoall, 7, COLLECTIVE, NEIGHBOR, "bntBNTc", 0) \
	X(Ineighbor_alltoall, ineighbor_alltoall, 8, COLLECTIVE, NEIGHBOR, "bntBNTcq", 0) \
	X(Neighbor_alltoall_init, neighbor_alltoall_init, 9, PREPARE, NEIGHBOR, "bntBNTc.q", 0) \
	X(Neighbor_alltoallv, neighbor_alltoallv, 9, COLLECTIVE, NEIGHBOR, "bv.tBV.Tc", 0) \
	X(Ineighbor_alltoallv, ineighbor_alltoallv, 10, COLLECTIVE, NEIGHBOR, "bv.tBV.Tcq", 0) \
	X(Neighbor_alltoallv_init, neighbor_alltoallv_init, 11, PREPARE, NEIGHBOR, \
	  "bv.tBV.Tc.q", 0) \
	X(Neighbor_alltoallw, neighbor_alltoallw, 9, COLLECTIVE, NEIGHBOR, "bv.uBV.Uc", 0) \
	X(Ineighbor_alltoallw, ineighbor_alltoallw, 10, COLLECTIVE, NEIGHBOR, "bv.uBV.Ucq", 0) \
	X(Neighbor_alltoallw_init, neighbor_alltoallw_init, 11, PREPARE, NEIGHBOR, \
	  "bv.uBV.Uc.q", 0) \
	X(Put, put, 8, ONE_SIDED, NONE, "bntd...w", 0) \
	X(Get, get, 8, ONE_SIDED, NONE, "BNTd...w", 0) \
	X(Accumulate, accumulate, 9, ONE_SIDED, NONE, "bntd....w", 0) \
	X(Get_accumulate, get_accumulate, 12, ONE_SIDED, NONE, "bntBNTd....w", 0) \
	X(Rput, rput, 9, ONE_SIDED, NONE, "bntd...wq", 0) \
	X(Rget, rget, 9, ONE_SIDED, NONE, "BNTd...wq", 0) \
	X(Raccumulate, raccumulate, 10, ONE_SIDED, NONE, "bntd....wq", 0) \
	X(Rget_accumulate, rget_accumulate, 13, ONE_SIDED, NONE, "bntBNTd....wq", 0) \
	X(Win_create, win_create, 6, MANAGE, NONE, "....cW", 0) \
	X(Win_allocate, win_allocate, 6, MANAGE, NONE, "...c.W", 0) \
	X(Win_allocate_shared, win_allocate_shared, 6, MANAGE, NONE, "...c.W", 0) \
	X(File_read_at, file_read_at, 6, FILE, NONE, "f.BNTS", 0) \
	X(File_read_at_all, file_read_at_all, 6, FILE, NONE, "f.BNTS", 0) \
	X(File_write_at, file_write_at, 6, FILE, NONE, "f.bntS", 0) \
	X(File_write_at_all, file_write_at_all, 6, FILE, NONE, "f.bntS", 0) \
	X(File_iread_at, file_iread_at, 6, FILE, NONE, "f.BNTq", 0) \
	X(File_iwrite_at, file_iwrite_at, 6, FILE, NONE, "f.bntq", 0) \
	X(File_iread_at_all, file_iread_at_all, 6, FILE, NONE, "f.BNTq", 0) \
	X(File_iwrite_at_all, file_iwrite_at_all, 6, FILE, NONE, "f.bntq", 0) \
	X(File_read, file_read, 5, FILE, NONE, "fBNTS", 0) \
	X(File_read_all, file_read_all, 5, FILE, NONE, "fBNTS", 0) \
	X(File_write, file_write, 5, FILE, NONE, "fbntS", 0) \
	X(File_write_all, file_write_all, 5, FILE, NONE, "fbntS", 0) \
	X(File_iread, file_iread, 5, FILE, NONE, "fBNTq", 0) \
	X(File_iwrite, file_iwrite, 5, FILE, NONE, "fbntq", 0) \
	X(File_iread_all, file_iread_all, 5, FILE, NONE, "fBNTq", 0) \
	X(File_iwrite_all, file_iwrite_all, 5, FILE, NONE, "fbntq", 0) \
	X(File_read_shared, file_read_shared, 5, FILE, NONE, "fBNTS", 0) \
	X(File_write_shared, file_write_shared, 5, FILE, NONE, "fbntS", 0) \
	X(File_iread_shared, file_iread_shared, 5, FILE, NONE, "fBNTq", 0) \
	X(File_iwrite_shared, file_iwrite_shared, 5, FILE, NONE, "fbntq", 0) \
	X(File_read_ordered, file_read_ordered, 5, FILE, NONE, "fBNTS", 0) \
	X(File_write_ordered, file_write_ordered, 5, FILE, NONE, "fbntS", 0) \
	X(File_read_at_all_begin, file_read_at_all_begin, 5, FILE, NONE, "f.BNT", 0) \
	X(File_write_at_all_begin, file_write_at_all_begin, 5, FILE, NONE, "f.bnt", 0) \
	X(File_read_all_begin, file_read_all_begin, 4, FILE, NONE, "fBNT", 0) \
	X(File_write_all_begin, file_write_all_begin, 4, FILE, NONE, "fbnt", 0) \
	X(File_read_ordered_begin, file_read_ordered_begin, 4, FILE, NONE, "fBNT", 0) \
	X(File_write_ordered_begin, file_write_ordered_begin, 4, FILE, NONE, "fbnt", 0) \
	X(Buffer_attach, buffer_attach, 2, MANAGE, NONE, "..", 0) \
	X(Buffer_detach, buffer_detach, 2, MANAGE, NONE, "..", 0) \
	X(Pack, pack, 7, MANAGE, NONE, "......c", 0) \
	X(Unpack, unpack, 7, MANAGE, NONE, "......c", 0)

#define MPI_FUNCTIONS(X) \
	X(Psend_init, psend_init, 9, PREPARE, NONE, "bpntdgc.q", 0) \
	X(Precv_init, precv_init, 9, PREPARE, NONE, "BPNTsGc.q", 0) \
	X(Start, start, 1, START, NONE, "q", 0) \
	X(Pready, pready, 2, MANAGE, NONE, "..", 0) \
	X(Pready_range, pready_range, 3, MANAGE, NONE, "...", 0) \
	X(Pready_list, pready_list, 3, MANAGE, NONE, "...", 0) \
	X(Parrived, parrived, 3, TEST, NONE, "..x", 0) \
	X(Probe, probe, 4, WAIT, NONE, "sGcS", 0) \
	X(Iprobe, iprobe, 5, TEST, NONE, "sGcxS", 0) \
	X(Mprobe, mprobe, 5, WAIT, NONE, "sGcMS", 0) \
	X(Improbe, improbe, 6, TEST, NONE, "sGcxMS", 0) \
	X(Wait, wait, 2, WAIT, NONE, "qS", 0) \
	X(Test, test, 3, TEST, NONE, "qxS", 0) \
	X(Request_get_status, request_get_status, 3, TEST, NONE, ".xS", 0) \
	X(Request_free, request_free, 1, MANAGE, NONE, "q", 0) \
	X(Cancel, cancel, 1, MANAGE, NONE, ".", 0) \
	X(Barrier, barrier, 1, BARRIER, NONE, "c", 0) \
	X(Ibarrier, ibarrier, 2, BARRIER, NONE, "cq", 0) \
	X(Barrier_init, barrier_init, 3, PREPARE, NONE, "c.q", 0) \
	X(Fetch_and_op, fetch_and_op, 7, ONE_SIDED, NONE, "bBtd..w", 0) \
	X(Compare_and_swap, compare_and_swap, 7, ONE_SIDED, NONE, "b.Btd.w", 0) \
	X(Win_create_dynamic, win_create_dynamic, 3, MANAGE, NONE, ".cW", 0) \
	X(Win_attach, win_attach, 3, MANAGE, NONE, "w..", 0) \
	X(Win_detach, win_detach, 2, MANAGE, NONE, "w.", 0) \
	X(Win_free, win_free, 1, MANAGE, NONE, "W", 0) \
	X(Win_set_name, win_set_name, 2, MANAGE, NONE, "w.", 1) \
	X(Win_fence, win_fence, 2, WAIT, NONE, ".w", 0) \
	X(Win_start, win_start, 3, WAIT, NONE, "..w", 0) \
	X(Win_complete, win_complete, 1, WAIT, NONE, "w", 0) \
	X(Win_post, win_post, 3, WAIT, NONE, "..w", 0) \
	X(Win_wait, win_wait, 1, WAIT, NONE, "w", 0) \
	X(Win_test, win_test, 2, TEST, NONE, "wx", 0) \
	X(Win_lock, win_lock, 4, WAIT, NONE, ".d.w", 0) \
	X(Win_unlock, win_unlock, 2, WAIT, NONE, "dw", 0) \
	X(Win_lock_all, win_lock_all, 2, WAIT, NONE, ".w", 0) \
	X(Win_unlock_all, win_unlock_all, 1, WAIT, NONE, "w", 0) \
	X(Win_flush, win_flush, 2, WAIT, NONE, "dw", 0) \
	X(Win_flush_all, win_flush_all, 1, WAIT, NONE, "w", 0) \
	X(Win_flush_local, win_flush_local, 2, WAIT, NONE, "dw", 0) \
	X(Win_flush_local_all, win_flush_local_all, 1, WAIT, NONE, "w", 0) \
	X(Win_sync, win_sync, 1, WAIT, NONE, "w", 0) \
	X(File_open, file_open, 5, FILE, NONE, "c...F", 1) \
	X(File_close, file_close, 1, FILE, NONE, "F", 0) \
	X(File_delete, file_delete, 2, FILE, NONE, "..", 1) \
	X(File_set_size, file_set_size, 2, FILE, NONE, "f.", 0) \
	X(File_preallocate, file_preallocate, 2, FILE, NONE, "f.", 0) \
	X(File_get_size, file_get_size, 2, FILE, NONE, "f.", 0) \
	X(File_set_info, file_set_info, 2, FILE, NONE, "f.", 0) \
	X(File_set_view, file_set_view, 6, FILE, NONE, "f.....", 1) \
	X(File_seek, file_seek, 3, FILE, NONE, "f..", 0) \
	X(File_seek_shared, file_seek_shared, 3, FILE, NONE, "f..", 0) \
	X(File_get_position, file_get_position, 2, FILE, NONE, "f.", 0) \
	X(File_get_position_shared, file_get_position_shared, 2, FILE, NONE, "f.", 0) \
	X(File_set_atomicity, file_set_atomicity, 2, FILE, NONE, "f.", 0) \
	X(File_sync, file_sync, 1, FILE, NONE, "f", 0) \
	X(File_read_at_all_end, file_read_at_all_end, 3, FILE, NONE, "f.S", 0) \
	X(File_write_at_all_end, file_write_at_all_end, 3, FILE, NONE, "f.S", 0) \
	X(File_read_all_end, file_read_all_end, 3, FILE, NONE, "f.S", 0) \
	X(File_write_all_end, file_write_all_end, 3, FILE, NONE, "f.S", 0) \
	X(File_read_ordered_end, file_read_ordered_end, 3, FILE, NONE, "f.S", 0) \
	X(File_write_ordered_end, file_write_ordered_end, 3, FILE, NONE, "f.S", 0) \
	X(Comm_dup, comm_dup, 2, MANAGE, NONE, "cC", 0) \
	X(Comm_dup_with_info, comm_dup_with_info, 3, MANAGE, NONE, "c.C", 0) \
	X(Comm_idup, comm_idup, 3, MANAGE, NONE, "cCq", 0) \
	X(Comm_idup_with_info, comm_idup_with_info, 4, MANAGE, NONE, "c.Cq", 0) \
	X(Comm_create, comm_create, 3, MANAGE, NONE, "c.C", 0) \
	X(Comm_create_group, comm_create_group, 4, MANAGE, NONE, "c..C", 0) \
	X(Comm_split, comm_split, 4, MANAGE, NONE, "c..C", 0) \
	X(Comm_split_type, comm_split_type, 5, MANAGE, NONE, "c...C", 0) \
	X(Comm_free, comm_free, 1, MANAGE, NONE, "C", 0) \
	X(Comm_disconnect, comm_disconnect, 1, MANAGE, NONE, "C", 0) \
	X(Comm_set_name, comm_set_name, 2, MANAGE, NONE, "c.", 1) \
	X(Comm_compare, comm_compare, 3, MANAGE, NONE, "c..", 0) \
	X(Comm_accept, comm_accept, 5, MANAGE, NONE, "..rcC", 1) \
	X(Comm_connect, comm_connect, 5, MANAGE, NONE, "..rcC", 1) \
	X(Comm_join, comm_join, 2, MANAGE, NONE, ".C", 0) \
	X(Comm_spawn, comm_spawn, 8, MANAGE, NONE, "....rcC.", 2) \
	X(Comm_spawn_multiple, comm_spawn_multiple, 9, MANAGE, NONE, ".....rcC.", 2) \
	X(Cart_create, cart_create, 6, MANAGE, NONE, "c....C", 0) \
	X(Cart_sub, cart_sub, 3, MANAGE, NONE, "c.C", 0) \
	X(Graph_create, graph_create, 6, MANAGE, NONE, "c....C", 0) \
	X(Dist_graph_create, dist_graph_create, 9, MANAGE, NONE, "c.......C", 0) \
	X(Dist_graph_create_adjacent, dist_graph_create_adjacent, 10, MANAGE, NONE, \
	  "c........C", 0) \
	X(Intercomm_create, intercomm_create, 6, MANAGE, NONE, "c.c..C", 0) \
	X(Intercomm_merge, intercomm_merge, 3, MANAGE, NONE, "c.C", 0) \
	X(Open_port, open_port, 2, MANAGE, NONE, "..", 1) \
	X(Close_port, close_port, 1, MANAGE, NONE, ".", 1) \
	X(Publish_name, publish_name, 3, MANAGE, NONE, "...", 2) \
	X(Unpublish_name, unpublish_name, 3, MANAGE, NONE, "...", 2) \
	X(Lookup_name, lookup_name, 3, MANAGE, NONE, "...", 2) \
	X(Alloc_mem, alloc_mem, 3, MANAGE, NONE, "...", 0) \
	X(Free_mem, free_mem, 1, MANAGE, NONE, ".", 0) \
	X(Session_init, session_init, 3, MANAGE, NONE, "...", 0) \
	X(Session_finalize, session_finalize, 1, MANAGE, NONE, ".", 0) \
	X(Comm_create_from_group, comm_create_from_group, 5, MANAGE, NONE, "....C", 1) \
	X(Intercomm_create_from_groups, intercomm_create_from_groups, 8, MANAGE, NONE, \
	  ".......C", 1) \
	X(Finalize, finalize, 0, MANAGE, NONE, "", 0) \
	X(Abort, abort, 2, MANAGE, NONE, "c.", 0)

/* Those with several requests, for which there is room in the wrapped function. */
#define MPI_FUNCTIONS_OF_REQUESTS(X) \
	X(Startall, startall, 2, START, NONE, "mQ", 0) \
	X(Waitall, waitall, 3, WAIT, NONE, "mQA", 0) \
	X(Waitany, waitany, 4, WAIT, NONE, "mQiS", 0) \
	X(Waitsome, waitsome, 5, WAIT, NONE, "mQoIA", 0) \
	X(Testall, testall, 4, TEST, NONE, "mQxA", 0) \
	X(Testany, testany, 5, TEST, NONE, "mQixS", 0) \
	X(Testsome, testsome, 5, TEST, NONE, "mQoIA", 0)
/* clang-format on */

#endif
