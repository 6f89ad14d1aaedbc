/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of log.xml: what is known before the program runs. */
#include "base/memory.h"
#include "format/format.h"
#include "format/params.h"
#include "launch/proc.h"
#include "launch/run/machine_clock.h"
#include "launch/run/new_experiment.h"
#include "launch/run/xml.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static unsigned read_clock_mhz(void)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];
	double mhz = 0;

	while (file && mhz == 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, "cpu MHz", strlen("cpu MHz"))) {
			const char *colon = strchr(line, ':');

			mhz = colon ? strtod(colon + 1, NULL) : 0;
		}
	if (file)
		fclose(file);
	return mhz > 0 && mhz < 1e6 ? (unsigned)mhz : 0;
}

void new_experiment_read_system(struct new_experiment_system *system)
{
	struct utsname name = {0};

	uname(&name);
	*system = (struct new_experiment_system){
		.page_size = (uint64_t)sysconf(_SC_PAGESIZE),
		.pages = (uint64_t)sysconf(_SC_PHYS_PAGES),
		.cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
		.clock_mhz = read_clock_mhz(),
	};
	snprintf(system->hostname, sizeof(system->hostname), "%s", name.nodename);
	snprintf(system->os, sizeof(system->os), "%s %s", name.sysname, name.release);
	snprintf(system->arch, sizeof(system->arch), "%s", name.machine);
}

/* Quotes a word where a shell would not take it as it is. */
static void add_word(struct strbuf *out, const char *word)
{
	bool plain = *word;

	for (const char *at = word; *at && plain; at++)
		plain = isalnum((unsigned char)*at) || strchr("_-+=./:,@%^", *at);
	if (plain) {
		strbuf_puts(out, word);
		return;
	}
	strbuf_putc(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			strbuf_puts(out, "'\\''");
		else
			strbuf_putc(out, *word);
	}
	strbuf_putc(out, '\'');
}

void new_experiment_add_words(struct strbuf *out, char **words)
{
	for (char **word = words; *word; word++) {
		if (word > words)
			strbuf_putc(out, ' ');
		add_word(out, *word);
	}
}

static void add_setting(struct strbuf *out, const char *name, const char *value)
{
	strbuf_puts(out, "<setting");
	xml_add_attribute(out, "name", name);
	xml_add_attribute(out, "value", value);
	strbuf_puts(out, "/>\n");
}

static void add_number_setting(struct strbuf *out, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	add_setting(out, name, text);
}

static void add_signal_setting(struct strbuf *out, const char *name, int number)
{
	char text[OPTIONS_SIGNAL_ROOM];

	if (!number)
		return;
	options_signal_name(number, text);
	add_setting(out, name, text);
}

/* Whose children descendants become when they are left by their parents. */
static void add_ancestors(struct strbuf *out)
{
	enum { MOST = 100 };
	struct strbuf text = {0};
	pid_t pid = getpid();

	for (int i = 0; pid && i < MOST; i++, pid = proc_parent(pid))
		strbuf_printf(&text, "%s%d", i ? " " : "", (int)pid);
	add_setting(out, "ancestors", text.text);
	strbuf_fini(&text);
}

