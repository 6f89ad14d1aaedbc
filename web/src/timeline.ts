// SPDX-License-Identifier: Apache-2.0
// What `timeline` answers, as arrays to draw from; and stacks of events as a flame chart.

import { stateOrder } from './colour';
import { formatAlone, largest } from './format';
import type { Frame, Result, Row } from './types';
import { num, str } from './types';

export interface Lane {
	name: string;
	experiment: number;
	thread: number;
	cpu?: number | undefined; // of processors; -1: events of which it is not known
	kinds: Record<string, number>; // events of each kind, in all
	members: number[]; // lanes of the answer that it is made of
	shift?: Shift;
}

// What a process's times are on the line of the timeline: so much later, and so much faster.
export interface Shift { seconds: number; ppm: number }

// The clock of a host, where there are several on the line; error null: nothing but its wall clock tells.
export interface Host { host: string; error: number | null }

export interface Cells {
	begin: number;
	end: number;
	cell: number; // seconds
	count: number;
	lanes: Lane[];
	// by lane * count + cell
	states: Float32Array[]; // shares of the cell, by stateOrder
	fn: Int32Array; // -1: none
	events: Record<string, Uint32Array>;
	functions: { name: string; object: string | null }[];
	present: Set<number>; // lanes that the answer has: others have no events there, or were not asked for
	collections: Collection[];
	hosts: Host[];
}

// A garbage collection of Java, which stopped the threads of a process; or several that begin in one cell.
export interface Collection { experiment: number; thread: number; number: number; count: number; begin: number; end: number; took: number; longest: number; cause?: string; collector?: string; before?: number; after?: number }

const readCollections = (result: Result): Collection[] => ((result.collections as Row[] | undefined) ?? []).map((row) => ({
	experiment: num(row, 'experiment'), thread: num(row, 'thread'), number: num(row, 'number'), count: num(row, 'count'),
	begin: num(row, 'begin_s'), end: num(row, 'end_s'), took: num(row, 'took_s'), longest: num(row, 'longest_s'),
	...(typeof row.cause === 'string' ? { cause: row.cause } : {}), ...(typeof row.collector === 'string' ? { collector: row.collector } : {}),
	...(typeof row.heap_before === 'number' ? { before: row.heap_before } : {}), ...(typeof row.heap_after === 'number' ? { after: row.heap_after } : {}),
}));

// Those of a closer answer, and of the coarse one what lies outside of it.
export const collectionsOf = (all: Cells, detail: Cells | null): Collection[] =>
	(detail ? [...all.collections.filter((c) => c.end < detail.begin || c.begin > detail.end), ...detail.collections] : all.collections);

const eventKinds = ['clock', 'heap', 'jheap', 'sync', 'io', 'counter', 'omp', 'mpi'];
// A lock in the hand of a thread is no event, and yet a band.
export const barKinds = ['clock', 'heap', 'jheap', 'sync', 'held', 'io', 'counter', 'omp', 'mpi'];
export const kindTitle: Record<string, string> = {
	clock: 'clock', heap: 'heap', jheap: 'objects of Java', sync: 'lock waits', held: 'locks held', io: 'I/O calls', counter: 'counters', omp: 'OpenMP regions and tasks', mpi: 'calls of MPI',
};
// Those of which each event is a band: what a region, a call or a wait lasted.
export const bandKinds = ['omp', 'mpi', 'sync', 'io'];
// Kinds that have a row of their own unless others are chosen; those before them lie on the row of the thread.
const usualRows = ['sync', 'held', 'io'];
export const kindRows = (choice: string): string[] => (choice === '1' ? barKinds : choice === '0' ? [] : usualRows);

// The property that only events of a kind have.
const propertyOf: Record<string, string> = { clock: 'MSTATE', heap: 'HTYPE', jheap: 'JHCLASS', sync: 'STYPE', io: 'IOTYPE', counter: 'HWCTAG', mpi: 'MPITYPE' };

