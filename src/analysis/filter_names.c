/* SPDX-License-Identifier: Apache-2.0 */
/* What a pattern means: functions for FNAME, openings of files for FILEIOVFD, data for DNAME. */
#include "analysis/data_map.h"
#include "analysis/filter_program.h"
#include "analysis/io_rows.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* The pattern of whole names; false: *error, the caller's to free, says what is wrong. */
static bool compile_pattern(const char *expression, regex_t *pattern, char **error)
{
	char *whole = xasprintf("^(%s)$", expression), reason[128];
	int status = regcomp(pattern, whole, REG_EXTENDED | REG_NOSUB);

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
	for (unsigned style = 0; style < NAME_STYLES; style++)
		if (!regexec(pattern, symbols_name(session, function, (enum name_style)style), 0,
			     NULL, 0))
			return true;
	return false;
}

uint8_t *filter_functions(struct session *session, const char *expression, size_t *count,
			  char **error)
{
	uint8_t *set;
	regex_t pattern;

	*count = 0;
	if (!compile_pattern(expression, &pattern, error))
		return NULL;
	set = xcalloc(session->functions.count, 1);
	for (uint32_t i = FUNCTION_TOTAL + 1; i < session->functions.count; i++) {
		set[i] = name_fits(session, i, &pattern);
		*count += set[i];
	}
	regfree(&pattern);
	return set;
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
