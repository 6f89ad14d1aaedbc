# SPDX-License-Identifier: Apache-2.0
"""
Data objects. targets/fields.c touches members that lie a page apart, each a number of times that follows from its code, so
that each touch is one page fault; and it writes members that are watched.
"""
from harness import ROOT, Skip, perf_allowed, test

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
        t.near(found, MEMBERS[name], f'{command}: {name}', absolute=2)
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
