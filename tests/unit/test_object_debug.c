/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file an object's names come from: debug files in all their places,
 * embedded symbols, copies, wrong files, the vDSO.  Ground truth: nm on the
 * unstripped program, objcopy, and messages that must appear once.
 */
#include "test_object_support.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/stat.h>

static const char source[] =
	"#include <stdlib.h>\n"
	"static __attribute__((noinline)) int hidden(int x) { return x * atoi(\"7\"); }\n"
	"int main(int argc, char **argv) { (void)argv; return hidden(argc) + atoi(\"1\"); }\n";

static uint64_t hidden_address;

/* full, its debug file and a stripped copy, with or without a build-id. */
static void build(const char *build_id_option)
{
	run("rm -rf lib roots && mkdir -p lib/.debug roots/a roots/b");
	write_file("prog.c", source);
	run("gcc -g -O1 %s -o full prog.c", build_id_option);
	run("objcopy --only-keep-debug full prog.debug");
	run("strip -o lib/prog full");
	hidden_address = address_of("full", "hidden");
	unsetenv("HELIO_DEBUG_ROOT");
}

/* Points the stripped program at prog.debug, by name and checksum. */
static void add_link(void)
{
	run("objcopy --add-gnu-debuglink=prog.debug lib/prog");
}

static void set_roots(void)
{
	char *roots = xasprintf("%s/roots/a:%s/roots/b", work_directory, work_directory);

	setenv("HELIO_DEBUG_ROOT", roots, 1);
	free(roots);
}

static char *made_up_name(void)
{
	return xasprintf("<static>@0x%lx (<prog>)", hidden_address);
}

static void expect_name(const char *path, const char *debug_file)
{
	struct object *object = open_object(path);
	struct diag_list diags = {0};

	assert_string_equal(name_at(object, hidden_address), "hidden");
	if (debug_file) {
		char *expected = realpath(debug_file, NULL);

		assert_string_equal(object_debug_file(object), expected);
		free(expected);
	} else {
		assert_null(object_debug_file(object));
	}
	object_take_diags(object, &diags);
	assert_int_equal(diags.count, 0);
	object_free(object);
}

static void expect_no_name(const char *path)
{
	struct object *object = open_object(path);
	char *expected = made_up_name();

	assert_string_equal(name_at(object, hidden_address), expected);
	assert_null(object_debug_file(object));
	free(expected);
	object_free(object);
}

static void test_strip_levels(void **state)
{
	(void)state;
	build("");
	expect_name("full", NULL);
	run("strip -g -o lib/prog full");
	expect_name("lib/prog", NULL);
	run("strip -o lib/prog full");
	expect_no_name("lib/prog");
}

static void test_link_same_directory(void **state)
{
	(void)state;
	build("-Wl,--build-id=none");
	add_link();
	expect_no_name("lib/prog");
	run("cp prog.debug lib/");
	expect_name("lib/prog", "lib/prog.debug");
}

static void test_link_debug_directory(void **state)
{
	(void)state;
	build("-Wl,--build-id=none");
	add_link();
	run("cp prog.debug lib/.debug/");
	expect_name("lib/prog", "lib/.debug/prog.debug");
}

static void test_link_under_root(void **state)
{
	(void)state;
	build("-Wl,--build-id=none");
	add_link();
	set_roots();
	run("mkdir -p roots/b%s/lib && cp prog.debug roots/b%s/lib/", work_directory,
	    work_directory);

	char *path = xasprintf("%s/lib/prog", work_directory);
	char *debug = xasprintf("%s/roots/b%s/lib/prog.debug", work_directory, work_directory);

	expect_name(path, debug);

	/* Seen through a symbolic link to the directory: the real one counts. */
	run("ln -sfn lib other");
	char *linked = xasprintf("%s/other/prog", work_directory);

	expect_name(linked, debug);
	free(linked);
	free(path);
	free(debug);
}

/* Another checksum, another build-id: the file is not used, and it is said which and why. */
static void test_link_mismatch(void **state)
{
	static const char *const options[] = {"-Wl,--build-id=none", "-Wl,--build-id=sha1"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct diag_list diags = {0};

		build(options[i]);
		add_link();
		run("gcc -g -O1 -DEXTRA -Wl,--build-id=%s -o changed prog.c", i ? "md5" : "none");
		run("objcopy --only-keep-debug changed lib/prog.debug && echo >> lib/prog.debug");
		setenv("HELIO_DEBUG_ROOT", "/nowhere", 1);
		expect_no_name("lib/prog");

		struct object *object = open_object("lib/prog");

		object_take_diags(object, &diags);
		assert_int_equal(diags.count, 0); /* nothing was read yet */
		assert_null(object_debug_file(object));
		object_take_diags(object, &diags);
		object_take_diags(object, &diags);
		assert_int_equal(diags.count, 1);
		assert_non_null(strstr(diags.items[0].text, "lib/prog.debug"));
		assert_non_null(strstr(diags.items[0].text, "install"));
		diag_fini(&diags);
		object_free(object);
	}
}