// The kinds that are drawn as bands: those with the fewest events, as many as one answer has room for. One with none in a
// range may have an event that goes on all through it.
export function bandsOf(counts: Record<string, number>, most: number): string[] {
	let room = most;
	return bandKinds.filter((k) => counts[k] !== undefined).sort((a, b) => counts[a]! - counts[b]!).filter((k) => (room -= counts[k]!) >= 0);
}

// A filter that leaves the events of some kinds. Those of OpenMP have no property of their own: they are what is left.
export function onlyKinds(kinds: string[]): string {
	const own = (k: string): string => `HAS_PROP(${propertyOf[k]})`;
	if (!kinds.includes('omp')) return kinds.map(own).join(' || ');
	return `!(${eventKinds.filter((k) => !kinds.includes(k)).map(own).join(' || ')})`;
}

const lanesOf = (result: Result): Lane[] => ((result.lanes as Row[] | undefined) ?? []).map((l, i): Lane => ({
	name: l.name ?? '', experiment: num(l, 'experiment'), thread: num(l, 'thread'),
	...(l.thread === undefined ? { cpu: typeof l.cpu === 'number' ? l.cpu : -1 } : {}),
	kinds: (l.events as Record<string, number> | undefined) ?? {}, members: [i],
	...(num(l, 'shift_s') || num(l, 'drift_ppm') ? { shift: { seconds: num(l, 'shift_s'), ppm: num(l, 'drift_ppm') } } : {}),
}));

// Where a time of a process is on the line.
export type Place = (process: number, seconds: number) => number;
export function onLine(lanes: Lane[]): Place {
	const shifts = new Map(lanes.flatMap((l) => (l.shift ? [[l.experiment, l.shift] as const] : [])));
	return (process, seconds) => {
		const shift = shifts.get(process);
		return shift ? seconds * (1 + shift.ppm * 1e-6) + shift.seconds : seconds;
	};
}
const asItIs: Place = (_, seconds) => seconds;

const hostsOf = (result: Result): Host[] => ((result.hosts as Row[] | undefined) ?? []).map((h) => ({ host: String(h.host ?? '?'), error: typeof h.error_s === 'number' ? h.error_s : null }));

// Of two hosts' times both may be off.
export function hostsText(hosts: Host[]): string {
	const [most = 0, second = 0] = hosts.map((h) => h.error ?? 0).sort((a, b) => b - a);
	const unknown = hosts.some((h) => h.error === null);
	return `${hosts.length} clocks on one line, error ${unknown ? 'not known' : `at most ${formatAlone(most + second, 's')}`}`;
}

// An answer about a part of the time has only the lanes with events there: which of all lanes each one is.
function laneMap(result: Result, all: Lane[]): number[] {
	const key = (l: Lane): string => `${l.experiment} ${l.thread} ${l.cpu}`;
	const at = new Map(all.map((l, i) => [key(l), i]));
	return lanesOf(result).map((l) => at.get(key(l)) ?? -1);
}

export function readCells(result: Result, whole?: Lane[]): Cells {
	const lanes = whole ?? lanesOf(result);
	const map = whole ? laneMap(result, whole) : null;
	const count = num(result as unknown as Row, 'cells');
	const cell = num(result as unknown as Row, 'cell_s');
	const n = lanes.length * count;
	const states = stateOrder.map(() => new Float32Array(n));
	const fn = new Int32Array(n).fill(-1);
	const events: Record<string, Uint32Array> = {};
	for (const row of result.rows) {
		const lane = map ? map[num(row, 'lane')] ?? -1 : num(row, 'lane');
		if (lane < 0) continue;
		const at = lane * count + num(row, 'cell');
		if (typeof row.function === 'number') fn[at] = row.function;
		const seconds = (row.states as Record<string, number> | undefined) ?? {};
		stateOrder.forEach((s, k) => {
			const v = seconds[s];
			if (v) states[k]![at] = v / (cell || 1);
		});
		const counts = (row.events as Record<string, number> | undefined) ?? {};
		for (const kind in counts) (events[kind] ??= new Uint32Array(n))[at] = counts[kind]!;
	}
	for (let lane = 0; lane < lanes.length; lane++) {
		spread(states, lane * count, count);
		spreadFunctions(fn, states, lane * count, count);
	}
	return {
		begin: num(result as unknown as Row, 'begin_s'), end: num(result as unknown as Row, 'end_s'), cell, count, lanes, states, fn, events,
		functions: (result.functions as Cells['functions'] | undefined) ?? [],
		present: new Set(map ?? lanes.keys()),
		collections: readCollections(result),
		hosts: hostsOf(result),
	};
}

