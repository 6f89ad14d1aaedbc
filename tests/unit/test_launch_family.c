/* SPDX-License-Identifier: Apache-2.0 */
/* Which experiments' processes run: real processes, with logs written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/folder.h"
#include "launch/proc.h"
#include "launch/run/family.h"
#include "launch/run/run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static struct family family;
static pid_t child; /* sleeps */
static uint64_t mono_ns;

static int set_up(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/helio-family-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	mono_ns = run_now_ns();
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	family_open(&family, folder_open(folder, 0), getpid(), mono_ns);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	family_close(&family);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static void write_log(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/log.xml", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void write_process(const char *name, pid_t pid, uint64_t tstamp)
{
	char line[160];

	/* the name of the directory looks like an attribute, and is none */
	snprintf(line, sizeof(line),
		 "<experiment>\n<process cwd=\"/ pid=\" pid=\"%d\" tstamp=\"%llu\"/>\n", (int)pid,
		 (unsigned long long)tstamp);
	write_log(name, line);
}

static const struct member *find(const char *name)
{
	family_scan(&family);
	for (size_t i = 0; i < family.members.count; i++)
		if (!strcmp(family.members.items[i].name, name))
			return &family.members.items[i];
	return NULL;
}

static void test_runs_and_ends(void **state)
{
	write_process("_f1.er", child, 1000);
	assert_int_equal(find("_f1.er")->pid, child);
	assert_int_equal(find("_f1.er")->tstamp_ns, 1000);
	assert_false(find("_f1.er")->ended);
	kill(child, SIGKILL);
	siginfo_t info;

	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	/* a zombie, as the kernel's files show it a little later */
	for (int i = 0; i < 1000 && !find("_f1.er")->ended; i++)
		usleep(1000);
	assert_true(find("_f1.er")->ended);
}

static void test_exec_replaces(void **state)
{
	write_process("_f1_x1.er", child, 2000);
	write_process("_f1.er", child, 1000);
	assert_true(find("_f1.er")->ended);
	assert_false(find("_f1_x1.er")->ended);
	write_process("_f1_x1_x1.er", child, 3000);
	assert_false(find("_f1_x1_x1.er")->ended);
	assert_true(find("_f1_x1.er")->ended);
}

/* A process that began after the recording did is another one with the same number. */
static void test_reused_number(void **state)
{
	family_close(&family);
	family_open(&family, folder_open(folder, 0), getpid(), mono_ns - 10000000000u);
	write_process("_f1.er", child, 1000000); /* 10 s before child began */
	assert_true(find("_f1.er")->ended);
	write_process("_f2.er", child, 10100000000u); /* 0.1 s after it */
	assert_false(find("_f2.er")->ended);
}

static void test_log_that_grows(void **state)
{
	write_log("_f1.er", "<experiment>\n<process pid=\"");
	assert_int_equal(find("_f1.er")->pid, 0);
	assert_false(find("_f1.er")->ended);
	char rest[32];

	snprintf(rest, sizeof(rest), "%d\" tstamp=\"5\"/>\n", (int)child);
	write_log("_f1.er", rest);
	assert_int_equal(find("_f1.er")->pid, child);
}

static void test_other_names(void **state)
{
	write_process("archives", child, 1);
	write_process("f1.er", child, 1);
	write_process("_f1.old", child, 1);
	assert_null(find("archives"));
	assert_int_equal(family.members.count, 1);
}

static void test_founder(void **state)
{
	assert_false(find("")->ended);
	family.founder_reaped = true;
	assert_true(find("")->ended);
}

static void test_usage(void **state)
{
	struct format_sample sample = {.read_bytes = 7};
	struct rusage usage;

	if (!fork()) { /* what a child writes is not ours */
		write_log("_f1.er", "some text for the disk\n");
		_exit(0);
	}
	wait(NULL);
	assert_true(proc_read_usage(getpid(), &sample, &(struct format_io){0}));
	getrusage(RUSAGE_SELF, &usage);
	assert_int_equal(sample.threads, 1);
	assert_in_range(sample.minor_faults, 1, usage.ru_minflt);
	assert_in_range(sample.user_ns + sample.system_ns, 0,
			(uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
				(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
					1000u);
	assert_in_range(sample.voluntary_switches, 0, usage.ru_nvcsw);
	assert_in_range(sample.involuntary_switches, 0, usage.ru_nivcsw);
	assert_in_range(sample.input_blocks, 0, usage.ru_inblock);
	assert_in_range(sample.output_blocks, 0, usage.ru_oublock);
	assert_in_range(sample.rss_bytes, 1, sample.max_rss_bytes);
	assert_true(sample.read_calls > 0);
	/* a process that is gone */
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_false(proc_read_usage(child, &sample, &(struct format_io){0}));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_runs_and_ends),  TEST(test_exec_replaces), TEST(test_reused_number),
		TEST(test_log_that_grows), TEST(test_other_names),   TEST(test_founder),
		TEST(test_usage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