static void test_build_id_directory(void **state)
{
	(void)state;
	build("-Wl,--build-id=sha1");
	set_roots();
	expect_no_name("lib/prog");

	char *id = build_id_of("full");
	char *debug = xasprintf("%s/roots/b/.build-id/%.2s/%s.debug", work_directory, id, id + 2);

	run("mkdir -p roots/b/.build-id/%.2s && cp prog.debug %s", id, debug);
	expect_name("lib/prog", debug);

	/* A file at the right place with the wrong build-id is passed over. */
	run("gcc -g -O1 -Wl,--build-id=md5 -o changed prog.c && cp changed %s", debug);
	expect_no_name("lib/prog");
	free(id);
	free(debug);
}

/* As distributions make it: only the functions' symbols, xz, in a section. */
static void test_embedded(void **state)
{
	(void)state;
	build("");
	run("nm full | awk '$2 == \"t\" {print $3}' > keep");
	run("objcopy -S --keep-symbols=keep full mini 2>/dev/null && xz -k -f mini");
	run("objcopy --add-section .gnu_debugdata=mini.xz lib/prog");
	expect_name("lib/prog", NULL);

	/* Cut off in the middle: as if it were not there. */
	build("");
	run("head -c 300 mini.xz > cut.xz && objcopy --add-section .gnu_debugdata=cut.xz lib/prog");
	expect_no_name("lib/prog");
}

/* A request with the build-id of another file: no names, one message with both ids. */
static void test_wrong_build_id(void **state)
{
	static const char other[] = "0123456789abcdef0123456789abcdef01234567";
	struct object_request request = {.path = "full", .build_id = other};
	struct diag_list diags = {0};
	struct object *object;

	(void)state;
	build("-Wl,--build-id=sha1");
	for (int i = 0; i < 2; i++) {
		object_open(&request, &object, &diags);
		assert_string_equal(object_provenance(object), "not found");
		assert_int_equal(object_function_at(object, hidden_address), OBJECT_NO_FUNCTION);
		assert_int_equal(object_function_count(object), 0);
		object_free(object);
	}
	char *id = build_id_of("full");

	assert_int_equal(diags.count, 1);
	assert_int_equal(diags.items[0].level, DIAG_WARNING);
	assert_non_null(strstr(diags.items[0].text, other));
	assert_non_null(strstr(diags.items[0].text, id));
	diag_fini(&diags);

	request.build_id = id;
	object_open(&request, &object, &diags);
	assert_int_equal(diags.count, 0);
	assert_string_equal(name_at(object, hidden_address), "hidden");
	object_free(object);
	free(id);
}

/* The measured file is gone, its debug symbols are here. */
static void test_debug_file_alone(void **state)
{
	struct diag_list diags = {0};
	struct object *object;

	(void)state;
	build("-Wl,--build-id=sha1");
	set_roots();

	char *id = build_id_of("full");
	struct object_request request = {.path = "/gone/prog", .build_id = id};
	char *expected = xasprintf("found as %s/roots/a/.build-id/%.2s/%s.debug", work_directory,
				   id, id + 2);

	object_open(&request, &object, &diags);
	assert_string_equal(object_provenance(object), "not found");
	assert_int_equal(diags.count, 1);
	assert_non_null(strstr(diags.items[0].text, "/gone/prog"));
	diag_fini(&diags);
	object_free(object);

	run("mkdir -p roots/a/.build-id/%.2s && cp prog.debug roots/a/.build-id/%.2s/%s.debug", id,
	    id, id + 2);
	object_open(&request, &object, &diags);
	assert_int_equal(diags.count, 0);
	assert_string_equal(object_provenance(object), expected);
	assert_string_equal(name_at(object, hidden_address), "hidden");
	object_free(object);
	free(expected);
	free(id);
}

