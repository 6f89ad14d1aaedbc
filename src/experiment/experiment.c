/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/experiment.h"

#include "base/array.h"
#include "base/folder.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "experiment/before.h"
#include "experiment/gprofng/gprofng.h"
#include "experiment/inherit.h"
#include "experiment/lives.h"
#include "experiment/unrecorded.h"
#include "format/archive.h"
#include "format/lineage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* "_f1_x1.er" */
static bool is_descendant_name(const char *name)
{
	return name[0] == '_' && strlen(name) > strlen("_.er") && path_ends_with(name, ".er");
}

uint64_t process_traced(const struct process *process, enum trace_kind kind)
{
	const struct experiment_log *log = &process->log;
	uint64_t counted = log->counters.traced[kind];
	struct diag_list unheard = {0};
	struct read_context context = process_context(process, &unheard);

	if (log->is_gprofng || (log->counters.present && log->ended && !log->exit_signal))
		return counted;
	uint64_t found = experiment_trace_count(kind, &context);

	diag_fini(&unheard);
	return found > counted ? found : counted;
}

/* Whether its profile or stacks is one of our files. */
static bool has_our_files(const struct process *process)
{
	static const char *const names[] = {FORMAT_FILE_PROFILE, FORMAT_FILE_STACKS};
	bool found = false;

	for (size_t i = 0; i < 2 && !found; i++) {
		struct read_context context = process_context(process, NULL);
		char magic[sizeof(FORMAT_FILE_MAGIC) - 1];
		int fd = read_context_open(&context, names[i]);

		found = fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
			!memcmp(magic, FORMAT_FILE_MAGIC, sizeof(magic));
		if (fd >= 0)
			close(fd);
	}
	return found;
}

/* Whether the directory of a process is ours to read; if not, `diags` says why. */
static enum status check_origin(const struct process *process, struct diag_list *diags,
				enum diag_level level)
{
	switch (experiment_log_origin(&process->log)) {
	case LOG_OURS:
	case LOG_GPROFNG:
		return STATUS_OK;
	case LOG_FOREIGN:
		diag_add(diags, level,
			 "%s is an experiment of Oracle Developer Studio or of another version of "
			 "gprofng (format %s); helio reads format 12, use the tool that made it",
			 process->name, process->log.version);
		return STATUS_INVALID;
	case LOG_NEWER:
		diag_add(diags, level,
			 "%s was recorded by a newer version (experiment format %s, this program "
			 "reads %s); update helio to read it",
			 process->name, process->log.version, FORMAT_VERSION_TEXT);
		return STATUS_INVALID;
	case LOG_UNKNOWN:
		break;
	}
	if (has_our_files(process))
		return STATUS_OK;
	diag_add(diags, level, "%s is not an experiment: %s", process->name,
		 process->log.present ? "its log.xml does not name a known format"
				      : "it has no log.xml");
	return STATUS_INVALID;
}

/* Files whose absence is always a loss; of profile the settings decide. */
static void report_missing(const struct process *process, const char *clock,
			   struct diag_list *diags)
{
	const struct {
		bool present;
		const char *text;
	} files[] = {
		{process->log.present, "log.xml is missing: facts about the process are not known"},
		{process->map.present,
		 "map.xml is missing: no address can be named, all functions show as <Unknown>"},
		{process->overview.present, "overview is missing: there are no sample points"},
		{process->profile.present || log_clock_is_off(clock),
		 "profile is missing: the time of this process is not counted"},
		{process->stacks.present || !process->profile.stackless,
		 "stacks is missing: all time shows as <Unknown>"},
	};

	if (experiment_is_launcher(process))
		return;
	for (size_t i = 0; i < COUNT(files); i++)
		if (!files[i].present)
			diag_add(diags, DIAG_WARNING, "%s: %s", process->name, files[i].text);
}

/* Ids in contexts become nodes, as those of events. */
static void bind_contexts(struct process *process, const struct read_context *context)
{
	unsigned long long missing = 0;

	for (size_t i = 0; i < process->contexts.items.count; i++) {
		uint64_t *stack = context_table_field(&process->contexts, i, RUNTIME_JAVA,
						      JAVA_CONTEXT_STACK);

		if (stack)
			*stack = experiment_stacks_node(&process->stacks, (uint32_t)*stack,
							&missing);
	}
	if (missing)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: stacks: %llu Java stacks are missing; they show as <Unknown>",
			 context->name, missing);
}

