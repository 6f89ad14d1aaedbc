/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source files: where a recorded one is now, and its lines as text that can be
 * shown.
 */
#ifndef HELIO_OBJECT_SOURCE_H
#define HELIO_OBJECT_SOURCE_H

#include "base/status.h"

#include <stdint.h>

/* Where to look. All strings are the caller's. */
struct source_map {
	const char *old_prefix, *new_prefix; /* /a/ -> /x/y/ */
};
struct source_search {
	const char *const *archives; /* directories with copies under their absolute paths */
	size_t archive_count;
	const struct source_map *maps; /* in order of their use */
	size_t map_count;
	const char *const *directories; /* the search path; "$expts" is all experiments */
	size_t directory_count;
	const char *const *experiments; /* directories of the loaded experiments */
	size_t experiment_count;
	/* of a Java program: directories and archives below which a file lies by its whole name */
	const char *const *class_path;
	size_t class_path_count;
	const char *build_id; /* of the object, hex; NULL: debuginfod is not asked */
};

enum source_origin {
	SOURCE_MISSING,
	SOURCE_FOUND,	   /* under its recorded name */
	SOURCE_FOUND_AS,   /* elsewhere */
	SOURCE_ARCHIVED,   /* an experiment's copy */
	SOURCE_DOWNLOADED, /* from debuginfod */
};

/* Where a source is. */
struct source_place {
	enum source_origin origin;
	char *path;	/* to be freed; "a.jar!/pkg/A.java" in an archive; NULL: missing */
	uint64_t mtime; /* s */
};

/*
 * Looks for a recorded path in this order: archived copies; path maps, the
 * first whose prefix fits and whose file exists; each directory of the search
 * path with the whole path, if that is relative (Java's "pkg/A.java"), with the
 * base name, and what the maps make of that, or each archive (.jar, .zip) there;
 * the recorded path itself, unless a map's prefix fitted it; a relative one below
 * the class path, in its archives and in those beside them ("a-sources.jar");
 * debuginfod, if the user asked for it.  Whether the file is newer than the object is for the
 * caller to compare: an archived copy and a downloaded file never are.
 */
void source_find(const struct source_search *search, const char *path, struct source_place *out);
void source_place_fini(struct source_place *place);

/* A source file in memory. */
struct source {
	char *path;
	uint64_t mtime; /* s */
	uint32_t count; /* lines */
	char **lines;	/* line N at N - 1; see source_line() */
	char *text;
};

/*
 * Reads a file.  Lines end with LF, CR LF or the end of the file; the last may
 * have no end.  What is not UTF-8 becomes U+FFFD, and so does NUL.
 * STATUS_IO: see errno; STATUS_INVALID: not a regular file, or one of more than
 * 2^32 - 1 bytes.
 */
enum status source_open(const char *path, struct source *out);
/* A line, from 1, without its end; NULL beyond the last. */
const char *source_line(const struct source *source, uint32_t line);
void source_close(struct source *source);

#endif
