# SPDX-License-Identifier: Apache-2.0
"""Heap tracing: allocations that a program is known to make, and what other tools say of them."""
import collections
import glob
import xml.etree.ElementTree as xml

from harness import Skip, test
from test_openmp import COMPILERS, compile_target
from test_print import validator

ROUNDS = 100  # of tests/targets/heap.c


def heap(t, experiment, *commands):
    return {o['command']: o for o in t.print(experiment, *commands)}


def by_function(rows, prefix=''):
    """{innermost function with this prefix: (instances, bytes)} of a list by stack."""
    sums = collections.Counter()
    for row in rows:
        names = [frame.partition(' + ')[0] for frame in row['stack'] if '(inlined)' not in frame]
        name = next((n for n in names if n.startswith(prefix)), None)
        if name:
            sums[name, 'instances'] += row['instances']
            sums[name, 'bytes'] += row['bytes']
    return {name: (sums[name, 'instances'], sums[name, 'bytes']) for name, _ in sums}


def trace(t, words, option='on', options=('-p', 'off'), **more):
    return t.collect(*words, options=(*options, '-H', option), **more).experiment


@test
def calls(t):
    """Every function that allocates, with its sizes; nothing is left, and failures are no allocations."""
    experiment = trace(t, [t.target('heap')])
    found = heap(t, experiment, '-allocs', '-heapstat', '-leaks')
    sizes = by_function(found['allocs']['rows'])
    grown = ROUNDS * (10 + 16 + 1000 + 2000)
    expected = {'by_malloc': (ROUNDS, 1000 * ROUNDS), 'by_calloc': (ROUNDS, 300 * ROUNDS), 'by_realloc': (4 * ROUNDS, grown),
                'by_alignment': (5 * ROUNDS, 5 * 50 * ROUNDS), 'temporary': (ROUNDS, 77 * ROUNDS)}
    for name, amount in expected.items():
        t.equal(sizes.get(name), amount, name)
    t.check('failing' not in sizes, 'failed calls are no allocations')
    statistics = found['heapstat']['rows'][0]
    left = by_function(found['leaks']['rows'])
    t.check(not set(expected) & set(left), f'everything was freed: {left}')
    t.check(statistics['temporary']['blocks'] >= ROUNDS, f'temporary: {statistics["temporary"]}')
    for call in ('mmap', 'mremap', 'munmap'):
        t.equal(statistics['mappings'][call]['blocks'], ROUNDS, call)
    t.equal(statistics['mappings']['brk']['bytes'], 4096, 'brk')
    totals = t.functions(experiment, 'e.heapalloccnt', 'e.heapallocbytes')
    t.equal(totals['by_malloc']['e.heapallocbytes'], 1000 * ROUNDS, 'metric')


@test
def allocators(t):
    """The same calls with another allocator in front of libc's."""
    for name in ('libjemalloc.so.2', 'libtcmalloc_minimal.so.4', 'libmimalloc.so.2'):
        library = next(iter(glob.glob(f'/usr/lib/*/{name}')), None)
        t.check(library, f'{name} is there')
        experiment = trace(t, [t.target('heap'), 'portable'], env={'LD_PRELOAD': library})
        sizes = by_function(heap(t, experiment, '-allocs')['allocs']['rows'])
        t.equal(sizes.get('by_malloc'), (ROUNDS, 1000 * ROUNDS), f'{name}: malloc')
        t.equal(sizes.get('temporary'), (ROUNDS, 77 * ROUNDS), f'{name}: malloc and free')
        t.check(not by_function(heap(t, experiment, '-leaks')['leaks']['rows'], 'by_malloc'), f'{name}: all is freed')


@test
def cxx(t):
    """C++'s operators, whether they go through malloc or straight into an allocator: each block once."""
    for name in (None, 'libjemalloc.so.2', 'libtcmalloc_minimal.so.4'):
        library = glob.glob(f'/usr/lib/*/{name}')[0] if name else ''
        result = t.collect(t.target('heap_cxx'), options=('-p', 'off', '-H', 'on'), env={'LD_PRELOAD': library})
        t.equal(result.out, 'caught 100\n', f'{name}: exceptions')
        found = heap(t, result.experiment, '-allocs', '-leaks', '-heapstat')
        for function, size in (('single', 100), ('array', 700), ('nothrow', 100), ('aligned', 256), ('left', 100)):
            t.equal(by_function(found['allocs']['rows'], function)[function], (ROUNDS, size * ROUNDS), f'{name}: {function}')
        left = [row for row in found['leaks']['rows'] if any(frame.startswith('left ') for frame in row['stack'])]
        t.equal(sum(row['instances'] for row in left), ROUNDS, f'{name}: left')
        t.check(not any(frame.startswith(('single', 'array', 'nothrow', 'aligned')) for row in found['leaks']['rows']
                        for frame in row['stack']), f'{name}: the others are freed')
        # one form goes on to another: delete with a size to the one without
        t.equal(found['heapstat']['rows'][0]['unmatched_releases'], 0, f'{name}: releases without a block')


