/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/next_functions.h"

#include <dlfcn.h>
#include <string.h>

struct next_functions next_functions;

void next_resolve(void)
{
	void *symbol;

	/* dlsym gives a void *; memcpy is the conversion that C allows. */
#define X(result, name, arguments)                                                                 \
	symbol = next_symbol(#name);                                                               \
	memcpy(&next_functions.name, &symbol, sizeof(symbol));
	NEXT_FUNCTIONS(X)
#undef X
	next_forget_failures();
}

void next_forget_failures(void)
{
	while (dlerror())
		;
}

void *next_in_scope(const char *name, const void *address)
{
	void *symbol = NULL, *object;
	Dl_info info;

	if (!dladdr(address, &info) || !(object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)))
		return NULL;
	symbol = dlsym(object, name);
	NEXT(dlclose)(object);
	return symbol;
}

void next_keep_loaded(const void *symbol)
{
	void *object;
	Dl_info info;

	if (dladdr(symbol, &info) &&
	    (object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE)))
		NEXT(dlclose)(object);
}

void *next_of_caller(const char *name, const void *caller)
{
	void *symbol = next_symbol(name);

	if (symbol)
		return symbol;
	symbol = caller ? next_in_scope(name, caller) : NULL;
	if (symbol)
		next_keep_loaded(symbol);
	return symbol;
}
