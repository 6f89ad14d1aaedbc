/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping the files that an experiment refers to.  Which ones is known from
 * map.xml and stacks alone, so that a large profile costs nothing here.
 *
 * A copy has in its name what tells it from other files of that name, so
 * several processes, experiments with a common archive, and two runs of this
 * program can share a directory.  Where a name is not enough, see name_copy.
 */
#include "manage/archive.h"

#include "base/array.h"
#include "base/folder.h"
#include "base/memory.h"
#include "experiment/experiment.h"
#include "format/archive.h"
#include "format/params.h"
#include "manage/survey.h"
#include "manage/tree.h"
#include "object/elf/debug_file.h"
#include "object/object.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { COLLECT_SIZE_LIMIT = 64 << 20, COLLECT_TOTAL_LIMIT = 256 << 20 };

struct mode {
	const char *word;
	enum manage_objects objects;
	enum manage_sources sources;
};

static bool set_mode(const struct mode *modes, const char *word,
		     struct manage_archive_request *request)
{
	for (; modes->word; modes++)
		if (!strcasecmp(modes->word, word)) {
			request->objects = modes->objects;
			request->sources = modes->sources;
			return true;
		}
	return false;
}

bool manage_archive_mode(const char *word, struct manage_archive_request *request)
{
	static const struct mode modes[] = {
		{"off", MANAGE_OBJECTS_NONE, MANAGE_SOURCES_NONE},
		{"own", MANAGE_OBJECTS_OWN, MANAGE_SOURCES_NONE},
		{"usedldobjects", MANAGE_OBJECTS_USED, MANAGE_SOURCES_NONE},
		{"on", MANAGE_OBJECTS_ALL, MANAGE_SOURCES_NONE},
		{"ldobjects", MANAGE_OBJECTS_ALL, MANAGE_SOURCES_NONE},
		{"usedsrc", MANAGE_OBJECTS_USED, MANAGE_SOURCES_USED},
		{"src", MANAGE_OBJECTS_ALL, MANAGE_SOURCES_ALL},
		{"all", MANAGE_OBJECTS_ALL, MANAGE_SOURCES_ALL},
		{.word = NULL},
	};

	request->size_limit = request->total_limit = 0;
	request->refer = false;
	return set_mode(modes, word, request);
}

bool manage_archive_collect_mode(const char *word, struct manage_archive_request *request)
{
	static const struct mode modes[] = {
		{"off", MANAGE_OBJECTS_NONE, MANAGE_SOURCES_NONE},
		{"on", MANAGE_OBJECTS_OWN, MANAGE_SOURCES_NONE},
		{"copy", MANAGE_OBJECTS_USED, MANAGE_SOURCES_NONE},
		{"src", MANAGE_OBJECTS_USED, MANAGE_SOURCES_USED},
		{.word = NULL},
	};

	if (!set_mode(modes, word, request))
		return false;
	if (request->objects == MANAGE_OBJECTS_OWN) {
		/* nobody asked: a thousand programs that a build made and removed are no news */
		request->quiet = true;
		request->size_limit = COLLECT_SIZE_LIMIT;
		request->total_limit = COLLECT_TOTAL_LIMIT;
		request->refer = true;
	}
	return true;
}

/* Directories whose files a package manager keeps, and whose debug files it offers. */
static bool is_system_file(const char *path)
{
	static const char *const roots[] = {"/usr/",	   "/lib/",	 "/lib32/",  "/lib64/",
					    "/bin/",	   "/sbin/",	 "/libx32/", "/snap/",
					    "/nix/store/", "/gnu/store/"};

	if (!strncmp(path, "/usr/local/", strlen("/usr/local/")))
		return false;
	for (size_t i = 0; i < COUNT(roots); i++)
		if (!strncmp(path, roots[i], strlen(roots[i])))
			return true;
	return false;
}

/*
 * Large, and long built: installed rather than just made.  It is found where it was by its path
 * and build-id, which map.xml has; what is built now will soon be built again.
 */
