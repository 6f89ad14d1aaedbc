/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run/machine_clock.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void machine_clock_name(char name[MACHINE_CLOCK_NAME])
{
	char boot[64] = "";
	struct stat times = {0}; /* the kernel may have none */
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	name[0] = '\0';
	stat("/proc/self/ns/time", &times);
	if (file && fgets(boot, sizeof(boot), file)) {
		boot[strcspn(boot, "\n")] = '\0';
		snprintf(name, MACHINE_CLOCK_NAME, "%s %ju", boot, (uintmax_t)times.st_ino);
	}
	if (file)
		fclose(file);
}
