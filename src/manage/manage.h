/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done with experiments as a whole: keeping what they refer to beside
 * them, copying, moving, removing, listing and checking them.  Each main takes
 * argv[0] = the name by which it was called, prints its messages to stderr and
 * returns the exit status.
 */
#ifndef HELIO_MANAGE_MANAGE_H
#define HELIO_MANAGE_MANAGE_H

#include "base/status.h"

#include <stdint.h>

/* Which load objects an experiment keeps a copy of. */
enum manage_objects {
	MANAGE_OBJECTS_NONE,
	MANAGE_OBJECTS_OWN,  /* those that no package manager keeps: outside /usr, /lib, … */
	MANAGE_OBJECTS_USED, /* those of which a call stack holds an address */
	MANAGE_OBJECTS_ALL,
};

/* … and which source files. */
enum manage_sources { MANAGE_SOURCES_NONE, MANAGE_SOURCES_USED, MANAGE_SOURCES_ALL };

struct manage_archive_request {
	enum manage_objects objects;
	enum manage_sources sources;
	const char *source_regex; /* only sources whose path matches this ERE, or NULL */
	int folder;		  /* where is_open, the experiment's; else the path leads to it */
	const char *directory;	  /* keep the copies here and links in the experiment, or NULL */
	const char *command;	  /* for archive.log */
	bool is_open;
	bool relative;	      /* … by relative paths: both may be moved together */
	bool founder_only;    /* leave the descendants' load objects out */
	bool rewrite;	      /* also what is there already */
	bool quiet;	      /* warnings go to archive.log only */
	bool refer;	      /* leave out large files that seem to be installed for good */
	uint64_t size_limit;  /* leave out files larger than this, bytes; 0: no limit */
	uint64_t total_limit; /* … and those that would make more than this */
};

/*
 * Sets what a word of `-a MODE` stands for, without regard to case: off, own,
 * usedldobjects, ldobjects (on), usedsrc, src (all), and lifts the limits.  False: no such word.
 */
bool manage_archive_mode(const char *word, struct manage_archive_request *request);
/*
 * The same for `helio collect -A`, where words stand for less: on = own files
 * up to 64 MB each and 256 MB in all, without a word about others, and above 1 MB only what was
 * built within a day: others are referred to by path and build-id; copy =
 * usedldobjects, src = usedsrc.
 */
bool manage_archive_collect_mode(const char *word, struct manage_archive_request *request);

/*
 * Adds what blank-separated options of `helio archive` say; request points into `words` from
 * then on.  False: they are no such options, `source` (where they stand) said so on stderr, and
 * request is as it was.
 */
bool manage_archive_options(const char *source, char *words,
			    struct manage_archive_request *request);

/*
 * Copies into PATH/archives what is asked for and is here as it was measured,
 * and notes each copy in PATH/archive.log.  What cannot be had is a warning, an
 * experiment that cannot be read or written an error.
 */
enum status manage_archive(const char *path, const struct manage_archive_request *request,
			   struct diag_list *diags);

/*
 * Removes what a new experiment is to replace (-O): what `helio rm` may remove, or an empty
 * directory.  False: it stays, as diags says.  That nothing is there is no fault.
 */
bool manage_make_room(const char *path, struct diag_list *diags);

int manage_archive_main(int argc, char **argv); /* helio archive, er_archive */
int manage_copy_main(int argc, char **argv);	/* helio cp, er_cp */
int manage_move_main(int argc, char **argv);	/* helio mv, er_mv */
int manage_remove_main(int argc, char **argv);	/* helio rm, er_rm */
int manage_list_main(int argc, char **argv);	/* helio ls */
int manage_info_main(int argc, char **argv);	/* helio info */
int manage_check_main(int argc, char **argv);	/* helio check */

#endif