static bool is_installed(const struct archiver *archiver, const struct map_file *map)
{
	enum { SMALL = 1 << 20, DAY_S = 24 * 60 * 60 };
	uint64_t begin_s = archiver->experiment->processes.items[0].log.wall_ns / 1000000000;

	return map->file_size > SMALL && map->mtime && map->mtime + DAY_S < begin_s;
}

static bool is_wanted(const struct archiver *archiver, const struct load_file *file)
{
	const char *slash = strrchr(file->map->path, '/');

	if (!slash) /* [vdso]: the collector keeps it */
		return false;
	switch (archiver->request->objects) {
	case MANAGE_OBJECTS_OWN:
		return !is_system_file(file->map->path) &&
		       !(archiver->request->refer && is_installed(archiver, file->map)) &&
		       strcmp(slash + 1, PARAMS_LIBRARY_NAME) != 0 &&
		       strcmp(slash + 1, PARAMS_LIBRARY_NAME_TRACE) != 0;
	case MANAGE_OBJECTS_USED:
		return file->used;
	case MANAGE_OBJECTS_ALL:
		return true;
	default:
		return false;
	}
}

static void gather(struct archiver *archiver, struct process *process)
{
	struct read_context context = process_context(process, archiver->diags);
	bool needs_uses = archiver->request->objects == MANAGE_OBJECTS_USED ||
			  archiver->request->sources == MANAGE_SOURCES_USED;

	experiment_map_read(&process->map, &archiver->experiment->arena, &context);
	if (needs_uses)
		experiment_stacks_read(&process->stacks, &context);
	objects_add(&archiver->objects, process, archiver->request->sources == MANAGE_SOURCES_USED);
	experiment_stacks_fini(&process->stacks);
}

/* Whether there is something, be it through a link. */
static bool exists(int folder, const char *path)
{
	const char *name;
	struct stat info;
	int parent = folder_open_parent(folder, path, &name);
	bool is = parent >= 0 && !fstatat(parent, name, &info, 0);

	if (parent >= 0)
		close(parent);
	return is;
}

/* What a link of that name in archives/ is to hold, or NULL with errno. */
static char *link_text(const struct archiver *archiver, const char *name)
{
	char *target = xasprintf("%s/%s", archiver->store_path, name);

	if (!archiver->request->relative)
		return target;
	char *place = xasprintf("%s/%s", archiver->experiment->archives, name);
	char *folder = xasprintf("%.*s", (int)(strrchr(place, '/') - place), place);
	char *real = realpath(folder, NULL);
	char *text = real ? tree_relative(real, target) : NULL;

	free(real);
	free(folder);
	free(place);
	free(target);
	return text;
}

/* With a common archive the experiment gets a link to what lies there. */
static bool link_to_common(const struct archiver *archiver, const char *name)
{
	const char *last;
	char *target = link_text(archiver, name);
	int parent = folder_open_parent(archiver->archives, name, &last);
	bool ok = parent >= 0 && exists(archiver->archives, name);

	if (!ok && target && parent >= 0) {
		unlinkat(parent, last, 0); /* a link to what is gone */
		ok = !symlinkat(target, parent, last);
	}
	if (parent >= 0)
		close(parent);
	free(target);
	return ok;
}

void archive_be_reader(const struct archiver *archiver)
{
	folder_be_owner(archiver->reader >= 0 ? archiver->reader : archiver->folder);
}

void archive_be_in_experiment(const struct archiver *archiver)
{
	folder_be_owner(archiver->folder);
}

void archive_be_in_store(const struct archiver *archiver)
{
	if (archiver->request->directory)
		folder_be_oneself();
	else
		archive_be_in_experiment(archiver);
}

/* What a killed writer of that file has left in a common archive, where others' files may be. */
static void remove_left(int store, const char *path)
{
	const char *name;
	int parent = folder_open_parent(store, path, &name);

	if (parent >= 0) {
		folder_remove_left(parent, name);
		close(parent);
	}
}

