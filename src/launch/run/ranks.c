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

/*
 * Ranks inherit what a launcher has in its environment, and so may a launcher that a script or a
 * rank starts: only one that is known to be Open MPI's, and reads it, gets the variable.
 */
static bool is_of_open_mpi(const char *program)
{
	const char *slash = strrchr(program, '/'), *base = slash ? slash + 1 : program;
	const char *dot = strchr(base, '.');

	return ranks_is_launcher(base) && !is_named(base, "srun") &&
	       (!dot || !strcmp(dot, ".openmpi"));
}

/* Options by which Open MPI is told what to hand on, or reads a file that may tell it. */
static bool hands_on(const char *word)
{
	static const char *const options[] = {"x", "app", "tune", "am"};
	size_t dashes = strspn(word, "-");

	if (dashes < 1 || dashes > 2)
		return false;
	for (size_t i = 0; i < COUNT(options); i++)
		if (!strcmp(word + dashes, options[i]))
			return true;
	return false;
}

#define HANDED_ON "OMPI_MCA_mca_base_env_list"

const char *ranks_handed_on(char *const *command, char *const *environment)
{
	if (!is_of_open_mpi(*command))
		return NULL;
	for (; *command; command++)
		if (hands_on(*command))
			return NULL;
	for (; *environment; environment++) /* or how such a list is parted */
		if (!strncmp(*environment, HANDED_ON, strlen(HANDED_ON)))
			return NULL;
	return HANDED_ON "=LD_PRELOAD;" PARAMS_ENV ";" PARAMS_ENV_EXPERIMENT ";" PARAMS_ENV_LINEAGE
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
