/* SPDX-License-Identifier: Apache-2.0 */
/* Names as people write them. Ground truth: c++filt, and tables from the languages' own rules. */
#include "base/strbuf.h"
#include "test_object_support.h"

static void expect(const char *mangled, enum name_style style, const char *expected)
{
	char *name = object_demangle(mangled, style);

	assert_string_equal(name, expected);
	free(name);
}

static const struct {
	const char *mangled, *full, *brief;
} table[] = {
	{"main", "main", "main"},
	{"", "", ""},
	{"_", "_", "_"},
	{"_init", "_init", "_init"},
	{"_Zbroken", "_Zbroken", "_Zbroken"},
	{"_ZN2ns1fEii", "ns::f(int, int)", "ns::f"},
	{"_ZN2ns1CIiEclEv", "ns::C<int>::operator()()", "ns::C<int>::operator()"},
	{"_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector<int, std::allocator<int> >::size() const",
	 "std::vector<int, std::allocator<int> >::size"},
	{"_Z3maxIiET_S0_S0_", "int max<int>(int, int)", "max<int>"},
	{"_Znwm", "operator new(unsigned long)", "operator new"},
	/* Java, as class files have them; hidden classes without what each run numbers anew */
	{"LMain;.main([Ljava/lang/String;)V", "Main.main(java.lang.String[])", "Main.main"},
	{"Lpkg/of/Main$Inner;.<init>(IJ[[DZ)V",
	 "pkg.of.Main$Inner.<init>(int, long, double[][], boolean)", "Main$Inner.<init>"},
	{"Lpkg/Main;.run()Lpkg/Other;", "pkg.Main.run()", "Main.run"},
	{"LMain$$Lambda$14+0x0000000800c03000;.apply(C)B", "Main$$Lambda.apply(char)",
	 "Main$$Lambda.apply"},
	{"Lpkg/Main$$Lambda/0x00007f0c01001000;.run()V", "pkg.Main$$Lambda.run()",
	 "Main$$Lambda.run"},
	{"Ljava/lang/invoke/LambdaForm$MH/0x0000000800c02400;.invoke(SFLa/B;)V",
	 "java.lang.invoke.LambdaForm$MH.invoke(short, float, a.B)", "LambdaForm$MH.invoke"},
	{"LMain;.cut(ILjava/la...", "Main.cut(int, ...", "Main.cut"},
	{"Longer", "Longer", "Longer"},
	{"L;.", "L;.", "L;."},
	/* copies and parts made by the compiler stay apart */
	{"_ZN2ns1fEi.cold", "ns::f(int) [clone .cold]", "ns::f [clone .cold]"},
	{"_Z1fv.constprop.0.isra.1", "f() [clone .constprop.0] [clone .isra.1]",
	 "f [clone .constprop.0] [clone .isra.1]"},
	{"f.cold", "f.cold", "f.cold"},
	/* the procedure linkage table */
	{"puts@plt", "puts@plt", "puts@plt"},
	{"@plt", "@plt", "@plt"},
	{"_ZdlPv@plt", "operator delete(void*)@plt", "operator delete@plt"},
	/* Rust, legacy: the hash goes away; v0 */
	{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad",
	 "core::fmt::Formatter::pad"},
	{"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
	 "3bar17h930b740aa94f1d3aE",
	 "<Test + 'static as foo::Bar<Test>>::bar", "<Test + 'static as foo::Bar<Test>>::bar"},
	{"_RNvC6_123foo3bar", "123foo::bar", "123foo::bar"},
	{"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}",
	 "cc::spawn::{closure#0}::{closure#0}"},
	/* D */
	{"_D3foo3barFiZv", "foo.bar(int)", "foo.bar"},
	{"_D8demangle4testFaZv", "demangle.test(char)", "demangle.test"},
	{"_D4test3fooFS4test3BarQkZv", "test.foo(test.Bar, test.Bar)", "test.foo"},
	{"_Dmain", "D main", "D main"},
	{"<static>@0x1000 (<lib.so>)", "<static>@0x1000 (<lib.so>)", "<static>@0x1000 (<lib.so>)"},
};

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		expect(table[i].mangled, NAME_LONG, table[i].full);
		expect(table[i].mangled, NAME_SHORT, table[i].brief);
		expect(table[i].mangled, NAME_MANGLED, table[i].mangled);
	}
}

/* All names of a C++ library, against c++filt without implementation details (-i). */
static void check_against_filter(const char *filter, enum name_style style)
{
	FILE *names = fopen("names", "r");
	char *command = xasprintf("%s < names", filter);
	FILE *answers = popen(command, "r");
	char *mangled = NULL, *expected = NULL;
	size_t mangled_size = 0, expected_size = 0, checked = 0;

	assert_non_null(names);
	assert_non_null(answers);
	while (getline(&mangled, &mangled_size, names) > 0) {
		assert_true(getline(&expected, &expected_size, answers) > 0);
		mangled[strcspn(mangled, "\n")] = '\0';
		expected[strcspn(expected, "\n")] = '\0';
		expect(mangled, style, expected);
		checked++;
	}
	assert_true(checked > 2000);
	fclose(names);
	pclose(answers);
	free(mangled);
	free(expected);
	free(command);
}

static void test_libstdcxx(void **state)
{
	(void)state;
	run("nm -D /usr/lib/x86_64-linux-gnu/libstdc++.so.6 | awk '$2 ~ /[TtWwiV]/ {print $3}' | "
	    "sed 's/@.*//' | sort -u > names");
	check_against_filter("c++filt -i", NAME_LONG);
	check_against_filter("c++filt -i -p", NAME_SHORT);
}

/* Templates make names of some KB; libiberty by itself stops at 1 KB. */
static void test_long_name(void **state)
{
	struct strbuf mangled = {0}, expected = {0};

	(void)state;
	strbuf_puts(&mangled, "_ZN");
	for (int i = 0; i < 1000; i++) {
		strbuf_puts(&mangled, "5space");
		strbuf_puts(&expected, "space::");
	}
	strbuf_puts(&mangled, "1fEi");
	strbuf_puts(&expected, "f");
	expect(mangled.text, NAME_SHORT, expected.text);
	strbuf_puts(&expected, "(int)");
	expect(mangled.text, NAME_LONG, expected.text);
	strbuf_fini(&mangled);
	strbuf_fini(&expected);
}

/* Each parameter is twice as long as the one before: 2^60 characters if it were written out. */
static void test_explosion(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct strbuf text = {0};

	(void)state;
	strbuf_puts(&text, "_Z1f1pIiiE");
	for (int i = 0; i < 36; i++)
		strbuf_printf(&text, "S_IS%c_S%c_E", digits[i], digits[i]);
	expect(text.text, NAME_LONG, text.text);
	strbuf_fini(&text);

	/* D: a function type of two that are the type before it, 40 times. */
	strbuf_puts(&text, "_D1fFPFiiZv");
	for (int i = 0, back = 8; i < 40; i++, back = 10)
		strbuf_printf(&text, "PFQ%cQ%cZv", 'a' + back, 'a' + back + 2);
	strbuf_puts(&text, "Zv");
	expect(text.text, NAME_LONG, text.text);
	strbuf_fini(&text);

	/* Long beyond all reason. */
	strbuf_puts(&text, "_Z");
	for (int i = 0; i < 100000; i++)
		strbuf_puts(&text, "1a");
	expect(text.text, NAME_LONG, text.text);
	expect(text.text, NAME_SHORT, text.text);
	strbuf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_libstdcxx),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_explosion),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
