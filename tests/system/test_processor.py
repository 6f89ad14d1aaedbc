# SPDX-License-Identifier: Apache-2.0
"""
Hardware counters, which virtual machines seldom have: tests/targets/processor.c gives the kernel another event for each that is
asked for, whose overflows, signals and data addresses are real. Caches count the writes of one variable, so their number, data and
code follow from the program; cycles and instructions are both nanoseconds of processor time.
"""
from harness import Skip, need_watch_points, perf_allowed, test

WRITES = 3005
SOURCE = """
#include <pthread.h>
#include <stdlib.h>
struct part { long hits, misses; } part __attribute__((aligned(64)));
volatile long other;
__attribute__((noinline)) void spin(long n) { for (long i = 0; i < n; i++) other = i; }
__attribute__((noinline)) void miss(struct part *to, long n) { for (long i = 0; i < n; i++) { *(volatile long *)&to->misses = i; other += i; } }
void *again(void *n) { miss(&part, (long)n); return 0; }
int main(int c, char **words)
{
	pthread_t thread;
	long n = atol(words[1]);
	pthread_create(&thread, 0, again, (void *)n);
	pthread_join(thread, 0);
	miss(&part, n);
	spin(atol(words[2]));
	return 0;
}
"""


def processor(t, **more):
    """Words that run a command on it."""
    if not perf_allowed():
        raise Skip('the kernel does not let this process use perf events with sigtrap')
    (t.directory / 'hot.c').write_text(SOURCE)
    t.check(t.run(t.need('gcc'), '-g', '-O1', '-no-pie', '-fno-pie', '-pthread', '-o', 'hot', 'hot.c').status == 0, 'gcc')
    symbols = dict(line.split()[:3:2][::-1] for line in t.run(t.need('nm'), 'hot').out.splitlines() if len(line.split()) == 3)
    watch = int(symbols['part'], 16) + 8
    words = (t.target('processor'), f'watch={watch:#x}', *(f'{key}={value}' for key, value in more.items()))
    if t.run(*words, 'true').status:
        raise Skip('no seccomp listener can be had here')
    return words, watch


def recorded(t, words, counters, spins=10 ** 7):
    result = t.collect(t.directory / 'hot', WRITES, spins, options=('-p', 'off', '-h', counters), before=words)
    return result, t.read(result.experiment)['']


def sums(process, counter):
    found = {}
    for event in process['traces']['hwcounters']:
        if event['counter'] == counter:
            found[event['type']] = found.get(event['type'], 0) + event['value']
    return found


@test
def precise(t):
    """A precise event's data address, the access in front of the stop, and all that was counted, by two threads."""
    need_watch_points()
    words, watch = processor(t, precise=2)
    result, process = recorded(t, words, '+dcm,10')
    t.equal([(c['name'], c['address']) for c in process['counters']], [('dcm', 'yes')], 'the counter')
    setting = next(s for s in (result.experiment / 'log.xml').read_text().splitlines() if 'name="counters"' in s)
    t.equal(int(setting.split('"')[3].split('.')[6]), 2 | 32, 'as precise as it can be, with addresses')
    events = [e for e in process['traces']['hwcounters'] if e['type'] == 'overflow']
    t.equal({(e['value'], e['address']) for e in events}, {(10, watch)}, 'values and addresses')
    found = sums(process, 0)
    t.equal(sum(found.values()), 2 * WRITES, f'all that was counted: {found}')
    t.within(found['overflow'] >= 2 * 2900, f'lost: {found}')
    rows = {row['name']: row for row in t.print(result.experiment, '-metrics', 'e.dcm:name', '-data_objects')[-1]['rows']}
    for name in ('{structure:part}', '{structure:part part}'):
        t.equal(rows[name]['e.dcm'], found['overflow'], name)
    t.equal(max(row['e.dcm'] for name, row in rows.items() if name.endswith(' misses}')), found['overflow'], 'the member')
    functions = t.functions(result.experiment, 'e.dcm')
    t.equal(functions['miss']['e.dcm'], found['overflow'], 'the function')
    disassembly = [row for row in t.print(result.experiment, '-metrics', 'e.dcm:name', '-disasm', 'miss')[-1]['rows'] if row.get('e.dcm')]
    [store] = disassembly
    t.check('mov' in store['name'] and '0x8(' in store['name'], f'the instruction: {store}')


@test
def several(t):
    """Two kinds at once, their quotient, cycles as time; without precise events + is ignored with a warning."""
    need_watch_points()
    words, _ = processor(t)
    result, process = recorded(t, words, 'cycles,1000003,insts,1700021,+dcm,1', spins=2 * 10 ** 8)
    t.check("'dcm' tells no data address here: its + is ignored" in result.err, result.err)
    t.equal([c['address'] for c in process['counters']], ['no'] * 3, 'addresses')
    rows = t.functions(result.experiment, 'e.cycles', 'e.insts', 'e.CPI', 'e.dcm')
    t.ratio(rows['<Total>']['e.cycles'], rows['<Total>']['e.insts'], 0.95, 1.05, 'cycles per instruction')
    t.near(rows['<Total>']['e.CPI'], rows['<Total>']['e.cycles'] / rows['<Total>']['e.insts'], 'CPI', relative=1e-9)
    # two clocks that expire together leave one signal: of one of them the period is known to be lost
    t.within(rows['spin']['e.cycles'] + rows['spin']['e.insts'] >= 20 * 1000003, f'spin: {rows["spin"]}')
    t.equal(rows['<Total>']['e.dcm'], 2 * WRITES, 'writes')
    t.check('take turns' not in result.err and 'warning' not in {e['kind'] for e in process['log_events']}, 'no warnings')


