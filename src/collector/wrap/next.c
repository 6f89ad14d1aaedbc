/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/wrap/next.h"

#include <dlfcn.h>
#include <string.h>

struct next_functions next_functions;

void next_resolve(void)
{
	void *symbol;

	/* dlsym gives a void *; memcpy is the conversion that C allows. */
#define X(result, name, arguments)                                                                 \
	symbol = dlsym(RTLD_NEXT, #name);                                                          \
	memcpy(&next_functions.name, &symbol, sizeof(symbol));
	NEXT_FUNCTIONS(X)
#undef X
}
