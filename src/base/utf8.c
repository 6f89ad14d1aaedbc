/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include "base/strbuf.h"

size_t utf8_length(const char *text)
{
	static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *byte = (const unsigned char *)text;
	size_t length = *byte < 0x80 ? 1 : *byte >= 0xf0 ? 4 : *byte >= 0xe0 ? 3 : 2;
	unsigned code = length == 1 ? *byte : *byte & (0xff >> (length + 1));

	if ((*byte >= 0x80 && *byte < 0xc2) || *byte > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (byte[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return length;
}

char *utf8_clean(const char *text)
{
	struct strbuf clean = {0};

	while (*text) {
		size_t length = utf8_length(text);

		if (length)
			strbuf_add(&clean, text, length);
		else
			strbuf_puts(&clean, "\xef\xbf\xbd");
		text += length ? length : 1;
	}
	return strbuf_steal(&clean);
}
