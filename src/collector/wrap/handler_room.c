/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/wrap/handler_room.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/auxv.h>

bool handler_has_room(const ucontext_t *context)
{
	enum { OURS = 12 * 1024, FRAME_LEAST = 2 * 1024 };
	static _Atomic uint64_t frame;
	const stack_t *stack = &context->uc_stack;
	uint64_t low = (uint64_t)stack->ss_sp, here = (uint64_t)__builtin_frame_address(0);

	if (stack->ss_flags & SS_DISABLE || here < low || here - low >= stack->ss_size)
		return true;
	if (!atomic_load(&frame)) {
		uint64_t least = getauxval(AT_MINSIGSTKSZ);

		atomic_store(&frame, least > FRAME_LEAST ? least : FRAME_LEAST);
	}
	return here - low >= atomic_load(&frame) + OURS;
}
