/* SPDX-License-Identifier: Apache-2.0 */
/* I/O tracing: what calls are worth, and its metrics. */
#include "analysis/kinds/kinds.h"
#include "base/array.h"

static void add_io(struct measure_sums *sums, const struct event_run *run, size_t row,
		   uint32_t node)
{
	uint64_t waited = event_field(run, IO_WAITED)[row], bytes = event_field(run, IO_BYTES)[row];
	uint64_t type = event_column(run, ROW_TYPE)[row], requests = io_requests(run, row);

	if (requests)
		measure_add(sums, MEASURE_IO_REQUESTS, node, requests);
	if (event_field(run, IO_RESULT)[row]) {
		measure_add(sums, MEASURE_IO_ERRORS, node, 1);
		measure_add(sums, MEASURE_IO_ERROR_NS, node, waited);
	} else if (type == IO_READ) {
		measure_add(sums, MEASURE_IO_READS, node, 1);
		measure_add(sums, MEASURE_IO_READ_BYTES, node, bytes);
		measure_add(sums, MEASURE_IO_READ_NS, node, waited);
	} else if (type == IO_WRITE) {
		measure_add(sums, MEASURE_IO_WRITES, node, 1);
		measure_add(sums, MEASURE_IO_WRITE_BYTES, node, bytes);
		measure_add(sums, MEASURE_IO_WRITE_NS, node, waited);
	} else if (type == IO_WAIT) {
		measure_add(sums, MEASURE_IO_WAITS, node, 1);
		measure_add(sums, MEASURE_IO_WAIT_NS, node, waited);
	} else {
		measure_add(sums, MEASURE_IO_OTHERS, node, 1);
		measure_add(sums, MEASURE_IO_OTHER_NS, node, waited);
	}
}

static void measure_io(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *nodes = measure_places(run, measuring);

	for (size_t row = 0; row < run->count; row++)
		if (measure_is_chosen(measuring, row))
			add_io(measuring->sums, run, row, nodes[row]);
}

static const struct metric metrics[] = {
	{.command = "ioreadcnt",
	 .title = "Read Count",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_IO_READS,
	 .description = "calls that read",
	 .if_data = true},
	{.command = "ioreadbytes",
	 .title = "Read Bytes",
	 .unit = UNIT_BYTES,
	 .measure = MEASURE_IO_READ_BYTES,
	 .description = "bytes that were read",
	 .if_data = true},
	{.command = "ioreadtime",
	 .title = "Read Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_IO_READ_NS,
	 .description = "time in calls that read",
	 .if_data = true},
	{.command = "iowritecnt",
	 .title = "Write Count",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_IO_WRITES,
	 .description = "calls that write",
	 .if_data = true},
	{.command = "iowritebytes",
	 .title = "Write Bytes",
	 .unit = UNIT_BYTES,
	 .measure = MEASURE_IO_WRITE_BYTES,
	 .description = "bytes that were written",
	 .if_data = true},
	{.command = "iowritetime",
	 .title = "Write Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_IO_WRITE_NS,
	 .description = "time in calls that write",
	 .if_data = true},
	{.command = "iowaitcnt",
	 .title = "I/O Wait Count",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_IO_WAITS,
	 .description =
		 "calls that wait for files or sockets to be ready: poll, select, epoll_wait",
	 .if_data = true},
	{.command = "iowaittime",
	 .title = "I/O Wait Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_IO_WAIT_NS,
	 .description = "time in calls that wait for files or sockets to be ready: poll, select, "
			"epoll_wait",
	 .if_data = true},
	{.command = "iorequestcnt",
	 .title = "Submitted Requests",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_IO_REQUESTS,
	 .description = "requests that were handed to an io_uring",
	 .if_data = true},
	{.command = "ioothercnt",
	 .title = "Other I/O Count",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_IO_OTHERS,
	 .description =
		 "calls that open, close or control files and sockets, or hand over requests",
	 .if_data = true},
	{.command = "ioothertime",
	 .title = "Other I/O Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_IO_OTHER_NS,
	 .description = "time in calls that open, close or control files and sockets, or hand over "
			"requests",
	 .if_data = true},
	{.command = "ioerrorcnt",
	 .title = "I/O Error Count",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_IO_ERRORS,
	 .description = "I/O calls that failed",
	 .if_data = true},
	{.command = "ioerrortime",
	 .title = "I/O Error Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_IO_ERROR_NS,
	 .description = "time in I/O calls that failed",
	 .if_data = true},
};

const struct kind io_kind = {
	.measure = measure_io, .metrics = metrics, .metric_count = COUNT(metrics)};
