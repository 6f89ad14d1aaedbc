/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run/ranks.h"

#include "base/array.h"
#include "format/params.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Debian's alternatives have the implementation behind a dot: mpirun.openmpi. */
static bool is_named(const char *base, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(base, name, length) && (!base[length] || base[length] == '.');
}

bool ranks_is_launcher(const char *program)
{
	static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun",
					    "prun",   "oshrun",	 "srun"};
	const char *slash = strrchr(program, '/');

	for (size_t i = 0; i < COUNT(names); i++)
		if (is_named(slash ? slash + 1 : program, names[i]))
			return true;
	return false;
}

/* With the number of a version, as the older tools have it: MPICH2, CT8.2. */
bool ranks_is_implementation(const char *word)
{
	static const char *const names[] = {"OPENMPI", "OMPI",	   "MPICH", "MVAPICH", "INTEL",
					    "CT",      "PLATFORM", "HYDRA", "SLURM"};

	for (size_t i = 0; i < COUNT(names); i++) {
		size_t length = strlen(names[i]);

		if (strncasecmp(word, names[i], length) != 0)
			continue;
		if (!word[length + strspn(word + length, "0123456789.")])
			return true;
	}
	return false;
}

#define HANDED_ON "OMPI_MCA_mca_base_env_list="

const char *ranks_handed_on(char *const *command, char *const *environment)
{
	for (; *command; command++)
		if (!strcmp(*command, "-x") || !strcmp(*command, "--x"))
			return NULL;
	for (; *environment; environment++)
		if (!strncmp(*environment, HANDED_ON, strlen(HANDED_ON)))
			return NULL;
	return HANDED_ON "LD_PRELOAD;" PARAMS_ENV ";" PARAMS_ENV_EXPERIMENT ";" PARAMS_ENV_LINEAGE
			 ";" PARAMS_ENV_LIBRARY;
}

long ranks_own(void)
{
	static const char *const variables[] = {PARAMS_RANK_VARIABLES};

	for (size_t i = 0; i < COUNT(variables); i++) {
		const char *value = getenv(variables[i]);
		char *end;

		if (!value || !isdigit((unsigned char)*value))
			continue;
		long rank = strtol(value, &end, 10);

		if (!*end)
			return rank;
	}
	return -1;
}