static void test_archive(void **state)
{
	struct diag_list diags = {0};
	struct object *object;

	(void)state;
	build("-Wl,--build-id=sha1");
	run("cp full archived && strip -o lib/prog full");

	char *id = build_id_of("full");
	struct object_request request = {
		.path = "lib/prog", .archive_path = "archived", .build_id = id};

	object_open(&request, &object, &diags);
	assert_string_equal(object_provenance(object), "found as archived");
	assert_string_equal(name_at(object, hidden_address), "hidden");
	object_free(object);

	/* A stripped copy with its debug file beside it; the file and its own are gone. */
	run("mv prog.debug archived.debug; cp lib/prog archived; mv lib/prog lib/gone");
	object_open(&request, &object, &diags);
	assert_string_equal(name_at(object, hidden_address), "hidden");
	assert_string_equal(object_debug_file(object), "archived.debug");
	object_free(object);
	/* One of another build beside it is no use. */
	run("echo 'int other;' | gcc -g -Wl,--build-id=sha1 -shared -o archived.debug -xc -");
	object_open(&request, &object, &diags);
	assert_string_not_equal(name_at(object, hidden_address), "hidden");
	object_free(object);
	run("mv lib/gone lib/prog");

	/* A damaged copy: the file itself is used. */
	run("head -c 3000 full > archived");
	object_open(&request, &object, &diags);
	assert_string_equal(object_provenance(object), "found");
	assert_int_equal(diags.count, 0);
	object_free(object);
	free(id);
}

/* Without a build-id, date and size tell that a file is not the one that was measured. */
static void test_changed_file(void **state)
{
	struct object_request request = {.path = "full"};
	struct diag_list diags = {0};
	struct object *object;
	struct stat info;

	(void)state;
	build("-Wl,--build-id=none");
	assert_int_equal(stat("full", &info), 0);
	request.mtime = (uint64_t)info.st_mtime;
	request.file_size = (uint64_t)info.st_size;
	object_open(&request, &object, &diags);
	assert_int_equal(diags.count, 0);
	object_free(object);

	for (int i = 0; i < 2; i++) {
		request.mtime = (uint64_t)info.st_mtime + !i;
		request.file_size = (uint64_t)info.st_size + (uint64_t)i;
		object_open(&request, &object, &diags);
		assert_string_equal(object_provenance(object), "found");
		assert_string_equal(name_at(object, hidden_address), "hidden");
		object_free(object);
		assert_int_equal(diags.count, 1);
		assert_non_null(strstr(diags.items[0].text, "changed"));
		diag_fini(&diags);
	}
}

static void test_vdso(void **state)
{
	struct object_request request = {.path = "[vdso]"};
	struct diag_list diags = {0};
	struct object *object;
	void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	uint64_t base = getauxval(AT_SYSINFO_EHDR);

	(void)state;
	if (!vdso || !base) {
		print_message("the kernel gives this process no vdso\n");
		skip();
	}
	uint64_t address = (uint64_t)dlsym(vdso, "__vdso_clock_gettime") - base;

	object_open(&request, &object, &diags);
	assert_int_equal(diags.count, 0);
	assert_string_equal(object_provenance(object), "found");
	assert_string_equal(name_at(object, address), "clock_gettime");
	assert_string_equal(function_at(object, address)->alias_list,
			    "__vdso_clock_gettime clock_gettime");
	object_free(object);

	request.build_id = "0123456789abcdef";
	object_open(&request, &object, &diags);
	assert_string_equal(object_provenance(object), "not found");
	assert_int_equal(object_function_at(object, address), OBJECT_NO_FUNCTION);
	assert_int_equal(diags.count, 1);
	assert_non_null(strstr(diags.items[0].text, "vDSO"));
	diag_fini(&diags);
	object_free(object);
	dlclose(vdso);
}

/* The files are read when the first address is looked up, and then are no longer needed. */
static void test_laziness(void **state)
{
	(void)state;
	build("");
	run("cp full early && cp full late");

	struct object *early = open_object("early");
	struct object *late = open_object("late");

	assert_string_equal(name_at(early, hidden_address), "hidden");
	run("truncate -s 0 early && rm late");
	assert_string_equal(name_at(early, hidden_address), "hidden");
	assert_string_equal(function_at(early, address_of("full", "main"))->mangled, "main");
	assert_string_equal(name_at(late, hidden_address), "hidden");
	object_free(early);
	object_free(late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strip_levels),
		cmocka_unit_test(test_link_same_directory),
		cmocka_unit_test(test_link_debug_directory),
		cmocka_unit_test(test_link_under_root),
		cmocka_unit_test(test_link_mismatch),
		cmocka_unit_test(test_build_id_directory),
		cmocka_unit_test(test_embedded),
		cmocka_unit_test(test_wrong_build_id),
		cmocka_unit_test(test_debug_file_alone),
		cmocka_unit_test(test_archive),
		cmocka_unit_test(test_changed_file),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_laziness),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
