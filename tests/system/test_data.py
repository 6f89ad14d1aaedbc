# SPDX-License-Identifier: Apache-2.0
"""
Data objects. targets/fields.c touches members that lie a page apart, each a number of times that follows from its code, so
that each touch is one page fault; and it writes members that are watched.
"""
import json
import random

from harness import ROOT, Skip, need_watch_points, perf_allowed, test
from test_print import terminal, validator

COUNT = 50
METRIC = 'e.page-faults'
# What page_faults() of the target touches; `one` and `other` count for the type, too.
MEMBERS = {
    '{structure:record}.{pointer+structure:record next}': COUNT + 2,
    '{structure:record}.{structure:inner in}': 2 * (COUNT + 2),
    '{structure:record}.{structure:inner in}.{int key}': COUNT + 2,
    '{structure:record}.{structure:inner in}.{long_int value}': COUNT + 2,
    '{structure:record}.{union:number number}': 2 * COUNT + 2,
    '{structure:record}.{union:number number}.{double real}': COUNT + 2,
    '{structure:record}.{union:number number}.{int whole}': COUNT,
    '{structure:record}.{array[1024]+int table}': COUNT + 2,
    '{structure:record}.{structure:- -}.{short_int right}': COUNT + 2,
    '{structure:record}': 7 * COUNT + 12,
    '{structure:inner}.{int key}': COUNT,
    '{structure:inner}.{long_int value}': COUNT,
    '{structure:inner}': 2 * COUNT,
    '{structure:chain}.{long_int visits}': COUNT + 1,
    '{structure:grown}.{long_int weight}': COUNT,
    '{structure:grown}.{pointer+structure:grown next}': 1,
    '{structure:record one}': 6,
    '{structure:record other}': 6,
    '{array[8192]+int numbers}': 8,
    '{array[24576]+char local}': 6,
    '{array[4096]+char after_lone}': 1,
    '{array[49152]+char of_thread}': 12,
    '{int lone}': 1,
    '{int -}': COUNT,
}
VARIANTS = {'gcc -O0': (), 'gcc -O2': (), 'gcc -O2 -no-pie -fno-pie': (), 'gcc -Og -gdwarf-4': (), 'gcc -O1 -gsplit-dwarf': (), 'clang -O0': (), 'clang -O2': ()}


def need_events():
    if not perf_allowed():
        raise Skip('the kernel does not let this process use perf events with sigtrap')


def build(t, command, output='fields', source=ROOT / 'tests' / 'targets' / 'fields.c', debug='-g'):
    compiler, *flags = command.split()
    result = t.run(t.need(compiler), *flags, *([debug] if debug else []), '-w', '-o', output, source)
    t.check(result.status == 0, result.err[-500:])
    return t.directory / output


def recorded(t, program, *words, counter='page-faults,1', options=()):
    need_events()
    if counter.startswith('mem:'):
        need_watch_points()
    return t.collect(program, *words, options=('-p', 'off', '-h', counter, *options)).experiment


def objects(t, experiment, *commands, metric=METRIC, view='-data_objects'):
    answer = t.print(experiment, *commands, view)[-1]
    return {row['name']: row.get(metric, 0) for row in answer['rows']}, answer


def named(counts, spelling):
    """Clang calls long int long."""
    return {name: counts.get(name, counts.get(name.replace('long_int', 'long').replace('short_int', 'short'), 0)) for name in spelling}


def check_members(t, command):
    counts, answer = objects(t, recorded(t, build(t, command), COUNT))
    for name, found in named(counts, MEMBERS).items():
        if 'of_thread' in name and 'split' in command:  # gcc does not say there that it is a thread's
            continue
        # a fault that meets another event in the kernel is counted without its address
        t.near(found, MEMBERS[name], f'{command}: {name}', absolute=2 if found > 20 else 0)
    return counts, answer


def make(command):
    def members(t):
        check_members(t, command)
    members.__name__ = 'members_' + command.replace('-', '').replace(' ', '_')
    members.__doc__ = f'Each member has the faults of its touches, whatever is between the pointer and it: {command}.'
    members.__module__ = __name__
    return test(members)


for variant in VARIANTS:
    make(variant)


