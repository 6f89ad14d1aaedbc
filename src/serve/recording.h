/* SPDX-License-Identifier: Apache-2.0 */
/* Runs helio itself again, to record or for what another subcommand prints. */
#ifndef HELIO_SERVE_RECORDING_H
#define HELIO_SERVE_RECORDING_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <sys/types.h>

enum { RECORDING_OUTPUT_MOST = 64 << 10 }; /* the last bytes of what it printed */

struct recording {
	pid_t pid;
	int output;  /* a file in memory, with what it and the program have printed */
	char **argv; /* NULL-terminated */
	bool ended;
	int status; /* exit status, or 128 and the signal's number */
};

/*
 * Runs `helio ARGV...`; argv is taken over, its first word the subcommand.  False: it could not be
 * started, and nothing is taken over.
 */
bool recording_start(struct recording *recording, char **argv);
/* Looks whether it has ended. */
void recording_look(struct recording *recording);
/* Gives back the memory of what nobody will be told of: a program may print for ever. */
void recording_trim(const struct recording *recording);
/* The last of what was printed. */
void recording_output(const struct recording *recording, struct strbuf *out);
/* The experiment that it says it makes, the caller's to free; NULL: none so far. */
char *recording_experiment(const struct recording *recording);
void recording_fini(struct recording *recording);

/* Runs `helio WORD WORD...` to its end and reads what it prints. False: it failed. */
bool recording_ask(const char *const *words, struct strbuf *out);

#endif
