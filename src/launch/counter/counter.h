/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of -h: what the user names becomes what the kernel is asked for.
 *
 *   counters = definition { "," definition } | "on" | "hi" | "lo" | "auto" | "off"
 *   definition = ["+"|"-"] name {"~" attribute ["=" value]} ["/" register] ["," interval]
 *   name     = a name of counter_event.c, of libpfm4, or rHEX
 *            | "mem:" (0xADDRESS | symbol ["+" offset]) ["/" length] [":" ("w"|"rw"|"x")]
 *   interval = "" | "on" | "hi" | "lo" | a number, with k, m or g
 *
 * Names are read with the command line; symbols and the kernel's consent need the program.
 */
#ifndef HELIO_LAUNCH_COUNTER_H
#define HELIO_LAUNCH_COUNTER_H

#include "base/status.h"
#include "base/strbuf.h"
#include "format/counter.h"

#include <stdio.h>

enum { COUNTER_TEXT = 128, COUNTER_PARAM_ROOM = 512 };

enum counter_pace { COUNTER_HIGH, COUNTER_ON, COUNTER_LOW, COUNTER_PACES };

struct counter {
	char name[COUNTER_TEXT]; /* as typed, of characters that a metric's name may have */
	char title[COUNTER_TEXT];
	const char *unit;	       /* FORMAT_COUNTER_EVENTS … */
	bool backtrack;		       /* +: the data's address is asked for */
	bool no_address;	       /* - */
	char symbol[COUNTER_TEXT];     /* of a watch point; "": its address is known */
	uint64_t paces[COUNTER_PACES]; /* the named intervals */
	struct format_counter event;
};

struct counter_list {
	struct counter items[COUNTERS_MAX];
	unsigned count;
	bool off;
};

/* Adds the counters of one -h.  False: an error says what is wrong. */
bool counter_read(struct counter_list *list, const char *text, struct diag_list *diags);

/*
 * Looks symbols up in the program and tries each event.  What cannot be had is refused with the
 * remedy, where that is the kernel's part left out, with a warning.
 */
enum status counter_prepare(struct counter_list *list, const char *program,
			    struct diag_list *diags);

/* The parameter `h` of format/params.h. */
enum status counter_param(const struct counter_list *list, char param[COUNTER_PARAM_ROOM],
			  struct diag_list *diags);
/* The elements of log.xml. */
void counter_add_log(struct strbuf *out, const struct counter_list *list);

/* What this machine has, as `helio collect -h` shows it. */
void counter_show_all(FILE *file);

enum counter_watching { COUNTER_WATCH_DENIED, COUNTER_WATCH_SILENT, COUNTER_WATCH_WORKS };

/* What becomes of watch points here: not allowed, allowed but never reported, good. */
enum counter_watching counter_watching(void);
#define COUNTER_WATCH_SILENT_TEXT                                                                  \
	"watch points can be set but do not fire: the virtual machine does not pass the "          \
	"processor's debug registers on"

/* ---- between the files of this part ---- */

/* Finds a name, without prefix; false: an error says why not. counter_event.c */
bool counter_find(struct counter *counter, const char *name, struct diag_list *diags);
/* Calls visit for each name of the table. */
void counter_each(void (*visit)(const struct counter *counter, void *arg), void *arg);
/* Reads what follows mem: and looks its symbol up.  counter_watch.c */
bool counter_watch(struct counter *counter, const char *text, struct diag_list *diags);
bool counter_resolve(struct counter *counter, const char *program, struct diag_list *diags);
/*
 * Whether watch points of this type (HW_BREAKPOINT_W …), which the kernel opens, count: many
 * virtual machines let it open them, and never report an access.  Tries one on a variable or
 * function of its own.  counter_watch.c
 */
bool counter_watch_works(uint64_t type);
/* Switches and migrations. */
bool counter_is_of_kernel(const struct counter *counter);
/* Opens the event as the collector does: a descriptor, or a negative errno. counter_try.c */
int counter_open(const struct format_counter *event);
bool counter_can_open(const struct format_counter *event);

#endif
