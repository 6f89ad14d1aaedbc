/* SPDX-License-Identifier: Apache-2.0 */
/* What a pattern means: functions for FNAME, openings of files for FILEIOVFD. */
#include "analysis/filter_program.h"
#include "analysis/io_rows.h"

#include <regex.h>
#include <stdlib.h>

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
