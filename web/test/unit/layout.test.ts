// SPDX-License-Identifier: Apache-2.0
// Trees, flame graphs, timelines: the arrays that pictures are drawn from, of data known by construction.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bandsOf, cellsFor, collectionCause, collectionsOf, collectionStrip, flameChart, groupLanes, heapStrip, hostsText, laneLabel, lockStrip, mostOf, spreadFunctions, nearestLine, onlyKinds, onlyLanes, onLine, readCells, readEvents, readHolds, readMessages, spread, strips, sumOver, tileAround } from '../../src/timeline';
import { findAt, layoutTree, matched, treeFromRows, treeFromStacks } from '../../src/tree';
import type { Frame, Result } from '../../src/types';

// main 10: itself 1, a 6 (itself 2, c 4), b 3
const rows = [
	{ id: 0, parent: null, name: '<Total>', object: null, v: 10 },
	{ id: 7, parent: 0, name: 'main', object: '/p', v: 10 },
	{ id: 9, parent: 7, name: 'a', object: '/p', v: 6 },
	{ id: 3, parent: 9, name: 'c', object: '/l', v: 4 },
	{ id: 4, parent: 7, name: 'b', object: '/p', v: 3 },
];

test('frames are as wide as their part, inside their callers and beside each other', () => {
	const tree = treeFromRows(rows, 'v');
	const layout = layoutTree(tree);
	assert.equal(layout.rows.length, 4);
	assert.deepEqual([...layout.x0], [0, 0, 0, 0, 0.6]);
	assert.deepEqual([...layout.x1].map((x) => +x.toFixed(12)), [1, 1, 0.6, 0.4, 0.9]);
	for (const row of layout.rows)
		for (let k = 1; k < row.node.length; k++) assert.ok(row.x0[k]! >= row.x1[k - 1]! - 1e-12);
	const second = layout.rows[2]!;
	assert.equal(second.node[findAt(second.x0, 0.59)], 2);
	assert.equal(second.node[findAt(second.x0, 0.61)], 4);
	assert.equal(findAt(second.x0, -1), -1);
});

test('what is found is counted once on each path', () => {
	const tree = treeFromRows([...rows, { id: 5, parent: 3, name: 'a', object: '/p', v: 4 }], 'v');
	const found = matched(tree, (name) => name === 'a');
	assert.equal(found.value, 6);
	assert.deepEqual([...found.nodes], [0, 0, 1, 0, 0, 1]);
});

const frame = (name: string): Frame => ({ name, object: '/p', address: 1, file: null, line: null, inlined: false });
const frames = ['main', 'f', 'g', 'leaf'].map(frame);

test('stacks make the tree of what they have in common', () => {
	// innermost first: leaf<g<f<main 3, leaf<f<main 2, f<g<f<main (recursion of f) 1
	const stacks = [{ stack: [3, 2, 1, 0], value: 3 }, { stack: [3, 1, 0], value: 2 }, { stack: [1, 2, 1, 0], value: 1 }];
	const all = treeFromStacks(frames, stacks, 'all');
	assert.equal(all.total, 6);
	assert.equal(all.name.filter((n) => n === 'main').length, 1);
	assert.equal(all.value[all.name.indexOf('main')], 6);
	const callees = treeFromStacks(frames, stacks, 'callees', (f) => f.name === 'f');
	assert.equal(callees.total, 6);
	assert.equal(callees.name[1], 'f');
	assert.equal(callees.value[callees.name.indexOf('g')], 4);
	const callers = treeFromStacks(frames, stacks, 'callers', (f) => f.name === 'f');
	assert.equal(callers.total, 6);
	assert.equal(callers.name[1], 'f');
	assert.deepEqual(callers.children[1]!.map((c) => [callers.name[c], callers.value[c]]), [['main', 5], ['g', 1]]);
	assert.equal(treeFromStacks(frames, stacks, 'callees', (f) => f.name === 'none').total, 0);
});

const answer = (extra: Record<string, unknown>): Result => ({ command: 'timeline', experiments: [], metrics: [], rows: [], warnings: [], ...extra });
const lanes = [{ name: 'T1', experiment: 1, thread: 1, events: { clock: 2 } }, { name: 'T2', experiment: 1, thread: 2, events: { clock: 1 } }];

