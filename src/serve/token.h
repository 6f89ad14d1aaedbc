/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask: secrets of this server, and how they are compared. */
#ifndef HELIO_SERVE_TOKEN_H
#define HELIO_SERVE_TOKEN_H

#include <stdbool.h>

enum { TOKEN_BYTES = 32, TOKEN_ROOM = 2 * TOKEN_BYTES + 1 };

struct tokens {
	char login[TOKEN_ROOM];	 /* in the address; "": it has been used */
	char bearer[TOKEN_ROOM]; /* for other programs */
	char cookie[TOKEN_ROOM]; /* of browsers that have logged in */
};

/* False: the system has no random numbers. */
bool tokens_make(struct tokens *tokens);
/* In a time that does not depend on where they differ. */
bool token_equals(const char *token, const char *given);

#endif
