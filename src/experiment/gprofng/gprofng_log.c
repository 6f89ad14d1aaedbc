/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.xml of gprofng.  Its elements are not nested as ours: facts about the
 * process come one by one, the command line and messages as texts.
 */
#include "experiment/gprofng/gprofng.h"

#include "base/array.h"
#include "base/strbuf.h"
#include "experiment/xml.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000u

struct log_reader {
	struct experiment_log *log;
	struct gprofng_log *own;
	struct arena *arena;
	const struct read_context *context;
	struct gprofng_layout *layout; /* that fields belong to now, or NULL */
};

uint64_t gprofng_seconds(const char *text)
{
	uint64_t ns = 0, part = NS_PER_S;
	bool fraction = false;

	for (; text && *text && ns < UINT64_MAX / 20; text++) {
		if (*text == '.' && !fraction) {
			fraction = true;
		} else if (*text < '0' || *text > '9') {
			return 0;
		} else if (fraction) {
			part /= 10;
			ns += (uint64_t)(*text - '0') * part;
		} else {
			ns = ns * 10 + (uint64_t)(*text - '0') * NS_PER_S;
		}
	}
	return ns;
}

static uint64_t number_of(const char **attributes, const char *name)
{
	uint64_t value = 0;

	xml_number(attributes, name, &value);
	return value;
}

/* The bytes that XML cannot hold are written as %0a%. */
static const char *decode(struct arena *arena, const char *text)
{
	char *copy = arena_strdup(arena, text), *out = copy;

	while (*text) {
		char *end;
		unsigned long byte = *text == '%' ? strtoul(text + 1, &end, 16) : 0;

		if (byte && byte <= UINT8_MAX && *end == '%') {
			*out++ = (char)byte;
			text = end + 1;
		} else {
			*out++ = *text++;
		}
	}
	*out = '\0';
	return copy;
}

static const char *keep(struct log_reader *reader, const char **attributes, const char *name)
{
	const char *value = xml_attribute(attributes, name);

	return value ? decode(reader->arena, value) : NULL;
}

static void add_setting(struct log_reader *reader, const char *name, const char *value)
{
	*vec_push(&reader->log->settings) = (struct attribute){name, value};
}

/* ---- what was recorded ---- */

static void on_profile(struct log_reader *reader, const char **attributes)
{
	static const struct {
		const char *name, *setting;
	} kinds[GPROFNG_DATA_KINDS] = {
		[GPROFNG_CLOCK] = {"profile", "clock"},
		[GPROFNG_HEAP] = {"heaptrace", "heap"},
		[GPROFNG_SYNC] = {"synctrace", "sync"},
		[GPROFNG_IO] = {"iotrace", "io"},
	};
	const char *name = xml_attribute(attributes, "name");
	const char *value = xml_attribute(attributes, "ptimer");

	reader->layout = NULL;
	for (size_t i = 0; name && i < GPROFNG_DATA_KINDS; i++) {
		if (strcmp(name, kinds[i].name) != 0 || reader->own->layouts[i].file)
			continue;
		reader->layout = &reader->own->layouts[i];
		reader->layout->interval_us = number_of(attributes, "ptimer");
		add_setting(reader, kinds[i].setting,
			    value ? arena_strdup(reader->arena, value) : "on");
		return;
	}
	if (name)
		diag_add(reader->context->diags, DIAG_WARNING,
			 "%s: data of the kind %s is not read; `gprofng display text` shows it",
			 reader->context->name, name);
}

static void on_data(struct log_reader *reader, const char **attributes)
{
	const char *file = xml_attribute(attributes, "fname");

	/* a file of this directory, nothing else */
	if (reader->layout && file && !strchr(file, '/'))
		reader->layout->file = arena_strdup(reader->arena, file);
}

static void on_packet(struct log_reader *reader, const char **attributes)
{
	if (reader->layout && !reader->layout->kind)
		reader->layout->kind = (uint32_t)number_of(attributes, "kind");
	else
		reader->layout = NULL;
}