test('time of an event that is longer than its cell goes to the cells before', () => {
	const states = [new Float32Array([0, 0, 0, 2.5, 0.25]), new Float32Array([0, 0, 0.25, 0, 0])];
	spread(states, 0, 5);
	const sums = [...states[0]!].map((v, i) => v + states[1]![i]!);
	assert.deepEqual(sums, [0, 0.75, 1, 1, 0.25]);
	assert.equal([...states[0]!].reduce((a, b) => a + b), 2.75);
	assert.equal(states[1]![2], 0.25);
});

test('lanes of a part of the time are found among all lanes', () => {
	const whole = readCells(answer({ lanes, cells: 2, cell_s: 1, begin_s: 0, end_s: 2, rows: [{ lane: 0, cell: 1, states: { user: 1 }, events: { clock: 2 }, function: 0 }], functions: [{ name: 'f', object: null }] }));
	assert.equal(whole.states[0]![1], 1);
	assert.equal(whole.fn[1], 0);
	const part = readCells(answer({ lanes: [lanes[1]], cells: 2, cell_s: 0.5, begin_s: 0, end_s: 1, rows: [{ lane: 0, cell: 0, states: { user: 0.5 } }] }), whole.lanes);
	assert.equal(part.states[0]![0], 0);
	assert.equal(part.states[0]![2], 1);
	const events = readEvents(answer({ lanes: [lanes[1]], frames, stacks: [[1, 0]], rows: [{ lane: 0, kind: 'clock', type: 'user', begin_s: 0, end_s: 1, stack: 0 }] }), whole.lanes);
	assert.equal(events.events[0]!.lane, 1);
});

test('waits of OpenMP are waits, its regions are bands of their own', () => {
	const whole = readCells(answer({ lanes, cells: 1, cell_s: 2, begin_s: 0, end_s: 2, rows: [] }));
	const types = ['region', 'critical section', 'tasks', 'lock', 'atomic', 'ordered section'];
	const { events } = readEvents(answer({ lanes, frames, stacks: [], rows: types.map((type, i) => ({ lane: 0, kind: 'omp', type, begin_s: i, end_s: i + 1 })) }), whole.lanes);
	assert.deepEqual(events.map((e) => e.kind), ['omp', 'sync', 'omp', 'sync', 'sync', 'sync']);
	assert.deepEqual(events.map((e) => e.type), types);
});

test('a flame chart joins what follows at once and has the same callers', () => {
	const event = (begin: number, end: number, stack: number) => ({ lane: 0, kind: 'clock', type: 'user', begin, end, stack, row: {} });
	const stacks = [[3, 1, 0], [2, 1, 0]];
	const rects = flameChart([event(0, 1, 0), event(1, 2, 1), event(5, 6, 1)], stacks, frames);
	const named = rects.map((r) => [frames[r.frame]!.name, r.begin, r.end, r.depth]);
	assert.deepEqual(named, [['main', 0, 2, 0], ['f', 0, 2, 1], ['leaf', 0, 1, 2], ['g', 1, 2, 2], ['main', 5, 6, 0], ['f', 5, 6, 1], ['g', 5, 6, 2]]);
});

test('sample points of several processes are added up at each moment', () => {
	const span = (begin: number, end: number, value: number) => ({ begin, end, value });
	assert.deepEqual(sumOver([span(0, 4, 1), span(1, 2, 0.1), span(1, 3, 0.2), span(6, 7, 5)]).map((p) => [p.begin, p.end, +p.value.toFixed(9)]),
		[[0, 1, 1], [1, 2, 1.3], [2, 3, 1.2], [3, 4, 1], [6, 7, 5]]);
	const sample = (experiment: number, start_s: number, end_s: number, user_s: number) => ({ name: '', object: null, experiment, sample: 1, start_s, end_s, duration_s: end_s - start_s, user_s, system_s: 0 });
	const [cpu] = strips({ rows: [sample(1, 0, 2, 2), sample(2, 1, 3, 1)] } as unknown as Result);
	assert.deepEqual(cpu!.points.map((p) => [p.begin, p.end, p.value]), [[0, 1, 1], [1, 2, 1.5], [2, 3, 0.5]]);
});

