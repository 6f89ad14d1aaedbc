/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of the user's cache: where they are, what tells that one still holds, and how one is
 * written and read.  A file is written beside its place and moved there whole, with a checksum over
 * everything; whoever reads one checks every number against its bounds all the same.  Integers
 * are the machine's: the program that wrote them is part of what tells.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_CACHE_FILE_H
#define HELIO_ANALYSIS_CACHE_FILE_H

#include "analysis/metric/measure.h"
#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

/* What HELIO_CACHE says. */
bool cache_is_on(void);
bool cache_keeps_all(void);

/*
 * The directory as a folder (base/folder.h), made where it is not there; the caller's to close.
 * -1: off, or there is no place that only this user can write to (EPERM), or errno.
 */
int cache_open_folder(void);
/* Says why cache_open_folder() has just failed, by what it left in errno: an error. */
void cache_add_refusal(struct diag_list *diags);
/* The file for a key, by its name there; ending as ".sums". The caller's to free. */
char *cache_name(const char *key, const char *ending);
/*
 * Keeps the newest files of an ending, so many and so many bytes of them, with what writers that
 * were killed have left; how many it removed.
 */
size_t cache_evict(const char *ending, size_t files, uint64_t bytes);

/* ---- what tells that a file still holds: a text that is made again and compared ---- */

/* Where the text is made again: on this machine, or on others of the same job. */
enum cache_scope {
	CACHE_HERE,
	CACHE_ANYWHERE, /* without what is the machine's: devices, inodes and times of change */
};

/* This program, and what says in the environment where names come from. */
void cache_describe_program(struct strbuf *text, enum cache_scope scope);
/* Every file of an experiment: path, inode, size, times and a hash of its ends. */
void cache_describe_directory(struct strbuf *text, const char *path, enum cache_scope scope);
/* A load object and its debug file; key: as in session's object_keys, path and build-id. */
void cache_describe_object(struct strbuf *text, const char *key, enum cache_scope scope);
/* One file, by size and time; an empty line where there is none. */
void cache_describe_file(struct strbuf *text, const char *path);

/* ---- the body of a file ---- */

void cache_put_u64(struct strbuf *out, uint64_t value);
/* In few bytes where it is small. */
void cache_put_number(struct strbuf *out, uint64_t value);
void cache_put_signed(struct strbuf *out, int64_t value);
/* NULL is kept as such. */
void cache_put_text(struct strbuf *out, const char *text);
/* Sums by measure. */
void cache_put_sums(struct strbuf *out, const struct finished_sums *sums);
/* False: it could not be written, and nothing has changed. The checksum tells bodies apart. */
bool cache_write(const char *name, const struct strbuf *body, uint64_t *checksum);

/* Reads a body.  Once it is bad, nothing that was taken from it may be used. */
struct cache_reader {
	char *body; /* the caller's to free, or NULL; texts point into it */
	const char *at, *end;
	uint64_t checksum;
	bool bad;
};
/* False: there is no such file, or it is not whole. */
bool cache_read(const char *name, struct cache_reader *out);

uint64_t cache_take_u64(struct cache_reader *reader);
uint64_t cache_take_number(struct cache_reader *reader);
int64_t cache_take_signed(struct cache_reader *reader);
/* A number that has to be below the limit; else 0, and the reader is bad. */
uint32_t cache_take_below(struct cache_reader *reader, uint64_t limit);
/* A count of things of at least `size` bytes each. */
size_t cache_take_count(struct cache_reader *reader, size_t size);
/* Lives as long as the body. NULL for NULL, and where nothing is left. */
const char *cache_take_text(struct cache_reader *reader);
/* Sums of so many nodes, which live as long as the body. */
void cache_take_sums(struct cache_reader *reader, size_t nodes, struct kept_sums *out);
/* The sums of a measure by node; values: room for sums->nodes.  False: the measure has none. */
bool cache_values(const struct kept_sums *sums, enum measure measure, uint64_t *values);
/* Whether the next text is this one. */
bool cache_take_same(struct cache_reader *reader, const char *expected);

#endif
