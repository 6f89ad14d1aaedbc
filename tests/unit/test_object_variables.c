/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables and types.  Addresses are those of nm, offsets and sizes those that this test's own
 * compiler gives the same structures, names what the source says.
 */
#include "object/types/variables.h"
#include "test_object_support.h"

#include <stddef.h>

#define STRUCTURES                                                                                 \
	enum color { RED, GREEN };                                                                 \
	typedef unsigned long big_t;                                                               \
	typedef struct {                                                                           \
		char letter;                                                                       \
		double number;                                                                     \
	} unnamed_t;                                                                               \
	struct outer {                                                                             \
		struct outer *next;                                                                \
		const char *const text;                                                            \
		big_t big;                                                                         \
		unnamed_t pair;                                                                    \
		union {                                                                            \
			int whole;                                                                 \
			float real;                                                                \
		} either;                                                                          \
		enum color color;                                                                  \
		unsigned low : 3, high : 7;                                                        \
		int table[3][5];                                                                   \
		int (*call)(void);                                                                 \
		void *any;                                                                         \
	};

STRUCTURES
#define AS_TEXT(...) #__VA_ARGS__
#define TO_TEXT(...) AS_TEXT(__VA_ARGS__)
#define HEADER_TEXT  TO_TEXT(STRUCTURES) "\n"

static const char main_c[] =
	HEADER_TEXT "struct hidden;\n"
		    "struct outer one;\n"
		    "static volatile struct outer hidden_one;\n"
		    "int numbers[40];\n"
		    "_Thread_local char of_thread[16] = {1};\n"
		    "_Thread_local long second = 2;\n"
		    "struct hidden *pointer;\n"
		    "unnamed_t pair;\n"
		    "extern struct hidden *make(void);\n"
		    "__attribute__((noinline, used)) int counting(struct outer *node)\n"
		    "{ static int calls; __asm__ volatile(\"mark_counting: nop\" :: \"r\"(node)); "
		    "return calls += node->color; }\n"
		    "__attribute__((noinline, used)) struct outer *moved(struct outer *moving)\n"
		    "{ make(); __asm__ volatile(\"mark_moved: nop\" ::: \"memory\"); make(); "
		    "return moving; }\n"
		    "int main(void) { pointer = make(); hidden_one.color = GREEN; of_thread[1] = "
		    "second; return counting(&one); }\n";
static const char other_c[] = "struct hidden { long first; int inside; };\n"
			      "static struct hidden all;\n"
			      "struct hidden *make(void) { return &all; }\n";

struct expected_member {
	const char *name, *type;
	uint64_t offset, size;
};

#define MEMBER(name_, type_)                                                                       \
	{                                                                                          \
#name_, type_, offsetof(struct outer, name_), sizeof(((struct outer *)0)->name_)   \
	}
static const struct expected_member members_of_outer[] = {
	MEMBER(next, "pointer+structure:outer"),
	MEMBER(text, "const+pointer+const+char"),
	MEMBER(big, "big_t"),
	MEMBER(pair, "structure:unnamed_t"),
	MEMBER(either, "union:-"),
	MEMBER(color, "enum:color"),
	{"low", "unsigned_int", offsetof(struct outer, color) + 4, 1},
	{"high", "unsigned_int", offsetof(struct outer, color) + 4, 2},
	MEMBER(table, "array[3][5]+int"),
	MEMBER(call, "pointer+void"),
	MEMBER(any, "pointer+void"),
};

static const struct variable *variable_at(struct object *object, const char *symbol,
					  uint64_t offset)
{
	const struct variable *found =
		variables_at(object_variables(object), address_of("prog", symbol) + offset);

	if (!found)
		fail_msg("%s + %llu: no variable", symbol, (unsigned long long)offset);
	return found;
}

static const char *type_text(struct object *object, uint32_t type)
{
	return type == TYPE_NONE ? "none" : variables_type(object_variables(object), type)->text;
}

static void expect_variable(struct object *object, const char *symbol, uint64_t size,
			    const char *name, const char *type, enum variable_scope scope)
{
	const struct variable *first = variable_at(object, symbol, 0);

	assert_string_equal(first->name, name);
	assert_string_equal(type_text(object, first->type), type);
	assert_int_equal(first->scope, scope);
	assert_int_equal(first->address, address_of("prog", symbol));
	assert_int_equal(variables_type(object_variables(object), first->type)->size, size);
	assert_ptr_equal(first, variable_at(object, symbol, size - 1));
}

