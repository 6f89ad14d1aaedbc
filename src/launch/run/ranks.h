/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of several processes that a launcher of MPI starts, its ranks. */
#ifndef HELIO_LAUNCH_RANKS_H
#define HELIO_LAUNCH_RANKS_H

#include <stdbool.h>

/* Whether a program's name is that of a launcher: mpirun, mpiexec.hydra, srun, … */
bool ranks_is_launcher(const char *program);
/* A word of -M, in capital letters or small ones: the implementations of MPI. */
bool ranks_is_implementation(const char *word);
/* They, for messages. */
#define RANKS_IMPLEMENTATIONS "OPENMPI, MPICH, MVAPICH2, INTEL, CT, PLATFORM, SLURM"
/*
 * A variable, NAME=…, that has Open MPI hand our variables on to ranks on other machines; others do
 * so by themselves.  NULL: the command is none of Open MPI's, or it (-x) or the environment says
 * which ones are handed on: Open MPI ends at once where it is told both ways.
 */
const char *ranks_handed_on(char *const *command, char *const *environment);
/* The rank that this process itself was started as; -1: it was not. */
long ranks_own(void);

#endif
