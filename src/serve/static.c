/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: files that tools/embed-page has compressed into the program.  They hold no data, so
 * that they may be had without a login.  Names are compared with a list: no path is ever opened.
 */
#include "serve/page_files.h"
#include "serve/server.h"

#include <string.h>

#define REMEDY                                                                                     \
	"install Node.js 18 or later with npm (Debian: apt install nodejs npm) and build "         \
	"Heliometer "                                                                              \
	"again (./dev build)"

static const char missing_page[] =
	"<!doctype html>\n<meta charset=\"utf-8\">\n<title>helio view</title>\n"
	"<h1>This program was built without its page</h1>\n<p>" REMEDY ".</p>\n";

const char *static_missing(void)
{
	return page_files[0].name ? NULL : "this program was built without its page: " REMEDY;
}

static void answer_file(const struct page_file *file, struct reply *reply)
{
	reply->status = HTTP_OK;
	reply->type = file->type;
	reply->constant = file->data;
	reply->constant_size = file->size;
	reply->gzipped = true;
	reply->immutable = file->immutable;
}

bool static_answer(const char *path, struct reply *reply)
{
	const char *name = strcmp(path, "/") ? path + 1 : "index.html";

	if (*path != '/')
		return false;
	for (const struct page_file *file = page_files; file->name; file++)
		if (!strcmp(file->name, name)) {
			answer_file(file, reply);
			return true;
		}
	if (!static_missing() || strcmp(name, "index.html") != 0)
		return false;
	reply->status = HTTP_OK;
	reply->type = "text/html; charset=utf-8";
	reply->constant = missing_page;
	reply->constant_size = sizeof(missing_page) - 1;
	return true;
}