test('sample points and the heap of a process that began later lie where its lanes do', () => {
	const cells = readCells(answer({ lanes: [{ name: 'a', experiment: 1, thread: 1, events: {} }, { name: 'b', experiment: 2, thread: 1, events: {}, shift_s: 3, drift_ppm: 1e5 }], cells: 1, cell_s: 1,
		hosts: [{ host: 'x', ahead_s: 0, drift_ppm: 0, error_s: 0 }, { host: 'y', ahead_s: 5, drift_ppm: 0, error_s: 2e-6 }, { host: 'z', ahead_s: 5, drift_ppm: 0, error_s: 3e-6 }] }));
	const place = onLine(cells.lanes);
	assert.deepEqual([place(1, 2), place(2, 2)], [2, 5.2]);
	const sample = (experiment: number, start_s: number, end_s: number) => ({ name: '', object: null, experiment, sample: 1, start_s, end_s, duration_s: end_s - start_s, user_s: end_s - start_s, system_s: 0 });
	assert.deepEqual(strips({ rows: [sample(1, 0, 1), sample(2, 0, 2)] } as unknown as Result, place)[0]!.points.map((p) => [p.begin, p.end]), [[0, 1], [3, 5.2]]);
	const course = [{ seconds: 0, bytes: 10 }];
	assert.deepEqual(heapStrip({ rows: [{ peak: { experiment: 2, bytes: 10, course } }] } as unknown as Result, 6, place)!.points, [{ begin: 3, end: 6, value: 10 }]);
	assert.match(hostsText(cells.hosts), /^3 clocks on one line, error at most 5\D/);
	assert.match(hostsText([...cells.hosts, { host: 'w', error: null }]), /error not known/);
});

test('rows of a timeline are put together by process, experiment or all; processors are rows of their own', () => {
	const cells = { lanes: [1, 2, 3].map((experiment, i) => ({ name: `Process ${experiment}, Thread 1 (tid ${i})`, experiment, thread: 1, kinds: { clock: 2 ** i }, members: [i] })) } as unknown as Parameters<typeof groupLanes>[0];
	const of = (by: Parameters<typeof groupLanes>[1]) => groupLanes(cells, by, (id) => ({ id: id < 3 ? 1 : 3, name: id < 3 ? 'a.er' : 'b.er' })).map((l) => [l.name, l.members, l.kinds.clock]);
	assert.deepEqual(of('experiment'), [['a.er (2 threads)', [0, 1], 3], ['b.er', [2], 4]]);
	assert.deepEqual(of('all'), [['All threads (3 threads)', [0, 1, 2], 7]]);
	const cpus = readCells(answer({ lanes: [{ name: 'CPU 3', cpu: 3, events: {} }, { name: '<Unknown>', events: {} }], cells: 1, cell_s: 1 }));
	assert.deepEqual(cpus.lanes.map((l) => l.cpu), [3, -1]);
	assert.equal(onlyLanes(cpus.lanes), 'CPUID == 3 || !HAS_PROP(CPUID)');
	const part = readCells(answer({ lanes: [{ name: '<Unknown>', events: {} }], cells: 1, cell_s: 1, rows: [{ lane: 0, cell: 0, states: { user: 1 } }] }), cpus.lanes);
	assert.deepEqual([...part.present], [1]);
	assert.equal(part.states[0]![1], 1);
});

test('sample points of days are drawn', () => {
	const count = 300000; // one a second, for three days and a half
	const samples = Array.from({ length: count }, (_, i) => ({
		name: '', object: null, experiment: 1, sample: i, start_s: i, end_s: i + 1, duration_s: 1, user_s: i === count - 1 ? 2 : 1, system_s: 0,
	}));
	const [cpu] = strips({ rows: samples } as unknown as Result);
	assert.equal(cpu!.points.length, count);
	assert.equal(cpu!.max, 2);
});

test('threads that wait for locks are counted over all rows, cell by cell', () => {
	const lanes = [0, 1].map((i) => ({ name: `T${i}`, experiment: 1, thread: i + 1, events: { clock: 3 } }));
	const lock = (lane: number, cell: number, seconds: number) => ({ lane, cell, states: { lock: seconds, user: 2 - seconds } });
	const cells = readCells({ begin_s: 0, end_s: 6, cell_s: 2, cells: 3, lanes, functions: [], rows: [lock(0, 0, 2), lock(1, 0, 1), lock(1, 2, 0.5)] } as unknown as Result);
	assert.deepEqual(lockStrip(cells)!.points, [{ begin: 0, end: 2, value: 1.5 }, { begin: 4, end: 6, value: 0.25 }]);
	assert.equal(lockStrip(cells)!.max, 1.5);
	assert.equal(lockStrip(readCells({ begin_s: 0, end_s: 6, cell_s: 2, cells: 3, lanes, functions: [], rows: [] } as unknown as Result)), null);
});

