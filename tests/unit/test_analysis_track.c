/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instruction accesses.  Assembly within functions follows pointers in ways that are known
 * by construction, and a mark in front of the last access tells its address; debug information is
 * that of gcc and clang, optimised and not.
 */
#include "analysis/data/data_track.h"
#include "test_object_support.h"

static const char source[] =
	"struct leaf { int first; long second; };\n"
	"struct node { struct node *next; struct leaf *leaf; struct leaf inside[4]; char tail; };\n"
	"struct node global;\n"
	"struct node *table[8];\n"
	"#define USED __attribute__((noinline, used))\n"
	"USED struct node *get(struct node *node) { __asm__ volatile(\"\"); return node; }\n"
	"USED void direct(struct node *node)\n"
	"{ __asm__ volatile(\"mark_direct: movb $1, 80(%0)\" :: \"r\"(node) : \"memory\"); }\n"
	"USED void chain(struct node *node)\n"
	"{ __asm__ volatile(\"mov (%0), %%rax\\n mov 8(%%rax), %%rdx\\n mark_chain: movq $1, "
	"8(%%rdx)\"\n"
	"  :: \"r\"(node) : \"rax\", \"rdx\", \"memory\"); }\n"
	"USED void added(struct node *node)\n"
	"{ __asm__ volatile(\"lea 16(%0), %%rax\\n add $16, %%rax\\n mark_added: movl $1, "
	"(%%rax)\"\n"
	"  :: \"r\"(node) : \"rax\", \"memory\"); }\n"
	"USED void indexed(struct node *node, long i)\n"
	"{ __asm__ volatile(\"mov %1, %%rdx\\n shl $4, %%rdx\\n mark_indexed: movq $1, 24(%0, "
	"%%rdx)\"\n"
	"  :: \"r\"(node), \"r\"(i) : \"rdx\", \"memory\"); }\n"
	"USED void stepped(struct node *node, long n)\n"
	"{ __asm__ volatile(\"mov %0, %%rax\\n mov %1, %%rdx\\n 1: mark_stepped: movb $1, "
	"80(%%rax)\\n add $88, %%rax\\n\"\n"
	"  \"dec %%rdx\\n jnz 1b\" :: \"r\"(node), \"r\"(n) : \"rax\", \"rdx\", \"memory\"); }\n"
	"USED void multiple(struct node *node, long i)\n"
	"{ __asm__ volatile(\"imul $88, %1, %%rdx\\n add %0, %%rdx\\n mark_multiple: movq $1, "
	"8(%%rdx)\"\n"
	"  :: \"r\"(node), \"r\"(i) : \"rdx\", \"memory\"); }\n"
	"USED void bytes(struct node *node, long i)\n"
	"{ __asm__ volatile(\"mov %0, %%rax\\n add %1, %%rax\\n mark_bytes: movq $1, (%%rax)\"\n"
	"  :: \"r\"(node), \"r\"(i) : \"rax\", \"memory\"); }\n"
	"USED void behind(struct node *node)\n"
	"{ __asm__ volatile(\"mark_behind: movq $1, 88(%0)\" :: \"r\"(node) : \"memory\"); }\n"
	"USED void nothing(void *pointer)\n"
	"{ __asm__ volatile(\"mark_nothing: movq $1, 8(%0)\" :: \"r\"(pointer) : \"memory\"); }\n"
	"USED void fixed(void)\n"
	"{ __asm__ volatile(\"mark_fixed: movq $1, global+8(%%rip)\" ::: \"memory\"); }\n"
	"USED void from_table(long i)\n"
	"{ __asm__ volatile(\"lea table(%%rip), %%rax\\n mov (%%rax, %0, 8), %%rax\\n mark_table: "
	"movb $1, 80(%%rax)\"\n"
	"  :: \"r\"(i) : \"rax\", \"memory\"); }\n"
	"USED void local(void)\n"
	"{ volatile struct leaf mine = {0}; __asm__ volatile(\"mark_local: movq $1, %0\" :: "
	"\"m\"(mine.second) : \"memory\"); }\n"
	"USED void returned(struct node *node)\n"
	"{ __asm__ volatile(\"mov %0, %%rdi\\n call get\\n mov 8(%%rax), %%rax\\n mark_returned: "
	"movl $1, (%%rax)\"\n"
	"  :: \"r\"(node) : \"rax\", \"rdi\", \"rcx\", \"rdx\", \"rsi\", \"r8\", \"r9\", \"r10\", "
	"\"r11\", \"memory\"); }\n"
	"USED void joined(struct node *node, long i)\n"
	"{ __asm__ volatile(\"mov 8(%0), %%rax\\n test %1, %1\\n jz 1f\\n mov (%0), %%rdx\\n mov "
	"8(%%rdx), %%rax\\n\"\n"
	"  \"1: mark_joined: movq $1, 8(%%rax)\" :: \"r\"(node), \"r\"(i) : \"rax\", \"rdx\", "
	"\"memory\"); }\n"
	"USED void parted(struct node *node, long i)\n"
	"{ __asm__ volatile(\"mov 8(%0), %%rax\\n test %1, %1\\n jz 1f\\n mov %1, %%rax\\n\"\n"
	"  \"1: mark_parted: movq $1, 8(%%rax)\" :: \"r\"(node), \"r\"(i) : \"rax\", \"memory\"); "
	"}\n"
	"USED void lost(struct node *node)\n"
	"{ __asm__ volatile(\"mov 8(%0), %%rax\\n and $-16, %%rax\\n mark_lost: movq $1, "
	"8(%%rax)\"\n"
	"  :: \"r\"(node) : \"rax\", \"memory\"); }\n"
	"USED void pushed(long i)\n"
	"{ __asm__ volatile(\"mark_pushed: push %0\\n pop %%rax\" :: \"r\"(i) : \"rax\", "
	"\"memory\"); }\n"
	"USED void plain(long i)\n"
	"{ __asm__ volatile(\"mark_plain: add %0, %%rax\" :: \"r\"(i) : \"rax\"); }\n"
	"USED void watched(struct node *node)\n"
	"{ __asm__ volatile(\"movb $1, 80(%0)\\n mark_after: nop\\n call get\\n mark_called: nop\" "
	":: \"r\"(node)\n"
	"  : \"rax\", \"rdi\", \"rcx\", \"rdx\", \"rsi\", \"r8\", \"r9\", \"r10\", \"r11\", "
	"\"memory\"); }\n"
	"int main(int count, char **words)\n"
	"{ (void)words; if (count > 5) { direct(&global); chain(&global); added(&global); "
	"indexed(&global, 1); stepped(&global, 1);\n"
	"  multiple(&global, 1); bytes(&global, 1); behind(&global); nothing(&global); fixed(); "
	"from_table(1); local();\n"
	"  returned(&global); joined(&global, 1); parted(&global, 1); lost(&global); pushed(1); "
	"plain(1); watched(&global); }\n"
	"  return 0; }\n";