NAIVE = r"""
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <stdlib.h>
static _Alignas(4096) char room[1 << 24];
static size_t used;
void *memalign(size_t alignment, size_t size)
{
	size_t at = (__atomic_fetch_add(&used, size + alignment + 32, 5) + 16 + alignment - 1) & ~(alignment - 1);
	*(size_t *)(room + at - 16) = size;
	return room + at;
}
void *malloc(size_t size) { return memalign(16, size); }
void free(void *block) { }
void *calloc(size_t count, size_t size) { return memset(malloc(count * size), 0, count * size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
void *valloc(size_t size) { return memalign(4096, size); }
void *pvalloc(size_t size) { return valloc((size + 4095) & ~4095ul); }
int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = aligned_alloc(alignment, size);
	return 0;
}
void *realloc(void *old, size_t size)
{
	if (!old)
		return malloc(size);
	void *block = size ? malloc(size) : NULL;
	size_t before = ((size_t *)old)[-2];
	if (block)
		memcpy(block, old, before < size ? before : size);
	free(old);
	return block;
}
"""

NAIVELY = r"""
#include <malloc.h>
#include <stdlib.h>
void *volatile block;
#define SITE(name, ...) __attribute__((noinline)) void site_##name(void) { __VA_ARGS__; }
SITE(zeroed, block = calloc(10, 10))
SITE(moved, block = realloc(malloc(50), 100))
SITE(first, block = realloc(NULL, 100))
SITE(none, block = realloc(malloc(100), 0))
SITE(aligned, block = aligned_alloc(64, 128))
SITE(paged, block = pvalloc(4096))
SITE(posix, void *made; if (!posix_memalign(&made, 64, 100)) block = made)
int main(void)
{
	void (*sites[])(void) = {site_zeroed, site_moved, site_first, site_none, site_aligned, site_paged, site_posix};
	for (int i = 0; i < 100; i++)
		for (unsigned site = 0; site < sizeof(sites) / sizeof(*sites); site++) {
			sites[site]();
			free(block);
		}
	return 0;
}
"""


@test
def naive(t):
    """An allocator whose functions call each other by name, through us: each block and each release once."""
    for name, text, *words in (('naive', NAIVE, '-shared', '-fPIC'), ('program', NAIVELY)):
        (t.directory / f'{name}.c').write_text(text)
        t.equal(t.run(t.need('gcc'), '-O1', '-fno-builtin', *words, '-o', t.directory / name, t.directory / f'{name}.c').status, 0, 'gcc')
    experiment = trace(t, [t.directory / 'program'], env={'LD_PRELOAD': t.directory / 'naive'})
    found = heap(t, experiment, '-allocs', '-leaks', '-heapstat')
    sizes = by_function(found['allocs']['rows'], 'site_')
    for site, count, size in (('zeroed', 1, 100), ('moved', 2, 150), ('first', 1, 100), ('none', 1, 100), ('aligned', 1, 128), ('paged', 1, 4096),
                              ('posix', 1, 100)):
        t.equal(sizes.get(f'site_{site}'), (100 * count, 100 * size), site)
    t.equal(by_function(found['leaks']['rows'], 'site_'), {}, 'leaks')
    t.equal(found['heapstat']['rows'][0]['unmatched_releases'], 0, 'releases without a block')


