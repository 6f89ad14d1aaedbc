# SPDX-License-Identifier: Apache-2.0
"""
The instruction that an event counts for, where it is not the one that was interrupted: calls of the kernel, watch points, and
counters that stop some instructions late. The programs are written for it; addresses are objdump's and nm's.
"""
import re

import make_golden as golden
from harness import test
from test_code import build, by_line, marks, objdump, rows, value
from test_data import recorded

KERNEL = '''\
#include <sys/syscall.h>
#include <time.h>

static volatile unsigned long sink;

static long call(long number, long a, long b, long c)
{
	long result;

	asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory"); /* @call */
	sink += result; /* @behind */
	for (int i = 0; i < 500000; i++) sink += i; /* @own */
	return result;
}

int main(void)
{
	static char room[1 << 20];
	struct timespec nap = {0, 2000000};

	for (int i = 0; i < 150; i++) {
		call(SYS_getrandom, (long)room, sizeof(room), 0);
		call(SYS_nanosleep, (long)&nap, 0, 0);
	}
	return 0;
}
'''


@test(alone=True, engines=True)
def the_kernels_time_is_that_of_the_call(t, engine):
    """Not of the instruction that the kernel returns to."""
    program = build(t, 'kernel', ('kernel.c', KERNEL), flags=('-O0', '-g'))
    code = objdump(t, program, 'call')
    [at] = [address for address, text in code.items() if text.startswith('syscall')]
    result = t.collect(program, engine=engine, options=('-p', 'hi'))
    metrics = ('-metrics', 'e.system:e.sleep:e.user:name')
    system, sleep = (t.functions(result.experiment, f'e.{state}')['call'][f'e.{state}'] for state in ('system', 'sleep'))
    t.within(system > 0.05 and sleep > 0.3, f'{system} s in the kernel, {sleep} s of sleep')
    pcs = {row['name']: row for row in rows(t, result.experiment, *metrics, '-pcs')}
    lines = by_line(rows(t, result.experiment, *metrics, '-source', 'call'))
    disassembly = {row.get('address'): row for row in rows(t, result.experiment, *metrics, '-disasm', 'call')}
    pc, line = f'call + 0x{at - min(code):08x}', marks(KERNEL)
    for name, called, behind in (('pcs', pcs[pc], pcs.get(f'call + 0x{at - min(code) + 2:08x}', {})),
                                 ('source', lines[line['call']], lines[line['behind']]), ('disasm', disassembly[at], disassembly[at + 2])):
        for metric, total in (('e.system', system), ('e.sleep', sleep)):
            t.within(value(called, metric) > 0.9 * total, f'{name}: {metric} of the call {value(called, metric)} of {total}')
            t.within(value(behind, metric) < 0.05 * total, f'{name}: {metric} behind it {value(behind, metric)} of {total}')
    if engine == 'perf':  # the other one divides intervals
        t.within(value(lines[line['own']], 'e.user') > 2 * value(lines[line['call']], 'e.user'), 'user time is where it was')


WATCHED = '''\
#include <stdlib.h>
long watched;
void (*hook)(void);

__attribute__((noinline)) void put(long v)
{
	watched = v; /* @store */
	asm volatile("nop"); /* @behind */
}

__attribute__((noinline)) void called(void) /* @called */
{
	asm volatile("nop"); /* @nop */
}

int main(int argc, char **argv)
{
	hook = called;
	for (long i = 0; i < atol(argv[1]); i++) {
		put(i);
		asm volatile("call *hook(%%rip)" ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
	}
	return 0;
}
'''


@test
def watch_points_are_the_instruction_that_accessed(t):
    """They stop behind it. What reads the watched pointer to call through it stops at the function's first instruction."""
    program = build(t, 'watched', ('watched.c', WATCHED))
    line = marks(WATCHED)
    experiment = recorded(t, program, 50, counter='mem:watched/8:w')
    code = objdump(t, program, 'put')
    [store] = [address for address, text in code.items() if 'watched' in text]
    t.equal({row['name']: value(row, 'e.mem~watched/8~w') for row in rows(t, experiment, '-pcs') if value(row, 'e.mem~watched/8~w')},
            {'<Total>': 50, f'put + 0x{store - min(code):08x}': 50}, 'instructions')
    source = by_line(rows(t, experiment, '-source', 'put'))
    t.equal([value(source[line[mark]], 'e.mem~watched/8~w') for mark in ('store', 'behind')], [50, 0], 'lines')
    executed = recorded(t, program, 50, counter='mem:put:x')
    t.equal({row['name']: value(row, 'e.mem~put~x') for row in rows(t, executed, '-pcs') if value(row, 'e.mem~put~x')},
            {'<Total>': 50, 'put + 0x00000000': 50}, 'executions stop at the instruction itself')
    # nobody knows which of all instructions that lead to the function it was
    metric = 'e.mem~hook/8~rw'
    experiment = recorded(t, program, 50, counter='mem:hook/8:rw')
    pcs = {row['name']: value(row, metric) for row in rows(t, experiment, '-pcs')}
    t.equal((pcs['called + 0x00000000 <branch target>'], 'called + 0x00000000' in pcs), (50, False), 'instructions')
    entry = min(objdump(t, program, 'called'))
    listing = rows(t, experiment, '-disasm', 'called')
    [target] = [row for row in listing if row['name'].endswith(f'] {entry:8x}:  *  <branch target>')]
    following = listing[listing.index(target) + 1]
    t.equal((value(target, metric), following['address'], value(following, metric)), (50, entry, 0), 'the line and the instruction behind it')
    source = by_line(rows(t, experiment, '-source', 'called'))
    t.equal(sum(value(source[number], metric) for number in range(line['called'], line['nop'] + 1)), 50, 'lines of the function')


