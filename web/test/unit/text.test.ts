// SPDX-License-Identifier: Apache-2.0
// Numbers, filters, addresses, command lines: what the page writes and reads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JAVA, kindOf, nameColour, ompShares, reserveHues, stateColour } from '../../src/colour';
import * as filter from '../../src/filter';
import { exact, fitName, formatAlone, formatValue, percent, scaleFor, ticks } from '../../src/format';
import { formatFragment, parseFragment } from '../../src/fragment';
import { highlight, highlightInstruction, jumpTarget } from '../../src/highlight';
import { commandLine, functionRef, request } from '../../src/request';
import { matcher } from '../../src/search';
import { isSortedBy } from '../../src/types';

test('a lock is chosen by its name, or by its address', () => {
	assert.equal(filter.lock('log_lock (mutex)'), 'SLOCK IN LOCKNAME("log_lock")');
	assert.equal(filter.lock('block from main + 0x1c, byte 8 (read lock, write lock)'), 'SLOCK IN LOCKNAME("block from main \\+ 0x1c, byte 8")');
	assert.equal(filter.lock('0x55ff (condition)'), 'SOBJ == 0x55ff');
});

test('a class of Java is chosen by its name, and what has no class stays without it', () => {
	assert.equal(filter.javaClass('byte[]'), 'JHCLASS IN JCLASS("byte\\[\\]")');
	assert.equal(filter.without('JHCLASS', filter.javaClass('a.B$C')), '!(HAS_PROP(JHCLASS) && JHCLASS IN JCLASS("a\\.B\\$C"))');
});

test('names of functions lose arguments first, then what they are in, as far as there is room', () => {
	const length = (text: string): number => text.length;
	const forms = (name: string): string[] => [...new Set([100, 34, 20, 12, 3].map((width) => fitName(name, width, length)))];
	assert.deepEqual(forms('java.lang.invoke.Lambda.link(int, java.lang.String)'), ['java.lang.invoke.Lambda.link(int, java.lang.String)', 'java.lang.invoke.Lambda.link', 'Lambda.link', 'link']);
	assert.deepEqual(forms('std::vector<std::pair<int, long>, std::allocator<int> >::push_back(int&&)'), ['std::vector<std::pair<int, long>, std::allocator<int> >::push_back(int&&)', 'std::vector::push_back', 'vector::push_back', 'push_back']);
	assert.deepEqual(forms('work._omp_fn.0'), ['work._omp_fn.0']);
	assert.deepEqual(forms('<OMP-implicit_barrier>'), ['<OMP-implicit_barrier>']);
	assert.deepEqual(forms('box::operator()(int) const'), ['box::operator()(int) const']);
});

test('OpenMP\'s waits have colours of states, other names those of their hash', () => {
	assert.equal(nameColour('<OMP-implicit_barrier>', false), stateColour('wait', false));
	assert.equal(nameColour('<OMP-critical_section_wait>', true), stateColour('lock', true));
	assert.notEqual(nameColour('<OMP-idle>', true), stateColour('wait', true));
	assert.match(nameColour('work', false), /^oklch/);
});

test('a thread works for OpenMP while it is on a processor in the program\'s code; at a barrier it waits wherever it is', () => {
	assert.deepEqual(ompShares('work', [['user', 0.5], ['system', 0.25], ['sleep', 0.25]]), [['user', 0.75], ['stop', 0.25]]);
	assert.deepEqual(ompShares('clock_nanosleep', [['sleep', 0.5], ['wait', 0.1]]), [['stop', 1]]);
	assert.deepEqual(ompShares('work', [['user', 0.3], ['lock', 0]]), [['user', 1]]);
	assert.deepEqual(ompShares('<OMP-implicit_barrier>', [['user', 0.9], ['lock', 0.1]]), [['wait', 1]]);
	assert.deepEqual(ompShares('<OMP-idle>', [['sleep', 1]]), [['sleep', 1]]);
});

