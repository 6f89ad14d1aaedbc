/* SPDX-License-Identifier: Apache-2.0 */
#include "print/html.h"

#include "base/utf8.h"
#include "print/page_css.h"

#include <stdlib.h>
#include <string.h>

void html_text(FILE *file, const char *text)
{
	char *clean = utf8_clean(text);

	for (const char *at = clean; *at; at++) {
		switch (*at) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '"':
			fputs("&quot;", file);
			break;
		default:
			/* characters that no document may hold */
			if ((unsigned char)*at >= ' ' || *at == '\n' || *at == '\t')
				fputc(*at, file);
		}
	}
	free(clean);
}

void html_begin(FILE *file, const char *title, const char *css)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
	      file);
	html_text(file, title);
	fprintf(file, "</title>\n<style>\n%s%s</style>\n</head>\n<body>\n", page_css,
		css ? css : "");
}

void html_end(FILE *file)
{
	fputs("</body>\n</html>\n", file);
}
