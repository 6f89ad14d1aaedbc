/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wrapped functions of MPI, in three languages, all made of one table.
 *
 * Of each function C programs call MPI_Send, Fortran ones mpi_send_ (mpif.h and the module mpi) or,
 * of Open MPI's module mpi_f08, mpi_send_f08_.  Open MPI's Fortran functions call the profiling
 * interface directly, so that they have to be wrapped; MPICH's call MPI_Send, which then is the
 * call that is recorded.  All arguments are words: there are no others in MPI.  Fortran's have one
 * more, the error, and behind it the lengths of strings.
 *
 * The next definition is found when a function is first called: a program that was started with us
 * may open its MPI library later, in a scope of its own, as Python does.
 */
#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"
#include "collector/runtimes/mpi.h"
#include "collector/runtimes/mpi_functions.h"
#include "collector/storage/recording.h"

#include <string.h>

extern struct mpi_function functions_begin[] __asm__("__start_helio_mpi")
	__attribute__((visibility("hidden")));
extern struct mpi_function functions_end[] __asm__("__stop_helio_mpi")
	__attribute__((visibility("hidden")));

enum { MPI_ERROR_OTHER = 16 };
/* Of a Fortran function: whether MPICH's calls the one of C. */
enum { NO_FORTRAN, FORTRAN, FORTRAN_BY_C };
/* The width of counts. */
enum { INTS, LARGE };

static atomic_flag finding = ATOMIC_FLAG_INIT;

static void read_letters(struct mpi_function *function)
{
	const char *letters = function->letters;

	for (int i = 0; letters[i]; i++)
		if (letters[i] != '.' && !function->at[letters[i] - 'A'])
			function->at[letters[i] - 'A'] = (int8_t)(i + 1);
}

/* Several threads may do so at once, and all find the same. */
static void find_next(struct mpi_function *function, const void *caller)
{
	void *next = next_of_caller(function->symbol, caller);

	next_forget_failures();
	if (!next)
		return;
	while (atomic_flag_test_and_set(&finding))
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	if (!mpi_abi.is_known)
		mpi_abi_find(next_of_caller, caller);
	next_forget_failures();
	read_letters(function);
	function->next = next;
	atomic_flag_clear(&finding);
	/* pairs with next_of */
	atomic_store_explicit(&function->is_ready, true, memory_order_release);
}

static inline void *next_of(struct mpi_function *function, const void *caller)
{
	if (!atomic_load_explicit(&function->is_ready, memory_order_acquire))
		find_next(function, caller);
	return function->next;
}

/* In the child of a fork the texts are not there yet, and whoever was finding functions is not. */
static void begin(void)
{
	atomic_flag_clear(&finding);
	for (struct mpi_function *function = functions_begin; function < functions_end; function++)
		atomic_store_explicit(&function->text, 0, memory_order_relaxed);
	mpi_groups_begin();
	mpi_requests_begin();
}

NEXT_CONSTRUCTOR static void install(void)
{
	mpi_recording_begins = begin;
}

/* ---- lists of arguments ---- */

#define PARAMETERS_0  void
#define PARAMETERS_1  uintptr_t a
#define PARAMETERS_2  PARAMETERS_1, uintptr_t b
#define PARAMETERS_3  PARAMETERS_2, uintptr_t c
#define PARAMETERS_4  PARAMETERS_3, uintptr_t d
#define PARAMETERS_5  PARAMETERS_4, uintptr_t e
#define PARAMETERS_6  PARAMETERS_5, uintptr_t f
#define PARAMETERS_7  PARAMETERS_6, uintptr_t g
#define PARAMETERS_8  PARAMETERS_7, uintptr_t h
#define PARAMETERS_9  PARAMETERS_8, uintptr_t i
#define PARAMETERS_10 PARAMETERS_9, uintptr_t j
#define PARAMETERS_11 PARAMETERS_10, uintptr_t k
#define PARAMETERS_12 PARAMETERS_11, uintptr_t l
#define PARAMETERS_13 PARAMETERS_12, uintptr_t m
#define PARAMETERS_14 PARAMETERS_13, uintptr_t n
#define PARAMETERS_15 PARAMETERS_14, uintptr_t o
#define PARAMETERS_16 PARAMETERS_15, uintptr_t p