@test(engines=True)
def of_the_program(t, engine):
    """The executable has an allocator of its own, which maps memory, locks and reads a file; we never call it from within itself."""
    def known(result):
        return {key: value for key, value in (line.split() for line in result.out.splitlines()) if key != 'chunks'}

    bare = t.run(t.target('ownmalloc'))
    t.equal((bare.status, bare.err), (0, ''), 'alone')
    for options in ((), ('-H', 'on'), ('-s', 'all'), ('-i', 'on'), ('-H', 'on', '-s', 'all', '-i', 'on')):
        result = t.collect(t.target('ownmalloc'), engine=engine, options=options, status=None)
        t.check(result.status == 0 and 'from within' not in result.err, f'{options}: status {result.status}: {result.err[-400:]}')
        t.equal(known(result), known(bare), f'{options}')
        if '-H' in options:
            chunks = int(dict(line.split() for line in result.out.splitlines())['chunks'])
            mapped = heap(t, result.experiment, '-heapstat')['heapstat']['rows'][0]['mappings']['mmap']['blocks']
            t.check(mapped >= chunks - 1, f'{options}: {mapped} mappings, and it made {chunks}, one of them before the recording')


@test
def sized(t):
    """C23's free_sized and free_aligned_sized, of an allocator that has them: one release each, whether by way of its free or not."""
    library, program = t.directory / 'sized.c', t.directory / 'program.c'
    library.write_text('#include <stdlib.h>\n#include <stdio.h>\nstatic int calls;\n'
                       'void free_sized(void *p, size_t n) { calls += n == 123; free(p); }\n'
                       'void free_aligned_sized(void *p, size_t a, size_t n) { calls += a == 64 && n == 256; free(p); }\n'
                       '__attribute__((destructor)) static void end(void) { printf("%d\\n", calls); }\n')
    program.write_text('#include <stdlib.h>\nvoid free_sized(void *, size_t);\nvoid free_aligned_sized(void *, size_t, size_t);\n'
                       'void *volatile block;\nint main(void) {\n  for (int i = 0; i < 100; i++) {\n'
                       '    block = malloc(123); free_sized(block, 123);\n'
                       '    block = aligned_alloc(64, 256); free_aligned_sized(block, 64, 256);\n  }\n  return 0;\n}\n')
    for words in (('-shared', '-fPIC', '-o', t.directory / 'libsized.so', library),
                  ('-o', t.directory / 'program', program, t.directory / 'libsized.so', f'-Wl,-rpath,{t.directory}')):
        t.equal(t.run(t.need('gcc'), *words).status, 0, 'gcc')
    result = t.collect(t.directory / 'program', options=('-p', 'off', '-H', 'on'))
    t.equal(result.out, '200\n', 'calls that reached the allocator')
    found = heap(t, result.experiment, '-allocs', '-leaks', '-heapstat')
    for view, count in (('allocs', (200, 100 * (123 + 256))), ('leaks', (0, 0))):
        t.equal(by_function(found[view]['rows'])['main'] if count[0] else by_function(found[view]['rows']).get('main', (0, 0)), count, view)
    t.equal(found['heapstat']['rows'][0]['unmatched_releases'], 0, 'releases without a block')


@test
def cxx_apart(t):
    """A program without C++ loads a library with it, for itself only: its operators are found where it finds them."""
    library, program = t.directory / 'library.cc', t.directory / 'program.c'
    library.write_text('#include <string>\n#include <vector>\nextern "C" int work() {\n  std::vector<std::string> all;\n'
                       '  for (int i = 0; i < 1000; i++) all.push_back(std::string(100, 64));\n  return all.size();\n}\n')
    program.write_text('#include <dlfcn.h>\n#include <stdio.h>\nint main(int argc, char **argv) {\n'
                       '  for (int i = 0; i < 2; i++) {\n    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);\n'
                       '    int (*work)(void) = (int (*)(void))dlsym(library, "work");\n    printf("%d\\n", work());\n'
                       '    dlclose(library);\n  }\n  return 0;\n}\n')
    for words in ((t.need('g++'), '-shared', '-fPIC', '-o', t.directory / 'library.so', library),
                  (t.need('gcc'), '-o', t.directory / 'program', program)):
        t.equal(t.run(*words).status, 0, str(words[0]))
    result = t.collect(t.directory / 'program', t.directory / 'library.so', options=('-p', 'off', '-H', 'on'))
    t.equal(result.out, '1000\n1000\n', 'output')
    allocations = heap(t, result.experiment, '-allocs')['allocs']['total']['instances']
    t.check(allocations >= 2000, f'{allocations} allocations of 2,000 strings')


