/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pattern.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * In atoms, each of which takes some 1 KB; how deep groups may lie within each other; and of how
 * many repetitions each takes as much once more in all the others, for any of them may be the last.
 * A repetition costs twice what it repeats, for those that lie within each other.
 */
enum { LARGEST = 100 * 1000, DEEPEST = 250, REPETITIONS = 32 };

/* A group that is being read: what is done of it, and its last atom, which may be repeated. */
struct group {
	uint64_t size, last;
};

/* Behind the bracket expression that begins here, or the end of the text. */
static const char *skip_brackets(const char *here)
{
	here += here[1] == '^' ? 2 : 1;
	if (*here == ']')
		here++;
	for (; *here && *here != ']'; here++)
		if (here[0] == '[' && here[1] && strchr(":.=", here[1])) {
			const char kind[] = {here[1], ']', '\0'}, *end = strstr(here + 2, kind);

			if (end)
				here = end + 1;
		}
	return *here ? here + 1 : here;
}

/* How often "{least,most}" repeats, at least once; *here comes to stand behind it. */
static uint64_t repetitions(const char **here)
{
	uint64_t count = 1;

	for (; **here && **here != '}'; (*here)++) {
		char *end;
		uint64_t number = isdigit((unsigned char)**here) ? strtoul(*here, &end, 10) : 0;

		if (number)
			*here = end - 1;
		count = number > count ? number : count;
	}
	*here += **here == '}';
	return count;
}

static void begin_atom(struct group *group, uint64_t size)
{
	group->size += group->last;
	group->last = size;
}

/* One character, or what belongs together; false: too large, or groups lie in each other too deep.
 */
static bool read_one(struct group *groups, int *depth, const char **here)
{
	struct group *group = &groups[*depth];
	char c = *(*here)++;

	if (c == '(') {
		if (++*depth == DEEPEST)
			return false;
		groups[*depth] = (struct group){0};
	} else if (c == ')' && *depth) {
		begin_atom(&groups[--*depth], group->size + group->last + 1);
	} else if (c == '+' || c == '*' || c == '?') {
		group->last *= 2;
	} else if (c == '{') {
		uint64_t count = repetitions(here);

		group->last = count > LARGEST
				      ? LARGEST + 1
				      : group->last * (count + 1 + count * count / REPETITIONS);
	} else if (c == '[') {
		*here = skip_brackets(*here - 1);
		begin_atom(group, 1);
	} else {
		*here += c == '\\' && **here;
		begin_atom(group, 1);
	}
	return group->last <= LARGEST && groups[*depth].size + groups[*depth].last <= LARGEST;
}

static bool is_bounded(const char *text)
{
	struct group groups[DEEPEST] = {{0}};
	int depth = 0;

	while (*text)
		if (!read_one(groups, &depth, &text))
			return false;
	return true;
}

/*
 * "a**" and "a+?" are "a*", "a++" is "a+": regcomp would take twice the time and memory for each
 * more.  To be freed.
 */
static char *repeat_once(const char *text)
{
	struct strbuf once = {0};

	strbuf_puts(&once, "");
	for (const char *here = text, *end; *here; here = end) {
		size_t run = strspn(here, "*+?");

		if (run) {
			end = here + run;
			strbuf_putc(&once,
				    strspn(here, (char[]){*here, '\0'}) >= run ? *here : '*');
			continue;
		}
		end = *here == '[' ? skip_brackets(here) : here + 1 + (*here == '\\' && here[1]);
		strbuf_add(&once, here, (size_t)(end - here));
	}
	return strbuf_steal(&once);
}

int pattern_compile(regex_t *pattern, const char *text, int flags)
{
	char *once = repeat_once(text);
	int status = is_bounded(once) ? regcomp(pattern, once, flags | REG_EXTENDED) : REG_ESPACE;

	free(once);
	return status;
}