// The functions that most cells are drawn as, for the legend: the commonest first.
export function mostOf(cells: Cells, most = 10): Cells['functions'] {
	const counts = new Uint32Array(cells.functions.length);
	const first = new Map<string, number>(); // those of one name have one colour
	cells.functions.forEach((f, i) => { if (!first.has(f.name)) first.set(f.name, i); });
	for (const f of cells.fn) if (f >= 0) counts[first.get(cells.functions[f]!.name)!]!++;
	return [...counts.keys()].filter((f) => counts[f]! > 0).sort((a, b) => counts[b]! - counts[a]!).slice(0, most).map((f) => cells.functions[f]!);
}

// The time of an event is told in the cell where it ends, though it lay in those before, too: what is more
// than a cell has time for goes to the cells before it that have room.
export function spread(states: Float32Array[], from: number, count: number): void {
	const carried = new Float64Array(states.length);
	for (let c = from + count - 1; c >= from; c--) {
		let room = 1;
		const before = carried.slice();
		for (let k = 0; k < states.length; k++) {
			const own = states[k]![c]!;
			const kept = Math.min(own, room);
			states[k]![c] = kept;
			room -= kept;
			carried[k]! += own - kept;
		}
		for (let k = 0; k < states.length && room > 0; k++) {
			const more = Math.min(room, before[k]!);
			states[k]![c]! += more;
			carried[k]! -= more;
			room -= more;
		}
	}
}

// Cells that an event's time was given to, and that have no function of their own, have its function.
export function spreadFunctions(fn: Int32Array, states: Float32Array[], from: number, count: number): void {
	for (let c = from + count - 2; c >= from; c--)
		if (fn[c]! < 0 && states.some((shares) => shares[c]! > 0)) fn[c] = fn[c + 1]!;
}

// A message of MPI, or several: from a lane of the answer to another, from the begin of the send to the end of the receive.
export interface Message { from: number; to: number; begin: number; end: number; count: number; bytes: number; ranks: [number, number] }

export function readMessages(result: Result, whole: Lane[]): Message[] {
	const at = new Map(whole.map((l, i) => [`${l.experiment} ${l.thread}`, i]));
	const lane = (row: Row, end: string): number => at.get(`${num(row, `${end}_process`)} ${num(row, `${end}_thread`)}`) ?? -1;
	return result.rows.map((row) => ({
		from: lane(row, 'from'), to: lane(row, 'to'), begin: num(row, 'begin_s'), end: num(row, 'end_s'), count: num(row, 'messages'), bytes: num(row, 'bytes'),
		ranks: [num(row, 'from'), num(row, 'to')] as [number, number],
	})).filter((m) => m.from >= 0 && m.to >= 0);
}

// Locks in the hands of threads, as events of the lanes of their holders; their type is the lock.
export function readHolds(result: Result, whole: Lane[]): Event[] {
	const at = new Map(whole.map((l, i) => [`${l.experiment} ${l.thread}`, i]));
	return result.rows.map((row): Event => ({
		lane: at.get(`${num(row, 'process')} ${num(row, 'thread')}`) ?? -1, kind: 'held', type: String(row.lock), begin: num(row, 'begin_s'), end: num(row, 'end_s'), stack: -1, row,
	})).filter((h) => h.lane >= 0);
}

