/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/params.h"

#include "collector/core/control.h"
#include "collector/core/core.h"
#include "collector/core/file.h"
#include "collector/core/text.h"
#include "collector/core/trace.h"
#include "collector/sources/clock.h"
#include "collector/sources/overhead.h"

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

void params_read(const char *params)
{
	file_read_param("");
	while (*params) {
		char key = params[0];
		const char *value = params[1] == ':' ? params + 2 : "";

		if (key == 'p')
			interval_read_param(value);
		else if (key == 's')
			collector.start_ns = text_number(value, NULL);
		else if (key == 'e')
			collector.engine =
				text_starts(value, "perf") ? ENGINE_PERF : ENGINE_MONITOR;
		else if (key == 'F')
			collector.follow = text_starts(value, "on");
		else if (key == 'D')
			file_read_param(value);
		else if (key == 'k')
			read_key(value);
		else if (key == 't')
			read_window(value);
		else if (key == 'n')
			collector.depth = (uint32_t)text_number(value, NULL);
		else if (!trace_read_param(key, value) && !overhead_read_param(key, value))
			control_read_param(key, value);
		while (*params && *params != ';')
			params++;
		if (*params)
			params++;
	}
}
