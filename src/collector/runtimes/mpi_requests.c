/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of receives, and persistent ones: what was asked for is needed when they complete or
 * begin.  A hash table of buckets, without a lock: several threads may use MPI at once, but a
 * handle is named only by the thread that has just got it or waits for it.  Handles are used again,
 * so slots are emptied where a request ends; where a bucket is full, the request's completion is
 * not recorded, and counted as dropped.
 */
#include "collector/core/recording.h"
#include "collector/runtimes/mpi.h"

enum { BUCKET = 8, BUCKETS = 1 << 12 }; /* a bucket's handles are one line of the cache */

#define BUSY UINTPTR_MAX

static _Alignas(64) _Atomic uintptr_t handles[BUCKETS][BUCKET]; /* 0: free */
static struct mpi_request requests[BUCKETS][BUCKET];
static _Atomic bool is_used;

static size_t bucket_of(uintptr_t handle)
{
	return (size_t)(((uint64_t)handle * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % BUCKETS;
}

/* The slot in its bucket, or BUCKET. */
static size_t find(size_t bucket, uintptr_t handle)
{
	size_t slot = 0;

	while (slot < BUCKET &&
	       atomic_load_explicit(&handles[bucket][slot], memory_order_acquire) != handle)
		slot++;
	return slot;
}

static size_t find_free(size_t bucket)
{
	for (size_t slot = 0; slot < BUCKET; slot++) {
		uintptr_t none = 0;

		if (atomic_compare_exchange_strong(&handles[bucket][slot], &none, BUSY))
			return slot;
	}
	return BUCKET;
}

void mpi_request_note(uintptr_t handle, const struct mpi_request *request)
{
	size_t bucket = bucket_of(handle), slot = find(bucket, handle);

	if (slot == BUCKET)
		slot = find_free(bucket);
	if (slot == BUCKET) {
		atomic_fetch_add_explicit(&collector.dropped, 1, memory_order_relaxed);
		return;
	}
	atomic_store_explicit(&is_used, true, memory_order_relaxed);
	requests[bucket][slot] = *request;
	/* pairs with find */
	atomic_store_explicit(&handles[bucket][slot], handle, memory_order_release);
}

bool mpi_request_look(uintptr_t handle, struct mpi_request *request)
{
	size_t bucket = bucket_of(handle), slot = handle ? find(bucket, handle) : BUCKET;

	if (slot < BUCKET)
		*request = requests[bucket][slot];
	return slot < BUCKET;
}

bool mpi_request_take(uintptr_t handle, struct mpi_request *request)
{
	if (!mpi_request_look(handle, request))
		return false;
	if (request->kind == MPI_REQUEST_RECEIVE)
		mpi_request_forget(handle);
	return true;
}

void mpi_request_forget(uintptr_t handle)
{
	size_t bucket = bucket_of(handle), slot = handle ? find(bucket, handle) : BUCKET;

	if (slot < BUCKET)
		atomic_store_explicit(&handles[bucket][slot], 0, memory_order_release);
}

void mpi_requests_begin(void)
{
	if (!atomic_exchange(&is_used, false))
		return;
	for (size_t bucket = 0; bucket < BUCKETS; bucket++)
		for (size_t slot = 0; slot < BUCKET; slot++)
			atomic_store_explicit(&handles[bucket][slot], 0, memory_order_relaxed);
}
