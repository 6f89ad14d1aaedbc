/* SPDX-License-Identifier: Apache-2.0 */
/* Where a source is, by files that lie in one place or another; and its lines, by their bytes. */
#include "object/elf/debuginfod.h"
#include "object/lines/source.h"
#include "test_object_support.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static void expect_place(const struct source_search *search, const char *path,
			 enum source_origin origin, const char *expected)
{
	struct source_place place;

	source_find(search, path, &place);
	assert_int_equal(place.origin, origin);
	if (expected)
		assert_string_equal(place.path, expected);
	else
		assert_null(place.path);
	source_place_fini(&place);
}

/* In each directory that is given a file main.c. */
static void populate(const char *directories)
{
	run("rm -rf orig map search expt archive && "
	    "for d in %s; do mkdir -p $d; echo $d >$d/main.c; done",
	    directories);
}

static void test_order(void **state)
{
	char *here = realpath(".", NULL);
	char *path = xasprintf("%s/orig/main.c", here);
	char *archive = xasprintf("%s/archive", here);
	char *prefix = xasprintf("%s/orig", here);
	char *archived = xasprintf("%s%s", archive, path);
	char *in_archive = xasprintf("archive%s/orig", here);
	const struct source_map maps[] = {{"/elsewhere/", "nowhere/"}, {prefix, "map"}};
	const char *directories[] = {"search", "$expts"};
	const char *experiments[] = {"expt"};
	const struct source_search search = {
		.archives = (const char *const *)&archive,
		.archive_count = 1,
		.maps = maps,
		.map_count = 2,
		.directories = directories,
		.directory_count = 2,
		.experiments = experiments,
		.experiment_count = 1,
	};
	struct source_search unmapped = search;

	(void)state;
	unmapped.map_count = 1;
	char *all = xasprintf("orig map search expt %s", in_archive);

	populate(all);
	expect_place(&search, path, SOURCE_ARCHIVED, archived);
	populate("orig map search expt");
	expect_place(&search, path, SOURCE_FOUND_AS, "map/main.c");
	populate("orig search expt");
	expect_place(&search, path, SOURCE_FOUND_AS, "search/main.c");
	populate("orig expt");
	expect_place(&search, path, SOURCE_FOUND_AS, "expt/main.c");
	/* A map's prefix fitted: then the recorded path is not tried. */
	populate("orig");
	expect_place(&search, path, SOURCE_MISSING, NULL);
	expect_place(&unmapped, path, SOURCE_FOUND, path);
	/* Found in the search path where it was recorded: that is no other place. */
	directories[0] = prefix;
	expect_place(&unmapped, path, SOURCE_FOUND, path);
	free(all);
	free(in_archive);
	free(archived);
	free(prefix);
	free(archive);
	free(path);
	free(here);
}

/* A prefix ends where a part of the path does; a map is used on what the search path gives. */
static void test_maps(void **state)
{
	const struct source_map maps[] = {{"/build/one", "map"}, {"search", "orig"}};
	const char *directories[] = {"search"};
	struct source_search search = {.maps = maps, .map_count = 2};

	(void)state;
	populate("map orig");
	expect_place(&search, "/build/one/main.c", SOURCE_FOUND_AS, "map/main.c");
	expect_place(&search, "/build/oneself/main.c", SOURCE_MISSING, NULL);
	search.directories = directories;
	search.directory_count = 1;
	expect_place(&search, "/gone/main.c", SOURCE_FOUND_AS, "orig/main.c");
	expect_place(&search, "/gone", SOURCE_MISSING, NULL);
	expect_place(&search, "map", SOURCE_MISSING, NULL); /* a directory */
}

