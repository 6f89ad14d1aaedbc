/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of receives, and persistent ones: what was asked for is needed when they complete or
 * begin.  A hash table of buckets, without a lock: several threads may use MPI at once, but a
 * handle is named only by the thread that has just got it or waits for it.
 *
 * The library gives a handle to the next request before the call returns that has completed the
 * last one.  So there may be two of one handle, and each has a number: the latest is that of who
 * holds the handle at the begin of its call, and by its number it is taken at the end.
 *
 * Where a bucket is full, the request's completion is not recorded, and counted as dropped.
 */
#include "collector/runtimes/mpi.h"
#include "collector/storage/recording.h"

enum { BUCKET = 8, BUCKETS = 1 << 12 }; /* a bucket's handles are one line of the cache */

#define BUSY UINTPTR_MAX

static _Alignas(64) _Atomic uintptr_t handles[BUCKETS][BUCKET]; /* 0: free */
static struct mpi_request requests[BUCKETS][BUCKET];
static _Atomic uint64_t serials; /* given so far */
static _Atomic bool is_used;

static size_t bucket_of(uintptr_t handle)
{
	return (size_t)(((uint64_t)handle * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % BUCKETS;
}

static bool is_at(size_t bucket, size_t slot, uintptr_t handle)
{
	return atomic_load_explicit(&handles[bucket][slot], memory_order_acquire) == handle;
}

/* The slot of the latest one of a handle, or BUCKET. */
static size_t find_latest(size_t bucket, uintptr_t handle)
{
	size_t found = BUCKET;

	for (size_t slot = 0; slot < BUCKET; slot++)
		if (is_at(bucket, slot, handle) &&
		    (found == BUCKET ||
		     requests[bucket][slot].serial > requests[bucket][found].serial))
			found = slot;
	return found;
}

static size_t find(size_t bucket, uintptr_t handle, uint64_t serial)
{
	size_t slot = 0;

	while (slot < BUCKET &&
	       (!is_at(bucket, slot, handle) || requests[bucket][slot].serial != serial))
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

static uint64_t next_number(void)
{
	return atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1;
}

uint64_t mpi_request_note(uintptr_t handle, const struct mpi_request *request)
{
	size_t bucket = bucket_of(handle), slot = find_free(bucket);

	if (slot == BUCKET) /* one that nobody has waited for makes room */
		slot = find_latest(bucket, handle);
	if (slot == BUCKET) {
		atomic_fetch_add_explicit(&collector.dropped, 1, memory_order_relaxed);
		return 0;
	}
	atomic_store_explicit(&is_used, true, memory_order_relaxed);
	uint64_t number = next_number();

	requests[bucket][slot] = *request;
	requests[bucket][slot].serial = requests[bucket][slot].number = number;
	/* pairs with is_at */
	atomic_store_explicit(&handles[bucket][slot], handle, memory_order_release);
	return number;
}

bool mpi_request_start(uintptr_t handle, struct mpi_request *request)
{
	size_t bucket = bucket_of(handle), slot = handle ? find_latest(bucket, handle) : BUCKET;

	if (slot == BUCKET)
		return false;
	requests[bucket][slot].number = next_number();
	*request = requests[bucket][slot];
	return true;
}

uint64_t mpi_request_serial(uintptr_t handle)
{
	size_t bucket = bucket_of(handle), slot = handle ? find_latest(bucket, handle) : BUCKET;

	return slot < BUCKET ? requests[bucket][slot].serial : 0;
}

bool mpi_request_take(uintptr_t handle, uint64_t serial, struct mpi_request *request)
{
	size_t bucket = bucket_of(handle), slot = serial ? find(bucket, handle, serial) : BUCKET;

	if (slot == BUCKET)
		return false;
	*request = requests[bucket][slot];
	if (request->kind == MPI_REQUEST_RECEIVE)
		atomic_store_explicit(&handles[bucket][slot], 0, memory_order_release);
	return true;
}

void mpi_request_forget(uintptr_t handle, uint64_t serial)
{
	size_t bucket = bucket_of(handle), slot = serial ? find(bucket, handle, serial) : BUCKET;

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