static bool copy(const struct archiver *archiver, const char *from, const char *name)
{
	archive_be_reader(archiver);
	int in = folder_open_named(from, NULL);

	archive_be_in_store(archiver);
	if (archiver->request->directory)
		remove_left(archiver->store, name);
	return in >= 0 && tree_copy_file(in, archiver->store, name);
}

/* Whether what has the name in the store is not the file. */
static bool is_another(const struct archiver *archiver, const struct elf_file *file,
		       const char *name)
{
	archive_be_reader(archiver);
	int in = folder_open_named(file->path, NULL);

	archive_be_in_store(archiver);
	int copy = folder_open_file(archiver->store, name, O_RDONLY, 0);
	bool there = copy >= 0 && in >= 0, same = tree_same_file(in, copy);

	archive_be_reader(archiver);
	return there && !same && !errno;
}

/*
 * Two files may have one build-id and not be the same: one is stripped, or lies.  The second one
 * has a name of its own, if it is the one that was measured as far as date and size tell.  What is
 * to be copied anew takes the first name.
 */
static bool name_copy(struct archiver *archiver, const struct map_file *map,
		      const struct elf_file *file, char *name, size_t room)
{
	bool fresh = archiver->request->rewrite &&
		     string_table_find(&archiver->copied, name) == HASH_NONE;

	if (fresh || map->mtime != file->mtime || map->file_size != file->size ||
	    !is_another(archiver, file, name))
		return true;
	if (format_archive_second_name(name, room, map->path, map->build_id, map->mtime,
				       map->file_size) &&
	    !is_another(archiver, file, name))
		return true;
	diag_add(
		archiver->diags, DIAG_WARNING,
		"%s is not archived: there is a copy of another file with its name, build-id, date "
		"and size",
		map->path);
	return false;
}

/* For messages. */
static char *path_of_copy(const struct archiver *archiver, const char *name)
{
	return xasprintf(
		"%s/%s",
		archiver->store_path ? archiver->store_path : archiver->experiment->archives, name);
}

void archive_note_failure(struct archiver *archiver, const char *from, const char *name)
{
	const char *reason = strerror(errno);
	char *to = path_of_copy(archiver, name);

	diag_add(archiver->diags, DIAG_WARNING, "%s" FORMAT_ARCHIVE_NOT_COPIED "%s: %s", from, to,
		 reason);
	if (!archiver->failures++)
		archiver->failure =
			xasprintf("%s" FORMAT_ARCHIVE_NOT_COPIED "%s: %s", from, to, reason);
	free(to);
}

/* Who wants to hear of nothing else hears of this: the experiment lacks what it was to have. */
static void tell_failures(struct archiver *archiver)
{
	if (archiver->failures > 1)
		diag_add(archiver->diags, DIAG_ERROR,
			 "%zu files could not be kept in archives, see %s of %s; the first: %s",
			 archiver->failures, FORMAT_FILE_ARCHIVE_LOG, archiver->experiment->name,
			 archiver->failure);
	else if (archiver->failures)
		diag_add(archiver->diags, DIAG_ERROR, "A file could not be kept in archives: %s",
			 archiver->failure);
}

/* Whether the log is to tell that there is a copy: it has made it, or told that it could not. */
static bool is_news(const struct archiver *archiver, const char *from, bool there)
{
	uint32_t number = string_table_find(&archiver->before.paths, from);

	return !there || (number != HASH_NONE && archiver->before.reasons.items[number]);
}