@test
def threads(t):
    """80,000 blocks that threads hand to each other: each is freed by another, and none is left or freed twice."""
    experiment = trace(t, [t.target('heap'), 'threads'])
    found = heap(t, experiment, '-allocs', '-leaks', '-heapstat')
    t.equal(by_function(found['allocs']['rows'], 'pass_on')['pass_on'][0], 80000, 'allocations')
    t.equal(by_function(found['leaks']['rows'], 'pass_on'), {}, 'left')
    t.equal(found['heapstat']['rows'][0]['unmatched_releases'], 0, 'releases without a block')


@test
def forks(t):
    """A child frees what it inherited: releases of blocks that it does not know, and no leak but its own."""
    experiment = trace(t, [t.target('heap'), 'forks'])
    child = heap(t, experiment / '_f1.er', '-leaks', '-heapstat')
    t.equal(by_function(child['leaks']['rows'], 'in_child'), {'in_child': (1, 12345)}, 'of the child')
    t.check(child['heapstat']['rows'][0]['unmatched_releases'] >= ROUNDS, 'what the child inherited')
    parent = heap(t, experiment, '-leaks')['leaks']['rows']
    t.equal(by_function(parent, 'by_malloc'), {}, 'of the parent')


@test
def peak(t):
    """400 blocks of 10,000 bytes at the highest, 300 of them by one function."""
    experiment = trace(t, [t.target('heap'), 'peak'])
    peak = heap(t, experiment, '-heapstat')['heapstat']['rows'][0]['peak']
    stacks = [{'stack': row['stack'], 'instances': row['blocks'], 'bytes': row['bytes']} for row in peak['stacks']]
    t.equal(by_function(stacks, 'hill')['hill'], (300, 3000000), 'hill')
    t.equal(by_function(stacks, 'rest')['rest'], (100, 1000000), 'rest')
    t.check(4000000 <= peak['bytes'] < 4100000, f'peak: {peak["bytes"]}')
    t.equal(max(point['bytes'] for point in peak['course']), peak['bytes'], 'the highest point of the course')
    t.check(peak['stack_count'] == len(peak['stacks']) > 1, f'stacks: {peak["stack_count"]}, {len(peak["stacks"])} in the list')
    first = heap(t, experiment, '-limit', '1', '-heapstat')['heapstat']['rows'][0]['peak']
    t.equal({**first, 'stacks': peak['stacks']}, peak, 'all but the stacks with a limit')
    t.equal(first['stacks'], peak['stacks'][:1], 'stacks with a limit of one')


HELD = r"""
#include <stdlib.h>
#include <unistd.h>
static void *blocks[400];
static void hold(int count, int ms)
{
	for (int i = 0; i < count; i++)
		blocks[i] = malloc(100);
	usleep(ms * 1000);
	for (int i = 0; i < count; i++)
		free(blocks[i]);
}
int main(void)
{
	hold(100, 20);
	hold(200, 300);
	for (int i = 0; i < 50; i++)
		blocks[i] = malloc(10);
	return 0;
}
"""


@test
def lifetimes(t):
    """Blocks by how long they were there: those that a program holds over a pause of a known length."""
    (t.directory / 'held.c').write_text(HELD)
    t.equal(t.run(t.need('gcc'), '-O1', '-fno-builtin', '-o', t.directory / 'held', t.directory / 'held.c').status, 0, 'gcc')
    statistics = heap(t, trace(t, [t.directory / 'held']), '-heapstat')['heapstat']['rows'][0]
    classes = {entry['range']: (entry['blocks'], entry['bytes']) for entry in statistics['lifetimes']}
    for name, truth in (('10ms - 100ms', (100, 10000)), ('100ms - 1s', (200, 20000))):
        t.within(classes[name] == truth, f'{name}: {classes[name]}, not {truth}')  # a busy machine may wake it later
    t.equal(statistics['fates']['still reachable'], {'blocks': 50, 'bytes': 500}, 'never released')


def memcheck(t, *words):
    """{(kind, site): (blocks, bytes)} of the functions site_… as memcheck has them."""
    report = t.directory / 'memcheck.xml'
    t.run(t.need('valgrind'), '--leak-check=full', '--show-leak-kinds=all', '--xml=yes', f'--xml-file={report}', *words)
    found = collections.Counter()
    for error in xml.parse(report).getroot().iter('error'):
        kind = error.findtext('kind')
        site = next((fn.text for fn in error.iter('fn') if fn.text.startswith('site_')), None)
        if site and kind.startswith('Leak_'):
            found[kind, site, 'blocks'] += int(error.findtext('xwhat/leakedblocks'))
            # of a block that leads to others this counts them too: the blocks say it all
    return {(kind, site): count for (kind, site, _), count in found.items()}


