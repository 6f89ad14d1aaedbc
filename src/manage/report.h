/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands of this module have in common towards people. */
#ifndef HELIO_MANAGE_REPORT_H
#define HELIO_MANAGE_REPORT_H

#include "base/command_line.h"
#include "base/json.h"
#include "base/status.h"

#include <stdint.h>

enum { MANAGE_EXIT_OK, MANAGE_EXIT_FAILED, MANAGE_EXIT_USAGE };

/*
 * How this command calls itself: er_cp as it is, any other name behind
 * "helio ".
 */
const char *report_program(char **argv);
/*
 * Reads the command line (base/command_line.h).  False: nothing is to be done but to exit with
 * *status.
 */
bool report_may_run(const struct option_syntax *syntax, const char *program, void *target,
		    char **argv, char ***operands, int *status);
/* "Try `helio cp --help'." on stderr, behind a message; returns MANAGE_EXIT_USAGE. */
int report_usage_error(const char *program, const char *message);
/* Prints the messages to stderr and empties the list; returns how many were errors. */
size_t report_diags(const char *program, struct diag_list *diags);

enum { REPORT_TEXT_SIZE = 32 };
/* "812 bytes", "34.9 KB", "1.2 MB", "3.4 GB". */
void report_bytes(char text[REPORT_TEXT_SIZE], uint64_t bytes);
/* "2026-03-01 14:02:11", local time; "-" for 0. */
void report_date(char text[REPORT_TEXT_SIZE], uint64_t wall_ns);

/* "2026-03-01T14:02:11.123Z", null for 0. */
json_t *report_json_date(uint64_t wall_ns);
/* Prints a value on stdout, indented, and releases it. */
void report_json(json_t *value);

#endif
