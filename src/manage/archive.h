/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of archiving share. */
#ifndef HELIO_MANAGE_ARCHIVE_H
#define HELIO_MANAGE_ARCHIVE_H

#include "base/hash.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "experiment/kept.h"
#include "manage/manage.h"
#include "manage/objects.h"

struct archiver {
	const struct manage_archive_request *request;
	struct experiment *experiment;
	struct diag_list *diags;
	int folder;	  /* descriptor of the directory that archives/ is in */
	int archives;	  /* … of archives/ */
	int store;	  /* … of the directory that the copies go to */
	int reader;	  /* … of a file of the user's whose processes are looked at, or -1 */
	char *store_path; /* of a common archive, absolute; else NULL */
	struct strbuf log;
	uint64_t total; /* bytes of the load objects that the limits let in */
	struct object_list objects;
	struct string_table sources; /* absolute paths */
	struct string_table copied;  /* names in the store, of the copies that this run made */
	struct string_table kept;    /* … and of all that are there now, these included */
	struct not_kept before;	     /* what earlier runs could not copy, by their paths */
	char *failure;		     /* the first file that could not be copied, and why, or NULL */
	size_t failures;
};

/*
 * Where root archives for another user, files are opened with the rights of the process whose map
 * names them, the experiment is changed with those of its owner, and a common archive with ours.
 */
void archive_be_reader(const struct archiver *archiver);
void archive_be_in_experiment(const struct archiver *archiver);
void archive_be_in_store(const struct archiver *archiver);

/* Copies a file into the store under that name, unless it is there; false: it could not be. */
bool archive_copy(struct archiver *archiver, const char *from, const char *name);
/* Notes that it could not be, for the reason in errno. */
void archive_note_failure(struct archiver *archiver, const char *from, const char *name);

/* Notes the sizes and checksums of the copies that there are, beside archives/. */
void archive_write_sums(struct archiver *archiver);

/* Adds the sources of a load object; path: the file that has its line tables. */
void archive_find_sources(struct archiver *archiver, struct load_file *load, const char *path);
/* Copies all that were found and match the regular expression. */
void archive_copy_sources(struct archiver *archiver);

#endif
