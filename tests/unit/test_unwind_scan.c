/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code read without CFI: instruction lengths against objdump, and the rules that
 * the instructions give against those that the CFI of the same code gives.
 */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/arch/x86_64/decode.h"
#include "collector/unwind/cfi.h"
#include "collector/unwind/rule.h"
#include "collector/unwind/scan.h"
#include "collector/unwind/slow.h"
#include "unwind_support.h"

struct text {
	const uint8_t *image;
	size_t size;
	const Elf64_Shdr *section;
};

static bool open_text(struct text *text, const char *path)
{
	int fd = open(path, O_RDONLY);
	const Elf64_Ehdr *header;
	const Elf64_Shdr *sections;
	struct stat status;
	int i;

	if (fd < 0)
		return false;
	fstat(fd, &status);
	text->size = (size_t)status.st_size;
	text->image = mmap(NULL, text->size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	header = (const Elf64_Ehdr *)text->image;
	sections = (const Elf64_Shdr *)(text->image + header->e_shoff);
	for (i = 0; i < header->e_shnum; i++) {
		if (!strcmp((const char *)text->image + sections[header->e_shstrndx].sh_offset +
				    sections[i].sh_name,
			    ".text"))
			text->section = &sections[i];
	}
	return text->section != NULL;
}

/* Each instruction's length is the distance to the next line of objdump. */
static void compare_lengths(const char *path)
{
	struct text text = {0};
	char command[256], line[512];
	uint64_t last = 0, count = 0, wrong = 0;
	bool known = false;
	FILE *pipe;

	if (!open_text(&text, path)) {
		print_message("no %s here\n", path);
		skip();
	}
	snprintf(command, sizeof(command), "objdump -d -j .text --no-show-raw-insn %s 2>/dev/null",
		 path);
	pipe = popen(command, "r");
	while (fgets(line, sizeof(line), pipe)) {
		struct decoded insn;
		uint64_t address;
		char colon;

		if (sscanf(line, " %lx%c", &address, &colon) != 2 || colon != ':') {
			known = false;
			continue;
		}
		if (known) {
			const uint8_t *at =
				text.image + text.section->sh_offset + last - text.section->sh_addr;

			count++;
			if ((!decode(at, at + 15, &insn) || insn.length != address - last) &&
			    wrong++ < 10)
				print_message("%#lx: %u, expected %lu\n", last, insn.length,
					      address - last);
		}
		last = address;
		/* objdump gives prefixes, fwait and bytes that it cannot read lines of their own.
		 */
		known = !strstr(line, "(bad)") && !strstr(line, "fwait") &&
			!strstr(line, "\tfst") && !strstr(line, "\tfsave") &&
			!strstr(line, "\tfinit") && !strstr(line, "\tfclex") &&
			!strstr(line, ".byte") && !strstr(line, "\trex") &&
			!strstr(line, "data16") && !strstr(line, "repz ret");
	}
	pclose(pipe);
	if (!count) {
		print_message("no objdump here\n");
		skip();
	}
	print_message("%s: %lu instructions, %lu wrong\n", path, count, wrong);
	assert_int_equal(wrong, 0);
}

static void test_lengths_assembly(void **state)
{
	compare_lengths("/usr/lib/x86_64-linux-gnu/libgmp.so.10");
}

static void test_lengths_vectors(void **state)
{
	compare_lengths("/lib/x86_64-linux-gnu/libm.so.6");
}

static void test_lengths_compiled(void **state)
{
	compare_lengths("/lib/x86_64-linux-gnu/libgcc_s.so.1");
}

/* Instructions that those libraries may lack. */
static void test_forms(void **state)
{
	static const struct {
		uint8_t length;
		uint8_t bytes[15];
	} forms[] = {
		{10, {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}}, /* movabs */
		{9, {0xa1, 1, 2, 3, 4, 5, 6, 7, 8}},	    /* movabs, accumulator */
		{4, {0xc8, 1, 2, 3}},			    /* enter */
		{3, {0xc2, 8, 0}},			    /* ret n */
		{5, {0x66, 0x81, 0xc0, 1, 2}},		    /* add $imm16 */
		{7, {0x48, 0xf7, 0xc0, 1, 2, 3, 4}},	    /* test */
		{3, {0x48, 0xf7, 0xd8}},		    /* neg */
		{3, {0xf6, 0xc1, 1}},			    /* testb */
		{6, {0x62, 0xf1, 0x7c, 0x48, 0x28, 0xc1}},  /* vmovaps zmm */
		{3, {0xc5, 0xf8, 0x77}},		    /* vzeroupper */
		{6, {0xc4, 0xe3, 0x79, 0x14, 0xc0, 1}},	    /* vpextrb */
		{8, {0x48, 0x8b, 0x04, 0x25, 1, 2, 3, 4}},  /* mov absolute */
		{5, {0x48, 0x8d, 0x64, 0x24, 8}},	    /* lea 8(%rsp) */
		{4, {0xf3, 0x0f, 0x1e, 0xfa}},		    /* endbr64 */
	};
	struct decoded insn;
	unsigned int i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		assert_true(decode(forms[i].bytes, forms[i].bytes + 15, &insn));
		assert_int_equal(insn.length, forms[i].length);
		assert_false(decode(forms[i].bytes, forms[i].bytes + forms[i].length - 1, &insn));
	}
	assert_false(decode((const uint8_t *)"\x06", (const uint8_t *)"\x06" + 1, &insn));
}

/*
 * At the first 20 instructions of the C library's functions, the scan mostly gives the same rule as
 * the CFI, or none.  What it gets wrong is code before calls that do not return, and bp in
 * prologues.
 */
static void test_rules(void **state)
{
	const struct unwind_module *module;
	struct cfi_row states[CFI_STATES];
	struct cfi_result result;
	struct scan_path paths[SCAN_PATHS];
	const int32_t *table;
	uint32_t count, i;
	uint64_t same = 0, none = 0, different = 0;

	support_publish();
	module = unwind_module_find((uint64_t)&qsort);
	count = *(const uint32_t *)(module->eh_frame_hdr + 8);
	table = (const int32_t *)(module->eh_frame_hdr + 12);
	for (i = 0; i < count; i++) {
		uint64_t pc = (uint64_t)module->eh_frame_hdr + (uint64_t)(int64_t)table[2 * i];
		struct decoded insn;
		int step;

		for (step = 0; step < 20; step++) {
			uint64_t by_cfi, by_scan;

			if (cfi_find(module, pc, states, &result) != CFI_FOUND)
				break;
			by_cfi = rule_from_row(&result, pc);
			by_scan = scan_rule(module, pc, paths);
			if (rule_kind(by_cfi) == RULE_SP || rule_kind(by_cfi) == RULE_BP) {
				same += by_cfi == by_scan;
				none += by_scan == 0;
				different += by_scan && by_cfi != by_scan;
			}
			if (!decode((const uint8_t *)pc, (const uint8_t *)module->end, &insn))
				break;
			pc += insn.length;
		}
	}
	print_message("%lu same, %lu none, %lu different\n", same, none, different);
	assert_true(same > 20000);
	assert_true(different * 25 < same);
	assert_true(none * 5 < same);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths_assembly),
		cmocka_unit_test(test_lengths_vectors),
		cmocka_unit_test(test_lengths_compiled),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