bool archive_copy(struct archiver *archiver, const char *from, const char *name)
{
	archive_be_in_store(archiver);
	bool there = exists(archiver->store, name) && !archiver->request->rewrite;
	bool ok = there || copy(archiver, from, name);

	archive_be_in_experiment(archiver);
	if (ok && archiver->request->directory)
		ok = link_to_common(archiver, name);
	if (!ok)
		archive_note_failure(archiver, from, name);
	else
		string_table_add(&archiver->kept, name);
	if (ok && is_news(archiver, from, there)) {
		char *to = path_of_copy(archiver, name);

		strbuf_printf(&archiver->log, FORMAT_ARCHIVE_COPYING "%s" FORMAT_ARCHIVE_TO "%s'\n",
			      from, to);
		free(to);
	}
	if (ok && !there)
		string_table_add(&archiver->copied, name);
	archive_be_reader(archiver);
	return ok;
}

/* Whether the file is the measured one; if not, says so. */
static bool is_measured(struct archiver *archiver, const struct map_file *map,
			const struct elf_file *file)
{
	if (map->build_id[0] ? file->build_id && !strcmp(file->build_id, map->build_id)
			     : (!map->mtime || map->mtime == file->mtime) &&
				       (!map->file_size || map->file_size == file->size))
		return true;
	diag_add(archiver->diags, DIAG_WARNING,
		 "%s was changed after it was measured and is not archived; put the measured file "
		 "back and archive again",
		 map->path);
	return false;
}

static bool open_measured(struct archiver *archiver, const struct map_file *map,
			  struct elf_file *file)
{
	enum status status = elf_file_open(map->path, file);

	if (status) {
		diag_add(archiver->diags, DIAG_WARNING, "%s is not archived: %s", map->path,
			 status == STATUS_IO ? strerror(errno)
					     : "not an ELF file, or a damaged one");
		return false;
	}
	if (is_measured(archiver, map, file))
		return true;
	elf_file_close(file);
	return false;
}

/* Whether the limits let the file in; if so, it counts from now on. */
static bool fits(struct archiver *archiver, const struct elf_file *file)
{
	const struct manage_archive_request *request = archiver->request;
	uint64_t total = archiver->total + file->size;

	if ((!request->size_limit || file->size <= request->size_limit) &&
	    (!request->total_limit || total <= request->total_limit)) {
		archiver->total = total;
		return true;
	}
	diag_add(archiver->diags, DIAG_NOTE,
		 "%s is not archived by itself: it has %zu MB, beside %zu MB of others; `helio "
		 "archive' does it",
		 file->path, file->size >> 20, (size_t)(archiver->total >> 20));
	return false;
}

/* A load object, its debug file and its sources, as far as they are here. */
static void archive_open_file(struct archiver *archiver, struct load_file *load,
			      const struct elf_file *file, const char *name)
{
	struct elf_file debug = {0};
	bool has_debug = debug_file_find(file, load->map->path, &debug, archiver->diags);
	char *debug_name = xasprintf("%s" OBJECT_ARCHIVED_DEBUG, name);

	if (fits(archiver, file) && archive_copy(archiver, file->path, name) && has_debug &&
	    fits(archiver, &debug))
		archive_copy(archiver, debug.path, debug_name);
	if (archiver->request->sources != MANAGE_SOURCES_NONE)
		archive_find_sources(archiver, load, has_debug ? debug.path : file->path);
	free(debug_name);
	if (has_debug)
		elf_file_close(&debug);
}

static void archive_file(struct archiver *archiver, struct load_file *load)
{
	const struct map_file *map = load->map;
	char name[NAME_MAX - 32]; /* with room for the endings of debug and half-written files */
	struct elf_file file;

	if (!format_archive_name(name, sizeof(name), map->path, map->build_id, map->mtime,
				 map->file_size)) {
		diag_add(archiver->diags, DIAG_WARNING, "%s is not archived: its name is too long",
			 map->path);
		return;
	}
	if (!open_measured(archiver, map, &file))
		return;
	if (name_copy(archiver, map, &file, name, sizeof(name)))
		archive_open_file(archiver, load, &file, name);
	elf_file_close(&file);
}

