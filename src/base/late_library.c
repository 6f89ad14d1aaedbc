/* SPDX-License-Identifier: Apache-2.0 */
#include "base/late_library.h"

#include <dlfcn.h>
#include <string.h>

const char *late_library_load(const char *library, const struct late_function *functions,
			      size_t count)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return dlerror();
	for (size_t i = 0; i < count; i++) {
		void *found = dlsym(handle, functions[i].name);

		if (!found)
			return dlerror();
		memcpy(functions[i].pointer, &found, sizeof(found));
	}
	return NULL;
}