@test
def sums(t):
    """<Total> is what all have that are part of nothing else; the share that is resolved is all but <Unknown>."""
    counts, answer = check_members(t, 'gcc -O0')
    reasons = ('(Unascertainable)', '(Unverifiable)', '(Unresolvable)', '(Unspecified)', '(Unidentified)', '(Undetermined)', '(Anon)')
    t.equal(sum(counts.get(reason, 0) for reason in reasons), counts['<Unknown>'], 'elements of <Unknown>')
    t.check(abs(answer['resolved'] - (1 - counts['<Unknown>'] / counts['<Total>'])) < 1e-9, f'share: {answer["resolved"]}')
    # the stack, and what of the program's data is in no structure
    t.near(sum(n for name, n in counts.items() if name.endswith('char big}')), 23, 'pages of the stack', absolute=2)
    t.equal(counts['<Total>'], t.functions(t.directory / 'run.1.er', METRIC)['<Total>'][METRIC], 'the total of functions')
    t.equal(answer['rows'][0]['name'], '<Total>', 'the first row')
    types = sum(n for name, n in counts.items() if name.startswith('{') and ' ' not in name)
    single = [name for name in counts if ' ' in name and '.{' not in name and name.startswith('{')]
    arrays = sum(counts[name] for name in single if 'array[' in name and 'structure:' not in name)
    symbols = sum(counts[name] for name in single if name.startswith('{- '))
    t.equal(counts['<Scalars>'] + counts['<Unknown>'] + types + arrays + symbols, counts['<Total>'], 'all parts')


WATCHES = {
    # what is watched, how often each object is written
    'mem:watched/8:w': {'{structure:small}.{int first}': 1, '{structure:small}.{int second}': 2, '{structure:small}': 3,
                        '{volatile+structure:small watched}': 3},
    'mem:watched+8/4:w': {'{structure:small}.{structure:- deep}.{short_int b}': 1, '{structure:small}.{structure:- deep}': 1, '{structure:small}': 1},
    'mem:plain+12/1:w': {'{structure:small}.{char last}': 1, '{structure:small plain}': 1},
}


@test
def watch_points(t):
    """A watch point stops behind the access; of several bytes those count that the instruction names."""
    for command in ('gcc -O0', 'gcc -O2', 'clang -O2'):
        program = build(t, command)
        for watch, written in WATCHES.items():
            metric = 'e.' + watch.replace(':', '~')
            counts, answer = objects(t, recorded(t, program, COUNT, counter=watch), metric=metric)
            for name, found in named(counts, written).items():
                t.near(found, written[name] * COUNT, f'{command}: {watch}: {name}', absolute=3)
            t.equal(answer['resolved_of_addresses'], 1.0, f'{command}: {watch}: share')


@test
def blocks(t):
    """What a pointer to void leads to is a block of the call stack that allocated it; an object in one counts for both."""
    counts, _ = objects(t, recorded(t, build(t, 'gcc -O0'), COUNT, options=('-H', 'on')))
    [name] = [name for name in counts if name.startswith('block from make_block + ')]
    t.near(counts[name], 64, 'pages of the block', absolute=2)
    row = t.print(t.directory / 'run.1.er', '-data_single', name)[-1]['rows'][0]
    t.equal((row['kind'], [frame.split(' + ')[0] for frame in row['frames']][:3]), ('block', ['make_block', 'page_faults', 'main']), 'who made it')
    t.near(row[METRIC], counts[name], 'its faults')


@test
def mappings(t):
    """Memory that the program maps itself belongs to the call that mapped it, and what lies there keeps its type."""
    counts, _ = objects(t, recorded(t, build(t, 'gcc -O0'), COUNT, options=('-H', 'on')))
    for name in ('{structure:record}', '{structure:inner}.{int key}', '{structure:chain}.{long_int visits}'):
        t.near(counts[name], MEMBERS[name], name, absolute=2)
    found = {name: n for name, n in counts.items() if name.startswith('mapping from fresh + ')}
    # records, more, the array, the chain with its first result, what is stored with its root, integers, and the page of pointers
    t.near(sum(found.values()), (6 + 1 + 2 + 2 + 1 + 1) * COUNT + 1 + 1 + 1, f'all mappings: {found}', absolute=4)
    t.equal(len(found), 9, 'calls of fresh()')


@test
def without_debug_information(t):
    """Symbols name what has a fixed address; nothing else is known, and it says why."""
    program = build(t, 'gcc -O2', debug=None)
    counts, _ = objects(t, recorded(t, program, COUNT))
    for name, faults in (('{- one}', 6), ('{- other}', 6), ('{- numbers}', 8), ('{- lone}', 1), ('{- after_lone}', 1)):
        t.near(counts.get(name, 0), faults, name, absolute=1)
    t.check(not [name for name in counts if 'structure:record' in name or 'structure:chain' in name], 'types without debug information')
    t.check(counts['(Unascertainable).(no debug information)'] >= 11 * COUNT, f'not known: {counts["(Unascertainable).(no debug information)"]}')
    t.check(t.run('strip', program).status == 0, 'strip')
    counts, _ = objects(t, recorded(t, program, COUNT))
    t.check('{- one}' not in counts and '{- other}' not in counts, 'names that were stripped')


