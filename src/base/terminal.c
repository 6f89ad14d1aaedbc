/* SPDX-License-Identifier: Apache-2.0 */
#include "base/terminal.h"

#include "base/array.h"
#include "base/folder.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	STREAMS = 8, /* open at once: stdout, stderr, a pager, a file */
	BUFFER = 64 * 1024,
	LONGEST = 4, /* bytes of a character */
	ESCAPED = 8, /* characters of `\u202e', and the end */
};

struct terminal {
	FILE *stream, *below;
	bool is_held;	   /* what lies below is not flushed: more follows at once */
	bool has_messages; /* each of which begins a line, whoever else writes there */
	bool in_line;	   /* the last message has not ended its line */
	size_t begun;	   /* bytes of a character whose end was not yet written */
	char begin[LONGEST];
};

static struct terminal *terminals[STREAMS];

static struct terminal *find(const FILE *stream)
{
	for (int i = 0; i < STREAMS; i++)
		if (terminals[i] && terminals[i]->stream == stream)
			return terminals[i];
	return NULL;
}

static unsigned code_point(const unsigned char *byte, size_t length)
{
	unsigned code = length == 1 ? *byte : *byte & (0xffu >> (length + 1));

	for (size_t i = 1; i < length; i++)
		code = code << 6 | (byte[i] & 0x3fu);
	return code;
}

