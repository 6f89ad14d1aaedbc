/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs between Open MPI and MPICH, from whose mpi.h the numbers are.
 *
 * Open MPI's handles are pointers to objects that it exports, MPICH's are ints; a register holds
 * either, but of an int only its lower half counts.  Fortran's handles are ints in both: in MPICH
 * the same ones, in Open MPI indices, for which its functions MPI_*_f2c are asked.  All
 * implementations with MPICH's binary interface (Intel MPI, MVAPICH, Cray) count as MPICH.
 */
#include "collector/runtimes/mpi.h"

#include <dlfcn.h>
#include <string.h>

enum {
	MPICH_WORLD = 0x44000000,
	MPICH_NO_COMM = 0x04000000,
	MPICH_NO_REQUEST = 0x2c000000,
	MPICH_NO_WIN = 0x20000000
};

struct mpi_abi mpi_abi;
struct mpi_library mpi_library;

static void take(void *pointer, void *symbol)
{
	/* A symbol is a void *; memcpy is the conversion that C allows. */
	memcpy(pointer, &symbol, sizeof(symbol));
}

/* An object of the library: the program's copy of it, where it was linked so, is the one in use. */
static uintptr_t object(mpi_finder *find, const char *name, const void *caller)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	return (uintptr_t)(symbol ? symbol : find(name, caller));
}

static void set_open_mpi(mpi_finder *find, const void *caller)
{
	mpi_abi = (struct mpi_abi){
		.is_open_mpi = true,
		.source_at = 0,
		.tag_at = 1,
		.any_source = -1,
		.nobody = -2,
		.any_tag = -1,
		.root = -4,
		.world = object(find, "ompi_mpi_comm_world", caller),
		.no_comm = object(find, "ompi_mpi_comm_null", caller),
		.no_request = object(find, "ompi_request_null", caller),
		.no_win = object(find, "ompi_mpi_win_null", caller),
		.no_file = object(find, "ompi_mpi_file_null", caller),
		.in_place = 1,
		.fortran_in_place = object(find, "mpi_fortran_in_place_", caller),
		.fortran_no_status = object(find, "mpi_fortran_status_ignore_", caller),
		.fortran_no_statuses = object(find, "mpi_fortran_statuses_ignore_", caller),
	};
	take(&mpi_library.Comm_f2c, find("PMPI_Comm_f2c", caller));
	take(&mpi_library.Type_f2c, find("PMPI_Type_f2c", caller));
	take(&mpi_library.Win_f2c, find("PMPI_Win_f2c", caller));
}

static void set_mpich(mpi_finder *find, const void *caller)
{
	mpi_abi = (struct mpi_abi){
		.source_at = 2,
		.tag_at = 3,
		.any_source = -2,
		.nobody = -1,
		.any_tag = -1,
		.root = -3,
		.world = MPICH_WORLD,
		.no_comm = MPICH_NO_COMM,
		.no_request = MPICH_NO_REQUEST,
		.no_win = MPICH_NO_WIN,
		.in_place = UINTPTR_MAX,
		.fortran_no_status = object(find, "MPIR_F08_MPI_STATUS_IGNORE_OBJ", caller),
		.fortran_no_statuses = object(find, "MPIR_F08_MPI_STATUSES_IGNORE_OBJ", caller),
	};
}