CLASSES = """
#include <cstdlib>
#include <sys/mman.h>
enum { PAGE = 4096 };
namespace geo {
struct Base { long id; char fill[PAGE - sizeof(long)]; };
class Shape : public Base {
public:
	int kind; char more[PAGE - sizeof(int)];
	double area; char rest[PAGE - sizeof(double)];
	static int counter;
	__attribute__((noinline)) void set(int value) { kind = value; area = 2; id = 1; }
};
alignas(PAGE) int Shape::counter;
alignas(PAGE) static char behind[PAGE];
}
template <class T> struct Holder {
	T value; char fill[PAGE - sizeof(T)];
	__attribute__((noinline)) void put(T what) { value = what; }
};
__attribute__((noinline)) void by_reference(geo::Shape &shape) { shape.area = 1; }
struct Copied { long first; char fill[PAGE - sizeof(long)]; long second; char rest[3 * PAGE - sizeof(long)]; Copied() {} Copied(const Copied &) {} };
__attribute__((noinline)) void by_value(Copied copied) { *(volatile long *)&copied.second = 1; }
__attribute__((noinline)) void deeper(long depth)
{
	volatile char room[4 * PAGE];
	room[0] = depth; // each level's copy is on fresh pages, far from where a signal's frame of the level above was
	by_value(Copied());
	if (depth)
		deeper(depth - 1);
	room[1] = depth;
}
template <class T> T *fresh(long count)
{
	return static_cast<T *>(mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
int main(int, char **words)
{
	long count = atol(words[1]);
	geo::Shape *shapes = fresh<geo::Shape>(count), *more = fresh<geo::Shape>(count);
	Holder<short> *holders = fresh<Holder<short>>(count);
	for (long i = 0; i < count; i++) {
		shapes[i].set(i);
		by_reference(more[i]);
		holders[i].put(i);
	}
	deeper(count);
	*(volatile int *)&geo::Shape::counter = 1;
	*(volatile char *)geo::behind = 1;
}
"""


@test
def classes(t):
    """Members of classes, of their bases and of templates, through `this` and references."""
    (t.directory / 'classes.cc').write_text(CLASSES)
    for command in ('g++ -O0', 'g++ -O2', 'clang++ -O1'):
        counts, _ = objects(t, recorded(t, build(t, command, source='classes.cc'), COUNT))
        for name, faults in (('{class:geo::Shape}.{int kind}', COUNT), ('{class:geo::Shape}.{double area}', 2 * COUNT),
                             ('{class:geo::Shape}.{structure:geo::Base -}.{long_int id}', COUNT), ('{class:geo::Shape}', 4 * COUNT),
                             ('{structure:Holder<short>}', COUNT), ('{structure:Copied}.{long_int second}', COUNT + 1), ('{structure:Copied copied}', COUNT + 1), ('{int geo::Shape::counter}', 1), ('{array[4096]+char geo::behind}', 1)):
            found = max(counts.get(spelling, 0) for spelling in (name, name.replace('long_int', 'long'), name.replace('<short>', '<short_int>')))
            t.near(found, faults, f'{command}: {name}', absolute=2 if found > 20 else 0)


CONTAINERS = """
#include <cstdlib>
#include <memory>
#include <vector>
enum { PAGE = 4096, COUNT = 40 };
template <class T> struct Fresh {
	using value_type = T;
	Fresh() = default;
	template <class U> Fresh(const Fresh<U> &) {}
	T *allocate(std::size_t n) { return static_cast<T *>(aligned_alloc(PAGE, n * sizeof(T))); }
	void deallocate(T *p, std::size_t) { std::free(p); }
	template <class U> void construct(U *) {} // what is made is left as it is
};
template <class T, class U> bool operator==(const Fresh<T> &, const Fresh<U> &) { return true; }
template <class T, class U> bool operator!=(const Fresh<T> &, const Fresh<U> &) { return false; }
struct Part { long id; char fill[PAGE - 8]; double weight; char rest[PAGE - 8]; };
struct Whole { std::vector<Part, Fresh<Part>> parts; std::vector<long, Fresh<long>> numbers; std::unique_ptr<Part> one; };
#define NOINLINE __attribute__((noinline))
NOINLINE void by_index(Whole &whole) { for (std::size_t i = 0; i < whole.parts.size(); i++) whole.parts[i].weight = i; }
NOINLINE void by_iterator(std::vector<Part, Fresh<Part>> &parts) { for (auto &part : parts) part.id = 1; }
NOINLINE void numbers_of(Whole &whole, long step) { for (std::size_t i = 0; i < whole.numbers.size(); i += step) whole.numbers[i] = i; }
NOINLINE void by_pointer(Whole &whole) { whole.one->weight = 2; }
struct Base { virtual ~Base() {} virtual void touch() = 0; char fill[PAGE]; };
struct Derived : Base { long count; char more[PAGE]; NOINLINE void touch() override { count = 7; } };
NOINLINE void virtually(Base *base) { base->touch(); }
NOINLINE void lambda(Whole &whole, long n) { auto set = [&](long i) { whole.parts[i].weight = i; }; for (long i = 0; i < n; i++) set(i); }
int main()
{
	Whole whole;
	whole.parts.resize(COUNT);
	by_index(whole);
	std::vector<Part, Fresh<Part>> others(COUNT);
	by_iterator(others);
	whole.numbers.resize(512 * COUNT);
	numbers_of(whole, 512);
	whole.one.reset(static_cast<Part *>(aligned_alloc(PAGE, sizeof(Part))));
	by_pointer(whole);
	for (int i = 0; i < COUNT; i++) virtually(new Derived);
	Whole more;
	more.parts.resize(COUNT);
	lambda(more, COUNT);
	return 0;
}
"""


