/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as one file of an experiment that has all kinds of data, of two ranks of an MPI
 * program, or of an OpenMP program; then all views of those kinds.
 */
#include "print_golden.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte of an input says which is replaced; make_corpus.py takes the names from here. */
static const char *const files[] = {
	"kinds.1.er/profile",	      "kinds.1.er/stacks",	   "kinds.1.er/heaptrace",
	"kinds.1.er/synctrace",	      "kinds.1.er/iotrace",	   "kinds.1.er/hwcounters",
	"ranks.1.er/_r0.er/mpitrace", "ranks.1.er/_r0.er/profile", "ranks.1.er/_r0.er/log.xml",
	"ranks.1.er/_r1.er/mpitrace", "openmp.1.er/omptrace",	   "openmp.1.er/profile",
	"openmp.1.er/stacks",	      "openmp.1.er/map.xml",	   "ranks.1.er/_r1.er/log.xml"};
/* What is never replaced. */
static const char *const others[] = {
	"kinds.1.er/log.xml",	      "kinds.1.er/map.xml",	   "kinds.1.er/dyntext",
	"kinds.1.er/overview",	      "ranks.1.er/_r0.er/stacks",  "ranks.1.er/_r0.er/map.xml",
	"ranks.1.er/log.xml",	      "openmp.1.er/log.xml",	   "ranks.1.er/_r0.er/overview",
	"ranks.1.er/_r1.er/overview", "ranks.1.er/_r1.er/profile", "ranks.1.er/_r1.er/stacks",
	"ranks.1.er/_r1.er/map.xml",  "openmp.1.er/overview"};
enum { FILES = sizeof(files) / sizeof(*files), OTHERS = sizeof(others) / sizeof(*others) };

static const char *const of_kinds[] = {
	"print",	"-outfile",  "/dev/null",    "-functions", "-fsummary",	    "-leaks",
	"-allocs",	"-heapstat", "-locks",	     "-lockholds", "-ioactivity",   "-iodetail",
	"-iocallstack", "-iostat",   "-threads",     "-timeline",  "-timeline",	    "-cpus",
	"-stacks",	"-report",   "-memobj",	     "Page_4K",	   "-data_objects", "-data_layout",
	"-sample_list", "-tldata",   "all",	     "-timeline",  "-events",	    "1",
	"20",		"-filters",  "TNAME == 'x'", "-functions", "kinds.1.er",    NULL};
static const char *const of_ranks[] = {
	"print",     "-outfile",  "/dev/null",	    "-functions", "-mpistat",  "-mpimatrix",
	"-mpiwaits", "-mpicomms", "-mpiwaitstacks", "-report",	  "-timeline", "-statistics",
	"-timeline", "-cpus",	  "-mpimessages",   "0",	  "-filters",  "MPIPEER>=0",
	"-mpistat",  "-mpiwaits", "-functions",	    "ranks.1.er", NULL};
static const char *const of_openmp[] = {
	"print",     "-outfile",  "/dev/null",	"-functions", "-regions",    "-tasks",
	"-calltree", "-viewmode", "expert",	"-functions", "-calltree",   "-stacks",
	"-viewmode", "machine",	  "-functions", "-report",    "-timeline",   "-indxobj",
	"OMP_preg",  "-indxobj",  "OMP_task",	"-threads",   "openmp.1.er", NULL};

static void copy(const char *name)
{
	char from[128];

	snprintf(from, sizeof(from), "../recordings/%s", name);
	golden_copy(from, name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;

	if (!begun) {
		golden_begin();
		setenv("HELIO_CACHE", "off", 1);
		for (int i = 0; i < FILES; i++)
			copy(files[i]);
		for (int i = 0; i < OTHERS; i++)
			copy(others[i]);
	}
	begun = true;
	if (!size)
		return 0;

	const char *name = files[data[0] % FILES];

	golden_write(name, data + 1, size - 1);
	golden_print_words(*name == 'k' ? of_kinds : *name == 'r' ? of_ranks : of_openmp);
	copy(name);
	return 0;
}
