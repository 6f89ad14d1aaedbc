/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file's type is that of the mount which its name lies below; what has no name in the file
 * system tells its type by its own kind of name.  Symbolic links are not followed: nobody knows
 * where they led to at that time.
 */
#include "analysis/kinds/io_places.h"

#include "base/array.h"
#include "experiment/mounts.h"

#include <stdlib.h>
#include <string.h>

static const char *const old_types[IO_PLACE_UNKNOWN + 1] = {
	"zfs",	  "nfs",    "ufs",     "udf",	  "lofs",   "vxfs",   "tmpfs",	"vfat", "iso9660",
	"proc",	  "pipefs", "swapfs",  "cachefs", "autofs", "specfs", "sockfs", "fdfs", "mntfs",
	"namefs", "objfs",  "sharefs", "ext2",	  "ext3",   "ext4",   "",
};

static bool is_socket(const char *name)
{
	static const char *const kinds[] = {"tcp ", "udp ", "raw ", "unix ", "other ", "socket:"};
	size_t length = strlen(name), end = strlen(" socket>");

	for (size_t i = 0; i < COUNT(kinds); i++)
		if (!strncmp(name, kinds[i], strlen(kinds[i])))
			return true;
	return *name == '<' && length > end && !strcmp(name + length - end, " socket>");
}

/* NULL: not known; so are names that are not absolute. */
static const char *type_of(const struct experiment_mounts *mounts, const char *name)
{
	if (!strncmp(name, "/memfd:", strlen("/memfd:")))
		return "tmpfs";
	if (*name == '/')
		return experiment_mounts_type(mounts, name);
	if (!strncmp(name, "pipe:[", strlen("pipe:[")))
		return "pipefs";
	if (!strncmp(name, "anon_inode:", strlen("anon_inode:")))
		return "anon_inodefs";
	return is_socket(name) ? "sockfs" : NULL;
}

/* The process's own list, or that of its family. */
static void read_mounts(const struct session_process *process, const struct experiment *experiment,
			struct arena *arena, struct experiment_mounts *mounts)
{
	struct diag_list unheard = {0};
	struct read_context own = process_context(process->process, &unheard), family = own;

	family.directory = "";
	family.folder = experiment->family;

	if (!experiment_mounts_read(mounts, FORMAT_FILE_MOUNTS_OWN, arena, &own))
		experiment_mounts_read(mounts, FORMAT_FILE_MOUNTS, arena, &family);
	diag_fini(&unheard);
}

static uint32_t *places_of_process(struct io_places *places, const struct session_process *process,
				   const struct experiment *experiment)
{
	const struct experiment_trace *trace = &process->process->traces[TRACE_IO];
	uint32_t *of = xmalloc((trace->texts.count + 1) * sizeof(*of));
	struct experiment_mounts mounts;
	struct arena arena = {0};

	read_mounts(process, experiment, &arena, &mounts);
	for (size_t i = 0; i < trace->texts.count; i++) {
		const char *name = trace->texts.items[i];
		const char *type = name ? type_of(&mounts, name) : NULL;

		of[i] = type ? string_table_add(&places->types, type) : IO_PLACE_UNKNOWN;
	}
	of[trace->texts.count] = IO_PLACE_UNKNOWN;
	experiment_mounts_fini(&mounts);
	arena_fini(&arena);
	return of;
}

const struct io_places *io_places_of(struct session *session)
{
	struct io_places *places = session->io_places;
	size_t number = 0;

	if (places)
		return places;
	session->io_places = places = xcalloc(1, sizeof(*places));
	for (size_t i = 0; i <= IO_PLACE_UNKNOWN; i++)
		string_table_add(&places->types, old_types[i]);
	places->of = xcalloc(session->scanned.count + 1, sizeof(*places->of));
	for (size_t i = 0; i < session->experiments.count; i++) {
		const struct experiment *experiment = session->experiments.items[i];

		for (size_t k = 0; k < experiment->processes.count; k++, number++)
			places->of[number] = places_of_process(
				places, &session->scanned.items[number], experiment);
	}
	places->processes = number;
	return places;
}

void io_places_free(struct io_places *places)
{
	if (!places)
		return;
	for (size_t i = 0; i < places->processes; i++)
		free(places->of[i]);
	free(places->of);
	string_table_fini(&places->types);
	free(places);
}