@test
def containers(t):
    """Elements of vectors by index, iterator and in a lambda, what a unique_ptr owns, and an overridden function's object."""
    (t.directory / 'containers.cc').write_text(CONTAINERS)
    for command in ('g++ -O0', 'g++ -O2', 'clang++ -O0', 'clang++ -O2'):
        counts, answer = objects(t, recorded(t, build(t, command, source='containers.cc')))
        for name, faults in (('{structure:Part}.{double weight}', 81), ('{structure:Part}.{long_int id}', 40), ('{structure:Derived}.{long_int count}', 40), ('<Scalars>', 40)):
            t.near(counts.get(name, counts.get(name.replace('long_int', 'long'), 0)), faults, f'{command}: {name}', absolute=2)
        # the rest is what the loading of libraries touches
        t.within(answer['resolved_of_addresses'] >= 0.9, f'{command}: share {answer["resolved_of_addresses"]}')


FORTRAN = """
module shared_data
  implicit none
  integer, parameter :: pages = 12
  integer(4) :: grid(1024 * pages)
  real(8), allocatable :: field(:)
  type point
    real(8) :: x
    character(len=4088) :: fill
    integer(4) :: key
    character(len=4092) :: rest
  end type
  type(point) :: points(pages)
  type(point), pointer :: list(:)
end module

subroutine touch_common
  implicit none
  integer, parameter :: pages = 12
  integer(4) :: counts(1024 * pages)
  real(8) :: weights(512 * pages)
  common /store/ counts, weights
  integer :: i
  do i = 1, pages
    counts((i - 1) * 1024 + 3) = i
    weights((i - 1) * 512 + 3) = i
  end do
end subroutine

subroutine touch_module
  use shared_data
  implicit none
  integer :: i
  do i = 1, pages
    grid((i - 1) * 1024 + 1) = i
    points(i)%key = i
  end do
end subroutine

subroutine touch_allocated
  use shared_data
  implicit none
  integer :: i
  do i = 1, 40
    field((i - 1) * 512 + 1) = i
  end do
  do i = 1, pages
    list(i)%key = i
  end do
end subroutine

subroutine touch_dummy(values, n)
  implicit none
  integer, intent(in) :: n
  integer(8) :: values(n)
  integer :: i
  do i = 1, n / 512
    values((i - 1) * 512 + 1) = i
  end do
end subroutine

subroutine touch_shape(values)
  implicit none
  real(4) :: values(:)
  integer :: i
  do i = 1, size(values) / 1024
    values((i - 1) * 1024 + 1) = i
  end do
end subroutine

program fields
  use shared_data
  implicit none
  interface
    subroutine touch_shape(values)
      real(4) :: values(:)
    end subroutine
  end interface
  integer(8), allocatable :: long(:)
  real(4), allocatable :: short(:)
  allocate(field(512 * 40), list(pages))
  allocate(long(512 * 40), short(1024 * 40))
  call touch_common
  call touch_module
  call touch_allocated
  call touch_dummy(long, 512 * 40)
  call touch_shape(short)
end program
"""


@test
def fortran(t):
    """COMMON, variables of modules, what is allocated, pointers and dummy arrays of either kind; arrays count from 1."""
    (t.directory / 'arrays.f90').write_text(FORTRAN)
    t.need('gfortran')
    for command in ('gfortran -O0 -fno-inline', 'gfortran -O2 -fno-inline'):
        counts, answer = objects(t, recorded(t, build(t, command, source='arrays.f90')))
        # the last page of one is the first of the next
        for name, faults in (('{array[12288]+integer(kind=4) counts}', 12), ('{array[6144]+real(kind=8) weights}', 12), ('{array[12288]+integer(kind=4) shared_data::grid}', 12),
                             ('{array[12]+structure:shared_data::point shared_data::points}', 12), ('{structure:shared_data::point}.{integer(kind=4) key}', 24),
                             ('{real(kind=8) -}', 40), ('{real(kind=4) -}', 40)):
            t.near(counts.get(name, 0), faults, f'{command}: {name}', absolute=2)
        # the rest is what the loading of libraries touches
        t.within(answer['resolved_of_addresses'] >= 0.9, f'{command}: share {answer["resolved_of_addresses"]}')