# hit_X: what was counted. stop_X: where the processor stopped for it. far: a branch leads to it, and it is further back.
SKID = '''\
	.globl	_start
	.type	_start, @function
_start:
hit_near:	mov	(%rsi), %rax
stop_near:	add	$1, %rax
	add	$2, %rax
stop_later:	test	%rax, %rax
	jz	out
stop_past_jump:	add	$3, %rax
far_loop:	dec	%rcx
stop_loop:	add	$4, %rax
	jnz	far_loop
	call	other
far_returned:	nop
stop_returned:	nop
hit_last:	mov	%rax, (%rdi)
far_out:
out:	nop
stop_out:	nop
	jmp	*%rdx
far_unreached:	nop
stop_unreached:	nop
hit_run:
stop_run:	rep movsb
	.rept	20
	add	$5, %rax
	.endr
hit_nothing:
stop_nothing:	ret
	.size	_start, . - _start
	.type	other, @function
other:
far_entry:	nop
stop_entry:	ret
	.size	other, . - other
'''
HITS = {'later': 'hit_near', 'past_jump': 'hit_near'}  # else the one of the same name


def skid_experiment(t, program, symbols, stops):
    """A counter with addresses of the processor, one record for each stop, two for the next, and so on."""
    directory = t.directory / 'skid.1.er'
    directory.mkdir()
    log = golden.LOG + '<counter number="0" name="dcm" title="L1 D-cache Read Misses" unit="events" interval="1" address="yes"/>\n'
    (directory / 'log.xml').write_text(log + golden.PROCESS.format(pid=12, lineage='', tstamp=1000) +
                                       '<event kind="exit" tstamp="20000000" status="0" signal="0"/>\n</experiment>\n')
    size, [bias, offset] = program.stat().st_size, [symbols['_start'] & ~0xfff, 0x1000]
    (directory / 'map.xml').write_text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<maps>\n<event kind="map" tstamp="0" epoch="0" vaddr="{bias:#x}" size="0x1000" foffset="{offset:#x}" '
        f'bias="0x0" modes="r-x" name="{program}" mtime="{int(program.stat().st_mtime)}" filesize="{size}"/>\n</maps>\n')
    clock = golden.Events(1, 0).thread(1, 12, 1).event(20000, 19999, 'user', 1).end(20000)
    (directory / 'profile').write_bytes(golden.file_header('profile') + clock.block())
    nodes = [(0, symbols[stop]) for stop in stops]
    (directory / 'stacks').write_bytes(golden.file_header('stacks') + golden.packed(1, nodes))
    records = b''.join(golden.block(bytes([0x40]) + golden.varint(10) + golden.zigzag(number) + golden.varint(0) + golden.varint(1) + golden.zigzag(0x1000),
                                    4, 1, base=5000) for number in range(1, len(stops) + 1) for _ in range(number))
    (directory / 'hwcounters').write_bytes(golden.file_header('hwcounters') + records)
    return directory


@test
def counters_that_stop_late(t):
    program = build(t, 'skid', ('skid.s', SKID), flags=('-g', '-nostdlib', '-static', '-no-pie'))
    symbols = {name: int(address, 16) for address, name in re.findall(r'^(\w+) \w (\w+)$', t.run('nm', program).out, re.M)}
    stops = sorted(name for name in symbols if name.startswith('stop_'))
    experiment = skid_experiment(t, program, symbols, stops)
    expected, targets = {}, {}
    for number, stop in enumerate(stops, 1):
        name = stop[len('stop_'):]
        hit = HITS.get(name, f'hit_{name}')
        into = expected if hit in symbols else targets
        address = symbols[hit] if hit in symbols else symbols[f'far_{name}']
        into[address] = into.get(address, 0) + number
    other = symbols['other']
    pcs = {row['name']: value(row, 'e.dcm') for row in rows(t, experiment, '-pcs') if value(row, 'e.dcm')}

    def place(address):
        return f'_start + 0x{address - symbols["_start"]:08x}' if address < other else f'other + 0x{address - other:08x}'
    t.equal(pcs, {'<Total>': sum(range(len(stops) + 1)), **{place(address): n for address, n in expected.items()},
                  **{f'{place(address)} <branch target>': n for address, n in targets.items()}}, 'instructions')
    listing = rows(t, experiment, '-disasm', '_start') + rows(t, experiment, '-disasm', 'other')
    t.equal({row['address']: value(row, 'e.dcm') for row in listing if row['kind'] == 'instruction' and value(row, 'e.dcm')}, expected, 'disassembly')
    lines = {int(row['name'].split()[-4].rstrip(':'), 16): value(row, 'e.dcm') for row in listing if row['name'].endswith('*  <branch target>')}
    t.equal(lines, targets, 'lines of targets')