test('methods of Java have a kind and a colour of their own among many load objects', () => {
	const kinds = [JAVA, 'DYNAMIC_FUNCTIONS', '/usr/lib/libz.so.1', '/opt/java'].map((o) => kindOf(o, new Set(['/opt/java'])));
	assert.deepEqual(kinds, ['java', 'runtime', 'library', 'program']);
	const names = Array.from({ length: 24 }, (_, i) => `lib${i}.so`);
	reserveHues([...names, JAVA]);
	const hue = (name: string): number => Number(/([\d.]+)\)$/.exec(nameColour(name, false))![1]);
	for (const name of names) {
		const apart = Math.abs(hue(name) - hue(JAVA));
		assert.ok(Math.min(apart, 360 - apart) >= 32, `${name}: ${hue(name)}, Java ${hue(JAVA)}`);
	}
});

test('rows are sorted by a metric, whichever experiment\'s column was chosen', () => {
	for (const [sort, key] of [['e.totalcpu', 'e.totalcpu.2'], ['-i.sync', 'i.sync.12'], ['e.totalcpu.2', 'e.totalcpu.1'], ['name', 'name']] as const) assert.ok(isSortedBy(sort, key), key);
	for (const [sort, key] of [['e.totalcpu', 'i.totalcpu.2'], ['e.user', 'e.user2'], [undefined, 'e.user']] as const) assert.ok(!isSortedBy(sort, key), key);
	const asked = request({ view: 'functions', experiments: [], filters: [], parked: [], p: { cmp: 'on', sort: '-e.totalcpu.2' } }, {}, ['functions']);
	assert.deepEqual(asked.settings, [['compare', 'on'], ['sort', '-e.totalcpu']]);
});

test('a column has one unit, of its largest value', () => {
	assert.deepEqual(scaleFor('s', 3.3), { unit: 's', factor: 1, decimals: 3 });
	assert.equal(scaleFor('s', 0.25).unit, 'ms');
	assert.equal(scaleFor('s', 4e-6).unit, 'µs');
	assert.equal(scaleFor('s', 0).unit, 's');
	assert.deepEqual(scaleFor('bytes', 11267680), { unit: 'MiB', factor: 1048576, decimals: 2 });
	assert.equal(scaleFor('count', 279743).unit, '');
	assert.equal(scaleFor('count', 2.5e7).unit, 'M');
});

test('zero is blank, what is too small for the column is less than its last digit', () => {
	const s = scaleFor('s', 3.3);
	assert.equal(formatValue(0, s), '');
	assert.equal(formatValue(0.0001, s), '<0.001');
	assert.equal(formatValue(0.957, s), '0.957');
	assert.equal(formatValue(-0.0001, s, true), '>−0.001');
	assert.equal(formatValue(0.005, s, true), '+0.005');
	assert.equal(formatValue(279743, scaleFor('count', 279743)), '279,743');
	assert.equal(formatAlone(0.95674, 's'), '957 ms');
	assert.equal(formatAlone(11267680, 'bytes'), '10.7 MiB');
	assert.equal(percent(1, 3), '33.3%');
	assert.equal(percent(1, 100000), '<0.1%');
	assert.equal(percent(3, 3), '100%');
	assert.equal(exact(279743, 'count'), '279,743');
});

test('ticks are round and inside', () => {
	assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
	assert.deepEqual(ticks(3, 3, 5), []);
	for (const t of ticks(0.0031, 0.0077, 6)) assert.ok(t >= 0.0031 && t <= 0.0077 + 1e-12);
});

test('filters quote names as regular expressions', () => {
	assert.equal(filter.onStack('insert'), 'FNAME("insert") SOME IN STACK');
	assert.equal(filter.onStack('Box<double>::operator()(double)'), 'FNAME("Box<double>::operator\\(\\)\\(double\\)") SOME IN STACK');
	assert.equal(filter.pattern('say "no"'), 'say .no.');
	assert.equal(filter.plainName('main [sort]'), 'main');
	assert.equal(filter.plainName('crunch (inlined)'), 'crunch');
	assert.equal(filter.stackHas(['<Total>', 'main', 'f (inlined)', 'g']), '(FNAME("main"),FNAME("g")) ORDERED IN STACK');
	assert.equal(filter.timeRange(1.5, 2), 'TSTAMP >= 1500000000 && TSTAMP <= 2000000000');
	assert.equal(filter.timeRange(1.5, 2, 'ATSTAMP'), 'ATSTAMP >= 1500000000 && ATSTAMP <= 2000000000');
});

