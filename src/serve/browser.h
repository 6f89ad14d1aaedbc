/* SPDX-License-Identifier: Apache-2.0 */
/* The user's browser, and what is printed where it cannot be opened. */
#ifndef HELIO_SERVE_BROWSER_H
#define HELIO_SERVE_BROWSER_H

#include "serve/listen.h"
#include "serve/token.h"

#include <stdbool.h>

/* The address with the token, the caller's to free. */
char *browser_address(const struct listeners *listeners, const struct tokens *tokens);
/* Prints the address, how to reach it from another machine, and with `key` the key. */
void browser_tell(const char *program, const struct listeners *listeners,
		  const struct tokens *tokens, bool key);
/* Whether there is a browser to be opened. */
bool browser_is_there(void);
/*
 * Opens the address through a file that only this user can read, so that the token is in no command
 * line.  The file's path, to be given to browser_forget(); NULL: it could not be opened.
 */
char *browser_open(const char *address);
void browser_forget(char *file);

#endif