struct expected {
	const char *mark;
	bool after;
	enum access_kind kind;
	const char *text; /* of the type; or the variable's name */
	int64_t offset;
	enum data_reason reason;
};

static const struct expected all[] = {
	{"mark_direct", false, ACCESS_TYPE, "structure:node", 80, 0},
	{"mark_chain", false, ACCESS_TYPE, "structure:leaf", 8, 0},
	{"mark_added", false, ACCESS_TYPE, "structure:node", 32, 0},
	{"mark_indexed", false, ACCESS_TYPE, "structure:node", 24, 0}, /* inside[i].second */
	{"mark_stepped", false, ACCESS_TYPE, "structure:node", 80, 0},
	{"mark_multiple", false, ACCESS_TYPE, "structure:node", 8, 0},
	{"mark_bytes", false, ACCESS_UNKNOWN, NULL, 0, DATA_NO_VARIABLE},
	{"mark_behind", false, ACCESS_UNKNOWN, NULL, 0, DATA_OUTSIDE},
	{"mark_nothing", false, ACCESS_UNKNOWN, NULL, 0, DATA_NO_VARIABLE},
	{"mark_table", false, ACCESS_TYPE, "structure:node", 80, 0},
	{"mark_local", false, ACCESS_VARIABLE, "mine", 8, 0},
	{"mark_returned", false, ACCESS_TYPE, "structure:leaf", 0, 0},
	{"mark_joined", false, ACCESS_TYPE, "structure:leaf", 8, 0},
	{"mark_parted", false, ACCESS_UNKNOWN, NULL, 0, DATA_NO_VARIABLE},
	{"mark_lost", false, ACCESS_UNKNOWN, NULL, 0, DATA_NO_VARIABLE},
	{"mark_pushed", false, ACCESS_UNKNOWN, NULL, 0, DATA_UNSPECIFIED},
	{"mark_plain", false, ACCESS_UNKNOWN, NULL, 0, DATA_UNSPECIFIED},
	{"mark_after", true, ACCESS_TYPE, "structure:node", 80, 0},
	{"mark_called", true, ACCESS_UNKNOWN, NULL, 0, DATA_UNRESOLVABLE},
};

