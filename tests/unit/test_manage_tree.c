/* SPDX-License-Identifier: Apache-2.0 */
/* Files and directories as wholes; `cp`, `cmp` and `stat` say what is right. */
#include "base/folder.h"
#include "manage/tree.h"
#include "test_object_support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static int here;

static struct stat stat_of(const char *path)
{
	struct stat info;

	assert_int_equal(lstat(path, &info), 0);
	return info;
}

static bool copy(const char *from, const char *to)
{
	return tree_copy_file(open(from, O_RDONLY), here, to);
}

static void test_copy_file(void **state)
{
	(void)state;
	run("head -c 700001 /dev/urandom > from; chmod 4750 from; touch -d '2001-02-03 04:05:06' "
	    "from");
	run("echo old > to");
	assert_true(copy("from", "to"));
	run("cmp from to");
	assert_int_equal(stat_of("to").st_mode & 07777, 0750);
	assert_int_equal(stat_of("to").st_mtime, stat_of("from").st_mtime);
	/* who had the same process id before was killed while it copied */
	run("echo half > to.%d.part; chmod 444 from", (int)getpid());
	assert_true(copy("from", "to"));
	assert_int_equal(stat_of("to").st_mode & 07777, 0644);
	run("test -z \"$(ls | grep part)\"");
}

/* What was there stays when the copy fails, and nothing half is left. */
static void test_copy_that_fails(void **state)
{
	(void)state;
	run("echo old > kept");
	assert_false(tree_copy_file(open("kept", O_WRONLY), here, "kept")); /* cannot be read */
	assert_int_equal(errno, EBADF);
	run("grep -q old kept");
	assert_false(copy("kept", "nowhere/kept"));
	assert_int_equal(errno, ENOENT);
	run("mkdir -p folder; echo x > x");
	assert_false(copy("x", "folder"));
	assert_int_equal(errno, EISDIR);
	run("test -z \"$(ls | grep part)\"");
}

/* Who had the same process id before was killed while it wrote. */
static void test_write_whole(void **state)
{
	char *half = xasprintf("sums.%d.part", (int)getpid());
	FILE *left = fopen(half, "w");

	(void)state;
	assert_non_null(left);
	fputs("half of", left);
	fclose(left);
	assert_true(folder_write_whole(here, "sums", "all\n", 4));
	run("grep -qx all sums; test -z \"$(ls | grep part)\"");
	free(half);
}

/* What has the name meanwhile is something else. */
static void test_remove_itself(void **state)
{
	(void)state;
	run("mkdir -p made/inner; echo x > made/inner/x");
	int folder = folder_open("made", 0);

	run("mv made moved; mkdir made; echo kept > made/kept");
	assert_false(folder_remove_itself(folder, "made"));
	run("grep -q kept made/kept; test -z \"$(ls moved)\"");
	run("rm -r made; mkdir made");
	assert_false(folder_remove_itself(folder, "made"));
	run("test -d made; rmdir made; mkdir elsewhere; mv moved elsewhere/made; mkdir made");
	assert_true(folder_remove_itself(folder, "made"));
	run("test -d made; test ! -e elsewhere/made; rmdir made elsewhere");
	close(folder);
}

/* What a record names lies in the folder, or nowhere. */
static void test_no_way_out(void **state)
{
	static const char *const ways[] = {"..", "in/..", "in/../in"};
	static const char *const files[] = {"../x", "in/../x"};

	(void)state;
	run("mkdir -p folder/in; echo x > x; cp x folder");
	int folder = folder_open("folder", 0);

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		assert_int_equal(folder_open_below(folder, ways[i]), -1);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		assert_int_equal(folder_open_file(folder, files[i], O_RDONLY, 0), -1);
	assert_int_equal(errno, EINVAL);
	close(folder);
}

static void test_holes(void **state)
{
	(void)state;
	run("truncate -s 64M sparse; echo end >> sparse");
	assert_true(copy("sparse", "sparse.copy"));
	run("cmp sparse sparse.copy");
	assert_true(stat_of("sparse.copy").st_blocks * 512 < 8 << 20);
	run("truncate -s 1M hollow"); /* nothing but a hole */
	assert_true(copy("hollow", "hollow.copy"));
	assert_int_equal(stat_of("hollow.copy").st_size, 1 << 20);
	run("truncate -s 1M mixed; printf x | dd of=mixed bs=1 seek=500000 conv=notrunc "
	    "status=none");
	assert_true(copy("mixed", "mixed.copy"));
	run("cmp mixed mixed.copy");
	assert_int_equal(stat_of("mixed.copy").st_blocks, stat_of("mixed").st_blocks);
}

static void build_tree(void)
{
	run("rm -rf tree copy; mkdir -p tree/a/b tree/empty; echo one > tree/a/one; : > "
	    "tree/a/b/two; "
	    "ln -s a/one tree/link; ln -s nowhere tree/dangling");
}