test('the live heap has the steps of its course, the last one up to the end', () => {
	const course = [{ seconds: 1, bytes: 10 }, { seconds: 2, bytes: 40 }, { seconds: 3, bytes: 5 }];
	const strip = heapStrip({ rows: [{ peak: { bytes: 40, course } }] } as unknown as Result, 4);
	assert.deepEqual(strip!.points, [{ begin: 1, end: 2, value: 10 }, { begin: 2, end: 3, value: 40 }, { begin: 3, end: 4, value: 5 }]);
	assert.equal(strip!.max, 40);
	assert.equal(heapStrip({ rows: [{ peak: null }] } as unknown as Result, 4), null);
});

test('bands are of the kinds with few events, and only those are asked for', () => {
	assert.deepEqual(bandsOf({ io: 5000, sync: 10, mpi: 4000, clock: 3 }, 8000), ['sync', 'mpi']);
	assert.deepEqual(bandsOf({ io: 9000, sync: 0 }, 8000), ['sync']);
	assert.equal(onlyKinds(['sync', 'mpi']), 'HAS_PROP(STYPE) || HAS_PROP(MPITYPE)');
	assert.equal(onlyKinds(['omp', 'sync']), '!(HAS_PROP(MSTATE) || HAS_PROP(HTYPE) || HAS_PROP(JHCLASS) || HAS_PROP(IOTYPE) || HAS_PROP(HWCTAG) || HAS_PROP(MPITYPE))');
});

test('locks held are bands of their holders; those of threads without a lane are not shown', () => {
	const lanes = [1, 2].map((i) => ({ name: `T${i}`, experiment: 3, thread: i, kinds: { sync: 1 }, members: [i - 1] }));
	const row = (process: number, thread: number) => ({ process, thread, lock: 'the_lock (mutex)', begin_s: 1, end_s: 2 });
	const held = readHolds({ rows: [row(3, 2), row(3, 7), row(2, 2)] } as unknown as Result, lanes);
	assert.deepEqual(held, [{ lane: 1, kind: 'held', type: 'the_lock (mutex)', begin: 1, end: 2, stack: -1, row: row(3, 2) }]);
});

test('messages go from lane to lane, and the line under a point is found', () => {
	const lanes = [1, 2].map((i) => ({ name: `P${i}`, experiment: i, thread: 1, kinds: { mpi: 1 }, members: [i - 1] }));
	const row = (from: number, to: number) => ({ from: from - 1, to: to - 1, from_process: from, from_thread: 1, to_process: to, to_thread: 1, begin_s: 1, end_s: 2, messages: 3, bytes: 12 });
	assert.deepEqual(readMessages({ rows: [row(1, 2), row(2, 9)] } as unknown as Result, lanes), [{ from: 0, to: 1, begin: 1, end: 2, count: 3, bytes: 12, ranks: [0, 1] }]);
	const lines: [{ x: number; y: number }, { x: number; y: number }][] = [[{ x: 0, y: 0 }, { x: 10, y: 10 }], [{ x: 0, y: 10 }, { x: 10, y: 10 }]];
	assert.equal(nearestLine(lines, { x: 3, y: 4 }, 2), 0);
	assert.equal(nearestLine(lines, { x: 3, y: 9 }, 2), 1);
	assert.equal(nearestLine(lines, { x: 3, y: 6.5 }, 2), -1);
	assert.equal(nearestLine(lines, { x: 14, y: 10 }, 2), -1);
});

test('a tile holds its range, is of two to four times its length, and serves those near it', () => {
	const limits = { from: 2, to: 18 };
	assert.deepEqual(tileAround({ from: 2, to: 18 }, limits), limits);
	assert.deepEqual(tileAround({ from: 3, to: 8 }, limits), limits);
	for (const span of [0.011, 0.3, 0.9, 1.9, 3.9])
		for (let from = 2; from + span <= 18; from += 0.37) {
			const tile = tileAround({ from, to: from + span }, limits);
			assert.ok(tile.from <= from && tile.to >= from + span - 1e-12, `${from} ${span}: ${tile.from} ${tile.to}`);
			assert.ok(tile.to - tile.from < 4 * span);
		}
	assert.deepEqual(tileAround({ from: 5, to: 5.9 }, limits), tileAround({ from: 5.1, to: 5.99 }, limits));
});