KINDS = {'definitely lost': 'Leak_DefinitelyLost', 'indirectly lost': 'Leak_IndirectlyLost', 'possibly lost': 'Leak_PossiblyLost',
         'still reachable': 'Leak_StillReachable'}


@test
def lost(t):
    """What is lost, and how, is what memcheck finds in the same program: by site, block by block."""
    for words in ([t.target('leaks')], [t.target('leaks'), 'exit']):
        expected = memcheck(t, *words)
        t.check(len(expected) >= 12, f'memcheck: {expected}')
        ours = collections.Counter()
        for row in heap(t, trace(t, words), '-leaks')['leaks']['rows']:
            site = next((f.partition(' + ')[0] for f in row['stack'] if f.startswith('site_')), None)
            if site:
                ours[KINDS.get(row['fate'], row['fate']), site] += row['instances']
        # within: a number somewhere may happen to be an address in a block
        t.within(dict(ours) == expected, f'{" ".join(map(str, words[1:])) or "returns"}: {ours}, memcheck {expected}')


@test
def lost_beside_other_runtimes(t):
    """What is kept and what is lost is told apart also where events carry the state of OpenMP."""
    for compiler in COMPILERS:
        rows = heap(t, trace(t, [compile_target(t, compiler, 'ompleaks')]), '-leaks')['leaks']['rows']
        found = collections.Counter()
        for row in rows:
            site = next((f.partition(' + ')[0] for f in row['stack'] if f.startswith('site_')), None)
            found[site, row['fate']] += row['instances']
        t.equal(found['site_kept', 'still reachable'], 200, f'{compiler}: kept')
        # a few may have left their address in a register or on a stack
        t.check(found['site_lost', 'definitely lost'] >= 190, f'{compiler}: lost: {found}')


@test(engines=True)
def search_is_no_time_of_the_run(t, engine):
    """While the first thread searches for lost memory, the others' waits go on, and count no more: all threads lived as long."""
    experiment = t.collect(t.target('searched'), engine=engine, options=('-H', 'on')).experiment
    threads = t.print(experiment, '-metrics', 'e.total:name', '-threads')[-1]['rows']
    lives = sorted(row['e.total'] for row in threads[1:])
    t.equal(len(lives), 3, 'threads')
    t.within(lives[-1] < 1.15 * lives[0], f'lives {lives}')
    duration = t.print(experiment, '-statistics')[0]['rows'][0]['duration_s']
    t.within(2 < threads[0]['e.total'] / duration < 3.1, f'{duration} s, of all threads {threads[0]["e.total"]} s')


@test
def calls_during_the_search(t):
    """What other threads do while the first one searches for lost memory is behind the end of the recording."""
    result = t.collect(t.target('searched'), 'calls', options=('-H', 'on', '-i', 'on'))
    process = t.read(result.experiment)['']
    searched = sum(int(event.get('leak_search_ns', 0)) for event in process['log_events'] if event['kind'] == 'counters') / 1e6
    told = int(result.out.split()[1])
    written = sum(event['type'] == 'write' and event['thread'] != 1 for event in process['traces']['iotrace'])
    # a write takes a millisecond and some
    t.within(told <= written < told + searched / 4, f'{written} writes, {told} until the end, in a search of {searched} ms')


LAST = [(how, 'return') for how in ('calloc', 'realloc', 'reallocarray', 'aligned_alloc', 'memalign', 'valloc', 'pvalloc', 'aligned')] + [
    ('malloc', where) for where in ('return', 'exit', '_exit', 'litter', 'thread', 'given', 'local', 'register', '_register')]


def fate_of_last(where):
    return 'still reachable' if where in ('local', 'register', '_register') else 'definitely lost'


@test
def last_block_is_lost(t):
    """The block of a thread's last allocation is lost where the program holds it no more: nothing of ours is left that points to it."""
    for how, where in LAST:
        rows = heap(t, trace(t, [t.target('lastleak'), how, where]), '-leaks')['leaks']['rows']
        found = [(row['fate'], row['instances']) for row in rows if any(f.startswith('site_last') for f in row['stack'])]
        t.within(found == [(fate_of_last(where), 1)], f'{how}, {where}: {found}')


