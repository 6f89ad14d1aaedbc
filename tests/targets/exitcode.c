/* SPDX-License-Identifier: Apache-2.0 */
/* Ends as told: `exitcode 3`, `exitcode -9` for a signal; copies stdin to stdout first. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	long how = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	int c;

	while ((c = getchar()) != EOF)
		putchar(c);
	fflush(stdout);
	fputs("this goes to stderr\n", stderr);
	if (how < 0)
		raise((int)-how);
	return (int)how;
}