#define NAMES_0
#define NAMES_1	 a
#define NAMES_2	 NAMES_1, b
#define NAMES_3	 NAMES_2, c
#define NAMES_4	 NAMES_3, d
#define NAMES_5	 NAMES_4, e
#define NAMES_6	 NAMES_5, f
#define NAMES_7	 NAMES_6, g
#define NAMES_8	 NAMES_7, h
#define NAMES_9	 NAMES_8, i
#define NAMES_10 NAMES_9, j
#define NAMES_11 NAMES_10, k
#define NAMES_12 NAMES_11, l
#define NAMES_13 NAMES_12, m
#define NAMES_14 NAMES_13, n
#define NAMES_15 NAMES_14, o
#define NAMES_16 NAMES_15, p

#define WORDS_0
#define WORDS_1	 words[0]
#define WORDS_2	 WORDS_1, words[1]
#define WORDS_3	 WORDS_2, words[2]
#define WORDS_4	 WORDS_3, words[3]
#define WORDS_5	 WORDS_4, words[4]
#define WORDS_6	 WORDS_5, words[5]
#define WORDS_7	 WORDS_6, words[6]
#define WORDS_8	 WORDS_7, words[7]
#define WORDS_9	 WORDS_8, words[8]
#define WORDS_10 WORDS_9, words[9]
#define WORDS_11 WORDS_10, words[10]
#define WORDS_12 WORDS_11, words[11]
#define WORDS_13 WORDS_12, words[12]
#define WORDS_14 WORDS_13, words[13]
#define WORDS_15 WORDS_14, words[14]
#define WORDS_16 WORDS_15, words[15]

/* One more than a number, and so many more: Fortran's error and the lengths of its strings. */
#define AFTER_0	       1
#define AFTER_1	       2
#define AFTER_2	       3
#define AFTER_3	       4
#define AFTER_4	       5
#define AFTER_5	       6
#define AFTER_6	       7
#define AFTER_7	       8
#define AFTER_8	       9
#define AFTER_9	       10
#define AFTER_10       11
#define AFTER_11       12
#define AFTER_12       13
#define AFTER_13       14
#define AFTER_14       15
#define AFTER_15       16
#define JOIN(a, b)     JOIN_NOW(a, b)
#define JOIN_NOW(a, b) a##b
#define AFTER(count)   JOIN(AFTER_, count)
#define PLUS_0(count)  count
#define PLUS_1(count)  AFTER(count)
#define PLUS_2(count)  AFTER(PLUS_1(count))

/* ---- the functions ---- */