@test
def last_block_is_lost_to_memcheck(t):
    """What the test before takes for the truth is memcheck's, but for litter, which it may take for pointers."""
    for how, where in LAST:
        if how == 'malloc' and where != 'litter':
            found = memcheck(t, t.target('lastleak'), how, where)
            t.equal(found, {(KINDS[fate_of_last(where)], 'site_last'): 1}, where)


@test
def leaks_are_lost(t):
    """What something still points to at the end is listed behind the leaks, and is none; where nobody knows, all that is left is one."""
    for options, knows in (('on', True), ('on,noscan', False)):
        experiment = trace(t, [t.target('leaks')], options)
        lines = t.run(t.helio, 'print', '-leaks', experiment).out.splitlines()
        rows = heap(t, experiment, '-leaks')['leaks']['rows']
        lost = [row for row in rows if row['fate'] != 'still reachable']
        t.equal(len(lost) < len(rows), knows, 'some are still reachable')
        header = t.run(t.helio, 'print', '-header', experiment).out
        t.equal('The search for lost memory took ' in header, knows, f'{options}: what it cost: {header}')
        t.equal(lines[0], f'Summary Results: Distinct Leaks = {len(lost)}, Total Instances = {sum(row["instances"] for row in lost)}, '
                          f'Total Bytes Leaked = {sum(row["bytes"] for row in lost)}', options)
        t.equal(sum(line.startswith('Leak #') for line in lines), len(lost), f'{options}: listed')
        t.equal(sum(line.startswith('Reachable #') for line in lines), len(rows) - len(lost), f'{options}: listed as no leaks')


@test
def one_rule_for_leaks(t):
    """All lists, metrics and filters call the same blocks leaked: those that nothing is known to point to."""
    experiment = trace(t, [t.target('leaks')])
    found = heap(t, experiment, '-leaks', '-heap', '-heapstat')
    blocks, size = found['leaks']['total']['instances'], found['leaks']['total']['bytes']
    reachable = sum(row['bytes'] for row in found['leaks']['rows'] if row['fate'] == 'still reachable')
    t.check(reachable > 0 and size > 0, 'some of both')
    t.equal((found['heap']['total']['leaked_instances'], found['heap']['total']['leaked_bytes']), (blocks, size), 'heap')
    t.equal(found['heapstat']['rows'][0]['leaked']['total'], {'blocks': blocks, 'bytes': size}, 'heapstat')
    for chosen in (), ('-filters', 'HLEAKED > 0'):
        rows = t.print(experiment, '-metrics', 'e.heapleakcnt:e.heapleakbytes:e.heapallocbytes:name', *chosen, '-functions')[-1]['rows']
        t.equal([rows[0]['e.heapleakcnt'], rows[0]['e.heapleakbytes']], [blocks, size], f'metrics {chosen}')
    t.equal(rows[0]['e.heapallocbytes'], size, 'what the filter lets through')


@test
def errors_of_samples(t):
    """A sample says that it is one, and by how much its numbers may be wrong: as it turns out against all allocations."""
    truth = heap(t, trace(t, [t.target('heap'), 'peak']), '-allocs')['allocs']['total']['bytes']
    squares = []
    for _ in range(20):
        experiment = trace(t, [t.target('heap'), 'peak'], 'sample=64k')
        total = heap(t, experiment, '-allocs')['allocs']['total']
        squares.append(((total['bytes'] - truth) / (total['bytes_error'] / 2)) ** 2)
    t.within(0.2 < sum(squares) / len(squares) < 3.5, f'{sum(squares) / len(squares)} squared standard errors')
    for command, text in (('-header', 'Heap tracing: a sample, one in 65536 bytes'), ('-heapstat', 'Of a sample'),
                          ('-allocs', f'Total Bytes Allocated = {total["bytes"]} +- {total["bytes_error"]}')):
        t.check(text in t.run(t.helio, 'print', command, experiment).out, f'{command}: {text}')


ONE_BLOCK = """\
#include <dlfcn.h>
#include <stdlib.h>

int main(void)
{
	volatile char *block = malloc(100);

	*block = 1;
	free((void *)block);
	return dlerror() != NULL;
}
"""