/* Makes archives/, which may be no link. */
static bool open_archives(struct archiver *archiver)
{
	archiver->folder = folder_open_below(archiver->experiment->family, "");
	if (archiver->folder >= 0)
		archive_be_in_experiment(archiver);
	if (archiver->folder >= 0 && folder_make_directories(archiver->folder, FORMAT_DIR_ARCHIVES))
		archiver->archives = folder_open_below(archiver->folder, FORMAT_DIR_ARCHIVES);
	if (archiver->archives >= 0) {
		folder_remove_left(archiver->folder, NULL);
		folder_remove_left_below(archiver->archives);
	}
	if (archiver->archives < 0)
		diag_add(archiver->diags, DIAG_ERROR, "%s: %s%s", archiver->experiment->archives,
			 strerror(errno),
			 errno == ENOTDIR || errno == ELOOP ? " (it may not be a link)" : "");
	return archiver->archives >= 0;
}

/* Makes the directory that the copies go to. */
static bool open_store(struct archiver *archiver)
{
	const char *directory = archiver->request->directory;

	if (!open_archives(archiver))
		return false;
	if (!directory) {
		archiver->store = folder_open_below(archiver->archives, "");
		return archiver->store >= 0;
	}
	archive_be_in_store(archiver);
	archiver->store = folder_make_named(directory, 0755);
	archive_be_in_experiment(archiver);
	archiver->store_path = archiver->store < 0 ? NULL : folder_path(archiver->store);
	if (!archiver->store_path)
		diag_add(archiver->diags, DIAG_ERROR, "%s: %s%s", directory, strerror(errno),
			 errno == EPERM ? ": a link of another user's is in the path" : "");
	return archiver->store_path;
}

/* What was done, and what was not, to the end of archive.log beside archives/. */
static void write_log(struct archiver *archiver)
{
	int fd = folder_open_file(archiver->folder, FORMAT_FILE_ARCHIVE_LOG,
				  O_WRONLY | O_CREAT | O_APPEND, 0644);
	struct strbuf *log = &archiver->log;

	for (size_t i = 0; i < archiver->diags->count; i++)
		strbuf_printf(log, "%s\n", archiver->diags->items[i].text);
	if (fd < 0 || write(fd, log->text, log->length) != (ssize_t)log->length)
		diag_add(archiver->diags, DIAG_ERROR,
			 FORMAT_FILE_ARCHIVE_LOG " of %s cannot be written: %s",
			 archiver->experiment->name, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void begin_log(struct archiver *archiver)
{
	time_t now = time(NULL);
	struct tm broken;
	char text[64] = "";

	if (localtime_r(&now, &broken))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &broken);
	strbuf_printf(&archiver->log, "# %s: %s\n", text,
		      archiver->request->command ? archiver->request->command : "");
}

static void archiver_fini(struct archiver *archiver)
{
	const int folders[] = {archiver->folder, archiver->archives, archiver->store};

	objects_fini(&archiver->objects);
	string_table_fini(&archiver->sources);
	string_table_fini(&archiver->copied);
	string_table_fini(&archiver->kept);
	not_kept_fini(&archiver->before);
	free(archiver->failure);
	strbuf_fini(&archiver->log);
	for (size_t i = 0; i < COUNT(folders); i++)
		if (folders[i] >= 0)
			close(folders[i]);
	free(archiver->store_path);
	experiment_free(archiver->experiment);
}

static uid_t owner_of(int fd)
{
	struct stat info;

	return fd >= 0 && !fstat(fd, &info) ? info.st_uid : (uid_t)-1;
}

/*
 * What has the owner whose rights count for what a process names: the experiment, the process's
 * directory or its map, the first that is not root's.  Who owns a directory can put files of root's
 * into it.  -1: it is not there.
 */
static int open_owned(const struct archiver *archiver, const struct process *process)
{
	int experiment = folder_open_below(archiver->folder, "");
	int directory = folder_open_below(process->folder, process->directory);
	int map = directory < 0 ? -1 : folder_open_file(directory, FORMAT_FILE_MAP, O_RDONLY, 0);
	int owned = owner_of(experiment) ? experiment : owner_of(directory) ? directory : map;
	const int all[] = {experiment, directory, map};

	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i] != owned)
			folder_close(all[i]);
	return owned;
}

