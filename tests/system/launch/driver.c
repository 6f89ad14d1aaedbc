/* SPDX-License-Identifier: Apache-2.0 */
/* `helio collect` alone, so that its tests need nothing but the launch room. */
#include "launch/launch.h"

int main(int argc, char **argv)
{
	return launch_collect(argc, argv);
}