@test
def blocks_of_the_collector(t):
    """It looks functions up that some C libraries lack, for which dlsym allocates a message: no memory and no error of the program's."""
    (t.directory / 'one.c').write_text(ONE_BLOCK)
    t.equal(t.run(t.need('gcc'), '-O0', '-o', t.directory / 'one', t.directory / 'one.c').status, 0, 'gcc')
    for options in ((), ('-i', 'on'), ('-s', 'on'), ('-i', 'on', '-s', 'all')):
        experiment = trace(t, [t.directory / 'one'], options=('-p', 'off', *options))
        found = heap(t, experiment, '-allocs', '-heapstat')
        t.equal([(row['instances'], row['bytes']) for row in found['allocs']['rows']], [(1, 100)], f'{options}')
        t.equal(found['heapstat']['rows'][0]['unmatched_releases'], 0, f'{options}: releases of blocks that are not known')


RESERVED = """\
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Keeps blocks in pages far apart of a mapping that is empty else, as runtimes with heaps of their own reserve them. */
int main(void)
{
	size_t size = 100UL << 30, far[] = {0, 12345 * 4096UL, size / 2 + 8, size - 4096};
	char *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *volatile dropped;

	if (room == MAP_FAILED) {
		puts("cannot reserve");
		return 0;
	}
	for (int i = 0; i < 4; i++)
		*(void **)(room + far[i]) = malloc(1000 + i);
	dropped = malloc(77);
	dropped = NULL;
	return dropped != NULL;
}
"""


@test
def reserved_memory_is_not_read(t):
    """100 GB that were never written to do not keep the search from its end; what few pages of them hold is reachable."""
    (t.directory / 'reserved.c').write_text(RESERVED)
    t.equal(t.run(t.need('gcc'), '-O0', '-o', t.directory / 'reserved', t.directory / 'reserved.c').status, 0, 'gcc')
    if 'cannot reserve' in t.run(t.directory / 'reserved').out:
        raise Skip('the kernel lets no process reserve 100 GB of memory (vm.overcommit_memory)')
    rows = heap(t, trace(t, [t.directory / 'reserved'], options=('-p', 'off')), '-leaks')['leaks']['rows']
    t.equal(sorted((row['instances'], row['bytes'], row['fate']) for row in rows), [(1, 77, 'definitely lost'), (4, 4006, 'still reachable')], 'lost and reachable')


@test
def not_searched(t):
    """Where not all was recorded, or it is not wanted, what is left is left, and no more is said."""
    for option, options in (('on,noscan', ()), ('on', ('-t', '0-1000'))):
        rows = heap(t, trace(t, [t.target('leaks')], option, ('-p', 'off', *options)), '-leaks')['leaks']['rows']
        t.check(rows and all(row['fate'] is None for row in rows), f'{option} {options}: {rows[:1]}')


@test
def unseen(t):
    """An allocator in the program itself comes before ours: the header says that nothing was seen."""
    source = t.directory / 'own.c'
    source.write_text('#include <stdlib.h>\nstatic char room[1 << 20];\nstatic size_t used;\n'
                      'void *malloc(size_t n) { used += n; return room + used - n; }\nvoid free(void *p) {}\n'
                      'int main(void) { return !malloc(100); }\n')
    t.equal(t.run(t.need('gcc'), '-fno-builtin', '-o', t.directory / 'own', source).status, 0, 'gcc')
    seen, own = trace(t, [t.target('heap')]), trace(t, [t.directory / 'own'])
    for experiment, there in ((seen, False), (own, True)):
        text = t.run(t.helio, 'print', '-header', experiment).out
        t.equal('No allocation was seen' in text, there, experiment.name)


@test
def many_threads(t):
    """A thousand threads, and threads beside forks: every allocation of the program is there once."""
    experiment = trace(t, [t.target('shortthreads')])
    statistics = heap(t, experiment, '-heapstat')['heapstat']['rows'][0]
    t.equal(statistics['unmatched_releases'], 0, 'releases without a block')
    result = t.collect(t.target('waves'), 200, options=('-p', 'off', '-H', 'on', '-s', 'on', '-i', 'on'))
    t.check('failures 0' in result.out, result.out[-200:])


