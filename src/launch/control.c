/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nothing is sent to the recorded processes.  Each has the recording clock of its experiment
 * mapped (format/control.h), so that writing one word of the file pauses it from that moment
 * on, whatever it is doing and whatever signals it blocks.  Sample points are taken from
 * outside, like the periodic ones.  Whoever may write the experiment may control it.
 *
 * The founder stands for the family: later descendants begin in its state.
 */
#include "launch/control.h"

#include "base/array.h"
#include "base/command_line.h"
#include "base/file_map.h"
#include "base/folder.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "format/control.h"
#include "launch/proc.h"
#include "launch/run/family.h"
#include "launch/run/run.h"
#include "launch/run/samples.h"
#include "launch/run/xml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char program_name[] = "helio ctl";

struct control;

struct action {
	const char *name;
	const char *did;   /* what is said of processes to which it was done */
	const char *idle;  /* … and of those to which it need not be done */
	const char *event; /* in the log, NULL: none */
	bool may_label;	   /* words may follow that say what it is */
	/* False: there was nothing to do. */
	bool (*run)(struct control *control, struct member *member, uint64_t *word);
};

struct control {
	const struct action *action;
	const char *label;
	char *founder;	  /* path */
	const char *only; /* the member asked for, NULL: all */
	struct family family;
	uint64_t now_ns; /* since the founder's start */
	char *host;	 /* where it was recorded, if that is another machine; else NULL */
	unsigned running, done, idle;
	struct diag_list diags;
};

/* ---- the actions ---- */

static bool do_pause(struct control *control, struct member *member, uint64_t *word)
{
	return control_stop(word, control->now_ns, 0);
}

static bool do_resume(struct control *control, struct member *member, uint64_t *word)
{
	return control_go_on(word, control->now_ns);
}

static bool do_stop(struct control *control, struct member *member, uint64_t *word)
{
	return control_stop(word, control->now_ns, CONTROL_FINAL);
}

static bool do_sample(struct control *control, struct member *member, uint64_t *word)
{
	return samples_take_one(&control->family, member, control->now_ns, FORMAT_SAMPLE_MANUAL,
				control->label);
}

static const char *state_of(uint64_t word)
{
	if (word & CONTROL_FINAL)
		return "stopped";
	return word & CONTROL_PAUSED ? "paused" : "recording";
}

/* The program itself has closed its experiment, or is about to end. */
static bool is_closed(const struct control *control, const struct member *member)
{
	char *text = family_read_log(&control->family, member);
	bool closed = text && strstr(text, "\n<event kind=\"exit\"");

	free(text);
	return closed;
}

static bool do_status(struct control *control, struct member *member, uint64_t *word)
{
	char program[PROC_TEXT];
	int lineage = (int)strlen(member->name) - (*member->name ? (int)strlen(".er") : 0);

	if (!control->done)
		printf("%8s  %-9s  %-12s  %s\n", "PID", "STATE", "LINEAGE", "PROGRAM");
	proc_read_text(member->pid, 0, "comm", program);
	if (*program) /* the kernel's own end of line; a name may have others */
		program[strlen(program) - 1] = '\0';
	terminal_printf(stdout, "%8d  %-9s  %-12.*s  %s\n", (int)member->pid, state_of(*word),
			lineage ? lineage : 7, lineage ? member->name : "founder", program);
	return true;
}

static const struct action actions[] = {
	{"pause", "paused", "not recording", "pause", false, do_pause},
	{"resume", "resumed", "not paused", "resume", false, do_resume},
	{"sample", "sampled", "not to be sampled", NULL, true, do_sample},
	{"stop", "stopped for good", "stopped before", "pause", false, do_stop},
	{"status", NULL, NULL, NULL, false, do_status},
};

/* ---- one process ---- */

static void refuse_profile(struct control *control, bool writes)
{
	if (errno != EACCES && errno != EPERM && errno != EROFS)
		diag_add_once(&control->diags, DIAG_ERROR, "%s cannot be controlled: %s",
			      control->founder, strerror(errno));
	else
		diag_add_once(&control->diags, DIAG_ERROR,
			      "%s cannot be %s (%s): only who records it and root can control it",
			      control->founder, writes ? "written" : "read", strerror(errno));
}

