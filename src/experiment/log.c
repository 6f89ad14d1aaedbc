/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/log.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "experiment/xml.h"
#include "format/counter.h"

#include <stdlib.h>
#include <string.h>

struct log_reader {
	struct experiment_log *log;
	struct arena *arena;
	struct strbuf engines; /* that followed the one it began with */
	struct string_table
		words;		/* kinds of events and names of their attributes: few, and each */
	VEC(const char *) kept; /* … is in the arena once */
};

static const char *keep(struct log_reader *reader, const char **attributes, const char *name)
{
	const char *value = xml_attribute(attributes, name);

	return value ? arena_strdup(reader->arena, value) : NULL;
}

static const char *keep_word(struct log_reader *reader, const char *word)
{
	uint32_t number = string_table_add(&reader->words, word);

	if (number == reader->kept.count)
		*vec_push(&reader->kept) = arena_strdup(reader->arena, word);
	return reader->kept.items[number];
}

/* ids may be negative only by damage; they are kept signed because pid_t is */
static int64_t signed_number(const char **attributes, const char *name)
{
	uint64_t value = 0;

	xml_number(attributes, name, &value);
	return (int64_t)value;
}

static void on_root(struct log_reader *reader, const char **attributes)
{
	struct experiment_log *log = reader->log;

	log->version = keep(reader, attributes, "version");
	log->producer = keep(reader, attributes, "producer");
	xml_number(attributes, "mono_ns", &log->mono_ns);
	xml_number(attributes, "wall_ns", &log->wall_ns);
	log->clock = keep(reader, attributes, "clock");
}

static void on_system(struct log_reader *reader, const char **attributes)
{
	struct experiment_log *log = reader->log;

	log->hostname = keep(reader, attributes, "hostname");
	log->os = keep(reader, attributes, "os");
	log->arch = keep(reader, attributes, "arch");
	xml_number(attributes, "pagesize", &log->page_size);
	xml_number(attributes, "pages", &log->pages);
	xml_number(attributes, "cpus", &log->cpus);
	xml_number(attributes, "clock_mhz", &log->clock_mhz);
}

static void on_node(struct log_reader *reader, const char **attributes)
{
	struct log_node node = {.cpus = keep(reader, attributes, "cpus")};

	xml_number(attributes, "number", &node.number);
	*vec_push(&reader->log->nodes) = node;
}

static void on_setting(struct log_reader *reader, const char **attributes)
{
	struct experiment_log *log = reader->log;
	const char *name = keep(reader, attributes, "name");
	const char *value = keep(reader, attributes, "value");

	if (!name)
		return;

	struct attribute *setting = vec_push(&log->settings);

	setting->name = name;
	setting->value = value ? value : "";
}

static void on_argument(struct log_reader *reader, const char **attributes)
{
	const char *text = xml_attribute(attributes, "text");

	*vec_push(&reader->log->arguments) = arena_strdup(reader->arena, text ? text : "");
}

static void on_counter(struct log_reader *reader, const char **attributes)
{
	const char *name = keep(reader, attributes, "name"),
		   *unit = keep(reader, attributes, "unit");
	const char *title = keep(reader, attributes, "title");
	const char *address = xml_attribute(attributes, "address");
	struct log_counter counter = {.name = name,
				      .title = title ? title : name,
				      .unit = unit ? unit : FORMAT_COUNTER_EVENTS,
				      .has_address = address && !strcmp(address, "yes")};

	xml_number(attributes, "interval", &counter.interval);
	if (name && xml_number(attributes, "number", &counter.number))
		*vec_push(&reader->log->hwcounters) = counter;
}

static void on_process(struct log_reader *reader, const char **attributes)
{
	struct experiment_log *log = reader->log;

	log->has_process = true;
	log->pid = signed_number(attributes, "pid");
	log->own_pid = xml_attribute(attributes, "own_pid") ? signed_number(attributes, "own_pid")
							    : log->pid;
	log->ppid = signed_number(attributes, "ppid");
	log->pgrp = signed_number(attributes, "pgrp");
	log->sid = signed_number(attributes, "sid");
	log->cwd = keep(reader, attributes, "cwd");
	log->executable = keep(reader, attributes, "exe");
	log->executed_name = keep(reader, attributes, "execfn");
	log->lineage = keep(reader, attributes, "lineage");
	xml_number(attributes, "taken", &log->names_taken);
	xml_number(attributes, "tstamp", &log->start_ns);
	if (log->start_ns > log->last_ns)
		log->last_ns = log->start_ns;
}