export interface Range { from: number; to: number }
// A part of all the time that holds a range, of two to four times its length, and holds those near it, too: what was fetched for one is
// there for the next.
export function tileAround(range: Range, limits: Range): Range {
	const span = range.to - range.from;
	let size = limits.to - limits.from;
	if (!(span > 0) || size < 4 * span) return limits;
	while (size >= 4 * span) size /= 2;
	const from = limits.from + Math.floor((range.from - limits.from) / (size / 2)) * (size / 2);
	return { from: Math.max(limits.from, from), to: Math.min(limits.to, from + size) };
}

export interface Point { x: number; y: number }
// Which of some lines passes nearest to a point, within some distance; -1: none.
export function nearestLine(lines: [Point, Point][], at: Point, within: number): number {
	let best = -1;
	let least = within;
	lines.forEach(([a, b], i) => {
		const [dx, dy] = [b.x - a.x, b.y - a.y];
		const along = Math.max(0, Math.min(1, ((at.x - a.x) * dx + (at.y - a.y) * dy) / (dx * dx + dy * dy || 1)));
		const distance = Math.hypot(a.x + along * dx - at.x, a.y + along * dy - at.y);
		if (distance <= least) [best, least] = [i, distance];
	});
	return best;
}

// A cell is 250 bytes of JSON or so, a lane 400: an answer has 4 MB at most, unless there are more than 5,000 lanes.
const MOST_CELLS = 12000;
export const cellsFor = (lanes: number, most: number): number => Math.max(2, Math.min(most, Math.floor(MOST_CELLS / Math.max(1, lanes))));

// A filter that leaves the events of some lanes: threads in a row are one range.
export function onlyLanes(lanes: Lane[]): string {
	const ranges: { experiment: number; first: number; last: number }[] = [];
	const cpus = lanes.flatMap((l) => (l.cpu === undefined ? [] : [l.cpu < 0 ? '!HAS_PROP(CPUID)' : `CPUID == ${l.cpu}`]));
	if (cpus.length) return cpus.join(' || ');
	for (const { experiment, thread } of lanes) {
		const range = ranges[ranges.length - 1];
		if (range?.experiment === experiment && thread === range.last + 1) range.last = thread;
		else ranges.push({ experiment, first: thread, last: thread });
	}
	return ranges.map((r) => `(EXPID == ${r.experiment} && THRID >= ${r.first} && THRID <= ${r.last})`).join(' || ');
}

// What stands at the left of a lane, and what Find looks at beside the lane's whole name.
export const laneLabel = (lane: Lane, several: boolean): string =>
	(several ? lane.name.replace(/^Process (\d+), Thread (\d+) /, 'P$1 T$2 ') : lane.name.replace(/^Process \d+, (?=Thread)/, ''));
export const haveSeveral = (lanes: Lane[]): boolean => lanes.some((l) => l.experiment !== lanes[0]!.experiment);

export type Grouping = 'thread' | 'process' | 'experiment' | 'cpu' | 'all';
// Of a process: the experiment that it belongs to, by the number of its first process, and that one's name.
export type Founder = (process: number) => { id: number; name: string };