READING = """
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
struct part { char bytes[40 * 4096]; };
int main(void)
{
	struct part *part = mmap(0, sizeof(*part), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int file = open("/dev/zero", O_RDONLY);
	for (int i = 0; i < 40; i++)
		if (read(file, part->bytes + i * 4096, 100) != 100)
			return 1;
	return 0;
}
"""


@test
def the_kernels_accesses(t):
    """What a system call touches for the program no instruction names; the mapping is known with -H."""
    (t.directory / 'reading.c').write_text(READING)
    program = build(t, 'gcc -O1', source='reading.c')
    counts, _ = objects(t, recorded(t, program))
    t.near(counts.get('(Unspecified).(system call)', 0), 40, 'by the kernel', absolute=2)
    counts, _ = objects(t, recorded(t, program, options=('-H', 'on')))
    t.near(sum(n for name, n in counts.items() if name.startswith('mapping from main + ')), 40, 'in the mapping', absolute=2)


WORKERS = """
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
enum { PAGE = 4096, PAGES = 40 };
#define NOINLINE __attribute__((noinline))
struct cleared { long id; char rest[PAGES * PAGE - sizeof(long)]; };
struct copied { int id; char rest[PAGE / 4 - sizeof(int)]; };
struct made { short id; char rest[PAGE / 4 - sizeof(short)]; };
static void *fresh(void)
{
	return mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
/* a jump to memset would leave no caller */
#define STAY __asm__ volatile("")
NOINLINE void clear(struct cleared *what, size_t size) { memset(what, 1, size); STAY; }
/* so small that it is no `rep movsb', of which nobody knows whether it read or wrote */
NOINLINE void copy(struct made *to, const struct copied *from, size_t size) { for (int i = 0; i < 4 * PAGES; i++) memcpy(&to[i], &from[i], size); }
NOINLINE void move(struct made *to, const struct copied *from, size_t size) { memcpy(to, from, size); STAY; }
NOINLINE void anything(void *what, size_t size) { memset(what, 1, size); STAY; }
NOINLINE int on_stack(size_t size) { char local[PAGES * PAGE]; memset(local, 1, size); return local[size / 2]; }
int main(int count, char **words)
{
	size_t size = atol(words[1]) * PAGE;
	clear(fresh(), size);
	copy(fresh(), fresh(), size / PAGES / 4);
	move(fresh(), fresh(), size);
	anything(fresh(), size);
	return !on_stack(size);
}
"""


@test
def workers_of_the_library(t):
    """memset and memcpy have no variables: what they touch is what their caller's argument leads to, as far as that tells."""
    (t.directory / 'workers.c').write_text(WORKERS)
    for command in ('gcc -O0', 'gcc -O2 -fno-builtin', 'clang -O2'):
        counts, _ = objects(t, recorded(t, build(t, command, source='workers.c'), 40))
        large = counts.get('{structure:copied}', 0) > 60
        for name, faults in (('{structure:cleared}', 40), ('{structure:copied}', 80 if large else 40), ('{structure:made}', 80 if large else 40), ('{array[163840]+char local}', 40)):
            # pages of the stack may have been there
            t.near(counts.get(name, 0), faults, f'{command}: {name}', absolute=8 if 'local' in name else 3)
        # 80 of the large copy, if the processor has that instruction
        t.within(40 <= counts.get('(Unidentified)', 0) + counts['(Undetermined)'] <= 130, f'{command}: what nothing tells: {counts}')


OF_THREADS = {'{array[49152]+char shown}': 24, '{array[49152]+char hidden}': 24, '{array[12288]+int numbers}': 24, '{array[6]+structure:record records}': 12,
              '{structure:record}.{int key}': 12, '{array[49152]+char early}': 24, '{char -}': 24}


@test
def thread_variables_of_libraries(t):
    """Variables of threads, in each way that compilers find them, of libraries that are there at first and that are opened."""
    source = ROOT / 'tests' / 'targets' / 'threadfields.c'
    for command in ('gcc -O0', 'gcc -O2', 'gcc -O2 -mtls-dialect=gnu2', 'clang -O0', 'clang -O2'):
        for options in ((), ('-DOPEN',)):
            build(t, ' '.join((command, '-fPIC -shared -DLIBRARY', *options)), output='libfields.so', source=source)
            link = () if options else ('libfields.so', '-Wl,-rpath,.')
            result = t.run(t.need('gcc'), '-g', *options, '-pthread', '-o', 'program', source, *link)
            t.check(result.status == 0, result.err[-500:])
            for traced in ((), ('-H', 'on')):
                counts, _ = objects(t, recorded(t, t.directory / 'program', options=traced))
                for name, faults in OF_THREADS.items():
                    if not (traced and name == '{char -}'):
                        t.near(counts.get(name, 0), faults, f'{command} {options} {traced}: {name}', absolute=1)