static void expect(struct object *object, struct data_tracker *tracker, const char *options,
		   const struct expected *expected)
{
	struct data_access access =
		data_track(tracker, address_of("prog", expected->mark), expected->after);
	struct variables *variables = object_variables(object);

	if (access.kind != expected->kind)
		fail_msg("%s %s: kind %d, reason %d", options, expected->mark, access.kind,
			 access.reason);
	if (access.kind == ACCESS_UNKNOWN) {
		if (access.reason != expected->reason)
			fail_msg("%s %s: reason %d", options, expected->mark, access.reason);
		return;
	}
	if (access.kind == ACCESS_TYPE)
		assert_string_equal(variables_type(variables, access.type)->text, expected->text);
	else
		assert_string_equal(access.variable->name, expected->text);
	if (access.offset != expected->offset)
		fail_msg("%s %s: offset %lld", options, expected->mark, (long long)access.offset);
}

static void check(const char *options)
{
	struct object *object;
	struct data_tracker *tracker;
	struct data_access access;

	write_file("prog.c", source);
	run("%s -w -o prog prog.c", options);
	object = open_object("prog");
	tracker = data_tracker_new(object);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		expect(object, tracker, options, &all[i]);
	access = data_track(tracker, address_of("prog", "mark_fixed"), false);
	assert_int_equal(access.kind, ACCESS_STATIC);
	assert_true(access.is_exact);
	assert_int_equal(access.address, address_of("prog", "global") + 8);
	data_tracker_free(tracker);
	object_free(object);
}

static void test_gcc(void **state)
{
	(void)state;
	check("gcc -g -O2");
	check("gcc -g -O0");
	check("gcc -g -Og -gdwarf-4 -no-pie");
	check("gcc -g -O2 -fcf-protection -fno-omit-frame-pointer");
}

static void test_clang(void **state)
{
	(void)state;
	check("clang -g -O2");
	check("clang -g -O0");
}

static void test_without_debug_information(void **state)
{
	struct object *object;
	struct data_tracker *tracker;

	(void)state;
	write_file("prog.c", source);
	run("gcc -O2 -w -o prog prog.c");
	object = open_object("prog");
	tracker = data_tracker_new(object);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct data_access access =
			data_track(tracker, address_of("prog", all[i].mark), all[i].after);

		assert_int_equal(access.kind, ACCESS_UNKNOWN);
		assert_int_equal(access.reason, DATA_NO_DEBUG);
	}
	data_tracker_free(tracker);
	object_free(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gcc),
		cmocka_unit_test(test_clang),
		cmocka_unit_test(test_without_debug_information),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