static void check_members(struct object *object)
{
	struct variables *variables = object_variables(object);
	const struct data_member *members;
	size_t count = variables_members(variables, variable_at(object, "one", 0)->type, &members);

	assert_int_equal(count, sizeof(members_of_outer) / sizeof(members_of_outer[0]));
	for (size_t i = 0; i < count; i++) {
		const struct expected_member *expected = &members_of_outer[i];

		assert_string_equal(members[i].name, expected->name);
		assert_string_equal(type_text(object, members[i].type), expected->type);
		assert_int_equal(members[i].offset, expected->offset);
		assert_int_equal(members[i].size, expected->size);
	}
	/* what is volatile is the same structure */
	assert_int_equal(
		variables_type(variables, variable_at(object, "hidden_one", 8)->type)->plain,
		variable_at(object, "one", 8)->type);
}

/* A structure that one unit only declares is that of the other. */
static void check_definition(struct object *object)
{
	struct variables *variables = object_variables(object);
	const struct data_type *pointer =
		variables_type(variables, variable_at(object, "pointer", 0)->type);
	const struct data_member *members;

	assert_int_equal(pointer->kind, DATA_POINTER);
	assert_string_equal(pointer->text, "pointer+structure:hidden");
	assert_int_equal(variables_type(variables, pointer->target)->kind, DATA_AGGREGATE);
	assert_int_equal(variables_members(variables, pointer->target, &members), 2);
	assert_string_equal(members[1].name, "inside");
	assert_int_equal(members[1].offset, 8);
}

static void check_function(struct object *object, bool optimised)
{
	struct variables *variables = object_variables(object);
	uint64_t mark = address_of("prog", "mark_counting"), entry = address_of("prog", "counting");
	const struct data_function *function = variables_function_at(variables, mark);
	bool found = false;
	uint8_t reg;
	int64_t offset;

	assert_non_null(function);
	assert_int_equal(function->entry, entry);
	assert_string_equal(type_text(object, function->result), "int");
	for (size_t i = 0; i < function->places.count; i++) {
		const struct variable_place *place = &function->places.items[i];

		if (mark < place->start || mark >= place->end ||
		    strcmp(place->variable->name, "node") != 0)
			continue;
		found = true;
		assert_string_equal(type_text(object, place->variable->type),
				    "pointer+structure:outer");
		assert_int_equal(place->kind == PLACE_VALUE, optimised);
	}
	assert_true(found);
	/* before the first instruction the frame is the stack pointer with the return address */
	assert_true(variables_frame_at(variables, entry, &reg, &offset));
	assert_int_equal(reg, 7);
	assert_int_equal(offset, 8);
	assert_null(variables_function_at(variables, 1));
}

/* A variable that is in one register up to a mark and in another behind it. */
static void check_lists(struct object *object)
{
	struct variables *variables = object_variables(object);
	uint64_t mark = address_of("prog", "mark_moved");
	const struct data_function *function = variables_function_at(variables, mark);
	bool before = false, behind = false;

	assert_non_null(function);
	for (size_t i = 0; i < function->places.count; i++) {
		const struct variable_place *place = &function->places.items[i];

		if (strcmp(place->variable->name, "moving") != 0 || place->kind != PLACE_VALUE)
			continue;
		before |= place->start < mark && place->end <= mark && place->reg == 5; /* rdi */
		behind |= place->start <= mark && place->end > mark && place->reg == 3; /* rbx */
	}
	assert_true(before);
	assert_true(behind);
}

/* The block of threads is as large as its segment; its end is where the pointer points. */
static void check_thread(struct object *object)
{
	struct variables *variables = object_variables(object);
	const struct variable *found =
		variables_of_thread_at(variables, (int64_t)(address_of("prog", "second") -
							    variables_thread_block(variables)));

	assert_non_null(found);
	assert_string_equal(found->name, "second");
	assert_null(variables_of_thread_at(variables, 0));
	assert_null(variables_of_thread_at(variables, -100000));
}