@test
def filters(t):
    """DOBJ and DNAME: events by their data objects, and by all that these lie in."""
    experiment = recorded(t, build(t, 'gcc -O0'), COUNT)
    everything, _ = objects(t, experiment)
    for expression, name in (('DOBJ IN DNAME("key")', None), ('DNAME("key") IN DOBJ', None), ('DNAME("key") SOME IN DOBJ', None),
                             ('DOBJ == DNAME(".structure:inner.")', '{structure:inner}'), ('DOBJ IN DNAME("one")', '{structure:record one}'),
                             ('DOBJ IN DNAME("<Unknown>")', '<Unknown>'), ('DOBJ IN DNAME("<Scalars>")', '<Scalars>')):
        counts, _ = objects(t, experiment, '-filters', expression)
        expected = everything[name] if name else sum(n for full, n in everything.items() if full.endswith('{int key}'))
        t.equal(counts['<Total>'], expected, expression)
    counts, _ = objects(t, experiment, '-filters', 'FNAME("touch_array") SOME IN STACK')
    t.near(counts['{structure:inner}'], 2 * COUNT, 'one function', absolute=2)
    t.check('{structure:record}' not in counts, f'others: {counts}')
    counts, _ = objects(t, experiment, '-filters', '!(DOBJ IN DNAME(".*"))')
    t.equal(counts['<Total>'], 0, 'all have one')
    warned = t.run(t.helio, 'print', '-filters', 'DOBJ IN DNAME("nonesuch")', '-data_objects', experiment)
    t.check('no data object of the experiments has such a name' in warned.err, warned.err)


@test
def layout(t):
    """All members by offset, with their sizes and how they lie in blocks of 32 bytes."""
    (t.directory / 'layout.c').write_text("""
#include <stdlib.h>
struct part { char name[40]; double value; };
struct lay { int a; char b; long c; char d[15]; char e; char f[32]; char g[28]; double h __attribute__((packed)); struct part parts[2]; unsigned low : 3, high : 9; } __attribute__((packed, aligned(8)));
struct lay *volatile all;
int main(void) { all = malloc(3000000 * sizeof(*all)); for (long i = 0; i < 3000000; i += 100) all[i].parts[1].value = 1; }
""")
    experiment = recorded(t, build(t, 'gcc -O1', source='layout.c'))
    rows = [row['name'] for row in t.print(experiment, '-data_layout')[-1]['rows']]
    t.equal(rows[0], '<Total>', 'the first')
    start = [i for i, name in enumerate(rows) if name.startswith('{structure:lay}, ')][0]
    shown = [name.split() for name in rows[start + 1:] if not name.startswith('{')]
    members = [(words[0], words[1], words[2], words[-1].rstrip('}')) for words in shown if words[0] != '----']
    # packed: no padding; h from 89, parts from 97, which is 48 bytes each
    expected = [('+0', '4', '/', 'a'), ('+4', '1', '|', 'b'), ('+5', '8', '|', 'c'), ('+13', '15', '|', 'd'), ('+28', '1', '|', 'e'),
                ('+29', '32', 'X', 'f'), ('+61', '28', 'X', 'g'), ('+89', '8', 'X', 'h'), ('+97', '96', '#', 'parts'),
                ('+97', '40', '#', 'name'), ('+137', '8', '|', 'value'), ('+193', '1', '|', 'low'), ('+193', '2', '|', 'high')]
    t.equal(members[:len(expected)], expected, 'members')
    lines = [words[1] for words in shown if words[0] == '----'][:2]
    t.equal(lines, ['+64:', '+128:'], 'lines of the cache')
    # the same as numbers, without a look at the text
    rows = t.print(experiment, '-data_layout')[-1]['rows']
    t.equal([rows[0][key] for key in ('element', 'offset', 'size', 'depth')], [None, None, None, 0], '<Total>')
    t.equal([rows[start][key] for key in ('element', 'offset', 'size', 'depth')], ['{structure:lay}', 0, 200, 0], 'the structure')
    below = rows[start + 1:]
    numbers = [(row['offset'], row['size'], row['element'].rstrip('}').split()[-1], row['depth']) for row in below if row['element'] and row['depth']]
    t.equal([row[:3] for row in numbers[:len(expected)]], [(int(offset), int(size), name) for offset, size, _, name in expected], 'numbers')
    t.equal([row[3] for row in numbers[:len(expected)]], [1] * 9 + [2, 2] + [1, 1], 'depths')
    t.equal([(row['offset'], row['size'], 'e.page-faults' in row) for row in below if not row['element']][:2], [(64, None, False), (128, None, False)], 'lines')