static int open_folder(const char *path)
{
	int folder = folder_open(path, 0);

	assert_true(folder >= 0);
	return folder;
}

static bool copy_of(const char *from, const char *to)
{
	int folder = open_folder(from);
	char *left;
	bool ok = tree_copy(folder, to, &left);

	assert_null(left);
	folder_close(folder);
	return ok;
}

static bool same_of(const char *from, const char *copy)
{
	int folder = open_folder(from), other = open_folder(copy);
	bool same = tree_same(folder, other);

	folder_close(folder);
	folder_close(other);
	return same;
}

static bool rename_of(const char *from, const char *to)
{
	int folder = open_folder(from);
	bool ok = tree_rename_folder(from, folder, to);

	folder_close(folder);
	return ok;
}

static bool remove_of(const char *path)
{
	char *left;
	int folder = open_folder(path);
	bool ok = tree_remove_folder(path, folder, &left);

	free(left);
	folder_close(folder);
	return ok;
}

static void test_copy_tree(void **state)
{
	(void)state;
	build_tree();
	assert_true(copy_of("tree", "copy"));
	run("diff -r --no-dereference tree copy");
	assert_true(same_of("tree", "copy"));
	assert_int_equal(tree_bytes("copy"), strlen("one\n"));
	assert_false(copy_of("tree", "copy"));
	assert_int_equal(errno, EEXIST);
	/* a link is another name of the tree, but its own when it is removed */
	run("ln -s tree other");
	assert_true(copy_of("other", "second"));
	run("test -d second && diff -r --no-dereference tree second");
	assert_true(same_of("other", "second"));
	assert_true(remove_of("other"));
	assert_true(exists("tree/a/one"));
	run("test -z \"$(ls -A | grep '^[.]')\"");
}

static void test_differences(void **state)
{
	static const char *const changes[] = {
		"echo two > copy/a/one",  "rm copy/a/one",
		"rmdir copy/empty",	  "echo x >> copy/a/b/two",
		"ln -sf other copy/link", "rm copy/link; cp tree/a/one copy/link",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		build_tree();
		assert_true(copy_of("tree", "copy"));
		run("%s", changes[i]);
		assert_false(same_of("tree", "copy"));
	}
}

/* What has the name of a folder that was opened before stays where it is. */
static void test_exchanged(void **state)
{
	char *left;

	(void)state;
	build_tree();
	int folder = open_folder("tree");

	run("rm -rf aside moved; mv tree aside; mkdir tree; echo gold > tree/ring");
	assert_false(tree_rename_folder("tree", folder, "moved"));
	assert_int_equal(errno, ESTALE);
	assert_false(tree_remove_folder("tree", folder, &left));
	assert_int_equal(errno, ESTALE);
	assert_string_equal(left, "tree");
	free(left);
	run("test -f tree/ring && test ! -e moved && test -f aside/a/one && test ! -e .tree.*");
	assert_true(tree_rename_folder("aside", folder, "moved"));
	assert_true(tree_remove_folder("moved", folder, &left));
	assert_false(exists("moved"));
	folder_close(folder);
}

static void test_rename_and_remove(void **state)
{
	(void)state;
	build_tree();
	run("mkdir taken");
	assert_false(rename_of("tree", "taken"));
	assert_int_equal(errno, EEXIST);
	assert_true(rename_of("tree", "moved"));
	assert_false(exists("tree"));
	/* what a link points to is not ours */
	run("mkdir precious; echo gold > precious/ring; ln -s ../precious moved/door");
	assert_true(remove_of("moved"));
	assert_false(exists("moved"));
	assert_true(exists("precious/ring"));
}

static void test_relative_paths(void **state)
{
	static const char *const pairs[][3] = {{"/a/b", "/a/b/c", "c"},
					       {"/a/b", "/a/bc", "../bc"},
					       {"/a/bc", "/a/b", "../b"},
					       {"/a/b/c", "/a/x/y", "../../x/y"},
					       {"/a/b", "/x", "../../x"},
					       {"/a", "/a/b/c", "b/c"},
					       {"/a/b.er/c", "/a/b/c", "../../b/c"}};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		char *text = tree_relative(pairs[i][0], pairs[i][1]);

		assert_string_equal(text, pairs[i][2]);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy_file),	  cmocka_unit_test(test_copy_that_fails),
		cmocka_unit_test(test_remove_itself),	  cmocka_unit_test(test_remove_itself),
		cmocka_unit_test(test_write_whole),	  cmocka_unit_test(test_holes),
		cmocka_unit_test(test_no_way_out),	  cmocka_unit_test(test_copy_tree),
		cmocka_unit_test(test_differences),	  cmocka_unit_test(test_exchanged),
		cmocka_unit_test(test_rename_and_remove), cmocka_unit_test(test_relative_paths),
	};

	here = AT_FDCWD;
	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
