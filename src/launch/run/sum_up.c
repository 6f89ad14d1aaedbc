/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run/sum_up.h"

#include <stdlib.h>

void launch_sum_up(struct launch_call *call, const struct show_more *more)
{
	if (call->name && !call->quiet) {
		show_overhead(stderr, call->program, call->name, &call->limit, &call->summary,
			      more);
		show_summary(stderr, call->program, call->name, call->seconds, &call->limit,
			     &call->summary, more);
	}
	free(call->name);
	call->name = NULL;
}