def sections(program, names):
    """{name: (offset, size)} in the file, by readelf's words."""
    found = {}
    for line in program[1].splitlines():
        words = line.replace('[ ', '[').split()
        if len(words) > 5 and words[0].startswith('[') and words[1] in names:
            found[words[1]] = (int(words[4], 16), int(words[5], 16))
    return found


@test
def damaged_debug_information(t):
    """Whatever the debug information says, the rest is answered, and all events are counted."""
    program = build(t, 'gcc -O1')
    experiment = recorded(t, program, COUNT, options=('-A', 'off'))
    whole, _ = objects(t, experiment)
    parts = sections((program, t.run('readelf', '-SW', program).out), ('.debug_info', '.debug_abbrev', '.debug_loclists', '.debug_rnglists', '.debug_str', '.debug_line', '.eh_frame'))
    t.check(len(parts) >= 5, f'sections: {parts}')
    image = program.read_bytes()
    other = said = 0
    for number in range(21):
        damaged = bytearray(image)
        chance = random.Random(number)
        name = sorted(parts)[number % len(parts)]
        for _ in range(chance.choice((1, 5, 200))):
            offset, size = parts[name]
            damaged[offset + chance.randrange(size)] = chance.randrange(256)
        program.write_bytes(damaged)
        result = t.run(t.helio, 'print', '-printmode', 'json', '-data_objects', '-data_layout', experiment, timeout=20)
        t.check(result.status in (0, 1), f'{name}, {number}: status {result.status}: {result.err[-300:]}')
        counts = {row['name']: row[METRIC] for row in json.loads(result.out.splitlines()[0])['rows']}
        t.equal(counts['<Total>'], whole['<Total>'], f'{name}, {number}: total')
        other += counts != whole
        said += 'debug information is damaged' in result.out and 'debug information is damaged' in t.run(t.helio, 'print', '-data_objects', experiment).err
    t.check(other > 0, 'no damage had an effect')
    t.check(said > 0, 'no warning')


def check_consistency(t, experiment):
    counts, answer = objects(t, experiment)
    t.equal(counts['<Total>'], t.functions(experiment, METRIC)['<Total>'][METRIC], 'total')
    parts = sum(counts.get(reason, 0) for reason in ('(Unascertainable)', '(Unverifiable)', '(Unresolvable)', '(Unspecified)', '(Unidentified)', '(Undetermined)', '(Anon)'))
    t.equal(parts, counts.get('<Unknown>', 0), 'elements of <Unknown>')
    t.check(abs(answer['resolved'] - (1 - counts.get('<Unknown>', 0) / counts['<Total>'])) < 1e-9, 'share')
    t.check(max(counts.values()) == counts['<Total>'], 'nothing is more than all')
    for row in answer['rows'][1:]:
        parent = row['name'].rsplit('.{', 1)[0] if '.{' in row['name'] else None
        t.check(not parent or any(counts[name] >= row[METRIC] for name in counts if name.startswith(parent)), f'{row["name"]} is more than what it is in')
    return counts


@test
def real_programs(t):
    """sqlite3 and Python, as they come: all that they did is in the list, once."""
    need_events()
    sql = ('create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 100000) '
           'insert into t select x, x * 2 from c; select sum(a) from t;')
    words = ('x = [str(i) * 3 for i in range(100000)]; print(len({i: i for i in x}))')
    for program, *arguments in (('sqlite3', ':memory:', sql), ('/usr/bin/python3', '-c', words)):
        for options in ((), ('-H', 'on')) if program == 'sqlite3' else ((),):
            result = t.collect(t.need(program), *arguments, options=('-p', 'off', '-h', 'page-faults,1', *options))
            counts = check_consistency(t, result.experiment)
            if options:
                t.check(any(name.startswith('block from ') for name in counts), f'{program}: no blocks')
        for mode in ('text', 'html', ','):
            shown = t.run(t.helio, 'print', '-printmode', mode, '-limit', '10', '-data_objects', '-data_layout', result.experiment)
            t.check(shown.status == 0 and '&lt;Total&gt;' in shown.out or '<Total>' in shown.out, f'{mode}: {shown.err}')


