/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/token.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static bool make(char token[TOKEN_ROOM])
{
	uint8_t bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return false;
	for (int i = 0; i < TOKEN_BYTES; i++)
		snprintf(token + (size_t)2 * i, 3, "%02x", bytes[i]);
	return true;
}

bool tokens_make(struct tokens *tokens)
{
	return make(tokens->login) && make(tokens->bearer) && make(tokens->cookie);
}

bool token_equals(const char *token, const char *given)
{
	volatile unsigned char differs = 0;

	if (strlen(token) != TOKEN_ROOM - 1 || strlen(given) != TOKEN_ROOM - 1)
		return false;
	for (size_t i = 0; i < TOKEN_ROOM - 1; i++)
		differs |= (unsigned char)(token[i] ^ given[i]);
	return !differs;
}
