/* SPDX-License-Identifier: Apache-2.0 */
/* `helio collect` alone, with the collector beside it that its tests put there. */
#include "launch/run/launch.h"
#include "manage/manage.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	struct launch_call call = {.old_name = getenv("DRIVER_OLD_NAME"),
				   .replace = manage_make_room};
	int status = launch_collect(argv, &call);

	launch_sum_up(&call, &(struct show_more){0});
	free(call.experiment);
	return status;
}