@test
def refusals(t):
    """Without data addresses there are no data objects; a name that is none, or several, is refused."""
    bare = t.run(t.helio, 'print', '-data_objects', t.collect(t.target('faulter')).experiment)
    t.check(bare.status == 1 and 'No data addresses are recorded' in bare.err, bare.err)
    experiment = recorded(t, build(t, 'gcc -O0'), COUNT)
    for name, words in (('nonesuch', 'No data object has the name'), ('key', 'data objects have the name')):
        refused = t.run(t.helio, 'print', '-data_single', name, experiment)
        t.check(refused.status == 1 and words in refused.err, refused.err)
    rows = t.print(experiment, '-data_single', 'key', '2')[-1]['rows']
    t.check(rows[0]['name'].endswith('{int key}') and rows[0]['size'] == 4, f'{rows}')
    for name, full in (('inner', '{structure:inner}'), ('structure:inner', '{structure:inner}'), ('int lone', '{int lone}'), ('visits', '{structure:chain}.{long_int visits}')):
        t.equal(t.print(experiment, '-data_single', name)[-1]['rows'][0]['name'], full, name)
    row = t.print(experiment, '-data_single', 'lone')[-1]['rows'][0]
    address = [line.split()[0] for line in t.run('nm', t.directory / 'fields').out.splitlines() if line.endswith(' lone')][0]
    t.equal((row['address'], row['size'], row['kind']), (int(address, 16), 4, 'scalar'), 'a variable')


@test
def compared(t):
    """Experiments beside each other: the same objects, found again."""
    program = build(t, 'gcc -O0')
    first, second = recorded(t, program, COUNT), recorded(t, program, 2 * COUNT)
    rows = {row['name']: row for row in t.print(second, first, '-compare', 'on', '-data_objects')[-1]['rows']}
    row = rows['{structure:inner}']
    t.near(row[METRIC + '.1'], 2 * COUNT, 'the first', absolute=2)
    t.near(row[METRIC + '.2'], 4 * COUNT, 'the second', absolute=2)


BLOCKS = """
#include <cstdlib>
enum { PAGE = 4096, COUNT = 40 };
struct Small { long first; char fill[PAGE - sizeof(long)]; long second; char rest[PAGE - sizeof(long)]; };
struct Large { long first; char fill[4 * PAGE]; };
__attribute__((noinline)) void touch(Small *small) { small->first = small->second = 1; }
__attribute__((noinline)) void pretend(Large *large) { large->first = 1; }
int main()
{
	for (int i = 0; i < COUNT; i++) {
		touch(new Small); // twice a page, so that each is fresh
		pretend(static_cast<Large *>(aligned_alloc(PAGE, PAGE)));
	}
}
"""


@test
def types_in_blocks(t):
    """What fits into its block counts for type and block, and operator new is no answer to who made it; what does not fit is none."""
    (t.directory / 'blocks.cc').write_text(BLOCKS)
    program = build(t, 'g++ -O1 -fno-builtin', source='blocks.cc')
    counts, _ = objects(t, recorded(t, program, options=('-H', 'on')))
    t.near(counts['{structure:Small}.{long_int second}'], 40, 'the second', absolute=2)
    t.check('{structure:Large}' not in counts, 'a type that is larger than the block')
    made = [n for name, n in counts.items() if name.startswith('block from main + ')]
    t.near(sum(made), counts['{structure:Small}'] + 40, 'blocks', absolute=4)
    t.check(not any('operator new' in name for name in counts), f'makers: {counts.keys()}')
    without, _ = objects(t, recorded(t, program))
    t.near(without['{structure:Large}.{long_int first}'], 40, 'without the heap it is what the code says', absolute=2)


@test
def archived(t):
    """An experiment with its copies reads the same where the program is gone."""
    program = build(t, 'gcc -O1')
    experiment = recorded(t, program, COUNT, options=('-A', 'copy'))
    here, _ = objects(t, experiment)
    program.unlink()
    (t.directory / 'elsewhere').mkdir()
    experiment = experiment.rename(t.directory / 'elsewhere' / 'moved.er')
    t.equal(objects(t, experiment)[0], here, 'elsewhere')


@test
def completed(t):
    """TAB at the prompt knows the data objects, with quotes around what has blanks."""
    experiment = recorded(t, build(t, 'gcc -O1'), COUNT)
    text = terminal(t, ['print', experiment], (('(helio) ', "data_single '{int l\t\n"), ('(helio) ', 'quit\n')))
    t.check('Kind: scalar' in text and '{int lone}' in text, text[-600:])


@test
def json_is_described(t):
    experiment = recorded(t, build(t, 'gcc -O1'), COUNT, options=('-H', 'on'))
    counts, _ = objects(t, experiment)
    block = next(name for name in counts if name.startswith('block from'))
    check = validator(t)
    for words in (('-data_objects',), ('-data_layout',), ('-data_single', 'lone'), ('-data_single', block), ('-data_single', '(Unascertainable)'),
                  ('-compare', 'on', '-data_objects', experiment)):
        for answer in t.print(experiment, *words):
            problems = [error.message for error in check.iter_errors(answer)]
            t.check(not problems, f'{words}: {problems[:2]}')
