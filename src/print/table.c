/* SPDX-License-Identifier: Apache-2.0 */
/* One table, four ways to print it. */
#include "print/page.h"

#include <string.h>

/* Experiments have some dozens of load objects: a scan does. */
static uint32_t find_segment(const struct segment_map *map, const char *path)
{
	const struct session *session = map->data;

	for (size_t i = 0; i < session_load_object_count(session); i++) {
		struct load_object_info info;

		session_load_object(session, i, &info);
		if (info.path && !strcmp(info.path, path))
			return info.number;
	}
	return 0;
}

void table_print(struct print *print, const struct table *table, enum table_shape shape,
		 const char *command, const char *heading)
{
	const struct segment_map segments = {.find = find_segment, .data = print->session};

	switch (print->mode) {
	case MODE_TEXT:
		table_print_text(&print->output, table, shape, heading, &segments);
		break;
	case MODE_DELIMITED:
		table_print_delimited(&print->output, table, shape, print->delimiter, &segments);
		break;
	case MODE_HTML:
		page_put_table(print, table, shape, heading, &segments);
		break;
	case MODE_JSON:
		table_print_json(print, table, shape, command);
		break;
	}
}