/* What is read of each process; all: of the units [from, to). */
struct extent {
	bool all;
	size_t from, to;
};

static const struct extent only_logs = {.all = false}, whole = {.all = true, .to = SIZE_MAX};

/* Everything but the log; the order matters for a process that still runs. */
static void read_data(struct experiment *experiment, struct process *process,
		      struct diag_list *warnings)
{
	struct read_context context = process_context(process, warnings);

	context.contexts = &process->contexts;
	experiment_overview_read(&process->overview, &context);
	/* events first, then the stacks and the maps that they refer to */
	experiment_profile_read(&process->profile, &context);
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		experiment_trace_read(&process->traces[kind], (enum trace_kind)kind,
				      &experiment->arena, &context);
	experiment_stacks_read(&process->stacks, &context);
	experiment_profile_bind(&process->profile, &process->stacks, &context);
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		experiment_trace_bind(&process->traces[kind], &process->stacks, &context);
	bind_contexts(process, &context);
	experiment_stacks_forget_ids(&process->stacks);
	experiment_heap_match(&process->heap, &process->traces[TRACE_HEAP]);
	experiment_objects_match(&process->objects, &process->traces[TRACE_JHEAP],
				 &process->profile.collections);
	experiment_map_read(&process->map, &experiment->arena, &context);

	const struct process *founder = &experiment->processes.items[0];

	report_missing(process, experiment_log_setting(&founder->log, "clock"), warnings);
}

static enum status read_process(struct experiment *experiment, struct process *process,
				bool with_data, struct diag_list *errors, enum diag_level level,
				struct diag_list *warnings)
{
	struct read_context context = process_context(process, warnings);

	experiment_log_read(&process->log, &experiment->arena, &context);

	enum status status = check_origin(process, errors, level);

	if (status)
		return status;
	if (experiment_log_origin(&process->log) == LOG_GPROFNG) {
		experiment_log_fini(&process->log);
		gprofng_read(experiment, process, warnings);
	} else if (with_data) {
		read_data(experiment, process, warnings);
	}
	return STATUS_OK;
}

static void free_data(struct process *process)
{
	experiment_map_fini(&process->map);
	experiment_overview_fini(&process->overview);
	experiment_profile_fini(&process->profile);
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		experiment_trace_fini(&process->traces[kind]);
	experiment_heap_fini(&process->heap);
	experiment_objects_fini(&process->objects);
	experiment_stacks_fini(&process->stacks);
	context_table_fini(&process->contexts);
}

static void free_process(struct process *process)
{
	experiment_log_fini(&process->log);
	free_data(process);
}