/* Whether a character does something else than to be seen, or to end a line. */
static bool controls(unsigned code)
{
	static const struct {
		unsigned first, last;
	} ranges[] = {
		{0x7f, 0x9f},	/* delete, and what in 8 bits begins a sequence */
		{0x61c, 0x61c}, /* marks of direction */
		{0x200e, 0x200f},
		{0x2028, 0x202e}, /* separators of lines; embeddings and overrides */
		{0x2066, 0x2069}, /* isolates */
	};

	if (code < 0x20)
		return code != '\n' && code != '\t';
	for (size_t i = 0; i < COUNT(ranges); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* The length of what stands first, and what is to be written in its place; "": itself. */
static size_t next_piece(const char *text, size_t size, char escaped[ESCAPED])
{
	char copy[LONGEST + 1] = {0};

	escaped[0] = '\0';
	memcpy(copy, text, size < LONGEST ? size : LONGEST);
	size_t length = *copy ? utf8_length(copy) : 1;
	unsigned code = code_point((unsigned char *)copy, length ? length : 1);

	if (!length) { /* in other character sets a letter, but for these */
		if ((unsigned char)*copy < 0xa0)
			snprintf(escaped, ESCAPED, "\\x%02x", (unsigned char)*copy);
		return 1;
	}
	if (controls(code))
		snprintf(escaped, ESCAPED, code < 0x20 ? "\\x%02x" : "\\u%04x", code);
	return length;
}

/* The length of the character that a byte begins; 1 for what begins none. */
static size_t announced_length(unsigned char byte)
{
	if (byte < 0xc2 || byte > 0xf4)
		return 1;
	return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
}

/* How many bytes at the end are the begin of a character whose end is not there. */
static size_t unfinished(const char *text, size_t size)
{
	for (size_t back = 1; back < LONGEST && back <= size; back++) {
		unsigned char byte = (unsigned char)text[size - back];

		if ((byte & 0xc0) != 0x80)
			return announced_length(byte) > back ? back : 0;
	}
	return 0;
}

static bool put(struct terminal *terminal, const char *text, size_t size)
{
	size_t plain = 0, at = 0;
	bool ok = true;

	while (at < size && ok) {
		char escaped[ESCAPED] = "";
		unsigned char byte = (unsigned char)text[at];
		size_t length = 1;

		if (byte < 0x20 || byte >= 0x7f)
			length = next_piece(text + at, size - at, escaped);
		at += length;
		if (!*escaped)
			continue;
		ok = fwrite(text + plain, 1, at - length - plain, terminal->below) ==
			     at - length - plain &&
		     fputs(escaped, terminal->below) >= 0;
		plain = at;
	}
	return ok && fwrite(text + plain, 1, size - plain, terminal->below) == size - plain;
}

/* Writes what was begun with enough of the text to end it; the bytes of it that were used. */
static size_t put_begun(struct terminal *terminal, const char *text, size_t size, bool *ok)
{
	size_t used = 0;

	while (terminal->begun < LONGEST && used < size && (text[used] & 0xc0) == 0x80)
		terminal->begin[terminal->begun++] = text[used++];
	if (used == size && unfinished(terminal->begin, terminal->begun))
		return used;
	*ok = put(terminal, terminal->begin, terminal->begun);
	terminal->begun = 0;
	return used;
}

/*
 * Whether a regular file has a line without an end where the next write goes.  Nobody knows that of
 * a terminal or a pipe.
 */
static bool is_within_line(int descriptor)
{
	char place[sizeof("/proc/self/fd/") + 12], last = '\n';
	int flags = fcntl(descriptor, F_GETFL);
	struct stat info;

	if (flags < 0 || fstat(descriptor, &info) || !S_ISREG(info.st_mode))
		return false;
	off_t at = flags & O_APPEND ? info.st_size : lseek(descriptor, 0, SEEK_CUR);

	/* again, as a shell's `2>` only allows to write */
	snprintf(place, sizeof(place), "/proc/self/fd/%d", descriptor);
	int fd = at > 0 ? folder_open_named(place, NULL) : -1;

	if (fd >= 0 && pread(fd, &last, 1, at - 1) != 1)
		last = '\n';
	folder_close(fd);
	return last != '\n';
}

/* The program that is recorded may have left a line without an end: a prompt, a count. */
static void begin_message(struct terminal *terminal, const char *text, size_t size)
{
	if (!size || !terminal->has_messages)
		return;
	if (!terminal->in_line && *text != '\n' && is_within_line(fileno(terminal->below)))
		putc('\n', terminal->below);
	terminal->in_line = text[size - 1] != '\n';
}

static ssize_t write_terminal(void *cookie, const char *text, size_t size)
{
	struct terminal *terminal = cookie;
	bool ok = true;

	begin_message(terminal, text, size);
	size_t used = terminal->begun ? put_begun(terminal, text, size, &ok) : 0;
	size_t rest = unfinished(text + used, size - used);

	ok = ok && put(terminal, text + used, size - used - rest);
	if (rest)
		memcpy(terminal->begin, text + size - rest, rest);
	terminal->begun += rest;
	if (ok && !terminal->is_held)
		ok = !fflush(terminal->below);
	return ok ? (ssize_t)size : 0;
}

static int close_terminal(void *cookie)
{
	struct terminal *terminal = cookie;
	bool ok = put(terminal, terminal->begin, terminal->begun) && !fflush(terminal->below);

	for (int i = 0; i < STREAMS; i++)
		if (terminals[i] == terminal)
			terminals[i] = NULL;
	free(terminal);
	return ok ? 0 : EOF;
}

/* NULL: out of memory. */
static struct terminal *make(FILE *file)
{
	struct terminal *terminal = calloc(1, sizeof(*terminal));

	if (terminal)
		terminal->stream = fopencookie(
			terminal, "w",
			(cookie_io_functions_t){.write = write_terminal, .close = close_terminal});
	if (!terminal || !terminal->stream) {
		free(terminal);
		return NULL;
	}
	terminal->below = file;
	setvbuf(terminal->stream, NULL, isatty(fileno(file)) ? _IOLBF : _IOFBF, BUFFER);
	return terminal;
}

FILE *terminal_open(FILE *file)
{
	int place = 0;

	while (place < STREAMS && terminals[place])
		place++;
	if (place == STREAMS)
		return NULL;
	terminals[place] = make(file);
	return terminals[place] ? terminals[place]->stream : NULL;
}

FILE *terminal_open_memory(FILE *memory)
{
	struct terminal *terminal = make(memory);

	return terminal ? terminal->stream : NULL;
}

static size_t count_of(const char *text, char wanted)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == wanted;
	return count;
}

/* The format with marks where it ends lines; *copy is the caller's to free. */
__attribute__((format_arg(1))) static const char *mark_lines(const char *format, char mark,
							     char **copy)
{
	*copy = xstrdup(format);
	for (char *at = *copy; (at = strchr(at, '\n'));)
		*at++ = mark;
	return *copy;
}

__attribute__((format(printf, 1, 0))) static char *print_marked(const char *format, char mark,
								va_list arguments)
{
	char *copy, *text = NULL;

	if (vasprintf(&text, mark_lines(format, mark, &copy), arguments) < 0)
		text = NULL;
	free(copy);
	return text;
}

/* Ends of lines are shown, marks end lines. */
static void add_marked(struct strbuf *line, const char *text, char mark)
{
	for (; *text; text++) {
		if (*text == '\n')
			strbuf_puts(line, "\\x0a");
		else
			strbuf_putc(line, mark && *text == mark ? '\n' : *text);
	}
}

/*
 * The mark is a character that no argument has: then there are as many of it as lines.  A text that
 * has all of them ends no line, and none ends.
 */
__attribute__((format(printf, 1, 0))) static char *text_of(const char *format, va_list arguments)
{
	enum { FIRST = 1, LAST = 8 };
	size_t lines = count_of(format, '\n');
	struct strbuf line = {0};
	bool is_done = false;

	for (char mark = FIRST; mark <= LAST && !is_done; mark++) {
		va_list copy;

		va_copy(copy, arguments);

		char *text = print_marked(format, mark, copy);
		bool is_marked = text && count_of(text, mark) == lines;

		va_end(copy);
		is_done = text && (is_marked || mark == LAST);
		if (is_done)
			add_marked(&line, text, is_marked ? mark : '\0');
		free(text);
	}
	return strbuf_steal(&line);
}

char *terminal_text(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);

	char *text = text_of(format, arguments);

	va_end(arguments);
	return text;
}

/* In one piece: what others write there stands before or after it. */
void terminal_printf(FILE *stream, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);

	char *text = text_of(format, arguments);

	va_end(arguments);
	fputs(text, stream);
	free(text);
}

void terminal_init(void)
{
	FILE *out = terminal_open(stdout), *err = terminal_open(stderr);

	if (!out || !err) {
		fputs("helio: out of memory\n", stderr);
		exit(1);
	}
	/* a message is one call of write(2): others write there, too */
	setvbuf(err, NULL, _IONBF, 0);
	setvbuf(stderr, NULL, _IOFBF, BUFFER);
	find(err)->has_messages = true;
	stdout = out;
	stderr = err;
}

FILE *terminal_below(FILE *stream)
{
	const struct terminal *terminal = find(stream);

	return terminal ? terminal->below : stream;
}

void terminal_control(FILE *stream, const char *sequence)
{
	struct terminal *terminal = find(stream);

	if (!terminal) {
		fputs(sequence, stream);
		return;
	}
	terminal->is_held = true;
	fflush(stream);
	terminal->is_held = false;
	fputs(sequence, terminal->below);
	if (stream == stderr)
		fflush(terminal->below);
}
