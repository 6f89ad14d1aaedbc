/* SPDX-License-Identifier: Apache-2.0 */
/* What a pattern means: functions for FNAME, lines, instructions, threads, openings of files, data.
 */
#include "analysis/code/code.h"
#include "analysis/data/data_map.h"
#include "analysis/filter/filter_program.h"
#include "analysis/kinds/io_places.h"
#include "analysis/kinds/io_rows.h"
#include "analysis/kinds/java_classes.h"
#include "analysis/kinds/lock_rows.h"
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "base/pattern.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

/* The pattern of whole names; false: *error, the caller's to free, says what is wrong. */
static bool compile_pattern(const char *expression, regex_t *pattern, char **error)
{
	char *whole = xasprintf("^(%s)$", expression), reason[128];
	int status = pattern_compile(pattern, whole, REG_NOSUB);

	*error = NULL;
	free(whole);
	if (!status)
		return true;
	regerror(status, pattern, reason, sizeof(reason));
	*error = xstrdup(reason);
	return false;
}

static bool name_fits(struct session *session, uint32_t function, const regex_t *pattern)
{
	for (unsigned style = 0; style < NAME_STYLES; style++) {
		if (!regexec(pattern, symbols_name(session, function, (enum name_style)style), 0,
			     NULL, 0))
			return true;
		char *own = symbols_part_name(session, function, (enum name_style)style);
		bool fits = own && !regexec(pattern, own, 0, NULL, 0);

		free(own);
		if (fits)
			return true;
	}
	return false;
}

/* Those in the stacks of the tree. */
uint8_t *filter_functions(struct session *session, const struct whole_tree *tree,
			  const char *expression, size_t *count, char **error)
{
	const struct query seen = {.inlines = tree->inlines};

	uint8_t *set;
	regex_t pattern;

	*count = 0;
	if (!compile_pattern(expression, &pattern, error))
		return NULL;
	set = xcalloc(session->functions.count, 1);
	for (uint32_t i = FUNCTION_TOTAL + 1; i < session->functions.count; i++) {
		set[i] = symbols_is_seen(session, i, &seen) && name_fits(session, i, &pattern);
		*count += set[i];
	}
	regfree(&pattern);
	return set;
}

/* The number behind the colon is short: one buffer does for all names. */
static bool line_fits(const char *file, uint32_t line, const regex_t *pattern, struct strbuf *name)
{
	strbuf_clear(name);
	strbuf_printf(name, "%s:%u", file, line);
	return !regexec(pattern, name->text, 0, NULL, 0);
}

uint8_t *filter_lines(struct session *session, const struct filter_code *code,
		      const char *expression, size_t *count, char **error)
{
	const struct code *pcs = code_of(session);
	struct strbuf name = {0};
	regex_t pattern;
	uint8_t *set;

	*count = 0;
	if (!compile_pattern(expression, &pattern, error))
		return NULL;
	set = xcalloc(code->first.count, 1);
	for (size_t i = 1; i < code->first.count; i++) {
		const struct code_pc *pc = &pcs->pcs.items[code->first.items[i]];

		set[i] = line_fits(code_file(session, pc->object, pc->file), pc->line, &pattern,
				   &name) ||
			 line_fits(code_file_name(session, pc->object, pc->file), pc->line,
				   &pattern, &name);
		*count += set[i];
	}
	strbuf_fini(&name);
	regfree(&pattern);
	return set;
}

/* "f + 0x1c" as it is printed is meant as it is: between blanks the sign repeats nothing. */
static char *with_plain_sums(const char *expression)
{
	struct strbuf text = {0};
	const char *plus;

	for (; (plus = strstr(expression, " + ")); expression = plus + 3)
		strbuf_printf(&text, "%.*s \\+ ", (int)(plus - expression), expression);
	strbuf_puts(&text, expression);
	return strbuf_steal(&text);
}

/* With the zeros that lists of instructions have, and without. */
static bool offset_fits(const char *function, uint64_t offset, bool is_target,
			const regex_t *pattern, struct strbuf *name)
{
	const char *suffix = is_target ? " <branch target>" : "";

	strbuf_clear(name);
	strbuf_printf(name, "%s + 0x%08llx%s", function, (unsigned long long)offset, suffix);
	if (!regexec(pattern, name->text, 0, NULL, 0))
		return true;
	strbuf_clear(name);
	strbuf_printf(name, "%s + 0x%llx%s", function, (unsigned long long)offset, suffix);
	return !regexec(pattern, name->text, 0, NULL, 0);
}

static bool instruction_fits(struct session *session, uint32_t pc, const regex_t *pattern,
			     struct strbuf *name)
{
	const struct code_pc *place = &session->code->pcs.items[pc];
	uint32_t function = place->function;
	const struct function *of = &session->functions.items[function];
	uint64_t base = of->size ? of->address : 0;
	const char *before = NULL;

	for (unsigned style = 0; style < NAME_STYLES; style++) {
		const char *text = symbols_name(session, function, (enum name_style)style);

		if ((!before || strcmp(text, before) != 0) &&
		    offset_fits(text, session->code->instructions[pc] - base, place->is_target,
				pattern, name))
			return true;
		before = text;
	}
	return false;
}

uint8_t *filter_instructions(struct session *session, const struct filter_code *code,
			     const char *expression, size_t *count, char **error)
{
	char *plain = with_plain_sums(expression);
	bool right;
	struct strbuf name = {0};
	regex_t pattern;
	uint8_t *set;

	*count = 0;
	right = compile_pattern(plain, &pattern, error);
	free(plain);
	if (!right)
		return NULL;
	code_instructions(session);
	set = xcalloc(code->first.count, 1);
	for (size_t i = 1; i < code->first.count; i++) {
		set[i] = instruction_fits(session, code->first.items[i], &pattern, &name);
		*count += set[i];
	}
	strbuf_fini(&name);
	regfree(&pattern);
	return set;
}