/* Copies what the processes of one user name, with that user's rights. */
static void archive_of_user(struct archiver *archiver, const uid_t *owners, size_t first,
			    size_t count)
{
	struct object_list *objects = &archiver->objects;

	archiver->reader = open_owned(archiver, &archiver->experiment->processes.items[first]);
	for (size_t i = first; i < count; i++)
		if (owners[i] == owners[first])
			gather(archiver, &archiver->experiment->processes.items[i]);
	archive_be_reader(archiver);
	for (size_t i = 0; i < objects->files.count; i++)
		if (is_wanted(archiver, &objects->files.items[i]))
			archive_file(archiver, &objects->files.items[i]);
	archive_copy_sources(archiver);
	archive_be_in_experiment(archiver);
	objects_fini(objects);
	*objects = (struct object_list){0};
	string_table_fini(&archiver->sources);
	archiver->sources = (struct string_table){0};
	if (archiver->reader >= 0)
		close(archiver->reader);
	archiver->reader = -1;
}

static bool is_new_owner(const uid_t *owners, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (owners[i] == owners[number])
			return false;
	return true;
}

static void run(struct archiver *archiver)
{
	size_t count = archiver->request->founder_only ? 1 : archiver->experiment->processes.count;
	uid_t *owners = xcalloc(count, sizeof(*owners));

	begin_log(archiver);
	not_kept_read(archiver->folder, &archiver->before);
	for (size_t i = 0; i < count; i++) {
		int owned = open_owned(archiver, &archiver->experiment->processes.items[i]);

		owners[i] = owner_of(owned);
		folder_close(owned);
	}
	for (size_t i = 0; i < count; i++)
		if (is_new_owner(owners, i))
			archive_of_user(archiver, owners, i, count);
	free(owners);
	write_log(archiver);
	archive_write_sums(archiver);
	tell_failures(archiver);
}

/* The caller hears of what he wants to hear of. */
static void pass_on(struct diag_list *doubts, bool quiet, struct diag_list *diags)
{
	for (size_t i = 0; i < doubts->count; i++)
		if (!quiet || doubts->items[i].level == DIAG_ERROR)
			diag_add_once(diags, doubts->items[i].level, "%s", doubts->items[i].text);
	diag_fini(doubts);
}

enum status manage_archive(const char *path, const struct manage_archive_request *request,
			   struct diag_list *diags)
{
	struct diag_list doubts = {0}, unheard = {0};
	struct archiver archiver = {.request = request,
				    .diags = &doubts,
				    .folder = -1,
				    .archives = -1,
				    .store = -1,
				    .reader = -1};
	enum status status = experiment_open_logs_in(request->is_open ? request->folder : -1, path,
						     &archiver.experiment, diags, &unheard);

	diag_fini(&unheard); /* doubts about the logs: they are for those who read them */
	if (status)
		return status;
	if (archiver.experiment->processes.items[0].log.is_gprofng) {
		diag_add(diags, DIAG_ERROR,
			 "%s was recorded by gprofng, which finds only its own copies in it: use "
			 "`gprofng archive %s'",
			 archiver.experiment->name, path);
		archiver_fini(&archiver);
		return STATUS_INVALID;
	}
	if (!request->is_open && !survey_is_named_by(archiver.experiment, path, diags)) {
		archiver_fini(&archiver);
		return STATUS_INVALID;
	}
	if (request->objects != MANAGE_OBJECTS_NONE || request->sources != MANAGE_SOURCES_NONE) {
		if (open_store(&archiver))
			run(&archiver);
		else
			status = STATUS_IO;
		folder_be_oneself();
	}
	pass_on(&doubts, request->quiet, diags);
	archiver_fini(&archiver);
	return status;
}
