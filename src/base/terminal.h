/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tools print goes through here on its way to a terminal, a pager or a file.
 *
 * Names of functions, files and commands come from programs and experiments that others wrote.  An
 * escape sequence in one could retype the keyboard, hide lines or write to the clipboard, and a
 * bidirectional mark shows a line as another.  So nothing that controls a terminal gets through:
 * it is shown as `\x1b`, `\u202e`.  Printable UTF-8 stays as it is, and so do tab and newline,
 * which are the tools' own; in tables and messages an end of line that is not theirs is shown as
 * well (strbuf_put_in_line, terminal_printf).  In JSON the characters that are replaced here mean
 * the same as their escapes.
 */
#ifndef HELIO_BASE_TERMINAL_H
#define HELIO_BASE_TERMINAL_H

#include <stdio.h>

/*
 * As fprintf, but only the format ends lines: where a text has an end of line, or what ends lines
 * elsewhere, it is shown.  For all that prints names and other texts of experiments as they are.
 */
void terminal_printf(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same text, the caller's to free, for what is printed as it is later: a heading. */
char *terminal_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on stdout and stderr are such streams.  To be called once, before anything is printed.
 */
void terminal_init(void);
/*
 * A stream that writes to another one, which stays the caller's and must live longer; fclose ends
 * it.  NULL: out of memory.
 */
FILE *terminal_open(FILE *file);
/*
 * The same for a stream of memory, by any thread: no escape sequence of the tools' own is ever
 * written there.
 */
FILE *terminal_open_memory(FILE *memory);
/* What lies below such a stream, for those who need its descriptor; any other is the answer itself.
 */
FILE *terminal_below(FILE *stream);
/* Writes an escape sequence of the tools' own. */
void terminal_control(FILE *stream, const char *sequence);

#endif