static int compare_lineages(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* The lineages of the descendants' directories, sorted. */
static void list_descendants(struct experiment *experiment, struct diag_list *warnings,
			     char ***lineages, size_t *count)
{
	VEC(char *) found = {0};
	DIR *directory = folder_list(experiment->folder, "");

	if (!directory) {
		diag_add(warnings, DIAG_WARNING,
			 "%s cannot be listed (%s); descendant processes are left out",
			 experiment->name, strerror(errno));
	} else {
		for (struct dirent *entry; (entry = readdir(directory));)
			if (is_descendant_name(entry->d_name))
				*vec_push(&found) =
					arena_strndup(&experiment->arena, entry->d_name,
						      strlen(entry->d_name) - strlen(".er"));
		closedir(directory);
	}
	if (found.count)
		qsort(found.items, found.count, sizeof(*found.items), compare_lineages);
	*lineages = found.items;
	*count = found.count;
}

/* "_r3_f1" is of the unit of "_r3". */
static bool begins_unit(const char *lineage, const char *before)
{
	static const size_t prefix = sizeof(FORMAT_LINEAGE_RANK) - 1;

	if (strncmp(lineage, FORMAT_LINEAGE_RANK, prefix) != 0)
		return false;
	size_t length = prefix + strcspn(lineage + prefix, "_");

	return strncmp(lineage, before, length) != 0 || (before[length] && before[length] != '_');
}

static bool is_in(const struct extent *extent, size_t unit)
{
	return extent->all && unit >= extent->from && unit < extent->to;
}

static void read_descendants(struct experiment *experiment, const struct extent *extent,
			     struct diag_list *warnings)
{
	const char *before = "";
	char **lineages;
	size_t count, units = 0;

	list_descendants(experiment, warnings, &lineages, &count);
	for (size_t i = 0; i < count; i++) {
		struct process *process = vec_push(&experiment->processes);

		process->path =
			arena_printf(&experiment->arena, "%s/%s.er", experiment->path, lineages[i]);
		process->name =
			arena_printf(&experiment->arena, "%s/%s.er", experiment->name, lineages[i]);
		process->lineage = lineages[i];
		process->folder = experiment->folder;
		process->directory = arena_printf(&experiment->arena, "%s.er", lineages[i]);
		process->number = warnings->about = ++experiment->numbers;
		units += begins_unit(lineages[i], before);
		before = lineages[i];

		bool is_here = is_in(extent, units ? units - 1 : 0);

		process->is_elsewhere = extent->all && !is_here;
		if (read_process(experiment, process, is_here, warnings, DIAG_WARNING, warnings)) {
			free_process(process);
			experiment->processes.count--;
		}
	}
	warnings->about = experiment->processes.items[0].number;
	free(lineages);
}

static void read_notes(struct experiment *experiment, struct diag_list *warnings)
{
	int fd = folder_open_file(experiment->folder, FORMAT_FILE_NOTES, O_RDONLY, 0);
	bool present = fd >= 0 || errno != ENOENT;
	struct stat info;

	if (fd >= 0 && !fstat(fd, &info)) {
		size_t size =
			info.st_size < FORMAT_NOTES_MOST ? (size_t)info.st_size : FORMAT_NOTES_MOST;
		char *text = arena_alloc(&experiment->arena, size + 1);
		ssize_t got = read(fd, text, size);

		experiment->notes = got > 0 ? text : NULL;
		present = got < 0;
	}
	if (present)
		diag_add(warnings, DIAG_WARNING, "%s: %s cannot be read", experiment->name,
			 FORMAT_FILE_NOTES);
	if (fd >= 0)
		close(fd);
}

static bool has_copy(const struct experiment *experiment, const char *name)
{
	int archives = folder_open_below(experiment->family, FORMAT_DIR_ARCHIVES);
	struct stat info;
	/* a common archive has links to its files */
	bool has = archives >= 0 && !fstatat(archives, name, &info, 0) && S_ISREG(info.st_mode) &&
		   !faccessat(archives, name, R_OK, AT_EACCESS);

	if (archives >= 0)
		close(archives);
	return has;
}

bool experiment_find_copy(const struct experiment *experiment, const struct map_file *file,
			  char name[NAME_MAX + 1])
{
	return (format_archive_second_name(name, NAME_MAX + 1, file->path, file->build_id,
					   file->mtime, file->file_size) &&
		has_copy(experiment, name)) ||
	       (format_archive_name(name, NAME_MAX + 1, file->path, file->build_id, file->mtime,
				    file->file_size) &&
		has_copy(experiment, name));
}

/* Sets path and name; a path that shows no name (".") is resolved first. */
static void name_experiment(struct experiment *experiment, const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;

	char *plain = arena_strndup(&experiment->arena, path, length);
	const char *base = path_name(plain);

	if (path_is_dots(base)) {
		char *real = realpath(plain, NULL);

		if (real)
			plain = arena_strdup(&experiment->arena, real);
		free(real);
	}
	experiment->path = plain;
	experiment->name = path_name(plain);
}

/* The founder, or the one descendant that the path names. */
static void add_first_process(struct experiment *experiment)
{
	struct process *process = vec_push(&experiment->processes);

	process->number = ++experiment->numbers;
	process->path = experiment->path;
	process->folder = experiment->folder;
	process->directory = "";
	process->lineage = "";
	experiment->archives = arena_printf(&experiment->arena, "%s/%s%s", experiment->path,
					    is_descendant_name(experiment->name) ? "../" : "",
					    FORMAT_DIR_ARCHIVES);
	if (is_descendant_name(experiment->name)) {
		process->lineage = arena_strndup(&experiment->arena, experiment->name,
						 strlen(experiment->name) - strlen(".er"));
		if (experiment->name > experiment->path + 1) {
			const char *start = experiment->name - 1;

			while (start > experiment->path && start[-1] != '/')
				start--;
			experiment->name = start;
		}
	}
	process->name = experiment->name;
}

/* The directory that is open already, whatever has its name now; else what the path names. */
static int try_folder(int opened, const char *path)
{
	return opened >= 0 ? folder_open_below(opened, "") : folder_open(path, 0);
}

/*
 * The directory.  Many may be opened at once, and each keeps a descriptor: a process may have more
 * of them than it is given at first.
 */
static int open_folder(int opened, const char *path)
{
	int folder = try_folder(opened, path);
	struct rlimit limit;

	if (folder < 0 && errno == EMFILE && !getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		if (!setrlimit(RLIMIT_NOFILE, &limit))
			folder = try_folder(opened, path);
	}
	return folder;
}

/* A rank on another machine counts its times from another moment, and says which clock's. */
static bool is_elsewhere(const struct experiment_log *founder, const struct experiment_log *own)
{
	return own->clock && founder->clock && strcmp(own->clock, founder->clock) != 0;
}

/*
 * The parameters of a recording and the machine are in the founder's log only; where the experiment
 * was opened at a descendant they are read from there.
 */
static void inherit_facts(struct experiment *experiment)
{
	struct experiment_log *log = &experiment->processes.items[0].log, founder, own = *log;
	struct diag_list unheard = {0};
	struct read_context context = {experiment->family, "", experiment->name, &unheard, NULL};

	if (experiment->family < 0)
		return;
	experiment_log_read(&founder, &experiment->arena, &context);
	if (founder.present && (founder.mono_ns == own.mono_ns || is_elsewhere(&founder, &own))) {
		for (size_t i = 0; i < founder.settings.count; i++) /* behind its own */
			*vec_push(&log->settings) = founder.settings.items[i];
		memcpy(&log->nodes, &founder.nodes, sizeof(log->nodes));
		memcpy(&log->hwcounters, &founder.hwcounters, sizeof(log->hwcounters));
		memcpy(&founder.nodes, &own.nodes, sizeof(own.nodes));
		memcpy(&founder.hwcounters, &own.hwcounters, sizeof(own.hwcounters));
		if (!own.clock) {
			log->wall_ns = founder.wall_ns;
			log->hostname = founder.hostname;
		}
		log->os = founder.os;
		log->arch = founder.arch;
		log->page_size = founder.page_size;
		log->pages = founder.pages;
		log->cpus = founder.cpus;
		log->clock_mhz = founder.clock_mhz;
	}
	experiment_log_fini(&founder);
	diag_fini(&unheard);
}

static enum status open_extent(int opened, const char *path, const struct extent *extent,
			       struct experiment **out, struct diag_list *errors,
			       struct diag_list *warnings)
{
	int folder = open_folder(opened, path);

	*out = NULL;
	if (folder < 0 && errno == ENOTDIR) {
		diag_add(errors, DIAG_ERROR, "%s is not an experiment: it is not a directory",
			 path);
		return STATUS_INVALID;
	}
	if (folder < 0) {
		diag_add(errors, DIAG_ERROR, "%s: %s", path,
			 errno == ENOENT ? "no such experiment" : strerror(errno));
		return STATUS_NOTFOUND;
	}

	struct experiment *experiment = xcalloc(1, sizeof(*experiment));

	experiment->folder = experiment->family = folder;
	name_experiment(experiment, path);
	if (is_descendant_name(experiment->name))
		experiment->family = openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	add_first_process(experiment);

	struct process *first = &experiment->processes.items[0];

	warnings->about = first->number;
	first->is_elsewhere = extent->all && !is_in(extent, 0);

	enum status status =
		read_process(experiment, first, is_in(extent, 0), errors, DIAG_ERROR, warnings);

	if (status) {
		warnings->about = 0;
		experiment_free(experiment);
		return status;
	}
	read_notes(experiment, warnings);
	if (!experiment->processes.items[0].lineage[0])
		read_descendants(experiment, extent, warnings);
	else if (!experiment->processes.items[0].log.is_gprofng)
		inherit_facts(experiment);
	warnings->about = 0;
	if (extent->all)
		experiment_inherit(experiment, warnings);
	experiment_settle_ends(experiment, warnings);
	*out = experiment;
	return STATUS_OK;
}

static enum status open_whole(const char *path, const struct extent *extent,
			      struct experiment **out, struct diag_list *errors,
			      struct diag_list *warnings)
{
	enum status status = open_extent(-1, path, extent, out, errors, warnings);

	if (status)
		return status;
	experiment_check(*out, warnings);
	before_add(*out);
	unrecorded_add(*out);
	return STATUS_OK;
}

enum status experiment_open(const char *path, struct experiment **out, struct diag_list *errors,
			    struct diag_list *warnings)
{
	return open_whole(path, &whole, out, errors, warnings);
}

size_t experiment_count_units(const char *path)
{
	struct experiment experiment = {.folder = folder_open(path, 0), .name = path};
	struct diag_list unheard = {0};
	const char *before = "";
	char **lineages = NULL;
	size_t count = 0, units = 0;

	if (experiment.folder >= 0) {
		list_descendants(&experiment, &unheard, &lineages, &count);
		close(experiment.folder);
	}
	for (size_t i = 0; i < count; before = lineages[i++])
		units += begins_unit(lineages[i], before);
	free(lineages);
	diag_fini(&unheard);
	arena_fini(&experiment.arena);
	return units ? units : 1;
}

/*
 * What was found of a process from logs only belongs to the share that has its data; one that was
 * not recorded to the one of the unit that it stands in.
 */
static void forget_elsewhere(struct experiment *experiment, const struct extent *extent,
			     bool *is_told)
{
	const char *before = "";
	size_t units = 0;

	for (size_t i = 0; i < experiment->processes.count; i++) {
		struct process *process = &experiment->processes.items[i];

		if (process->is_unrecorded) {
			process->is_elsewhere = !is_in(extent, units ? units - 1 : 0);
		} else {
			units += begins_unit(process->lineage, before);
			before = process->lineage;
			is_told[process->number] = !process->is_elsewhere;
		}
		if (!process->is_elsewhere)
			continue;
		free_data(process);
		process->map = (struct experiment_map){0};
		process->overview = (struct experiment_overview){0};
		process->profile = (struct experiment_profile){0};
		memset(process->traces, 0, sizeof(process->traces));
		process->heap = (struct experiment_heap){0};
		process->stacks = (struct stack_tree){0};
		process->contexts = (struct context_table){0};

		struct stack_builder builder;

		stack_builder_init(&builder, &process->stacks);
		stack_builder_fini(&builder);
	}
}

/*
 * By the numbers of the processes, 0 for nobody, whether this share tells what reading has said of
 * them.  What could not be read is no process of any: it is told with the first unit.
 */
static bool *find_told(struct experiment *experiment, const struct extent *extent)
{
	bool *is_told = xcalloc(experiment->numbers + 1, sizeof(*is_told));

	for (uint32_t i = 0; i <= experiment->numbers; i++)
		is_told[i] = is_in(extent, 0);
	forget_elsewhere(experiment, extent, is_told);
	return is_told;
}

enum status experiment_open_share(const char *path, size_t from, size_t to, struct experiment **out,
				  struct diag_list *errors, struct diag_list *warnings)
{
	const struct extent extent = {.all = true, .from = from, .to = to};
	struct diag_list own = {0};
	enum status status = open_whole(path, &extent, out, errors, &own);
	bool *is_told = status ? NULL : find_told(*out, &extent);

	for (size_t i = 0; i < own.count; i++) {
		const struct diag *warning = &own.items[i];

		if (is_told && !is_told[warning->about])
			continue;
		warnings->about = warning->about;
		diag_add(warnings, warning->level, "%s", warning->text);
	}
	warnings->about = 0;
	free(is_told);
	diag_fini(&own);
	return status;
}

enum status experiment_open_logs(const char *path, struct experiment **out,
				 struct diag_list *errors, struct diag_list *warnings)
{
	return open_extent(-1, path, &only_logs, out, errors, warnings);
}

enum status experiment_open_logs_in(int folder, const char *path, struct experiment **out,
				    struct diag_list *errors, struct diag_list *warnings)
{
	return open_extent(folder, path, &only_logs, out, errors, warnings);
}

void experiment_free(struct experiment *experiment)
{
	if (!experiment)
		return;
	for (size_t i = 0; i < experiment->processes.count; i++)
		free_process(&experiment->processes.items[i]);
	vec_fini(&experiment->processes);
	lives_free(experiment->lives);
	arena_fini(&experiment->arena);
	if (experiment->family >= 0 && experiment->family != experiment->folder)
		close(experiment->family);
	close(experiment->folder);
	free(experiment);
}
