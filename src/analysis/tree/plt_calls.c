/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tree/plt_calls.h"

#include "base/array.h"

#include <string.h>

bool plt_calls_is_slot(const struct session *session, uint32_t function)
{
	const struct function *entry = &session->functions.items[function];

	return entry->symbol != OBJECT_NO_FUNCTION &&
	       object_function(session->objects.items[entry->object].object, entry->symbol)
		       ->is_slot;
}

/* glibc's names: which of its variants it is depends on the processor. */
bool plt_calls_is_binding(const struct session *session, uint32_t function)
{
	static const char *const names[] = {"_dl_runtime_resolve", "_dl_runtime_profile"};
	const char *name = session->functions.items[function].mangled;

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}