static void on_collector(struct log_reader *reader, const char **attributes)
{
	strbuf_clear(&reader->engines);
	reader->log->engine = keep(reader, attributes, "engine");
	reader->log->engine_reason = keep(reader, attributes, "reason");
	reader->log->own_calls = xml_attribute(attributes, "own_calls");
}

bool log_counters_agree(const struct log_counters *counters)
{
	uint64_t used_ns = counters->cpu_recorded_ns + counters->ends_cpu_ns;

	return !counters->has_cpu || !counters->has_recorded || counters->dropped ||
	       counters->cpu_ns <= counters->cpu_recorded_ns || counters->cpu_ns == used_ns;
}

static void on_counters(struct log_counters *counters, const char **attributes)
{
	counters->present = true;
	counters->has_events = xml_number(attributes, "events", &counters->events);
	counters->has_cpu = xml_number(attributes, "cpu_ns", &counters->cpu_ns);
	counters->has_recorded =
		xml_number(attributes, "cpu_recorded_ns", &counters->cpu_recorded_ns);
	if (!xml_number(attributes, "ends_cpu_ns", &counters->ends_cpu_ns))
		counters->ends_cpu_ns = 0;
	xml_number(attributes, "dropped", &counters->dropped);
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		xml_number(attributes, format_kinds[kind].file, &counters->traced[kind]);
	xml_number(attributes, "unwind_failed", &counters->unwind_failed);
	xml_number(attributes, "truncated", &counters->truncated);
	counters->has_process_cpu =
		xml_number(attributes, "process_cpu_ns", &counters->process_cpu_ns);
	counters->has_ppid = xml_attribute(attributes, "ppid");
	counters->ppid = signed_number(attributes, "ppid");
	counters->has_children =
		xml_number(attributes, "children_user_us", &counters->children_user_us) &&
		xml_number(attributes, "children_system_us", &counters->children_system_us);
	counters->has_before =
		xml_number(attributes, "before_user_us", &counters->before_user_us) &&
		xml_number(attributes, "before_system_us", &counters->before_system_us);
	if (!xml_number(attributes, "before_own_us", &counters->before_own_us))
		counters->before_own_us = 0;
}

static void on_left(struct log_left *left, const char **attributes)
{
#define X(name) &&xml_number(attributes, #name, &left->name)
	left->present = true FORMAT_LEFT_FIELDS(X);
#undef X
}

static void on_exit_event(struct experiment_log *log, const char **attributes)
{
	uint64_t status = 0, number = 0;

	log->ended = true;

	bool has_status = xml_number(attributes, "status", &status);
	bool has_signal = xml_number(attributes, "signal", &number);

	if (!has_status && !has_signal)
		return;
	log->has_status = true;
	log->exit_status = (int)status;
	log->exit_signal = (int)number;
}

/* What an event says about the life of the process. */
static void interpret_event(struct experiment_log *log, const char *kind, const char **attributes)
{
	if (!strcmp(kind, "exit"))
		on_exit_event(log, attributes);
	else if (!strcmp(kind, "exec")) /* the image ends here, unless exec_failed follows */
		log->ended = true;
	else if (!strcmp(kind, "exec_failed"))
		log->ended = log->has_status;
	else if (!strcmp(kind, "counters"))
		on_counters(&log->counters, attributes);
	else if (!strcmp(kind, "left"))
		on_left(&log->left, attributes);
}

static void on_engine(struct log_reader *reader, const char **attributes)
{
	const char *name = xml_attribute(attributes, "name");

	if (name && reader->log->engine)
		strbuf_printf(&reader->engines, ", then %s", name);
}

static void on_event(struct log_reader *reader, const char **attributes)
{
	struct experiment_log *log = reader->log;
	struct log_event *event = vec_push(&log->events);
	const char *kind = xml_attribute(attributes, "kind");
	size_t count = 0;

	event->kind = keep_word(reader, kind ? kind : "");
	if (xml_number(attributes, "tstamp", &event->time_ns) && event->time_ns > log->last_ns)
		log->last_ns = event->time_ns;
	if (!strcmp(event->kind, "engine"))
		on_engine(reader, attributes);
	while (attributes[count * 2])
		count++;
	event->attributes = arena_array(reader->arena, struct attribute, count + 1);
	for (size_t i = 0; i < count; i++) {
		const char *name = attributes[i * 2];

		if (!strcmp(name, "kind") || !strcmp(name, "tstamp"))
			continue;
		event->attributes[event->attribute_count].name = keep_word(reader, name);
		event->attributes[event->attribute_count++].value =
			arena_strdup(reader->arena, attributes[i * 2 + 1]);
	}
	interpret_event(log, event->kind, attributes);
}