test('collections of a closer answer take the place of those of the coarse one', () => {
	const row = (number: number, begin: number, end: number, count = 1) => ({ experiment: 1, thread: 3, number, count, begin_s: begin, end_s: end, took_s: end - begin, longest_s: 0.5 });
	const cells = (begin_s: number, end_s: number, collections: unknown[]) => readCells(answer({ lanes, cells: 2, cell_s: 1, begin_s, end_s, collections }));
	const all = cells(0, 10, [row(1, 0, 1), row(2, 3, 6, 2), row(4, 8, 9)]);
	const shown = collectionsOf(all, cells(2, 7, [row(2, 3, 3.5), row(3, 5, 6)]));
	assert.deepEqual(shown.map((c) => c.number).sort(), [1, 2, 3, 4]);
	assert.deepEqual(collectionStrip(shown)!.max, 0.5);
	assert.equal(collectionStrip(cells(0, 1, []).collections), null);
});

test('a collection says why, by what and what stayed, as far as that is known', () => {
	const row = { experiment: 1, thread: 3, number: 1, count: 1, begin_s: 0, end_s: 1, took_s: 1, longest_s: 1 };
	const more = { cause: 'System.gc()', collector: 'Serial full collection pauses', heap_before: 30_000_000, heap_after: 0 };
	const facts = [row, { ...row, ...more }].map((r) => collectionCause(readCells(answer({ lanes, cells: 1, cell_s: 1, begin_s: 0, end_s: 1, collections: [r] })).collections[0]!));
	assert.deepEqual(facts[0], []);
	assert.deepEqual(facts[1], [['Cause', 'System.gc()'], ['Collector', 'Serial full collection pauses'], ['Heap in use', '28.6 MiB → 0 B']]);
});

test('a row has a short name where there is one process, and where there are several', () => {
	const lane = { name: 'Process 2, Thread 3 (worker, tid 123)', experiment: 2, thread: 3, kinds: {}, members: [0] };
	assert.equal(laneLabel(lane, true), 'P2 T3 (worker, tid 123)');
	assert.equal(laneLabel(lane, false), 'Thread 3 (worker, tid 123)');
	const named = [lane.name, 'Process 3, Thread 1 (rank 7, main, tid 5)'].map((name, experiment) => ({ ...lane, name, experiment }));
	assert.deepEqual(groupLanes({ lanes: named } as unknown as Parameters<typeof groupLanes>[0], 'process').map((group) => group.name), ['Process 2', 'Process 3 (rank 7)']);
});

test('many rows have fewer cells each, and those in sight are ranges of threads', () => {
	assert.deepEqual([1, 33, 200, 4200, 1e6].map((lanes) => cellsFor(lanes, 600)), [600, 363, 60, 2, 2]);
	const lane = (experiment: number, thread: number) => ({ name: '', experiment, thread, kinds: {}, members: [0] });
	assert.equal(onlyLanes([lane(1, 3), lane(1, 4), lane(1, 5), lane(1, 7), lane(2, 8)]),
		'(EXPID == 1 && THRID >= 3 && THRID <= 5) || (EXPID == 1 && THRID >= 7 && THRID <= 7) || (EXPID == 2 && THRID >= 8 && THRID <= 8)');
});

test('the legend of functions has those that most cells are drawn as, and none that no cell is', () => {
	const functions = ['rare', 'common', 'absent', 'main', 'common'].map((name) => ({ name, object: '/p' }));
	const cells = { fn: Int32Array.from([1, -1, 4, 0, 1, 3, 3, -1]), functions } as unknown as Parameters<typeof mostOf>[0];
	assert.deepEqual(mostOf(cells).map((f) => f.name), ['common', 'main', 'rare']);
	assert.deepEqual(mostOf(cells, 1).map((f) => f.name), ['common']);
});

test('a function is in all cells that its event lasted for, and in none before', () => {
	const fn = Int32Array.from([7, -1, -1, -1, 2, -1]);
	spreadFunctions(fn, [Float32Array.from([1, 0, 0.5, 1, 1, 0])], 0, 6);
	assert.deepEqual([...fn], [7, -1, 2, 2, 2, -1]);
});
