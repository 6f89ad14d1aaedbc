/* SPDX-License-Identifier: Apache-2.0 */
/* Where data goes: stdout, a pager in front of a terminal, or the file of `outfile`. */
#ifndef HELIO_PRESENT_OUTPUT_H
#define HELIO_PRESENT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct output {
	FILE *file;
	FILE *pager; /* what stdout is piped through, or NULL */
	FILE *pager_pipe;
	enum color_choice color_choice;
	bool color;	  /* file wants colours */
	bool error_color; /* stderr wants colours */
};

void output_init(struct output *output, enum color_choice color);
/*
 * Pipes stdout through $PAGER, or `less -FRX`, when it is a terminal; PAGER
 * empty or "cat" means none.
 */
void output_start_pager(struct output *output);
/* Sends what follows to a file, or back to stdout for "-". False: errno says why; nothing changed.
 */
bool output_redirect(struct output *output, const char *name, bool append);
/* Ends the file and the pager. False: something could not be written (errno). */
bool output_fini(struct output *output);

enum output_style { STYLE_PLAIN, STYLE_TITLE, STYLE_HEADER, STYLE_CENTER, STYLE_HOT, STYLE_WARM };

/* Begins a style, or with STYLE_PLAIN ends it; nothing where colours are off. */
void output_style(const struct output *output, enum output_style style);

#endif