static void on_log_element(void *data, const char *element, const char **attributes)
{
	static const struct {
		const char *name;
		void (*read)(struct log_reader *reader, const char **attributes);
	} elements[] = {
		{"experiment", on_root}, {"system", on_system},	      {"setting", on_setting},
		{"process", on_process}, {"collector", on_collector}, {"argument", on_argument},
		{"event", on_event},	 {"counter", on_counter},     {"node", on_node},
	};

	for (size_t i = 0; i < COUNT(elements); i++)
		if (!strcmp(element, elements[i].name))
			elements[i].read(data, attributes);
}

void experiment_log_read(struct experiment_log *log, struct arena *arena,
			 const struct read_context *context)
{
	struct log_reader reader = {.log = log, .arena = arena};
	struct xml_result result;

	*log = (struct experiment_log){0};
	xml_read(context, FORMAT_FILE_LOG, on_log_element, &reader, &result);
	if (reader.engines.length)
		log->engine = arena_printf(arena, "%s%s", log->engine, reader.engines.text);
	strbuf_fini(&reader.engines);
	string_table_fini(&reader.words);
	vec_fini(&reader.kept);
	log->present = result.present;
	log->closed = result.closed;
	if (log->arguments.count) {
		*vec_push(&log->arguments) = NULL;
		log->arguments.count--;
	}
	enum log_origin origin = experiment_log_origin(log);

	if (origin == LOG_FOREIGN || origin == LOG_GPROFNG)
		return;
	log->damaged = result.damaged_lines || result.too_large;
	if (result.damaged_lines)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: log.xml is damaged: %zu of its lines could not be read, the first is "
			 "line %zu; facts about the run may be missing",
			 context->name, result.damaged_lines, result.first_damaged);
	if (result.too_large)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: log.xml is too large; only its beginning was read", context->name);
}

void experiment_log_fini(struct experiment_log *log)
{
	vec_fini(&log->settings);
	vec_fini(&log->nodes);
	vec_fini(&log->hwcounters);
	vec_fini(&log->arguments);
	vec_fini(&log->events);
	*log = (struct experiment_log){0};
}

/* gprofng and Oracle's tools write versions from 7 to 12.4 and name no producer. */
enum { OLDEST_FOREIGN = 7, GPROFNG = 12 };

enum log_origin experiment_log_origin(const struct experiment_log *log)
{
	if (!log->version)
		return LOG_UNKNOWN;

	unsigned long version = strtoul(log->version, NULL, 10);

	if (log->is_gprofng || (!log->producer && version == GPROFNG))
		return LOG_GPROFNG;
	if (!log->producer && version >= OLDEST_FOREIGN)
		return LOG_FOREIGN;
	return version > FORMAT_VERSION ? LOG_NEWER : LOG_OURS;
}

const char *experiment_log_setting(const struct experiment_log *log, const char *name)
{
	for (size_t i = 0; i < log->settings.count; i++)
		if (!strcmp(log->settings.items[i].name, name))
			return log->settings.items[i].value;
	return NULL;
}

bool log_clock_is_off(const char *clock)
{
	return clock && !strcmp(clock, "0");
}

uint64_t log_clock_us(const char *clock)
{
	return clock ? strtoull(clock, NULL, 10) : 0;
}

const char *log_event_attribute(const struct log_event *event, const char *name)
{
	for (size_t i = 0; event && i < event->attribute_count; i++)
		if (!strcmp(event->attributes[i].name, name))
			return event->attributes[i].value;
	return NULL;
}

bool log_event_number(const struct log_event *event, const char *name, uint64_t *value)
{
	const char *text = log_event_attribute(event, name);

	if (text)
		*value = strtoull(text, NULL, 10);
	return text;
}

bool log_event_is(const struct log_event *event, const char *kind)
{
	return !strcmp(event->kind, kind);
}
