/* SPDX-License-Identifier: Apache-2.0 */
/* Sample points taken inside the process: at its begin, its end, and where the program asks. */
#include "collector/core/sample.h"

#include "collector/arch/sys.h"
#include "collector/core/child_io.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/storage/experiment.h"
#include "collector/storage/file.h"
#include "collector/storage/own_use.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"

#include <sys/resource.h>
#include <unistd.h>

static const char overview_description[] =
	"records of 176 bytes: u64 time-ns, u32 kind (0 start 1 periodic 2 end 3 manual), u32 0, "
	"32 bytes label, then u64 each:"
#define X(name) " " #name
	FORMAT_USAGE_FIELDS(X)
#undef X
		"\n";

static long read_proc(const char *path, char *to, size_t size)
{
	int fd = file_open_proc(path, O_RDONLY);

	if (fd < 0)
		return 0;
	long got = sys_read(fd, to, size - 1);
	sys_close(fd);
	to[got > 0 ? got : 0] = '\0';
	return got;
}

static void read_rss(struct format_sample *sample)
{
	char room[128];
	const char *at;

	if (read_proc("/proc/self/statm", room, sizeof(room)) <= 0)
		return;
	text_number(room, &at);
	if (*at == ' ')
		sample->rss_bytes = text_number(at + 1, &at) * 4096;
}

static void add_delay(struct thread *thread, void *sum)
{
	*(uint64_t *)sum += thread->clock.delay_ns;
}

/* What only ever grows must not seem to shrink where the launcher, from outside, saw more. */
static void keep_growing(struct format_sample *sample, int fd)
{
	struct format_sample last;
	uint64_t size = (uint64_t)sys_call(SYS_lseek, fd, 0, SEEK_END, 0);

	if (size < EXPERIMENT_HEADER + sizeof(last) ||
	    sys_pread(fd, &last, sizeof(last), size - sizeof(last)) != (long)sizeof(last))
		return;
	if (last.max_rss_bytes > sample->max_rss_bytes)
		sample->max_rss_bytes = last.max_rss_bytes;
	if (last.run_delay_ns > sample->run_delay_ns)
		sample->run_delay_ns = last.run_delay_ns;
#define X(name)                                                                                    \
	if (last.name > sample->name)                                                              \
		sample->name = last.name;
	FORMAT_OWN_USE_FIELDS(X)
#undef X
}

/* fresh: of the child of a fork, which has not read or written anything. */
static void fill(struct format_sample *sample, const char *label, bool fresh)
{
	struct text name = TEXT_ON(sample->label);
	struct format_own_use own;
	struct rusage usage = {0};

	/* Right before what it is left out of, and what we read for this is in none of them. */
	own_use_work_settle();
	own_use_get(&own);
	sample->time_ns = clock_now_ns() - collector.start_ns;
	text_puts(&name, label);
	sys_call(SYS_getrusage, RUSAGE_SELF, &usage, 0, 0);
	sample->user_ns = format_us_of(&usage.ru_utime) * 1000;
	sample->system_ns = format_us_of(&usage.ru_stime) * 1000;
	sample->minor_faults = (uint64_t)usage.ru_minflt;
	sample->major_faults = (uint64_t)usage.ru_majflt;
	sample->voluntary_switches = (uint64_t)usage.ru_nvcsw;
	sample->involuntary_switches = (uint64_t)usage.ru_nivcsw;
	sample->input_blocks = (uint64_t)usage.ru_inblock;
	sample->output_blocks = (uint64_t)usage.ru_oublock;
	sample->max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
	if (!fresh)
		child_io_read(sample);
	read_rss(sample);
	sample->threads = thread_count();
	if (!sample->threads)
		sample->threads =
			1; /* the first sample is taken before the first thread is known */
	thread_for_each(add_delay, &sample->run_delay_ns);
	own_use_leave_out(sample, &own);
}

int sample_open(const char *label)
{
	struct format_sample sample = {.kind = FORMAT_SAMPLE_START};

	fill(&sample, label, text_equal(label, "fork"));
	return experiment_create_with(FORMAT_FILE_OVERVIEW, overview_description, &sample,
				      sizeof(sample));
}

void sample_write(enum format_sample_kind kind, const char *label)
{
	struct format_sample sample = {.kind = kind};

	fill(&sample, label, false);
	int fd = experiment_open_file(FORMAT_FILE_OVERVIEW, 0);
	if (fd < 0)
		return;
	keep_growing(&sample, fd);
	file_append(fd, &sample, sizeof(sample));
	sys_close(fd);
}