#define MPI_WRAP(id, symbol_, name_, count, type_, rule_, letters_, fortran, counts, room_)        \
	static struct mpi_function function_##id __attribute__((section("helio_mpi"), used)) = {   \
		.name = "MPI_" name_,                                                              \
		.symbol = symbol_,                                                                 \
		.letters = letters_,                                                               \
		.type = MPI_##type_,                                                               \
		.rule = MPI_RULE_##rule_,                                                          \
		.is_fortran = (fortran) != NO_FORTRAN,                                             \
		.is_by_c = (fortran) == FORTRAN_BY_C,                                              \
		.is_large = (counts) == LARGE};                                                    \
	COLLECTOR_EXPORT int wrapped_##id(JOIN(PARAMETERS_, count)) __asm__(symbol_);              \
	int wrapped_##id(JOIN(PARAMETERS_, count))                                                 \
	{                                                                                          \
		int (*next)(JOIN(PARAMETERS_, count));                                             \
		void *symbol = next_of(&function_##id, __builtin_return_address(0));               \
		uintptr_t words[MPI_ARGUMENTS_MAX + 3] = {JOIN(NAMES_, count)};                    \
		_Alignas(uintptr_t) char room[room_];                                              \
		struct mpi_call call;                                                              \
                                                                                                   \
		if (!symbol)                                                                       \
			return MPI_ERROR_OTHER;                                                    \
		memcpy(&next, &symbol, sizeof(next));                                              \
		call.arguments = words;                                                            \
		call.room = (room_) > NO_ROOM ? room : NULL;                                       \
		call.frame = __builtin_frame_address(0);                                           \
		if (!mpi_begin(&call, &function_##id))                                             \
			return next(JOIN(NAMES_, count));                                          \
		int result = next(JOIN(WORDS_, count));                                            \
                                                                                                   \
		mpi_end(&call, result);                                                            \
		return result;                                                                     \
	}

#define MPI_WRAP_ALL(name, fortran, count, type, rule, letters, strings, room)                     \
	MPI_WRAP(name, "MPI_" #name, #name, count, type, rule, letters, NO_FORTRAN, INTS, room)    \
	MPI_WRAP(fortran##_, "mpi_" #fortran "_", #name, PLUS_##strings(AFTER(count)), type, rule, \
		 letters, FORTRAN_BY_C, INTS, room)                                                \
	MPI_WRAP(fortran##_f08, "mpi_" #fortran "_f08_", #name, PLUS_##strings(AFTER(count)),      \
		 type, rule, letters, FORTRAN, INTS, room)

enum { NO_ROOM = 1, ROOM = MPI_REQUESTS_ROOM * MPI_REQUEST_BYTES };

#define X(name, fortran, count, type, rule, letters, strings)                                      \
	MPI_WRAP_ALL(name, fortran, count, type, rule, letters, strings, NO_ROOM)
MPI_FUNCTIONS_OF_COUNTS(X)
MPI_FUNCTIONS(X)
#undef X
#define X(name, fortran, count, type, rule, letters, strings)                                      \
	MPI_WRAP(name##_c, "MPI_" #name "_c", #name "_c", count, type, rule, letters, NO_FORTRAN,  \
		 LARGE, NO_ROOM)
MPI_FUNCTIONS_OF_COUNTS(X)
#undef X
#define X(name, fortran, count, type, rule, letters, strings)                                      \
	MPI_WRAP_ALL(name, fortran, count, type, rule, letters, strings, ROOM)
MPI_FUNCTIONS_OF_REQUESTS(X)
#undef X

/* ---- the begin ---- */

#define MPI_WRAP_BEGIN(id, symbol_, name_, count, fortran)                                         \
	static struct mpi_function function_##id __attribute__((section("helio_mpi"), used)) = {   \
		.name = "MPI_" name_,                                                              \
		.symbol = symbol_,                                                                 \
		.letters = "",                                                                     \
		.type = MPI_MANAGE,                                                                \
		.is_fortran = (fortran) != NO_FORTRAN,                                             \
		.is_by_c = (fortran) == FORTRAN_BY_C};                                             \
	COLLECTOR_EXPORT int wrapped_##id(PARAMETERS_##count) __asm__(symbol_);                    \
	int wrapped_##id(PARAMETERS_##count)                                                       \
	{                                                                                          \
		int (*next)(PARAMETERS_##count);                                                   \
		void *symbol = next_of(&function_##id, __builtin_return_address(0));               \
		struct mpi_call call = {.frame = __builtin_frame_address(0)};                      \
                                                                                                   \
		if (!symbol)                                                                       \
			return MPI_ERROR_OTHER;                                                    \
		memcpy(&next, &symbol, sizeof(next));                                              \
		bool records = mpi_begin(&call, &function_##id);                                   \
		int result = next(NAMES_##count);                                                  \
                                                                                                   \
		if (records)                                                                       \
			mpi_end(&call, result);                                                    \
		if (records)                                                                       \
			mpi_started();                                                             \
		return result;                                                                     \
	}

MPI_WRAP_BEGIN(Init, "MPI_Init", "Init", 2, NO_FORTRAN)
MPI_WRAP_BEGIN(Init_thread, "MPI_Init_thread", "Init_thread", 4, NO_FORTRAN)
MPI_WRAP_BEGIN(init_, "mpi_init_", "Init", 1, FORTRAN_BY_C)
MPI_WRAP_BEGIN(init_thread_, "mpi_init_thread_", "Init_thread", 3, FORTRAN_BY_C)
MPI_WRAP_BEGIN(init_f08, "mpi_init_f08_", "Init", 1, FORTRAN)
MPI_WRAP_BEGIN(init_thread_f08, "mpi_init_thread_f08_", "Init_thread", 3, FORTRAN)