static void on_field(struct log_reader *reader, const char **attributes)
{
	static const char *const names[GPROFNG_PROPERTY_COUNT] = {
#define X(name) [GPROFNG_##name] = #name,
		GPROFNG_PROPERTIES(X)
#undef X
	};
	const char *name = xml_attribute(attributes, "name"),
		   *type = xml_attribute(attributes, "type");
	uint64_t offset = number_of(attributes, "offset");
	struct gprofng_field field = {.offset = (uint32_t)offset};

	if (!reader->layout || !name || !type || offset > UINT16_MAX)
		return;
	if (!strcmp(type, "INT32") || !strcmp(type, "UINT32"))
		field.size = sizeof(uint32_t);
	else if (!strcmp(type, "INT64") || !strcmp(type, "UINT64"))
		field.size = sizeof(uint64_t);
	else if (!strcmp(type, "STRING"))
		field.size = GPROFNG_TEXT;
	for (size_t i = 0; i < GPROFNG_PROPERTY_COUNT; i++)
		if (!strcmp(name, names[i]))
			reader->layout->fields[i] = field;
}

static void on_setting(struct log_reader *reader, const char **attributes)
{
	const char *period = keep(reader, attributes, "sample_period"),
		   *lines = xml_attribute(attributes, "linetrace");

	if (period)
		add_setting(reader, "sample", period);
	if (lines)
		add_setting(reader, "follow", "on");
}

/* ---- facts ---- */

static void on_root(struct log_reader *reader, const char **attributes)
{
	reader->log->version = keep(reader, attributes, "version");
}

static void on_system(struct log_reader *reader, const char **attributes)
{
	struct experiment_log *log = reader->log;

	log->hostname = keep(reader, attributes, "hostname");
	log->os = keep(reader, attributes, "os");
	log->arch = keep(reader, attributes, "arch");
	log->page_size = number_of(attributes, "pagesz");
	log->pages = number_of(attributes, "npages");
}

static void on_cpu(struct log_reader *reader, const char **attributes)
{
	uint64_t clock = number_of(attributes, "clk");

	reader->log->cpus++;
	if (clock > reader->log->clock_mhz)
		reader->log->clock_mhz = clock;
}

static void on_process(struct log_reader *reader, const char **attributes)
{
	struct experiment_log *log = reader->log;
	const struct {
		const char *name;
		int64_t *value;
	} ids[] = {
		{"pid", &log->pid}, {"ppid", &log->ppid}, {"pgrp", &log->pgrp}, {"sid", &log->sid}};

	for (size_t i = 0; i < COUNT(ids); i++)
		if (xml_attribute(attributes, ids[i].name))
			*ids[i].value = (int64_t)number_of(attributes, ids[i].name);
	if (xml_attribute(attributes, "wsize"))
		reader->own->narrow = number_of(attributes, "wsize") == 32;
	if (xml_attribute(attributes, "cwd"))
		log->cwd = keep(reader, attributes, "cwd");
}

/* ---- events ---- */

static void on_run(struct log_reader *reader, const char **attributes)
{
	struct gprofng_log *own = reader->own;

	if (own->run_ns)
		return;
	own->run_ns = gprofng_seconds(xml_attribute(attributes, "tstamp"));
	if (!own->base_ns)
		own->base_ns = own->run_ns;
	reader->log->mono_ns = own->run_ns;
	reader->log->wall_ns = number_of(attributes, "time") * NS_PER_S;
	reader->log->start_ns = own->run_ns > own->base_ns ? own->run_ns - own->base_ns : 0;
}

static void on_sample(struct log_reader *reader, const char **attributes)
{
	const char *label = keep(reader, attributes, "label");

	*vec_push(&reader->own->labels) = label ? label : "";
}

/* Our names of what happened, or NULL. */
static const char *kind_of(const char *kind, const char *variant, const char *lineage)
{
	static const char *const kinds[][2] = {
		{"exit", "exit"},	{"cwarn", "warning"},	{"cerror", "error"},
		{"pause", "pause"},	{"resume", "resume"},	{"desc_start", "fork"},
		{"exec_start", "exec"}, {"comment", "comment"}, {"exec_error", "exec_failed"},
	};

	/* of system() and the like, which has no experiment of its own */
	if (lineage && lineage[0] != '_')
		return NULL;
	if (!strcmp(kind, "desc_start") && variant && !strncmp(variant, "exec", strlen("exec")))
		return "exec";
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (!strcmp(kind, kinds[i][0]))
			return kinds[i][1];
	return NULL;
}

