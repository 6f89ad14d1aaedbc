/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: files that tools/embed-page has compressed into the program.  They hold no data, so
 * that they may be had without a login.  Names are compared with a list: no path is ever opened.
 */
#include "serve/page_files.h"
#include "serve/server.h"

#include <string.h>

/* A program that was built without the page says what to do. */
static const char missing[] =
	"<!doctype html>\n<meta charset=\"utf-8\">\n<title>helio view</title>\n"
	"<h1>The page of helio view was not built</h1>\n"
	"<p>Building it takes Node.js 18 or later with npm. Install them (on Debian: <code>apt "
	"install nodejs npm</code>), build Heliometer again (<code>./dev build</code>), and start "
	"<code>helio view</code> again. Until then <code>helio print</code> shows all that there "
	"is.</p>\n";

static bool is_built(void)
{
	return page_files[0].name;
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
	if (is_built() || strcmp(name, "index.html") != 0)
		return false;
	reply->status = HTTP_OK;
	reply->type = "text/html; charset=utf-8";
	reply->constant = missing;
	reply->constant_size = sizeof(missing) - 1;
	return true;
}