/* The numbers, ascending, of names that fit, from `first` on; that of an empty one is none. */
static uint64_t *fitting_names(const struct string_table *names, size_t first,
			       const char *expression, size_t *count, char **error)
{
	uint64_t *set;
	regex_t pattern;

	*count = 0;
	if (!compile_pattern(expression, &pattern, error))
		return NULL;
	set = xcalloc(names->count, sizeof(*set));
	for (size_t i = first; i < names->count; i++)
		if (*names->items[i] && !regexec(&pattern, names->items[i], 0, NULL, 0))
			set[(*count)++] = i;
	regfree(&pattern);
	return set;
}

uint64_t *filter_places(struct session *session, const char *expression, size_t *count,
			char **error)
{
	return fitting_names(&io_places_of(session)->types, 0, expression, count, error);
}

uint64_t *filter_locks(struct session *session, const char *expression, size_t *count, char **error)
{
	return fitting_names(&lock_rows_of(session)->names, LOCK_ROW_UNNAMED + 1, expression, count,
			     error);
}

uint64_t *filter_classes(struct session *session, const char *expression, size_t *count,
			 char **error)
{
	return fitting_names(&java_classes_of(session)->names, 1, expression, count, error);
}

uint64_t *filter_openings(struct session *session, const char *expression, size_t *count,
			  char **error)
{
	uint64_t *set;
	regex_t pattern;

	*count = 0;
	if (!compile_pattern(expression, &pattern, error))
		return NULL;

	const struct io_rows *openings = io_rows_of(session, IO_ROWS_OPENINGS);

	set = xcalloc(openings->rows.count, sizeof(*set));
	for (size_t i = 1; i < openings->rows.count; i++)
		if (!regexec(&pattern, openings->rows.items[i].file, 0, NULL, 0))
			set[(*count)++] = i;
	regfree(&pattern);
	return set;
}

static size_t count_threads(const struct session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->scanned.count; i++)
		count += session->scanned.items[i].process->profile.threads.count;
	return count;
}

/* NULL: it is in no group of Java's. */
static const char *name_of(const struct experiment_profile *profile,
			   const struct profile_thread *thread, enum thread_name_kind kind)
{
	const struct profile_more *more = profile_more(profile, thread);

	if (kind == THREAD_NAME)
		return profile_name(profile, more->name);
	if (!more->group)
		return NULL;
	return profile_name(profile, kind == THREAD_GROUP ? more->group : more->parent);
}

uint64_t *filter_threads(struct session *session, enum thread_name_kind kind,
			 const char *expression, size_t *count, char **error)
{
	uint64_t *set;
	regex_t pattern;

	*count = 0;
	if (!compile_pattern(expression, &pattern, error))
		return NULL;
	set = xcalloc(count_threads(session) + 1, sizeof(*set));
	for (size_t i = 0; i < session->scanned.count; i++) {
		const struct session_process *process = &session->scanned.items[i];
		const struct experiment_profile *profile = &process->process->profile;

		for (size_t k = 0; k < profile->threads.count; k++) {
			const struct profile_thread *thread = &profile->threads.items[k];

			const char *name = name_of(profile, thread, kind);

			if (name && !regexec(&pattern, name, 0, NULL, 0))
				set[(*count)++] =
					(uint64_t)process->id << 32 | (uint32_t)thread->number;
		}
	}
	regfree(&pattern);
	return set;
}

/* "i" of "{int i}" and "{structure:foo_t}.{int i}"; the caller's to free, NULL: it has no name. */
static char *bare_name(const char *descriptor)
{
	const char *brace = strrchr(descriptor, '{');
	const char *blank = brace ? strchr(brace, ' ') : NULL;

	return blank ? xstrndup(blank + 1, strcspn(blank + 1, "}")) : NULL;
}

static bool object_fits(const struct data_object *object, const regex_t *pattern)
{
	char *bare = bare_name(object->plain);
	bool fits = !regexec(pattern, object->name, 0, NULL, 0) ||
		    !regexec(pattern, object->plain, 0, NULL, 0) ||
		    (bare && !regexec(pattern, bare, 0, NULL, 0));

	free(bare);
	return fits;
}

struct fitting {
	const uint8_t *objects; /* 1: fits */
	bool any;
};

static void ask_object(uint32_t object, void *arg)
{
	struct fitting *fitting = arg;

	fitting->any |= fitting->objects[object];
}

uint64_t *filter_data(struct session *session, const char *expression, size_t *count, char **error)
{
	const struct data_map *map;
	uint64_t *set;
	uint8_t *fits;
	regex_t pattern;

	*count = 0;
	if (!compile_pattern(expression, &pattern, error))
		return NULL;
	map = data_map_of(session);
	fits = xcalloc(map->objects.count, 1);
	for (size_t i = 0; i < map->objects.count; i++)
		fits[i] = object_fits(&map->objects.items[i], &pattern);
	regfree(&pattern);
	set = xcalloc(map->places.count + 1, sizeof(*set));
	for (uint32_t i = 0; i < map->places.count; i++) {
		struct fitting fitting = {.objects = fits};

		data_place_each(map, i, ask_object, &fitting);
		if (fitting.any)
			set[(*count)++] = i;
	}
	free(fits);
	return set;
}