/* The page of the profile with the recording clock in it; NULL: there is none, as is said. */
static void *map_clock(struct control *control, const struct member *member)
{
	struct format_file_header header;
	void *page = MAP_FAILED;
	bool writes = control->action->did;
	int fd = family_open_file(&control->family, member, FORMAT_FILE_PROFILE,
				  writes ? O_RDWR : O_RDONLY);

	if (fd < 0) {
		refuse_profile(control, writes);
		return NULL;
	}
	/* A packed file, whose header is shorter, belongs to a process that has ended. */
	file_map_guard(); /* its owner may cut it meanwhile */
	if (pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	    header.header_size == FORMAT_BLOCK_ALIGN)
		page = mmap(NULL, FORMAT_BLOCK_ALIGN, PROT_READ | (writes ? PROT_WRITE : 0),
			    MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		diag_add_once(
			&control->diags, DIAG_ERROR,
			"%s cannot be controlled: its profile was cut or replaced while it is "
			"recorded",
			control->founder);
	return page == MAP_FAILED ? NULL : page;
}

static void log_action(struct control *control, const struct member *member)
{
	struct strbuf line = {0};
	int fd = family_open_file(&control->family, member, FORMAT_FILE_LOG, O_WRONLY | O_APPEND);

	if (fd < 0)
		return;
	strbuf_puts(&line, "<event");
	xml_add_attribute(&line, "kind", control->action->event);
	xml_add_number(&line, "tstamp", control->now_ns);
	strbuf_printf(&line, " text=\"helio ctl %s\"/>\n", control->action->name);
	if (write(fd, line.text, line.length) < 0)
		diag_add_once(&control->diags, DIAG_WARNING, "The log cannot be written: %s",
			      strerror(errno));
	strbuf_fini(&line);
	close(fd);
}

static void act_on(struct control *control, struct member *member)
{
	void *page = map_clock(control, member);
	uint64_t *word = page ? (uint64_t *)(void *)((char *)page + CONTROL_OFFSET) : NULL;

	if (!page)
		return;
	if (!control->action->run(control, member, word)) {
		control->idle++;
	} else {
		control->done++;
		if (control->action->event)
			log_action(control, member);
	}
	munmap(page, FORMAT_BLOCK_ALIGN);
}

/* Later descendants of a founder that is gone begin in its state all the same. */
static void act_on_founder(struct control *control)
{
	void *page = map_clock(control, &control->family.members.items[0]);

	if (!page)
		return;
	control->action->run(control, NULL, (uint64_t *)(void *)((char *)page + CONTROL_OFFSET));
	munmap(page, FORMAT_BLOCK_ALIGN);
}

/* ---- the experiment ---- */

/* NAME.er/_LINEAGE.er is one process of NAME.er. */
static void take_apart(struct control *control, const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	control->founder = xstrndup(path, length);
	char *slash = strrchr(control->founder, '/');

	if (!slash || slash[1] != '_')
		return;
	*slash = '\0';

	int folder = folder_open(control->founder, 0);
	struct stat info;

	if (folder >= 0 && folder_stat(folder, FORMAT_FILE_LOG, &info))
		control->only = slash + 1;
	else
		*slash = '/';
	folder_close(folder);
}

/* Process ids of another machine mean others here, or none. */
static void read_host(struct control *control, const char *text)
{
	static const char attribute[] = " hostname=\"";
	const char *system = strstr(text, "\n<system ");
	const char *name = system ? strstr(system, attribute) : NULL;
	struct utsname own;

	if (!name || uname(&own))
		return;
	name += strlen(attribute);
	size_t length = strcspn(name, "\"\n");

	if (length != strlen(own.nodename) || memcmp(name, own.nodename, length) != 0)
		control->host = xstrndup(name, length);
}

static void refuse_experiment(struct control *control, bool has_log, int error)
{
	const char *name = control->founder;

	if (error == EACCES || error == EPERM)
		diag_add(&control->diags, DIAG_ERROR,
			 "%s cannot be read (%s): only who records it and root can control it",
			 name, strerror(error));
	else if (error == ENOENT && *name && name[strspn(name, "0123456789")] == '\0')
		diag_add(&control->diags, DIAG_ERROR,
			 "%s is not an experiment: %s; a recording is named by its experiment, not "
			 "by a process: `helio ls' shows those that are here",
			 name, strerror(error));
	else
		diag_add(&control->diags, DIAG_ERROR, "%s is not an experiment: %s", name,
			 has_log ? "its log has no beginning" : strerror(error));
}

static bool open_experiment(struct control *control)
{
	uint64_t mono_ns;
	char *text;
	const char *head;
	int folder = folder_open(control->founder, 0);

	if (folder >= 0 && control->action->did && !folder_is_named_by(folder, control->founder)) {
		diag_add(&control->diags, DIAG_ERROR,
			 "%s leads through a link of another user's, by which nothing is "
			 "controlled: name the experiment itself",
			 control->founder);
		folder_close(folder);
		return false;
	}
	if (folder >= 0)
		family_open(&control->family, folder, 0, 0);
	text = folder >= 0 ? family_read_log(&control->family, &control->family.members.items[0])
			   : NULL;
	head = text ? strstr(text, "<experiment ") : NULL;
	if (head && xml_read_number(head, "mono_ns", &mono_ns))
		control->family.mono_ns = mono_ns;
	else
		refuse_experiment(control, text, text ? 0 : errno);
	if (head)
		read_host(control, text);
	free(text);
	if (!head)
		return false;
	control->now_ns = run_now_ns() - control->family.mono_ns;
	family_scan(&control->family);
	return true;
}

static bool has_member(const struct control *control)
{
	for (size_t i = 0; i < control->family.members.count; i++)
		if (!strcmp(control->only, control->family.members.items[i].name))
			return true;
	return false;
}

static void say_why_not(struct control *control)
{
	if (control->host)
		diag_add(&control->diags, DIAG_ERROR, "%s was recorded on %s: control it there",
			 control->founder, control->host);
	else if (control->only && !has_member(control))
		diag_add(
			&control->diags, DIAG_ERROR,
			"%s has no process %s; `helio ctl status %s' shows those that are recorded",
			control->founder, control->only, control->founder);
	else
		diag_add(&control->diags, DIAG_ERROR,
			 "%s%s%s is not being recorded any more: its process%s ended or closed it",
			 control->founder, control->only ? "/" : "",
			 control->only ? control->only : "", control->only ? " has" : "es have");
}

static void act(struct control *control)
{
	struct member *founder = &control->family.members.items[0];

	for (size_t i = 0; i < control->family.members.count; i++) {
		struct member *member = &control->family.members.items[i];

		if (member->ended || !member->pid ||
		    (control->only && strcmp(control->only, member->name) != 0) ||
		    is_closed(control, member))
			continue;
		control->running++;
		act_on(control, member);
	}
	if (control->running && founder->ended && !control->only && control->action->event)
		act_on_founder(control);
	if (!control->running)
		say_why_not(control);
}

static void report(const struct control *control)
{
	const struct action *action = control->action;

	if (!action->did)
		return;
	if (control->done)
		terminal_printf(stdout, "%s: %s: %u process%s %s\n", program_name, control->founder,
				control->done, control->done == 1 ? "" : "es", action->did);
	if (control->idle)
		terminal_printf(stdout, "%s: %s: %u process%s %s\n", program_name, control->founder,
				control->idle, control->idle == 1 ? "" : "es", action->idle);
}

/* ---- the command line ---- */

/* Operands begin with the action, so that a label may look like an option. */
static const struct option_table tables[] = {OPTION_COMMON};
static const struct option_syntax syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.operand_ends = true,
	.usage = "Usage: %s pause|resume|stop|status EXPERIMENT\n"
		 "       %s sample [LABEL] EXPERIMENT\n"
		 "\n"
		 "Controls a recording in progress, of all its processes or, for\n"
		 "EXPERIMENT/_LINEAGE.er, of one.\n"
		 "\n"
		 "  pause          record nothing until it is resumed\n"
		 "  resume         record again\n"
		 "  stop           record nothing any more; the programs go on\n"
		 "  sample         take a sample point, with a label if one is given\n"
		 "  status         show the processes that are recorded\n"
		 "\n",
};

