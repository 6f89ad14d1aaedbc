/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Characters that the compiler puts into a stream's buffer, and takes from it, in place, among
 * calls on the same streams.  In the directory where it runs; standard output is a file.
 *
 *   "data"           13,008 bytes are written, 21,008 read
 *   "numbers"        1,000 lines, read by fscanf; and the same lines from a pipe, one at a time
 *   "pushed"         1,000 bytes, read three times and once more the first, with many pushed back
 *   standard output  4,120 bytes of the program, 11 and 2 of its child
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void need(int condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(1);
}

static void put(FILE *file, int count)
{
	for (int i = 0; i < count; i++)
		need(putc_unlocked(i % 50 == 49 ? '\n' : 'x', file) != EOF, "putc_unlocked");
}

static void take(FILE *file, int count)
{
	for (int i = 0; i < count; i++)
		need(getc_unlocked(file) != EOF, "getc_unlocked");
}

static void data(void)
{
	FILE *file = fopen("data", "w+");
	char line[100], *more = NULL;
	size_t room = 0;

	put(file, 10000);
	need(fputs("a line\n", file) >= 0, "fputs");
	put(file, 3000);
	need(fflush(file) == 0, "fflush");
	put(file, 1);
	rewind(file);
	take(file, 4980);
	need(fgets(line, sizeof(line), file) && strlen(line) == 20, "fgets");
	take(file, 1);
	need(ungetc('x', file) == 'x', "ungetc");
	need(getline(&more, &room, file) == 50, "getline");
	take(file, 2950);
	need(fseek(file, 0, SEEK_SET) == 0, "fseek"); /* 8,000 so far, and one that was put back */
	while (getc_unlocked(file) != EOF)
		;
	need(feof(file), "end");
	free(more);
	need(fclose(file) == 0, "fclose");
}

enum { LINES = 1000 };

/* 1 to 4 digits and a newline. */
static void numbers(void)
{
	FILE *file = fopen("numbers", "w+");
	int number, ends[2];

	for (int i = 0; i < LINES; i++)
		fprintf(file, "%d\n", i);
	rewind(file);
	for (int i = 0; i < LINES; i++)
		need(fscanf(file, "%d", &number) == 1 && number == i, "fscanf");
	need(fscanf(file, "%d", &number) == EOF, "end");
	need(fclose(file) == 0 && pipe(ends) == 0, "pipe");
	file = fdopen(ends[0], "r");
	for (int i = 0; i < LINES; i++) {
		need(dprintf(ends[1], "%d\n", i) > 0, "dprintf");
		need(fscanf(file, "%d", &number) == 1 && number == i, "fscanf");
	}
	need(getc(file) == '\n', "the last newline");
	fclose(file);
	close(ends[1]);
}

static void push_back(int c, FILE *file)
{
	need(ungetc(c, file) == c, "ungetc");
}

/* As C++ reads standard input; then the same in place, sometimes with another character. */
static void pushed(void)
{
	FILE *file = fopen("pushed", "w+");
	char room[1000];
	int c;

	need(fwrite(memset(room, 'x', 1000), 1, 1000, file) == 1000, "fwrite");
	rewind(file);
	while ((c = getc(file)) != EOF) {
		push_back(c, file);
		need(getc(file) == c, "getc");
	}
	rewind(file);
	for (int i = 0; (c = getc_unlocked(file)) != EOF; i++) {
		push_back(i % 7 ? c : 'y', file);
		need(getc_unlocked(file) == (i % 7 ? c : 'y'), "getc_unlocked");
	}
	rewind(file);
	push_back(getc(file), file);
	rewind(file);
	need(fread(room, 1, 1000, file) == 1000 && fclose(file) == 0, "fread");
}

int main(void)
{
	data();
	numbers();
	pushed();
	for (int i = 0; i < 4100; i++)
		putchar_unlocked('a');
	fflush(NULL);
	for (int i = 0; i < 15; i++)
		putchar_unlocked('b');
	pid_t child = fork();

	if (!child) {
		for (int i = 0; i < 11; i++)
			putchar_unlocked('c');
		fputs("d\n", stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	for (int i = 0; i < 5; i++)
		putchar_unlocked('e');
	return 0; /* which writes what is left */
}