static void add_event(struct log_reader *reader, const char *kind, const char **attributes)
{
	static const char *const names[][2] = {{"lineage", "lineage"}, {"msg", "name"}};
	struct experiment_log *log = reader->log;
	struct log_event *event = vec_push(&log->events);

	event->kind = kind;
	event->time_ns = log->start_ns + gprofng_seconds(xml_attribute(attributes, "tstamp"));
	if (event->time_ns > log->last_ns)
		log->last_ns = event->time_ns;
	/* with room for a text */
	event->attributes = arena_array(reader->arena, struct attribute, 3);
	for (size_t i = 0; i < COUNT(names); i++)
		if (xml_attribute(attributes, names[i][0]))
			event->attributes[event->attribute_count++] = (struct attribute){
				names[i][1], keep(reader, attributes, names[i][0])};
	log->ended |= !strcmp(kind, "exit") || !strcmp(kind, "exec");
}

static void on_event(struct log_reader *reader, const char **attributes)
{
	const char *kind = xml_attribute(attributes, "kind");
	const char *ours = kind ? kind_of(kind, xml_attribute(attributes, "variant"),
					  xml_attribute(attributes, "lineage"))
				: NULL;

	if (kind && !strcmp(kind, "run"))
		on_run(reader, attributes);
	else if (kind && !strcmp(kind, "sample"))
		on_sample(reader, attributes);
	else if (ours)
		add_event(reader, ours, attributes);
}

/* The words of the command are not told apart. */
static void add_arguments(struct log_reader *reader, const char *text)
{
	char *copy = arena_strdup(reader->arena, text), *rest = copy, *word;

	while ((word = strtok_r(rest, " ", &rest)))
		*vec_push(&reader->log->arguments) = word;
}

static void on_text(void *data, const char *element, const char *text)
{
	struct log_reader *reader = data;
	struct experiment_log *log = reader->log;
	const char *plain = decode(reader->arena, text);

	if (!strcmp(element, "collector")) {
		log->producer = arena_printf(reader->arena, "gprofng %s", plain);
	} else if (!strcmp(element, "process") && strcmp(plain, "(fork)") != 0) {
		add_arguments(reader, plain);
	} else if (!strcmp(element, "event") && log->events.count) {
		struct log_event *event = &log->events.items[log->events.count - 1];

		if (event->attribute_count < 3)
			event->attributes[event->attribute_count++] =
				(struct attribute){"text", plain};
	}
}

static void on_element(void *data, const char *element, const char **attributes)
{
	static const struct {
		const char *name;
		void (*read)(struct log_reader *reader, const char **attributes);
	} elements[] = {
		{"experiment", on_root}, {"system", on_system},	  {"cpu", on_cpu},
		{"process", on_process}, {"profile", on_profile}, {"profdata", on_data},
		{"profpckt", on_packet}, {"field", on_field},	  {"setting", on_setting},
		{"event", on_event},
	};

	for (size_t i = 0; i < COUNT(elements); i++)
		if (!strcmp(element, elements[i].name))
			elements[i].read(data, attributes);
}

void gprofng_log_read(struct process *process, struct gprofng_log *log,
		      const struct process *founder, struct arena *arena,
		      const struct read_context *context)
{
	struct log_reader reader = {
		.log = &process->log, .own = log, .arena = arena, .context = context};
	struct xml_result result;

	*log = (struct gprofng_log){.base_ns = founder == process ? 0 : founder->log.mono_ns};
	process->log = (struct experiment_log){.is_gprofng = true};
	xml_read_texts(context, FORMAT_FILE_LOG, on_element, on_text, &reader, &result);
	if (!log->layouts[GPROFNG_CLOCK].file)
		add_setting(&reader, "clock", "0");
	process->log.present = result.present;
	process->log.has_process = process->log.pid != 0;
	process->log.closed = true; /* a log has no end that could be missing */
	process->log.damaged = result.damaged_lines || result.too_large;
	if (process->log.arguments.count) {
		*vec_push(&process->log.arguments) = NULL;
		process->log.arguments.count--;
	}
	if (process->log.damaged)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: log.xml is damaged: %zu of its lines could not be read, the first is "
			 "line %zu; facts about the run or whole kinds of data may be missing",
			 context->name, result.damaged_lines, result.first_damaged);
}

void gprofng_log_fini(struct gprofng_log *log)
{
	vec_fini(&log->labels);
}