@test
def turns(t):
    """Counters that have a register for a quarter of the time: three quarters are estimated, apart, and it is said."""
    need_watch_points()
    words, _ = processor(t, share=25)
    result, process = recorded(t, words, 'dcm,10,r1a8,1')
    t.check('The processor has no registers for 2 hardware counters at once' in result.err, result.err)
    for counter, name in ((0, 'dcm'), (1, 'r1a8')):
        found = sums(process, counter)
        counted = sum(value for kind, value in found.items() if kind != 'frozen')
        t.equal((counted, found['frozen']), (2 * WRITES, 6 * WRITES), f'{name}: counted and estimated')
        t.equal(t.functions(result.experiment, f'e.{name}')['collector_hwcs_frozen'][f'e.{name}'], 6 * WRITES, 'its function')
    warnings = [e['text'] for e in process['log_events'] if e['kind'] == 'warning']
    t.equal(sum('took turns with others' in text for text in warnings), 2, f'{warnings}')


@test
def never(t):
    """Registers that others have all the time: no estimate follows from nothing."""
    words, _ = processor(t, share=0)
    result, process = recorded(t, words, 'dcm,10')
    t.check('frozen' not in sums(process, 0), 'an estimate')
    t.check(any('never had a register' in e['text'] for e in process['log_events'] if e['kind'] == 'warning'), 'a warning')


@test
def what_there_is(t):
    """The list, the default sets, and what this processor does not have."""
    words, _ = processor(t, precise=1, none=0x1234)
    listed = t.run(*words, t.helio, 'collect', '-h').out
    t.check('dcm                     100003  (L1 D-cache Read Misses, events, data addresses with +)' in listed, listed)
    t.check('cycles                20000003  (CPU Cycles, cycles)' in listed, listed)
    for word, interval in (('on', 20000003), ('hi', 2000003), ('lo', 200000033)):
        out = t.run(*words, t.helio, 'collect', '-n', '-h', word, 'true').out
        t.check(f'cycles, interval {interval}\n' in out and f'insts, interval {interval}\n' in out, out)
    refused = t.run(*words, t.helio, 'collect', '-h', 'cycles,,r1234', '-o', 'x.er', 'true')
    t.check(refused.status == 1 and 'r1234: this processor has no such counter' in refused.err, refused.err)


SKIDDED = """
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
struct part { long hits, misses; };
/* A signal as the kernel raises it for an overflow, whose access lies further back than anyone looks. */
__attribute__((noinline)) void skid(struct part *to, int process, int thread, void *info)
{
	register void *r10 __asm__("r10") = info;
	long result;
	__asm__ volatile(".rept 20\\nnop\\n.endr\\nsyscall" : "=a"(result) : "a"(SYS_rt_tgsigqueueinfo), "D"(process), "S"(thread), "d"(SIGTRAP), "r"(r10), "b"(to) : "rcx", "r11", "memory");
	*(volatile long *)&to->hits = 1;
}
int main(void)
{
	struct { int number, error, code, padding; uint64_t address, data; uint32_t type, flags; char rest[88]; } info =
		{.number = SIGTRAP, .code = 6, .data = 0x48454c494f000010u};
	struct part *parts = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	info.address = (uint64_t)&parts->hits;
	for (int i = 0; i < 20; i++)
		skid(parts, getpid(), syscall(SYS_gettid), &info);
	return 0;
}
"""


@test
def skidded(t):
    """Where the access is not found, the instruction at the stop, which was not executed, is none to believe."""
    words, _ = processor(t, precise=1)
    (t.directory / 'skid.c').write_text(SKIDDED)
    t.check(t.run(t.need('gcc'), '-g', '-O1', '-o', 'skid', 'skid.c').status == 0, 'gcc')
    result = t.collect(t.directory / 'skid', options=('-p', 'off', '-h', '+dcm,100'), before=words)
    rows = {row['name']: row['e.dcm'] for row in t.print(result.experiment, '-metrics', 'e.dcm:name', '-data_objects')[-1]['rows']}
    t.equal((rows['<Total>'], rows['(Unverifiable)']), (2000, 2000), f'{rows}')


@test
def attributes(t):
    """One counter in two modes is two metrics."""
    words, _ = processor(t)
    _, process = recorded(t, words, 'cycles~system=0,1000003,cycles~user=0,1000003')
    t.equal([(c['name'], c['title']) for c in process['counters']], [('cycles~system=0', 'CPU Cycles (Program)'), ('cycles~user=0', 'CPU Cycles (Kernel)')], 'counters')
    user, kernel = (sum(sums(process, i).values()) for i in (0, 1))
    t.within(user > 0, f'user {user}, kernel {kernel}')