test('negation twice is what it was', () => {
	for (const f of ['THRID == 2', 'a || b', '(a) || (b)', 'FNAME("x)") IN STACK'])
		assert.equal(filter.negate(filter.negate(f)), f);
	assert.equal(filter.negate('!(a) || !(b)'), '!(!(a) || !(b))');
	assert.equal(filter.conjunction(['a || b', 'c']), '(a || b) && (c)');
	assert.equal(filter.conjunction(['a']), 'a');
});

test('the address keeps everything, whatever it contains', () => {
	const state = {
		view: 'calltree', filters: ['FNAME("<b>&#x=") SOME IN STACK', 'A && B'], parked: ['C'], experiments: ['a b.er', 'ü.er'],
		p: { fn: 'operator<<[x]', sort: '-e.user', q: 'a,-b', idx: 'Ms TSTAMP / 1000000' },
	};
	assert.deepEqual(parseFragment(formatFragment(state)), state);
	assert.equal(parseFragment('').view, 'overview');
	assert.equal(parseFragment('#v9/functions').view, 'overview');
	assert.equal(formatFragment({ view: 'lines', filters: [], parked: [], experiments: [], p: { q: '' } }), '#v1/lines');
});

test('a view is a request, and the request a command line', () => {
	const state = { view: 'functions', filters: ['THRID == 2', "FNAME(\"it's\") IN STACK"], parked: ['X'], experiments: [], p: { m: 'e.user:name', sort: 'e.user', cmp: 'on' } };
	const req = request(state, { limit: 5 }, ['functions']);
	assert.deepEqual(req, {
		settings: [['compare', 'on'], ['metrics', 'e.user:name'], ['sort', 'e.user'], ['filters', "(THRID == 2) && (FNAME(\"it's\") IN STACK)"], ['limit', '5']],
		commands: [['functions']],
	});
	assert.equal(commandLine(req, ['a b.er']), `helio print -compare on -metrics e.user:name -sort e.user -filters '(THRID == 2) && (FNAME("it'\\''s") IN STACK)' -limit 5 -functions 'a b.er'`);
	assert.deepEqual(request(state, { plain: true, noCompare: true }, ['leaks']).settings.map((s) => s[0]), ['filters']);
	assert.equal(functionRef('main', '/usr/bin/sort'), 'main [sort]');
	assert.equal(functionRef('<Total>', null), '<Total>');
	assert.equal(functionRef('f (inlined)', '/a/b'), 'f [b]');
});

test('find: commas are and, a dash is not, and no regular expression is an error', () => {
	const fits = matcher('al+oc,-^_')!;
	assert.ok(fits('malloc') && fits('CALLOC'));
	assert.ok(!fits('_int_malloc') && !fits('free'));
	assert.ok(matcher('operator(')!('operator()('));
	assert.equal(matcher(' , '), null);
});

test('source is cut into pieces that are the source', () => {
	const carry = { comment: false };
	for (const line of ['int main(void) { return "a\\"b"[0]; } // end', '#include <x>', 'x = 1; /* begins', ' still ', 'ends */ y = 0x1f;', ''])
		assert.equal(highlight(line, 'c', carry).map((p) => p.text).join(''), line);
	assert.equal(carry.comment, false);
	assert.deepEqual(highlight('return 1;', 'c', { comment: false }).map((p) => p.kind), ['kw', '', 'num', '']);
	const text = '[13]     1373:  jg 0x1388 <insert+0x28>';
	assert.equal(highlightInstruction(text).map((p) => p.text).join(''), text);
	assert.equal(jumpTarget(text), 0x1388);
	assert.equal(jumpTarget('[13]     138b:  call 0x1360 <insert>'), null);
	assert.equal(jumpTarget('[ 5]     40:  cbz x0, 0x58'), 0x58);
});