static void add_settings(struct strbuf *out, const struct new_experiment_log *log)
{
	const struct options *options = log->options;
	struct strbuf text = {0};

	add_number_setting(out, "clock", options->clock_us);
	if (options->clock_first_us)
		add_number_setting(out, "clock_first", options->clock_first_us);
	add_number_setting(out, "sample", options->sample_s);
	options_follow_text(options, &text);
	add_setting(out, "follow", text.text);
	if (options->ranks)
		add_setting(out, "ranks", "on");
	if (options->follow && !options->follow_regex && !log->attached)
		add_ancestors(out);
	if (options->window) {
		char window[64];

		snprintf(window, sizeof(window), "%" PRIu64 "-%" PRIu64, options->window_start_ms,
			 options->window_end_ms);
		add_setting(out, "window", window);
	}
	add_signal_setting(out, "sample_signal", options->sample_signal);
	add_signal_setting(out, "pause_signal", options->pause_signal);
	if (options->begin_paused)
		add_setting(out, "begin_paused", "on");
	if (options->size_limit_mb)
		add_number_setting(out, "size_limit", options->size_limit_mb);
	add_setting(out, "archive", options->archive);
	if (options->depth)
		add_number_setting(out, "depth", options->depth);
	if (options->java_off)
		add_setting(out, "java", "off");
	if (options->max_overhead != PARAMS_OVERHEAD_DEFAULT)
		add_number_setting(out, "max_overhead", options->max_overhead);
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (*options->trace[kind])
			add_setting(out, format_kinds[kind].name, options->trace[kind]);
	add_setting(out, "engine", options_engine_name(options->engine));
	if (*log->engine_reason)
		add_setting(out, "engine_reason", log->engine_reason);
	if (log->attached)
		add_number_setting(out, "attached_after_ms", log->attached_after_ns / 1000000);
	strbuf_clear(&text);
	strbuf_puts(&text,
		    log->attached && !log->options->attach ? "helio attach " : "helio collect ");
	new_experiment_add_words(&text, log->words + 1);
	add_setting(out, "command", text.text);
	strbuf_fini(&text);
}

static void add_system(struct strbuf *out, const struct new_experiment_system *system)
{
	strbuf_puts(out, "<system");
	xml_add_attribute(out, "hostname", system->hostname);
	xml_add_attribute(out, "os", system->os);
	xml_add_attribute(out, "arch", system->arch);
	xml_add_number(out, "pagesize", system->page_size);
	xml_add_number(out, "pages", system->pages);
	xml_add_number(out, "cpus", system->cpus);
	xml_add_number(out, "clock_mhz", system->clock_mhz);
	strbuf_puts(out, "/>\n");
}

/* The first line of a file of the kernel's about NUMA nodes; false: there is none. */
static bool read_node_file(const char *name, char *line, size_t size)
{
	char *path = xasprintf("/sys/devices/system/node/%s", name);
	FILE *file = fopen(path, "re");
	bool got = file && fgets(line, (int)size, file);

	if (got)
		line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
	free(path);
	return got;
}

static void add_node(struct strbuf *out, unsigned long number)
{
	char *name = xasprintf("node%lu/cpulist", number);
	char cpus[4096];

	strbuf_puts(out, "<node");
	xml_add_number(out, "number", number);
	if (read_node_file(name, cpus, sizeof(cpus)))
		xml_add_attribute(out, "cpus", cpus);
	strbuf_puts(out, "/>\n");
	free(name);
}

/* The kernel's list is as "0-1,4". Without one, all memory is the only node's. */
static void add_nodes(struct strbuf *out)
{
	enum { NODES_MAX = 1024 };
	char list[4096] = "0";
	char *at = list;

	read_node_file("online", list, sizeof(list));
	while (*at >= '0' && *at <= '9') {
		unsigned long first = strtoul(at, &at, 10);
		unsigned long last = *at == '-' ? strtoul(at + 1, &at, 10) : first;

		for (; first <= last && first < NODES_MAX; first++)
			add_node(out, first);
		at += *at == ',';
	}
}

void new_experiment_add_log(struct strbuf *out, const struct new_experiment_log *log)
{
	char clock[MACHINE_CLOCK_NAME];

	machine_clock_name(clock);
	strbuf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<experiment");
	xml_add_attribute(out, "version", FORMAT_VERSION_TEXT);
	xml_add_attribute(out, "producer", "heliometer " HELIO_VERSION);
	xml_add_number(out, "mono_ns", log->mono_ns);
	xml_add_number(out, "wall_ns", log->wall_ns);
	if (*clock)
		xml_add_attribute(out, "clock", clock);
	strbuf_puts(out, ">\n");
	add_system(out, log->system);
	add_nodes(out);
	add_settings(out, log);
	counter_add_log(out, &log->options->counters);
	for (char **argument = log->argv; *argument; argument++) {
		strbuf_puts(out, "<argument");
		xml_add_attribute(out, "text", *argument);
		strbuf_puts(out, "/>\n");
	}
}
