/* SPDX-License-Identifier: Apache-2.0 */
/* What JSON wants of our texts; for modules that write it, so that no other needs jansson. */
#ifndef HELIO_BASE_JSON_H
#define HELIO_BASE_JSON_H

#include "base/utf8.h"

#include <jansson.h>
#include <stdlib.h>

/* Text as a JSON string, bytes that are no UTF-8 as U+FFFD; NULL as null. */
static inline json_t *json_text(const char *text)
{
	if (!text)
		return json_null();
	char *clean = utf8_clean(text);
	json_t *string = json_string(clean);

	free(clean);
	return string;
}

#endif
