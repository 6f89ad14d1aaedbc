/* SPDX-License-Identifier: Apache-2.0 */
/* Knows nothing of MPI: loads the library that its argument names, in a scope of its own, and calls
 * its main. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments)
{
	void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*begin)(int, char **);

	if (!library)
		return 1;
	*(void **)&begin = dlsym(library, "plugin_main");
	return begin(1, arguments);
}