static void write_bytes(const char *bytes, size_t size)
{
	FILE *file = fopen("text", "w");

	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

#define EXPECT_LINES(bytes, ...)                                                                   \
	do {                                                                                       \
		static const char *const lines[] = {__VA_ARGS__};                                  \
		write_bytes(bytes, sizeof(bytes) - 1);                                             \
		expect_lines(lines, sizeof(lines) / sizeof(*lines));                               \
	} while (0)

static void expect_lines(const char *const *lines, uint32_t count)
{
	struct source source;

	assert_int_equal(source_open("text", &source), STATUS_OK);
	assert_int_equal(source.count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_string_equal(source_line(&source, i + 1), lines[i]);
	assert_null(source_line(&source, 0));
	assert_null(source_line(&source, count + 1));
	assert_null(source_line(&source, UINT32_MAX));
	source_close(&source);
}

static void test_lines(void **state)
{
	struct source source;

	(void)state;
	EXPECT_LINES("one\ntwo\n", "one", "two");
	EXPECT_LINES("one\r\n\r\ntwo", "one", "", "two");
	EXPECT_LINES("\n\n", "", "");
	EXPECT_LINES("a\rb\n", "a\rb");
	EXPECT_LINES("caf\xc3\xa9 caf\xe9 \x80\n", "caf\xc3\xa9 caf\xef\xbf\xbd \xef\xbf\xbd");
	EXPECT_LINES("a\0b\nc",
		     "a\xef\xbf\xbd"
		     "b",
		     "c");

	write_bytes("", 0);
	assert_int_equal(source_open("text", &source), STATUS_OK);
	assert_int_equal(source.count, 0);
	source_close(&source);

	/* one line of a megabyte */
	run("head -c 1000000 /dev/zero | tr '\\0' x >text");
	assert_int_equal(source_open("text", &source), STATUS_OK);
	assert_int_equal(source.count, 1);
	assert_int_equal(strlen(source_line(&source, 1)), 1000000);
	source_close(&source);
}

static void test_no_file(void **state)
{
	struct source source;

	(void)state;
	assert_int_equal(source_open("missing", &source), STATUS_IO);
	run("rm -f pipe && mkfifo pipe");
	assert_int_equal(source_open("pipe", &source), STATUS_INVALID);
	assert_int_equal(source_open(".", &source), STATUS_INVALID);
}

#define BUILD_ID "0123456789abcdef0123456789abcdef01234567"

/* Serves what lies under www/ as debuginfod does, on a port that it writes to a file. */
static const char server[] = "import functools, http.server, os\n"
			     "class Quiet(http.server.SimpleHTTPRequestHandler):\n"
			     "    def log_message(self, *words):\n"
			     "        pass\n"
			     "handler = functools.partial(Quiet, directory='www')\n"
			     "server = http.server.HTTPServer(('127.0.0.1', 0), handler)\n"
			     "open('port.new', 'w').write(str(server.server_port))\n"
			     "os.rename('port.new', 'port')\n"
			     "server.serve_forever()\n";

static pid_t start_server(void)
{
	pid_t child;

	write_file("server.py", server);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("python3", "python3", "server.py", (char *)NULL);
		_exit(127);
	}
	assert_true(child > 0);
	for (int i = 0; !exists("port") && i < 1000; i++)
		usleep(10000);
	return child;
}

/* Without DEBUGINFOD_URLS nothing is asked; the choice is made once, so this comes first. */
static void ask_without_urls(void)
{
	unsetenv("DEBUGINFOD_URLS");
	assert_null(debuginfod_debug_file(BUILD_ID, "name"));
}

static void ask_server(void)
{
	const struct source_search search = {.build_id = BUILD_ID};
	char *path = debuginfod_debug_file(BUILD_ID, "name");
	struct source_place place;
	struct source source;

	if (!path)
		fail_msg("no debug file was downloaded");
	run("cmp %s www/buildid/" BUILD_ID "/debuginfo", path);
	free(path);

	source_find(&search, "/gone/main.c", &place);
	assert_int_equal(place.origin, SOURCE_DOWNLOADED);
	assert_int_equal(source_open(place.path, &source), STATUS_OK);
	assert_string_equal(source_line(&source, 1), "int downloaded;");
	source_close(&source);
	source_place_fini(&place);
	assert_null(debuginfod_source(BUILD_ID, "/gone/other.c"));
}

/* Functions of a program from which all symbols were stripped. */
static void ask_names(void)
{
	uint64_t address = address_of("whole", "hidden");
	struct object *object = open_object("bare");

	assert_string_equal(name_at(object, address), "hidden");
	assert_non_null(strstr(object_debug_file(object), "/cache/"));
	object_free(object);
}

static void ask_names_without_urls(void)
{
	uint64_t address = address_of("whole", "hidden");
	struct object *object = open_object("bare");

	assert_non_null(strstr(name_at(object, address), "<static>@0x"));
	object_free(object);
}

static void serve_program(void)
{
	write_file("hidden.c",
		   "static __attribute__((noinline)) int hidden(int x) { return x + 3; }\n"
		   "int main(int c, char **v) { (void)v; return hidden(c); }\n");
	run("gcc -g -O1 -Wl,--build-id=sha1 -o whole hidden.c && strip -o bare whole");

	char *id = build_id_of("whole");

	run("mkdir -p www/buildid/%s && objcopy --only-keep-debug whole www/buildid/%s/debuginfo",
	    id, id);
	free(id);
}

/* In a process of its own: what DEBUGINFOD_URLS says is looked at once. */
static void in_child(void (*ask)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		ask();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_debuginfod(void **state)
{
	char *here = realpath(".", NULL);
	char *cache = xasprintf("%s/cache", here);

	(void)state;
	run("mkdir -p www/buildid/" BUILD_ID "/source/gone cache && "
	    "echo debug >www/buildid/" BUILD_ID "/debuginfo && "
	    "echo 'int downloaded;' >www/buildid/" BUILD_ID "/source/gone/main.c");
	serve_program();

	pid_t child = start_server();
	char *port = output_of("cat port");
	char *url = xasprintf("http://127.0.0.1:%s/", port);

	in_child(ask_without_urls);
	in_child(ask_names_without_urls);
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	in_child(ask_server);
	in_child(ask_names);
	unsetenv("DEBUGINFOD_URLS");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	free(url);
	free(port);
	free(cache);
	free(here);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	   cmocka_unit_test(test_maps),
		cmocka_unit_test(test_lines),	   cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_debuginfod),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
