/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the file (PATH search, scripts, Java archives).  What an ELF file
 * must be like is in target_elf.c.
 */
#include "launch/run/target.h"

#include "base/path.h"
#include "launch/run/exit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	HEAD_SIZE = 256,  /* the kernel looks no further for an interpreter's name */
	SCRIPT_DEPTH = 5, /* … and follows no more interpreters */
};

enum status target_refuse(struct target *target, int exit_code)
{
	target->exit_code = exit_code;
	return exit_code == LAUNCH_EXIT_NOT_FOUND ? STATUS_NOTFOUND : STATUS_INVALID;
}

static bool is_runnable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) &&
	       !faccessat(AT_FDCWD, path, X_OK, AT_EACCESS);
}

static bool is_there(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/*
 * The first file in PATH that can be run; else the first that is at least
 * there, as execvp then says "permission denied" rather than "not found".
 */
static char *search_path(struct arena *arena, const char *name)
{
	const char *path = getenv("PATH");
	char standard[256] = "";
	char *second = NULL;

	if (!path) {
		confstr(_CS_PATH, standard, sizeof(standard));
		path = standard;
	}
	for (const char *end; *name && path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		char *file =
			end == path ? arena_printf(arena, "./%s", name)
				    : arena_printf(arena, "%.*s/%s", (int)(end - path), path, name);

		if (is_runnable(file))
			return file;
		if (!second && is_there(file))
			second = file;
	}
	return second;
}

/* Puts words before the program's own arguments; the first `skip` of those are left out. */
static void put_in_front(struct target *target, char **front, size_t count, size_t skip)
{
	size_t old = 0;

	while (target->argv[old])
		old++;
	char **argv = arena_array(&target->arena, char *, count + old + 1);

	memcpy(argv, front, count * sizeof(*argv));
	memcpy(argv + count, target->argv + skip, (old - skip) * sizeof(*argv));
	target->argv = argv;
}

static enum status not_found(struct target *target, struct diag_list *diags)
{
	const char *name = target->argv[0];

	diag_add(diags, DIAG_ERROR, "Target '%s' not found: there is no such program in PATH%s%s",
		 name, is_there(name) ? "; for the file in this folder say ./" : "",
		 is_there(name) ? name : "");
	return target_refuse(target, LAUNCH_EXIT_NOT_FOUND);
}

static enum status find_file(struct target *target, struct diag_list *diags)
{
	char *name = target->argv[0];
	struct stat st;

	target->path = strchr(name, '/') ? name : search_path(&target->arena, name);
	if (!target->path)
		return not_found(target, diags);
	if (stat(target->path, &st)) {
		bool missing = errno == ENOENT || errno == ENOTDIR;

		diag_add(diags, DIAG_ERROR, "Target '%s' %s: %s", name,
			 missing ? "not found" : "cannot be looked at", strerror(errno));
		return target_refuse(target,
				     missing ? LAUNCH_EXIT_NOT_FOUND : LAUNCH_EXIT_NOT_RUNNABLE);
	}
	if (S_ISDIR(st.st_mode)) {
		diag_add(diags, DIAG_ERROR, "Target '%s' is a directory, not a program", name);
		return target_refuse(target, LAUNCH_EXIT_NOT_RUNNABLE);
	}
	if (!is_runnable(target->path)) {
		diag_add(
			diags, DIAG_ERROR,
			"Target '%s' is not executable: give it the right (chmod +x), and see that "
			"its file system is not mounted noexec",
			name);
		return target_refuse(target, LAUNCH_EXIT_NOT_RUNNABLE);
	}
	return STATUS_OK;
}

/* The interpreter's name in a line "#! name argument", cut off in place; NULL: none. */
static char *script_interpreter(char *head)
{
	char *name = head + 2 + strspn(head + 2, " \t");

	name[strcspn(name, " \t\n")] = '\0';
	return *name ? name : NULL;
}

static ssize_t read_head(int fd, char head[HEAD_SIZE + 1])
{
	ssize_t size = pread(fd, head, HEAD_SIZE, 0);

	head[size > 0 ? size : 0] = '\0';
	return size;
}

static bool is_text(const char *head, ssize_t size)
{
	return size >= 0 && !memchr(head, '\0', (size_t)size);
}

/* From a script to its interpreter. */
static enum status follow_script(struct target *target, char *head, char **path,
				 struct diag_list *diags)
{
	char *interpreter = script_interpreter(head);

	target->is_script = true;
	if (interpreter && is_runnable(interpreter)) {
		*path = arena_strdup(&target->arena, interpreter);
		return STATUS_OK;
	}
	bool there = interpreter && is_there(interpreter);

	diag_add(diags, DIAG_ERROR,
		 "Target '%s' is a script whose interpreter '%s' %s: correct its first line, or "
		 "install the interpreter",
		 *path, interpreter ? interpreter : "",
		 there ? "is not executable" : "does not exist");
	return target_refuse(target, there ? LAUNCH_EXIT_NOT_RUNNABLE : LAUNCH_EXIT_NOT_FOUND);
}

/*
 * Looks at one file of the chain script → interpreter → …; *path becomes the
 * next one, or NULL at the chain's end.
 */
static enum status check_step(struct target *target, char **path, int depth,
			      struct diag_list *diags)
{
	char head[HEAD_SIZE + 1];
	int fd = open(*path, O_RDONLY | O_CLOEXEC);
	enum status status = STATUS_OK;

	if (fd < 0) {
		diag_add(
			diags, DIAG_ERROR,
			"Target '%s' cannot be read (%s), and the collector must know what kind of "
			"program it is: ask for the right to read it",
			*path, strerror(errno));
		return target_refuse(target, LAUNCH_EXIT_NOT_RUNNABLE);
	}
	ssize_t size = read_head(fd, head);

	if (size >= 2 && !memcmp(head, "#!", 2) && depth < SCRIPT_DEPTH) {
		status = follow_script(target, head, path, diags);
	} else if (!depth && is_text(head, size)) {
		/* Text without #!: execvp and every shell hand it to sh. */
		put_in_front(target, (char *[]){"/bin/sh", target->path}, 2, 1);
		target->is_script = true;
		target->path = *path = "/bin/sh";
	} else {
		status = target_check_elf(target, fd, *path, diags);
		*path = NULL;
	}
	close(fd);
	return status;
}

enum status target_find(struct target *target, char **words, struct diag_list *diags)
{
	size_t count = 0;

	*target = (struct target){.argv = words};
	while (words[count])
		count++;
	put_in_front(target, words, count, count);
	enum status status = find_file(target, diags);
	char *path = target->path;

	for (int depth = 0; status == STATUS_OK && path; depth++)
		status = check_step(target, &path, depth, diags);
	return status;
}

void target_fini(struct target *target)
{
	arena_fini(&target->arena);
	*target = (struct target){0};
}
