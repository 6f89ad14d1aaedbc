/* SPDX-License-Identifier: Apache-2.0 */
#include "print_golden.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "print/print.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPERIMENT "golden.1.er"

static char directory[] = "/tmp/helio-fuzz-XXXXXX";

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status, (void)kind, (void)where;
	return remove(path);
}

static void clean_up(void)
{
	nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void golden_write(const char *name, const void *data, size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), "%s", name);
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	unlink(path); /* what has it open keeps what was there */
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);

	if (file < 0 || write(file, data, size) != (ssize_t)size)
		abort();
	close(file);
}

static void read_file(const char *name, struct strbuf *to)
{
	char path[4096], piece[4096];
	size_t got;

	snprintf(path, sizeof(path), "%s/%s", GOLDEN, name);
	FILE *file = fopen(path, "rb");

	if (!file)
		abort();
	while ((got = fread(piece, 1, sizeof(piece), file)) > 0)
		strbuf_add(to, piece, got);
	fclose(file);
}

/* What the file calls PROGRAM is the program in our directory. */
void golden_copy(const char *name, const char *to)
{
	static const char mark[] = "PROGRAM";
	struct strbuf from = {0}, out = {0};

	read_file(name, &from);
	char *at = from.text, *end = from.text + from.length, *found;

	while ((found = memmem(at, (size_t)(end - at), mark, sizeof(mark) - 1))) {
		strbuf_add(&out, at, (size_t)(found - at));
		strbuf_printf(&out, "%s/" GOLDEN_PROGRAM, directory);
		at = found + sizeof(mark) - 1;
	}
	strbuf_add(&out, at, (size_t)(end - at));
	golden_write(to, out.text, out.length);
	strbuf_fini(&from);
	strbuf_fini(&out);
}

void golden_copy_experiment(const char *name)
{
	static const char *const files[] = {"log.xml", "map.xml",  "dyntext",
					    "profile", "overview", "stacks"};
	char to[64];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(to, sizeof(to), "%s/%s", name, files[i]);
		golden_copy(files[i], to);
	}
}

void golden_begin(void)
{
	FILE *nowhere = fopen("/dev/null", "w");

	if (!mkdtemp(directory) || chdir(directory) || !nowhere)
		abort();
	atexit(clean_up);
	stderr = nowhere; /* for warnings; sanitizers and libFuzzer write to the descriptor */
	setenv("HOME", directory, 1);
	setenv("XDG_CACHE_HOME", directory, 1);
	setenv("HELIO_CACHE", "all", 1);
	golden_copy_experiment(EXPERIMENT);
	golden_copy(GOLDEN_PROGRAM, GOLDEN_PROGRAM);
}

void golden_print_words(const char *const *words)
{
	enum { MOST = 64 };
	char *arguments[MOST] = {0};
	int count = 0;

	for (; words[count]; count++)
		arguments[count] = xstrdup(words[count]);
	print_main(count, arguments);
	while (count)
		free(arguments[--count]);
}

void golden_print_sums(void)
{
	static const char *const words[] = {
		"print",      "-outfile", "/dev/null",	"-functions", "-callers-callees",
		"-calltree",  "-lines",	  "-pcs",	"-inlines",   "on",
		"-calltree",  "-scc",	  "all",	"-source",    "main",
		"-disasm",    "main",	  "-functions", "-limit",     "2",
		"-functions", EXPERIMENT, NULL};

	golden_print_words(words);
}

void golden_print(void)
{
	static const char *const rest[] = {"print",	"-outfile",  "/dev/null", "-objects",
					   "-overview", "-header",   "-threads",  "-functions",
					   "-stacks",	"-timeline", "-timeline", "-events",
					   "1",		"20",	     EXPERIMENT,  NULL};

	golden_print_sums();
	golden_print_words(rest);
}