// Lanes put together: those of a process, of an experiment, or all.
export function groupLanes(cells: Cells, by: Grouping, founder: Founder = (id) => ({ id, name: `Experiment ${id}` })): Lane[] {
	if (by === 'thread' || by === 'cpu') return cells.lanes;
	const groups = new Map<number, Lane>();
	const nameOf = (lane: Lane): string => (by === 'all' ? 'All threads' : by === 'experiment' ? founder(lane.experiment).name
		: lane.name.replace(/,? Thread \d+ \((rank \d+)?.*\)$/, (_, rank?: string) => (rank ? ` (${rank})` : '')));
	cells.lanes.forEach((lane, i) => {
		const key = by === 'process' ? lane.experiment : by === 'experiment' ? founder(lane.experiment).id : 0;
		const group = groups.get(key);
		if (!group) groups.set(key, { name: nameOf(lane), experiment: by === 'process' ? lane.experiment : 0, thread: 0, kinds: { ...lane.kinds }, members: [i] });
		else {
			group.members.push(i);
			for (const k in lane.kinds) group.kinds[k] = (group.kinds[k] ?? 0) + lane.kinds[k]!;
		}
	});
	for (const g of groups.values()) if (g.members.length > 1) g.name += ` (${g.members.length} threads)`;
	return [...groups.values()];
}

export interface Event {
	lane: number;
	kind: string;
	type: string;
	begin: number;
	end: number;
	stack: number; // -1: none
	row: Row;
}
export interface Events {
	events: Event[];
	frames: Frame[];
	stacks: number[][]; // innermost first
	begin: number;
	end: number;
}

// What a thread waits for is shown alike, whether OpenMP or -s tells of it.
const waitsOfOpenMP = ['critical section', 'lock', 'atomic', 'ordered section'];
const kindOf = (row: Row): string => (row.kind === 'omp' && waitsOfOpenMP.includes(str(row, 'type')) ? 'sync' : String(row.kind));

export function readEvents(result: Result, whole: Lane[]): Events {
	const map = laneMap(result, whole);
	return {
		events: result.rows.map((row) => ({
			lane: map[num(row, 'lane')] ?? -1, kind: kindOf(row), type: String(row.type ?? ''), begin: num(row, 'begin_s'), end: num(row, 'end_s'),
			stack: typeof row.stack === 'number' ? row.stack : -1, row,
		})).sort((a, b) => a.lane - b.lane || a.begin - b.begin),
		frames: (result.frames as Frame[] | undefined) ?? [],
		stacks: (result.stacks as number[][] | undefined) ?? [],
		begin: num(result as unknown as Row, 'begin_s'), end: num(result as unknown as Row, 'end_s'),
	};
}

// The clock events of a lane as a flame chart: what neighbours have in common from the outermost frame on
// is one rectangle, unless time lies between them.
export interface ChartRect { begin: number; end: number; depth: number; frame: number }
export function flameChart(events: Event[], stacks: number[][], frames: Frame[]): ChartRect[] {
	const rects: ChartRect[] = [];
	let open: ChartRect[] = [];
	let last = -1;
	for (const event of events) {
		if (event.kind !== 'clock') continue;
		const path = [...(stacks[event.stack] ?? [])].reverse();
		const joined = last >= 0 && event.begin - last < 1e-6 + (event.end - event.begin) * 0.1;
		let same = 0;
		if (joined) while (same < path.length && same < open.length && nameOf(frames, open[same]!.frame) === nameOf(frames, path[same]!)) same++;
		for (const rect of open.slice(0, same)) rect.end = event.end;
		open = open.slice(0, same);
		for (let d = same; d < path.length; d++) {
			const rect = { begin: event.begin, end: event.end, depth: d, frame: path[d]! };
			rects.push(rect);
			open.push(rect);
		}
		last = event.end;
	}
	return rects;
}
const nameOf = (frames: Frame[], i: number): string => `${frames[i]?.name}\t${frames[i]?.object}`;

// How many threads wait for locks, by the states of the clock, over all cells of a picture.
export function lockStrip(cells: Cells): Strip | null {
	const shares = cells.states[stateOrder.indexOf('lock')]!;
	const points: Strip['points'] = [];
	for (let c = 0; c < cells.count; c++) {
		let value = 0;
		for (let lane = 0; lane < cells.lanes.length; lane++) value += shares[lane * cells.count + c]!;
		if (value > 0) points.push({ begin: cells.begin + c * cells.cell, end: cells.begin + (c + 1) * cells.cell, value });
	}
	return points.length ? { title: 'Threads waiting for locks', unit: '', max: largest(points.map((p) => p.value)), points } : null;
}

