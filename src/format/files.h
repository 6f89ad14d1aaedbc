/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of an experiment, each once: who makes, gives away, measures or counts them goes
 * through this list.
 */
#ifndef HELIO_FORMAT_FILES_H
#define HELIO_FORMAT_FILES_H

#include "format/format.h"
#include "format/kinds.h"

enum {
	FILE_BY_PROCESS = 1, /* the recorded process makes it, extends it, removes it */
	FILE_AT_BIRTH = 2,   /* the launcher makes it, before the recording begins */
	FILE_OF_DATA = 4,    /* recorded; its sum is taken as soon as its process has ended */
};

#define FILE_OF_KIND(NAME, name) {FORMAT_FILE_##NAME, FILE_BY_PROCESS | FILE_OF_DATA},

static const struct format_file {
	const char *name;
	unsigned is;
} format_files[] = {
	{FORMAT_FILE_LOG, FILE_BY_PROCESS | FILE_AT_BIRTH | FILE_OF_DATA},
	{FORMAT_FILE_MAP, FILE_BY_PROCESS | FILE_OF_DATA},
	{FORMAT_FILE_OVERVIEW, FILE_BY_PROCESS | FILE_OF_DATA},
	{FORMAT_FILE_PROFILE, FILE_BY_PROCESS | FILE_OF_DATA},
	{FORMAT_FILE_STACKS, FILE_BY_PROCESS | FILE_OF_DATA},
	{FORMAT_FILE_DYNTEXT, FILE_BY_PROCESS | FILE_OF_DATA},
	FORMAT_KINDS(FILE_OF_KIND){FORMAT_FILE_MOUNTS_OWN, FILE_BY_PROCESS | FILE_OF_DATA},
	{FORMAT_FILE_MOUNTS, FILE_AT_BIRTH | FILE_OF_DATA},
	{FORMAT_FILE_NOTES, FILE_AT_BIRTH},
};
enum { FORMAT_FILES = sizeof(format_files) / sizeof(*format_files) };

#endif
