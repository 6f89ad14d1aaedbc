/* SPDX-License-Identifier: Apache-2.0 */
/* Memory objects: tables whose rows are pieces of memory. */
#include "analysis/memory_object.h"
#include "print/command.h"
#include "print/json.h"
#include "print/table.h"

#include <stdlib.h>
#include <string.h>

bool command_memobj(struct print *print, char **arguments, size_t count)
{
	size_t index = memory_find(print->session, arguments[0] + strspn(arguments[0], "-"));
	struct diag_list diags = {0};
	struct index_info info;
	struct table table;

	if (index == SIZE_MAX)
		return say_error(print, "There is no memory object %s: mobj_list lists them",
				 arguments[0]);
	memory_at(print->session, index, &info);
	if (view_memory(print->session, index, &print->query, &table, &diags) != STATUS_OK)
		return say_diags(print, &diags);
	char *heading = command_heading(print, info.title, &table.sort);

	table_print(print, &table, SHAPE_LIST, info.name, heading);
	table_fini(&table);
	free(heading);
	return true;
}

bool command_mobj_list(struct print *print, char **arguments, size_t count)
{
	return command_list_objects(print, "mobj_list", memory_at);
}

bool command_mobj_define(struct print *print, char **arguments, size_t count)
{
	struct diag_list diags = {0};

	memory_define(print->session, arguments[0], arguments[1], &diags);
	return say_diags(print, &diags);
}