// Live bytes of the process that had most, as `heapstat` says.
export function heapStrip(result: Result | null | undefined, end: number, place: Place = asItIs): Strip | null {
	const peak = result?.rows[0]?.peak as Row | null | undefined;
	const course = (peak?.course as Row[] | undefined) ?? [];
	const at = (p: Row): number => place(num(peak!, 'experiment'), num(p, 'seconds'));
	const points = course.map((p, i) => ({ begin: at(p), end: course[i + 1] ? at(course[i + 1]!) : end, value: num(p, 'bytes') }));
	const max = largest(points.map((p) => p.value));
	return max > 0 ? { title: 'Live heap', unit: 'bytes', max, points } : null;
}

// Why, by what, and what stayed, as far as that is known.
export const collectionCause = (c: Collection): [string, string][] => [
	...(c.cause ? [['Cause', c.cause] as [string, string]] : []),
	...(c.collector ? [['Collector', c.collector] as [string, string]] : []),
	...(c.before !== undefined && c.after !== undefined ? [['Heap in use', `${formatAlone(c.before, 'bytes')} → ${formatAlone(c.after, 'bytes')}`] as [string, string]] : []),
];

// How long collections stopped the program: of several in one place the longest.
export function collectionStrip(collections: Collection[]): Strip | null {
	const points = collections.map((c) => ({ begin: c.begin, end: c.end, value: c.longest }));
	return points.length ? { title: 'Garbage collections', unit: 's', max: largest(points.map((p) => p.value)), points, kind: 'gc' } : null;
}

export interface Strip { title: string; unit: string; max: number; points: { begin: number; end: number; value: number }[]; kind?: 'gc' }

// What a number that lies over spans of time adds up to at each moment.
type Span = Strip['points'][number];
export function sumOver(spans: Span[]): Span[] {
	if (spans.every((s, i) => !i || s.begin >= spans[i - 1]!.end)) return spans;
	const edges = spans.flatMap((s) => [{ at: s.begin, by: s.value }, { at: s.end, by: -s.value }]).sort((a, b) => a.at - b.at);
	const points: Span[] = [];
	const least = 1e-12 * spans.reduce((sum, s) => sum + Math.abs(s.value), 0); // what rounding leaves
	let value = 0;
	edges.forEach((edge, i) => {
		value += edge.by;
		const end = edges[i + 1]?.at ?? edge.at;
		if (end > edge.at && Math.abs(value) > least) points.push({ begin: edge.at, end, value });
	});
	return points;
}

// Sample points as strips: CPU use, memory, reading and writing, of all processes together.
export function strips(result: Result | null | undefined, place: Place = asItIs): Strip[] {
	const rows = (result?.rows ?? []).filter((r) => typeof r.sample === 'number' && num(r, 'duration_s') > 0);
	if (rows.length < 2) return [];
	const make = (title: string, unit: string, value: (r: Row) => number): Strip => {
		const points = sumOver(rows.map((r) => ({ begin: place(num(r, 'experiment'), num(r, 'start_s')), end: place(num(r, 'experiment'), num(r, 'end_s')), value: value(r) })));
		return { title, unit, max: largest(points.map((p) => p.value)), points };
	};
	return [
		make('CPUs in use', '', (r) => (num(r, 'user_s') + num(r, 'system_s')) / num(r, 'duration_s')),
		make('Memory (RSS)', 'bytes', (r) => num(r, 'rss_bytes')),
		make('Read and written / s', 'bytes', (r) => (num(r, 'read_bytes') + num(r, 'write_bytes')) / num(r, 'duration_s')),
		make('Switches / s', 'count', (r) => (num(r, 'voluntary_switches') + num(r, 'involuntary_switches')) / num(r, 'duration_s')),
	].filter((s) => s.max > 0);
}
