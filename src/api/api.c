/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcollectorAPI: the functions of collectorAPI.h for C and Fortran, each a
 * call through the collector's table, or nothing where there is no collector.
 */
#include "format/api.h"

#include <stddef.h>
#include <string.h>

#pragma weak helio_collector_api_1

#define X(name, parameters, arguments)                                                             \
	void collector_##name parameters                                                           \
	{                                                                                          \
		if (&helio_collector_api_1)                                                        \
			helio_collector_api_1.name arguments;                                      \
	}
FORMAT_API_FUNCTIONS(X)
#undef X

/* As Fortran compilers call them; the length of a character argument comes last. */
void collector_sample_(const char *name, size_t length);
void collector_pause_(void);
void collector_resume_(void);
void collector_terminate_expt_(void);

enum { LABEL_ROOM = 128 };

void collector_sample_(const char *name, size_t length)
{
	char label[LABEL_ROOM];

	while (length && name[length - 1] == ' ')
		length--;
	if (length >= LABEL_ROOM)
		length = LABEL_ROOM - 1;
	memcpy(label, name, length);
	label[length] = '\0';
	collector_sample(label);
}

void collector_pause_(void)
{
	collector_pause();
}

void collector_resume_(void)
{
	collector_resume();
}

void collector_terminate_expt_(void)
{
	collector_terminate_expt();
}