void mpi_abi_find(mpi_finder *find, const void *caller)
{
	bool complete = true;

#define X(name, parameters)                                                                        \
	take(&mpi_library.name, find("PMPI_" #name, caller));                                      \
	complete &= mpi_library.name != NULL;
	MPI_LIBRARY_FUNCTIONS(X)
#undef X
	take(&mpi_library.File_f2c, find("PMPI_File_f2c", caller));
	if (find("ompi_mpi_comm_world", caller))
		set_open_mpi(find, caller);
	else
		set_mpich(find, caller);
	mpi_abi.is_known = complete;
}

int mpi_number(const struct mpi_call *call, char letter)
{
	uintptr_t word = mpi_word(call, letter);

	return call->function->is_fortran ? *(const int *)word : (int)word;
}

/* Of a partitioned message it has 64 bits in any case. */
static bool has_large_count(const struct mpi_call *call)
{
	return call->function->is_large || mpi_has(call, 'p') || mpi_has(call, 'P');
}

int64_t mpi_count(const struct mpi_call *call, char letter)
{
	uintptr_t word = mpi_word(call, letter);

	if (!has_large_count(call))
		return mpi_number(call, letter);
	return call->function->is_fortran ? *(const int64_t *)word : (int64_t)word;
}

int64_t mpi_count_in(const struct mpi_call *call, char letter, size_t index)
{
	const void *counts = (const void *)mpi_word(call, letter);

	return call->function->is_large ? ((const int64_t *)counts)[index]
					: ((const int *)counts)[index];
}

static uintptr_t of_fortran(int handle, char letter)
{
	switch (letter) {
	case 't':
	case 'T':
	case 'u':
	case 'U':
		return mpi_library.Type_f2c ? mpi_library.Type_f2c(handle) : (uint32_t)handle;
	case 'w':
	case 'W':
		return mpi_library.Win_f2c ? mpi_library.Win_f2c(handle) : (uint32_t)handle;
	case 'f':
	case 'F':
		return mpi_library.File_f2c ? mpi_library.File_f2c(handle) : (uint32_t)handle;
	default:
		return mpi_library.Comm_f2c ? mpi_library.Comm_f2c(handle) : (uint32_t)handle;
	}
}

/* MPICH's files are pointers, too. */
static bool is_pointer(char letter)
{
	return mpi_abi.is_open_mpi || letter == 'f' || letter == 'F';
}

uintptr_t mpi_handle(const struct mpi_call *call, char letter)
{
	uintptr_t word = mpi_word(call, letter);

	if (call->function->is_fortran)
		return of_fortran(*(const int *)word, letter);
	return is_pointer(letter) ? word : (uint32_t)word;
}

uintptr_t mpi_handle_at(const struct mpi_call *call, const void *place, char letter)
{
	if (call->function->is_fortran)
		return of_fortran(*(const int *)place, letter);
	return is_pointer(letter) ? *(const uintptr_t *)place : *(const uint32_t *)place;
}

uintptr_t mpi_request_in(const struct mpi_call *call, const void *array, size_t index)
{
	if (!array) /* the library says what is wrong with it */
		return 0;
	if (call->function->is_fortran || !mpi_abi.is_open_mpi)
		return ((const uint32_t *)array)[index];
	return ((const uintptr_t *)array)[index];
}

bool mpi_is_in_place(const struct mpi_call *call, char letter)
{
	return mpi_has(call, letter) &&
	       mpi_word(call, letter) ==
		       (call->function->is_fortran ? mpi_abi.fortran_in_place : mpi_abi.in_place);
}

bool mpi_ignores_status(const struct mpi_call *call, char letter)
{
	uintptr_t word = mpi_word(call, letter);

	if (call->function->is_fortran)
		return word ==
		       (letter == 'S' ? mpi_abi.fortran_no_status : mpi_abi.fortran_no_statuses);
	return word <= 1; /* none in the one implementation, 1 in the other */
}

struct mpi_message mpi_message_of(const void *status)
{
	enum { OPEN_MPI_CANCELLED = 3, OPEN_MPI_BYTES = 4 };
	const int32_t *words = status;
	struct mpi_message message = {.source = words[mpi_abi.source_at],
				      .tag = words[mpi_abi.tag_at]};

	if (mpi_abi.is_open_mpi) {
		memcpy(&message.bytes, words + OPEN_MPI_BYTES, sizeof(message.bytes));
		message.was_cancelled = words[OPEN_MPI_CANCELLED];
	} else {
		message.bytes = (uint32_t)words[0] | (uint64_t)((uint32_t)words[1] >> 1) << 32;
		message.was_cancelled = words[1] & 1;
	}
	return message;
}

uint64_t mpi_peer_field(int rank)
{
	if (rank >= 0)
		return MPI_PEER_RANK + (uint64_t)rank;
	return rank == mpi_abi.any_source ? MPI_PEER_ANY
	       : rank == mpi_abi.nobody	  ? MPI_PEER_NOBODY
					  : MPI_PEER_NONE;
}

uint64_t mpi_tag_field(int tag)
{
	if (tag >= 0)
		return MPI_TAG_FIRST + (uint64_t)tag;
	return tag == mpi_abi.any_tag ? MPI_TAG_ANY : MPI_TAG_NONE;
}

uint64_t mpi_type_size(uintptr_t type)
{
	int64_t size = 0;

	return mpi_library.Type_size_x(type, &size) || size < 0 ? 0 : (uint64_t)size;
}