/* pack: what to do after the program has been built. */
static void check(const char *compiler, const char *options, const char *pack, bool optimised,
		  bool has_threads)
{
	struct object *object;

	run("rm -f *.o *.dwo prog prog.dwp");
	write_file("main.c", main_c);
	write_file("other.c", other_c);
	run("%s %s -w -o prog main.c other.c && %s", compiler, options, pack);
	object = open_object("prog");
	assert_true(variables_present(object_variables(object)));
	expect_variable(object, "one", sizeof(struct outer), "one", "structure:outer",
			SCOPE_OBJECT);
	expect_variable(object, "hidden_one", sizeof(struct outer), "hidden_one",
			"volatile+structure:outer", SCOPE_UNIT);
	assert_string_equal(variable_at(object, "hidden_one", 0)->where, "main.c");
	expect_variable(object, "numbers", 160, "numbers", "array[40]+int", SCOPE_OBJECT);
	expect_variable(object, "pair", sizeof(unnamed_t), "pair", "structure:unnamed_t",
			SCOPE_OBJECT);
	assert_null(variables_at(object_variables(object), 16));
	check_members(object);
	check_definition(object);
	check_function(object, optimised);
	if (optimised)
		check_lists(object);
	if (has_threads)
		check_thread(object);
	object_free(object);
}

static void test_gcc(void **state)
{
	(void)state;
	check("gcc", "-g -O0", "true", false, true);
	check("gcc", "-g -O2", "true", true, true);
	check("gcc", "-gdwarf-4 -O2 -no-pie", "true", true, true);
	check("gcc", "-g -O2 -gz", "true", true, true);
	check("gcc", "-g -O1 -gsplit-dwarf", "true", true,
	      false); /* which does not say what is a thread's */
	check("gcc", "-g -O1 -fdebug-types-section", "true", true, true);
}

static void test_clang(void **state)
{
	(void)state;
	check("clang", "-g -O0", "true", false, true);
	check("clang", "-g -O2", "true", true, true);
	check("clang", "-gdwarf-4 -O1", "true", true, true);
}

/* The dwp of binutils makes empty packages of DWARF 5, that of LLVM none of gcc's. */
static void test_packages(void **state)
{
	(void)state;
	check("gcc", "-gdwarf-4 -O2 -gsplit-dwarf", "dwp -o prog.dwp *.dwo && rm *.dwo", true,
	      false);
	check("clang", "-g -O2 -gsplit-dwarf", "llvm-dwp -o prog.dwp *.dwo && rm *.dwo", true,
	      false);
	check("clang", "-gdwarf-4 -O2 -gsplit-dwarf", "dwp -o prog.dwp *.dwo && rm *.dwo", true,
	      false);
}

static void test_static_in_function(void **state)
{
	const struct variable *found;
	struct object *object;

	(void)state;
	write_file("main.c", main_c);
	write_file("other.c", other_c);
	run("clang -g -O1 -w -o prog main.c other.c");
	object = open_object("prog");
	found = variable_at(object, "counting.calls", 0);
	assert_string_equal(found->name, "calls");
	assert_int_equal(found->scope, SCOPE_FUNCTION);
	assert_string_equal(found->where, "counting");
	object_free(object);
}

static const char classes_cc[] =
	"namespace a { namespace b { struct Base { long base; virtual ~Base() {} };\n"
	"template <class T> class Box : public Base { public: T value; static int count; };\n"
	"template <class T> int Box<T>::count = 1;\n"
	"Box<int> box; } }\n"
	"int main() { return a::b::box.value + a::b::Box<int>::count; }\n";

static void test_namespaces(void **state)
{
	const struct data_member *members;
	struct variables *variables;
	const struct variable *box;
	struct object *object;

	(void)state;
	write_file("classes.cc", classes_cc);
	run("g++ -g -O0 -w -o prog classes.cc");
	object = open_object("prog");
	variables = object_variables(object);
	box = variable_at(object, "_ZN1a1b3boxE", 0);
	assert_string_equal(box->name, "a::b::box");
	assert_string_equal(type_text(object, box->type), "class:a::b::Box<int>");
	assert_int_equal(variables_members(variables, box->type, &members), 2);
	assert_string_equal(members[0].name, "");
	assert_string_equal(type_text(object, members[0].type), "structure:a::b::Base");
	assert_string_equal(members[1].name, "value");
	assert_int_equal(members[1].offset, 16);
	object_free(object);
}

static void test_no_debug_information(void **state)
{
	struct object *object;
	struct variables *variables;

	(void)state;
	write_file("main.c", main_c);
	write_file("other.c", other_c);
	run("gcc -w -o prog main.c other.c");
	object = open_object("prog");
	variables = object_variables(object);
	assert_false(variables_present(variables));
	assert_null(variables_at(variables, address_of("prog", "one")));
	assert_null(variables_function_at(variables, address_of("prog", "main")));
	object_free(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gcc),	   cmocka_unit_test(test_clang),
		cmocka_unit_test(test_packages),   cmocka_unit_test(test_static_in_function),
		cmocka_unit_test(test_namespaces), cmocka_unit_test(test_no_debug_information),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