static const struct action *find_action(const char *word)
{
	for (size_t i = 0; i < COUNT(actions); i++)
		if (!strcmp(word, actions[i].name))
			return &actions[i];
	return NULL;
}

static bool refuse_action(const char *word)
{
	const char *names[COUNT(actions)], *near;

	for (size_t i = 0; i < COUNT(actions); i++)
		names[i] = actions[i].name;
	near = suggest_closest(word, names, COUNT(actions));
	if (near)
		command_line_refuse(program_name, "there is no action `%s'; did you mean `%s'?",
				    word, near);
	else
		command_line_refuse(program_name, "there is no action `%s'", word);
	return false;
}

/* ACTION [LABEL] EXPERIMENT */
static bool read_operands(struct control *control, char **operands)
{
	size_t count = command_line_count(operands);

	control->action = count ? find_action(operands[0]) : NULL;
	if (count && !control->action)
		return refuse_action(operands[0]);
	bool may_label = count && control->action->may_label;

	if (count < 2 || count > (may_label ? 3 : 2)) {
		command_line_refuse(program_name,
				    count < 2	? "name an action and an experiment"
				    : may_label ? "name one experiment, behind one label or none"
						: "name one experiment");
		return false;
	}
	if (count == 3)
		control->label = operands[1];
	take_apart(control, operands[count - 1]);
	return true;
}

static int control(char **operands)
{
	struct control control = {.label = ""};
	int status = CONTROL_EXIT_FAILED;

	if (!read_operands(&control, operands))
		return CONTROL_EXIT_USAGE;
	if (open_experiment(&control)) {
		act(&control);
		report(&control);
		if (control.done || control.idle)
			status = CONTROL_EXIT_OK;
	}
	command_line_say(stderr, program_name, &control.diags);
	if (control.family.members.count)
		family_close(&control.family);
	free(control.founder);
	free(control.host);
	return status;
}

int control_main(int argc, char **argv)
{
	char **operands;

	switch (command_line_read(&syntax, program_name, NULL, argv + 1, &operands)) {
	case COMMAND_LINE_ANSWERED:
		return CONTROL_EXIT_OK;
	case COMMAND_LINE_WRONG:
		return CONTROL_EXIT_USAGE;
	default:
		return control(operands);
	}
}