@test
def paused(t):
    """What is allocated while the recording is paused is not there; what is freed of it is a release without a block."""
    result = t.collect(t.target('heap'), 'threads', options=('-p', 'off', '-H', 'on', '-y', 'USR1'))
    found = t.print(result.experiment, '-header')
    t.equal(found[0]['command'], 'header', 'header')
    t.check(not (result.experiment / 'heaptrace').exists() or (result.experiment / 'heaptrace').stat().st_size < 1000, 'nothing was recorded')


@test
def json(t):
    check = validator(t)
    for value in t.print(trace(t, [t.target('leaks')]), '-leaks', '-allocs', '-heap', '-heapstat'):
        t.check(check.is_valid(value), f"{value['command']} is not as its schema says")
        t.check(value['rows'], f"{value['command']} has rows")


@test
def killed(t):
    """All that was recorded up to a SIGKILL is there."""
    script = "p = [bytearray(100000 + i) for i in range(50)]; import os; os.kill(os.getpid(), 9)"
    experiment = trace(t, ['/usr/bin/python3', '-c', script], status=137)
    rows = heap(t, experiment, '-leaks')['leaks']['rows']
    large = sum(row['instances'] for row in rows if row['bytes'] >= 50 * 100000 and row['instances'] == 50)
    t.check(large == 50, f'50 blocks of 100,000 bytes: {large}')


@test
def sample(t):
    """
    A sample scaled up is what was allocated. One in 16 KiB takes some 5,900 of the small blocks, 17,000 of the large ones and 290 of
    those that are kept: five standard deviations are 7 %, 2 % and 30 %. Releases of sampled blocks are not lost.
    """
    for option in ('sample=16k', 'sample=16384'):
        experiment = trace(t, [t.target('heap'), 'many'], option)
        found = heap(t, experiment, '-allocs', '-leaks')
        sizes, left = by_function(found['allocs']['rows']), by_function(found['leaks']['rows'])
        for name, blocks, size, allowed in (('small_ones', 2000000, 48, 0.07), ('large_ones', 20000, 30000, 0.02),
                                            ('small_ones_kept', 20000, 240, 0.3)):
            t.near(sizes[name][0], blocks, f'{name}: blocks', relative=allowed)
            t.equal(sizes[name][1], sizes[name][0] * size, f'{name}: bytes')
        t.equal(left, {'small_ones_kept': sizes['small_ones_kept']}, 'what is kept')
        t.check((experiment / 'heaptrace').stat().st_size < 600000, 'a small file')


@test(engines=True)
def beside_the_clock(t, engine):
    """Both kinds of data in one recording."""
    experiment = trace(t, [t.target('malloc_heavy'), '100'], options=('-p', 'hi'), engine=engine)
    rows = t.functions(experiment, 'e.totalcpu', 'e.heapalloccnt')
    t.equal(rows['replace']['e.heapalloccnt'], 100 * 10000, 'allocations')
    t.check(rows['<Total>']['e.totalcpu'] > 0, 'time')


@test
def real_programs(t):
    """Programs do the same when traced, and what they allocate adds up."""
    source = t.directory / 'x.c'
    source.write_text('#include <stdio.h>\n#include <string.h>\nint main(void) { return puts("x") < 0; }\n')
    for words in (['/usr/bin/python3', '-c', 'import json; print(len(json.dumps(list(range(10000)))))'],
                  [t.need('gcc'), '-O1', '-c', source, '-o', t.directory / 'x.o'],
                  [t.need('sqlite3'), ':memory:', 'with recursive n(i) as (select 1 union all select i+1 from n where i<3000) '
                   'select count(*), sum(length(hex(i))) from n;']):
        bare = t.run(*words)
        result = t.collect(*words, options=('-p', 'off', '-H', 'on'))
        t.equal((result.status, result.out), (bare.status, bare.out), str(words[0]))
        both = t.print(result.experiment, '-heap')[0]
        t.equal(sum(row['bytes'] for row in both['rows']), both['total']['bytes'], f'{words[0]}: bytes')
        t.check(both['total']['instances'] > 50, f'{words[0]}: {both["total"]}')


@test
def killed_before_a_search(t):
    """What a killed process had is counted as leaked, which the list says; after a search it is not."""
    for last, status, said in (('kill -TERM $$', 128 + 15, True), (':', 0, False)):
        experiment = t.collect('bash', '-c', last, options=('-H', 'on', '-p', 'off'), status=status).experiment
        text = t.run(t.helio, 'print', '-leaks', experiment).out
        t.equal('not released by processes that did not search their memory' in text, said, f'said of {last}')
