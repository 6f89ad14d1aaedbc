/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What compilers say that they did with the code, in the records of -fsave-optimization-record:
 * GCC's NAME.opt-record.json.gz and clang's NAME.opt.yaml.
 */
#ifndef HELIO_OBJECT_REMARKS_H
#define HELIO_OBJECT_REMARKS_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdbool.h>

/* Kinds of remarks; bits. */
enum remark_class {
	REMARK_VERSION = 1 << 0,
	REMARK_WARNING = 1 << 1,
	REMARK_PARALLEL = 1 << 2,
	REMARK_QUERY = 1 << 3, /* what was not done, and why */
	REMARK_LOOP = 1 << 4,
	REMARK_PIPE = 1 << 5,
	REMARK_INLINE = 1 << 6,
	REMARK_MEMORY = 1 << 7,
	REMARK_FRONT_END = 1 << 8,
	REMARK_CODE = 1 << 9,
	REMARK_ALL = (1 << 10) - 1,
	REMARK_BASIC = REMARK_WARNING | REMARK_PARALLEL | REMARK_LOOP | REMARK_PIPE |
		       REMARK_INLINE | REMARK_MEMORY,
};

struct remark {
	uint32_t line;
	enum remark_class kind;
	const char *text; /* one line */
};
struct remarks {
	VEC(struct remark) items; /* sorted by line, none twice */
	struct arena arena;
	size_t kept; /* bytes of both: what is too many is left out */
};

/*
 * Adds what the records in a directory say of a source file.  A record is read if its name
 * is that of the source without its ending, be it after a program's and a dash; what cannot be
 * read is left out.  producer: the compiler of the unit, as debug information has it; what another
 * one has written beside it is of another build.  NULL: unknown.
 */
void remarks_read(struct remarks *remarks, const char *directory, const char *source,
		  const char *producer);
/*
 * Adds the paths of the records in a directory whose names are those of sources without
 * their endings, in that sense.
 */
void remarks_find(const char *directory, const struct string_table *stems,
		  struct string_table *paths);
/* The name of a source without its ending, to be freed. */
char *remarks_stem(const char *source);
/* After the last directory. */
void remarks_sort(struct remarks *remarks);
void remarks_fini(struct remarks *remarks);

/* ---- for the readers of both forms ---- */

/* A record's text, unpacked bit by bit: it may be a thousand times the file. */
struct remarks_text {
	struct gzFile_s *file;
	size_t left; /* bytes that may still be unpacked */
	size_t at, end;
	char buffer[1 << 14];
};

enum { REMARKS_END = -1, REMARKS_TEXT_LIMIT = 1 << 12 /* bytes of a remark that are shown */ };

/* The next byte, or REMARKS_END. */
int remarks_next(struct remarks_text *text);
/* The byte that was read last comes again. */
static inline void remarks_put_back(struct remarks_text *text)
{
	text->at--;
}

/* remarks_gcc.c, remarks_yaml.c: what cannot be read is left out. */
void remarks_parse_gcc(struct remarks *remarks, struct remarks_text *text, const char *source);
void remarks_parse_yaml(struct remarks *remarks, struct remarks_text *text, const char *source);

bool remarks_is_file(const char *recorded, const char *source);
void remarks_add(struct remarks *remarks, uint32_t line, enum remark_class kind, const char *text);

#endif
