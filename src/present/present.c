/* SPDX-License-Identifier: Apache-2.0 */
/* Which renderer is asked. */
#include "present/present.h"

#include "analysis/session/session.h"
#include "present/json.h"
#include "present/page.h"
#include "present/table.h"

#include <string.h>
#include <strings.h>

/* Experiments have some dozens of load objects: a scan does. */
static uint32_t find_segment(const struct segment_map *map, const char *path)
{
	const struct session *session = map->session;

	for (size_t i = 0; i < session_load_object_count(session); i++) {
		struct load_object_info info;

		session_load_object(session, i, &info);
		if (info.path && !strcmp(info.path, path))
			return info.number;
	}
	return 0;
}

void present(struct presenter *presenter, const struct result *result)
{
	const struct segment_map segments = {.find = find_segment, .session = result->session};

	switch (presenter->format) {
	case PRESENT_TEXT:
		text_result(presenter->output, result, &segments);
		break;
	case PRESENT_DELIMITED:
		delimited_result(presenter->output, result, presenter->delimiter, &segments);
		break;
	case PRESENT_HTML:
		page_put_result(presenter, result, &segments);
		break;
	case PRESENT_JSON:
		json_result(presenter, result);
		break;
	case PRESENT_SLAB:
		json_result_slab(presenter, result);
		break;
	}
}

void present_begin(struct presenter *presenter)
{
	if (presenter->format == PRESENT_HTML)
		page_capture(presenter);
}

void present_end(struct presenter *presenter, const struct session *session)
{
	if (presenter->page.file)
		page_release(presenter, session);
}

void present_finish(struct presenter *presenter)
{
	page_end(presenter);
}

static const char *const names[] = {
	[PRESENT_TEXT] = "text", [PRESENT_JSON] = "json", [PRESENT_HTML] = "html"};

bool present_set_format(struct presenter *presenter, const char *word)
{
	page_end(presenter);
	for (int format = PRESENT_TEXT; format < PRESENT_DELIMITED; format++)
		if (!strcasecmp(word, names[format])) {
			presenter->format = (enum present_format)format;
			return true;
		}
	if (strlen(word) != 1)
		return false;
	presenter->format = PRESENT_DELIMITED;
	presenter->delimiter = word[0];
	return true;
}

const char *present_format_name(const struct presenter *presenter)
{
	return presenter->format >= PRESENT_DELIMITED ? NULL : names[presenter->format];
}

bool present_has_warnings(const struct presenter *presenter)
{
	return presenter->format == PRESENT_JSON || presenter->format == PRESENT_SLAB;
}
