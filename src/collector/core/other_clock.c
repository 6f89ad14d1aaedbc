/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/other_clock.h"

#include "collector/arch/sys.h"
#include "collector/core/time.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"

#include <sys/stat.h>
#include <sys/utsname.h>

enum { BOOT_ID = 36, NAME_ROOM = 96 };

static char name[NAME_ROOM]; /* of this clock; "": the launcher's */
static uint64_t wall_ns;     /* CLOCK_REALTIME at time 0 */

/* As the launcher names its own (machine_clock_name); false: it is not known. */
static bool read_name(char *to, size_t size)
{
	struct text text = {.buffer = to, .size = size};
	char boot[BOOT_ID + 1] = "";
	struct stat times = {0};
	int fd = sys_open("/proc/sys/kernel/random/boot_id", O_RDONLY, 0);
	long length = fd >= 0 ? sys_read(fd, boot, BOOT_ID) : 0;

	if (fd >= 0)
		sys_close(fd);
	if (length != BOOT_ID)
		return false;
	sys_call(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/time", &times, 0);
	text_puts(&text, boot);
	text_putc(&text, ' ');
	text_decimal(&text, (int64_t)times.st_ino);
	return true;
}

static bool is_same(const char *clock)
{
	size_t length = text_length(name);

	return text_starts(clock, name) && (clock[length] == ';' || !clock[length]);
}

/* A namespace of times is another clock of the same machine. */
static bool is_same_boot(const char *clock)
{
	int i = 0;

	while (i < BOOT_ID && clock[i] == name[i])
		i++;
	return i == BOOT_ID;
}

static uint64_t wall_now_ns(void)
{
	struct timespec now = {0};

	sys_call(SYS_clock_gettime, CLOCK_REALTIME, &now, 0, 0);
	return time_spec_ns(&now);
}

/* Neither before the machine's start, nor in the future, whatever the wall clocks say. */
static void place_start(uint64_t start_wall_ns)
{
	uint64_t now_ns = clock_now_ns(), wall_now = wall_now_ns();
	uint64_t passed_ns = wall_now > start_wall_ns ? wall_now - start_wall_ns : 0;

	if (passed_ns >= now_ns)
		passed_ns = now_ns - 1;
	collector.start_ns = now_ns - passed_ns;
	wall_ns = wall_now - passed_ns;
}

void other_clock_read_param(const char *value)
{
	const char *end;
	uint64_t start_wall_ns = text_number(value, &end);

	if (*end != ',' || !read_name(name, sizeof(name)) || is_same(end + 1)) {
		name[0] = '\0';
		return;
	}
	collector.other_machine = !is_same_boot(end + 1);
	place_start(start_wall_ns);
}

bool other_clock_is_so(void)
{
	return name[0];
}

void other_clock_put(struct text *line)
{
	if (!name[0])
		return;
	text_attribute_decimal(line, "wall_ns", (int64_t)wall_ns);
	text_attribute(line, "clock", name);
}

void other_clock_put_system(struct text *line)
{
	struct utsname machine;

	if (!name[0] || sys_call(SYS_uname, &machine, 0, 0, 0))
		return;
	text_puts(line, "<system");
	text_attribute(line, "hostname", machine.nodename);
	text_puts(line, "/>\n");
}
