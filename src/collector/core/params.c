/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/params.h"

#include "collector/core/control.h"
#include "collector/core/other_clock.h"
#include "collector/core/profile_source.h"
#include "collector/core/trace.h"
#include "collector/storage/file.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"
#include "format/params.h"

static void read_window(const char *value)
{
	const char *end;
	uint64_t from_ms = text_number(value, &end);
	uint64_t to_ms = *end == '-' ? text_number(end + 1, NULL) : 0;

	collector.window_start_ns = collector.start_ns + from_ms * 1000000u;
	collector.window_end_ns = to_ms ? collector.start_ns + to_ms * 1000000u : 0;
}

static void read_key(const char *value)
{
	const char *end;

	collector.launcher_key[0] = text_number(value, &end);
	collector.launcher_key[1] = *end == ',' ? text_number(end + 1, NULL) : 0;
}

static void read_start(const char *value)
{
	collector.start_ns = text_number(value, NULL);
}

static void read_engine(const char *value)
{
	collector.engine = text_starts(value, "perf") ? ENGINE_PERF : ENGINE_MONITOR;
}

static void read_follow(const char *value)
{
	collector.follow = text_starts(value, "on");
}

static void read_ranks(const char *value)
{
	collector.ranks_only = text_starts(value, "on");
}

static void read_depth(const char *value)
{
	collector.depth = (uint32_t)text_number(value, NULL);
}

static void read_java(const char *value)
{
	collector.java_off = text_starts(value, "off");
}

static const struct {
	char key;
	void (*read)(const char *value);
} readers[] = {
	{PARAMS_START, read_start},
	{PARAMS_MACHINE, other_clock_read_param},
	{PARAMS_ENGINE, read_engine},
	{PARAMS_FOLLOW, read_follow},
	{PARAMS_RANKS, read_ranks},
	{PARAMS_PLACE, file_read_param},
	{PARAMS_LAUNCHER, read_key},
	{PARAMS_WINDOW, read_window},
	{PARAMS_DEPTH, read_depth},
	{PARAMS_SAMPLE_SIGNAL, control_read_sample_signal},
	{PARAMS_PAUSE_SIGNAL, control_read_pause_signal},
	{PARAMS_SIZE_LIMIT, control_read_size_limit},
	{PARAMS_JAVA, read_java},
};
enum { READERS = sizeof(readers) / sizeof(*readers) };

/* Those of a source are its own; unknown ones are another version's. */
static void read_param(char key, const char *value)
{
	if (trace_read_param(key, value) || profile_source.read_param(key, value))
		return;
	for (int i = 0; i < READERS; i++)
		if (readers[i].key == key)
			readers[i].read(value);
}

void params_read(const char *params)
{
	file_read_param("");
	while (*params) {
		read_param(params[0], params[1] == ':' ? params + 2 : "");
		while (*params && *params != ';')
			params++;
		if (*params)
			params++;
	}
}
