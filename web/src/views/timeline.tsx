// SPDX-License-Identifier: Apache-2.0
// Timeline: what each thread did over time. Far away, states as stacked colours or the function that took
// most of each cell; near, the events with their stacks as a flame chart. Dragging selects a range, which
// zooms or becomes a filter. Between two answers of the server what is known is drawn, moved and scaled.

import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { grey, kindColour, nameColour, ompShares, ompStateName, stateColour, stateName, stateOrder } from '../colour';
import { conjunction } from '../filter';
import { baseName, fitName, formatAlone, formatTime, ticks } from '../format';
import { useKeys } from '../keys';
import { useQuery } from '../query';
import { request } from '../request';
import { matcher } from '../search';
import { catalogue, dark, param, patch, rowHeight, selection, state } from '../store';
import {
	bandKinds, bandsOf, barKinds, cellsFor, collectionsOf, collectionStrip, flameChart, groupLanes, haveSeveral, heapStrip, kindRows, kindTitle, laneLabel, lockStrip,
	hostsText, mostOf, onlyKinds, onlyLanes, onLine, readCells, readEvents, readHolds, readMessages, strips, tileAround,
	type Cells, type ChartRect, type Collection, type Event, type Events, type Founder, type Grouping, type Lane, type Message, type Range, type Strip,
} from '../timeline';
import { cpuMenu, functionMenu, setTimeFilter, threadMenu } from '../ui/actions';
import { accent, Canvas, dim, ink, paper, rule, SvgPen, type Pen } from '../ui/canvas';
import { openMenu } from '../ui/menu';
import { num, type Frame as StackFrame, type PrintRequest, type Result, type Row } from '../types';
import { Choice, Frame, Toggle, usePublish } from '../ui/view';
import { collectionAt, collectionFacts, collectionMenu, CollectionTip, collectionTitle, paintCollections } from './timeline-collections';
import { FEW_HOLDS, holdFacts, holdMenu, holdTitle } from './timeline-holds';
import { FEW_MESSAGES, linesOf, messageAt, messageFacts, MessageTip, messageTitle, paintMessages, type Line } from './timeline-messages';

const GUTTER = 178;
const CELLS = innerWidth > 2000 ? 1200 : 600; // of a row: no wider than three pixels or so
const BLOCK = 16; // rows
const FEW_EVENTS = 8000; // as many as one answer has

// The closer cells, where they are of all of a row's lanes.
const closer = (detail: Cells | null, refined: boolean, lane: Lane): Cells | null =>
	(detail && (!refined || lane.members.every((m) => detail.present.has(m))) ? detail : null);

export function Timeline(): JSX.Element {
	const from = param('t0');
	const to = param('t1');
	const range: string[] = from && to ? ['-from', from, '-to', to] : [];
	const grouping = (param('rows') || 'thread') as Grouping;
	const ofCpus = grouping === 'cpu'; // cells alone: events, bands and messages are those of threads
	const by = ofCpus ? ['-cpus'] : [];
	const [sight, setSight] = useState<Lane[]>([]);
	// How many rows there are says how many cells each may have. Where that is few, those in sight are asked for by themselves.
	const lanesQuery = useQuery(request(state.value, { plain: true, noCompare: true }, ['timeline', ...by, '1'])).value;
	const laneCount = (lanesQuery.answer?.results[0]?.lanes as Row[] | undefined)?.length ?? 0;
	const most = cellsFor(laneCount, CELLS);
	const refined = most < CELLS && sight.length > 0;
	const inSight = (filter = ''): { extraFilter?: string } => {
		const parts = [filter, refined ? onlyLanes(sight) : ''].filter((f) => f);
		return parts.length ? { extraFilter: conjunction(parts) } : {};
	};
	const whole = request(state.value, { plain: true, noCompare: true }, ['timeline', ...by, String(most)], ['sample_detail']);
	const near = range.length || refined ? request(state.value, { plain: true, noCompare: true, ...inSight() }, ['timeline', ...by, ...range, String(cellsFor(refined ? sight.length : laneCount, CELLS))]) : null;
	const wholeQuery = useQuery(laneCount ? whole : null).value;
	const nearQuery = useQuery(laneCount ? near : null).value;
	const canvas = useRef<HTMLCanvasElement | null>(null);
	const painter = useRef<((pen: Pen) => void) | null>(null);
	usePublish(near ?? { ...whole, commands: [whole.commands[0]!] }, () => {
		const pen = new SvgPen(canvas.current?.clientWidth ?? 1200, canvas.current?.clientHeight ?? 600);
		painter.current?.(pen);
		return { svg: pen.finish(), canvas: canvas.current };
	});
	const all = useMemo(() => { const r = wholeQuery.answer?.results[0]; return r ? readCells(r) : null; }, [wholeQuery.answer]);
	const detail = useMemo(() => { const r = nearQuery.answer?.results[0]; return near && r && all ? readCells(r, all.lanes) : null; }, [nearQuery.answer, near === null, all]);
	const hasHeap = all?.lanes.some((l) => (l.kinds.heap ?? 0) > 0) ?? false;
	const heapQuery = useQuery(hasHeap ? request(state.value, { plain: true, noCompare: true, limit: 1 }, ['heapstat']) : null).value;
	const collections = useMemo(() => (all ? collectionsOf(all, detail) : []), [all, detail]);
	const samples = useMemo(() => [
		collectionStrip(collections),
		...(all ? strips(wholeQuery.answer?.results[1], onLine(all.lanes)) : []),
		all && heapStrip(heapQuery.answer?.results[0], all.end, onLine(all.lanes)),
		all && lockStrip(all),
	].filter((s): s is Strip => s !== null), [wholeQuery.answer, heapQuery.answer, all, collections]);
	const shown = detail ?? all;
	const inRange = shown ? Object.values(shown.events).reduce((sum, a) => sum + a.reduce((x, y) => x + y, 0), 0) : 0;
	const clock = shown?.events.clock?.reduce((x, y) => x + y, 0) ?? 0;
	const few = inRange <= FEW_EVENTS;
	const wantsEvents = !ofCpus && range.length > 0 && detail !== null && !nearQuery.stale && (few || (all?.events.clock !== undefined && clock <= FEW_EVENTS));
	const eventsRequest = wantsEvents ? request(state.value, { metrics: 'e.total:name', noCompare: true, ...inSight(few ? '' : 'HAS_PROP(MSTATE)') }, ['timeline', ...range, '-events', '1', String(FEW_EVENTS)]) : null;
	const eventsQuery = useQuery(eventsRequest).value;
	const events = useMemo(() => { const r = eventsQuery.answer?.results[0]; return wantsEvents && r && all ? readEvents(r, all.lanes) : null; }, [eventsQuery.answer, wantsEvents, all]);
	// Regions, calls of MPI, waits for locks and I/O are bands, as long as they are few, also from far away.
	// Where all of them are few, they are asked for once.
	const bandsPresent = ofCpus ? [] : bandKinds.filter((k) => all?.events[k]);
	const countsIn = (cells: Cells | null): Record<string, number> => Object.fromEntries(bandsPresent.map((k) => [k, cells?.events[k]?.reduce((x, y) => x + y, 0) ?? 0]));
	const allFit = bandsOf(countsIn(all), FEW_EVENTS).length === bandsPresent.length;
	const bandsShown = allFit ? bandsPresent : bandsOf(countsIn(shown), FEW_EVENTS);
	const bandsRequest = bandsShown.length ? request(state.value, { metrics: 'e.total:name', noCompare: true, ...inSight(onlyKinds(bandsShown)) }, ['timeline', ...(allFit ? [] : range), '-events', '1', String(FEW_EVENTS)]) : null;
	const bandsQuery = useQuery(bandsRequest).value;
	const asked = range.length ? { from: Number(from), to: Number(to) } : null;
	const has = (kind: string): boolean => !ofCpus && (all?.lanes.some((l) => (l.kinds[kind] ?? 0) > 0) ?? false);
	const heldQuery = useInTime('lockholds', 'holds', FEW_HOLDS, (has('sync') || has('omp')) && param('kinds') !== '0' ? all : null, asked);
	const bands = useMemo((): Events | null => {
		const r = bandsQuery.answer?.results[0];
		const read = bandsRequest && r && all ? readEvents(r, all.lanes) : null;
		const holds = heldQuery.result && all ? readHolds(heldQuery.result, all.lanes) : [];
		if (!read) return holds.length ? { events: holds, frames: [], stacks: [], begin: all!.begin, end: all!.end } : null;
		return { ...read, events: [...read.events.filter((e) => bandKinds.includes(e.kind) && e.end > e.begin), ...holds] };
	}, [bandsQuery.answer, bandsShown.length, heldQuery.result, all]);
	const hasMpi = has('mpi');
	const messageQuery = useInTime('mpimessages', 'messages', FEW_MESSAGES, hasMpi && param('msg') !== '0' ? all : null, asked);
	const messages = useMemo(() => (messageQuery.result && all ? readMessages(messageQuery.result, all.lanes) : []), [messageQuery.result, all]);
	// States of OpenMP are told by the functions of user mode, and those of threads.
	const hasStates = has('omp') && param('vm') !== 'machine';
	const colours = coloursOf(param('tc'), hasStates);
	const tools = <>
		<Choice label="Rows" value={grouping} options={[['thread', 'threads'], ['process', 'processes'], ['experiment', 'experiments'], ['cpu', 'processors'], ['all', 'all together']]} onChange={(v) => patch({ rows: v === 'thread' ? undefined : v })} />
		<Choice label="Colours" value={colours} options={[['state', 'states'], ['function', 'functions'], ...(hasStates ? [['omp', 'states of OpenMP'] as [string, string]] : [])]} onChange={(v) => patch({ tc: v === 'state' ? undefined : v })} />
		<Choice label="Kinds of data" value={param('kinds')} options={[['', 'locks and I/O'], ['1', 'all'], ['0', 'none']]} onChange={(v) => patch({ kinds: v || undefined })} />
		<Toggle label="Stacks" on={param('stacks') !== '0'} title="Call stacks as a flame chart, when zoomed in" onChange={(on) => patch({ stacks: on ? undefined : '0' })} />
		{hasMpi && <Toggle label="Messages" on={param('msg') !== '0'} title="Messages of MPI as lines from who sends to who receives" onChange={(on) => patch({ msg: on ? undefined : '0' })} />}
		<span class="hint">drag: range · Ctrl+wheel or <kbd>+</kbd> <kbd>−</kbd>: zoom · <kbd>a</kbd> <kbd>d</kbd>: move · <kbd>0</kbd>: all</span>
	</>;
	return <Frame query={laneCount ? wholeQuery : lanesQuery} command="timeline" tools={tools} count={() => all?.lanes.length ?? laneCount} show={() => all && (
		<Picture all={all} detail={detail} refined={refined} onSight={most < CELLS ? setSight : null} events={events} bands={bands} messages={messages} collections={collections} samples={samples} colours={colours} grouping={grouping} canvas={canvas} painter={painter} busy={[nearQuery, eventsQuery, bandsQuery, heapQuery].some((q) => q.busy) || messageQuery.busy || heldQuery.busy} />
	)} />;
}

// What a command lists: that of all the time, or where its rows are sums of several, of a part around the range: moving within it asks for
// nothing. Of `all`, or nothing where that is null.
function useInTime(command: string, counted: string, most: number, all: Cells | null, range: Range | null): { result: Result | null; busy: boolean } {
	const ask = (words: string[]): PrintRequest => request(state.value, { plain: true, noCompare: true }, [command, ...words, String(most)]);
	const whole = useQuery(all ? ask([]) : null).value;
	const sums = whole.answer?.results[0]?.rows.some((r) => num(r, counted) > 1) ?? false;
	const tile = all && range && sums ? tileAround(range, { from: all.begin, to: all.end }) : null;
	const isPart = tile !== null && (tile.from > all!.begin || tile.to < all!.end);
	const part = useQuery(isPart ? ask(['-from', tile.from.toFixed(9), '-to', tile.to.toFixed(9)]) : null).value;
	const result = (isPart ? part.answer : null)?.results[0] ?? whole.answer?.results[0] ?? null;
	return { result: all ? result : null, busy: whole.busy || part.busy };
}

interface PictureProps {
	all: Cells; detail: Cells | null; refined: boolean; onSight: ((lanes: Lane[]) => void) | null; events: Events | null; bands: Events | null; messages: Message[]; collections: Collection[]; samples: Strip[]; colours: Colours; grouping: Grouping; busy: boolean;
	canvas: { current: HTMLCanvasElement | null }; painter: { current: ((pen: Pen) => void) | null };
}

// Of the list of experiments.
const founderOf = (processes: Row[]): Founder => (id) => {
	const first = num(processes.find((p) => p.id === id), 'founder') || id;
	return { id: first, name: processes.find((p) => p.id === first)?.name ?? `Experiment ${first}` };
};

interface Placed { lane: Lane; y: number; height: number; kinds: string[]; charts: ChartRect[]; depth: number; events: Event[]; bands: Event[] }

const AXIS = 20;

function Picture({ all, detail, refined, onSight, events, bands, messages, collections, samples, colours, grouping, canvas, painter, busy }: PictureProps): JSX.Element {
	const rh = rowHeight.value;
	const limits: Range = { from: all.begin, to: all.end };
	const asked: Range = param('t0') ? { from: Number(param('t0')), to: Number(param('t1')) } : limits;
	const [view, setView] = useState<Range>(asked);
	const [picked, setPicked] = useState<Range | null>(null);
	const [hover, setHover] = useState<{ x: number; y: number } | null>(null);
	const [chosen, setChosen] = useState<Event | null>(null);
	const [message, setMessage] = useState<Message | null>(null);
	const [top, setTop] = useState(0);
	const scroll = useRef<HTMLDivElement>(null);
	const drag = useRef<{ x: number; t: number; moved: boolean; pan: boolean } | null>(null);
	const settle = useRef(0);
	const asked_ = useRef(''); // of the rows in sight
	useEffect(() => { setView(asked); setPicked(null); }, [param('t0'), param('t1'), all]);

	const find = matcher(param('q'));
	const several = haveSeveral(all.lanes);
	const lanes = useMemo(() => groupLanes(all, grouping, founderOf(catalogue.value?.processes ?? [])).filter((l) => !find || find(l.name) || find(laneLabel(l, several))), [all, grouping, catalogue.value, param('q')]);
	const most = useMemo(() => (colours === 'function' ? mostOf(all) : []), [all, colours]);
	const rowKinds = kindRows(param('kinds'));
	const stacksShown = param('stacks') !== '0' && events !== null;
	const placed = useMemo((): Placed[] => {
		let y = 0;
		return lanes.map((lane) => {
			const ownBands = bands?.events.filter((e) => lane.members.includes(e.lane)) ?? [];
			const kinds = rowKinds.filter((k) => (lane.kinds[k] ?? 0) > 0 || ownBands.some((e) => e.kind === k));
			const own = events ? events.events.filter((e) => lane.members.includes(e.lane)) : [];
			const charts = stacksShown && lane.members.length === 1 ? flameChart(own, events!.stacks, events!.frames) : [];
			const depth = Math.min(40, charts.reduce((d, c) => Math.max(d, c.depth + 1), 0));
			const height = rh * 1.5 + 4 + kinds.length * (rh * 0.75) + depth * (rh * 0.78);
			const at = { lane, y, height, kinds, charts, depth, events: own, bands: ownBands };
			y += height;
			return at;
		});
	}, [lanes, param('kinds'), stacksShown, events, bands, rh]);
	// The rows in sight, a block at a time, so that not each step of scrolling asks.
	useEffect(() => {
		if (!onSight) return;
		const timer = setTimeout(() => {
			const bottom = top + (scroll.current?.clientHeight ?? 800);
			const shown = placed.flatMap((p, i) => (p.y + p.height >= top && p.y <= bottom ? [i] : []));
			const first = Math.floor((shown[0] ?? 0) / BLOCK) * BLOCK;
			const lanesInSight = grouping === 'thread' || grouping === 'cpu' ? placed.slice(first, Math.ceil(((shown[shown.length - 1] ?? 0) + 1) / BLOCK) * BLOCK).map((p) => p.lane) : [];
			const key = onlyLanes(lanesInSight);
			if (key !== asked_.current) onSight(lanesInSight);
			asked_.current = key;
		}, 120);
		return () => clearTimeout(timer);
	}, [onSight, placed, top, grouping]);
	const total = placed.reduce((h, p) => h + p.height, 0);
	const stripHeight = Math.round(rh * 1.7);
	const headHeight = AXIS + samples.length * stripHeight;

	const commit = (next: Range, replace = false): void => {
		const span = Math.max(2e-6, Math.min(limits.to - limits.from, next.to - next.from));
		let a = Math.max(limits.from, Math.min(limits.to - span, next.from));
		if (!Number.isFinite(a)) a = limits.from;
		const range = { from: a, to: a + span };
		setView(range);
		clearTimeout(settle.current);
		const isAll = span >= (limits.to - limits.from) * 0.9999;
		settle.current = window.setTimeout(() => patch(isAll ? { t0: undefined, t1: undefined } : { t0: range.from.toFixed(9), t1: range.to.toFixed(9) }, { replace }), 140);
	};
	const zoomBy = (factor: number, at = (view.from + view.to) / 2): void =>
		commit({ from: at - (at - view.from) * factor, to: at + (view.to - at) * factor });
	const pan = (by: number): void => { const w = (view.to - view.from) * by; commit({ from: view.from + w, to: view.to + w }, true); };
	const timeAt = (clientX: number): number => {
		const rect = canvas.current!.getBoundingClientRect();
		return view.from + ((clientX - rect.left - GUTTER) / Math.max(1, rect.width - GUTTER)) * (view.to - view.from);
	};
	const laneAt = (clientY: number): Placed | undefined => {
		const inPicture = clientY - canvas.current!.getBoundingClientRect().top;
		if (inPicture < headHeight) return undefined; // rows that are scrolled lie under the head
		const y = inPicture - headHeight + top;
		return placed.find((p) => y >= p.y && y < p.y + p.height);
	};
	const stripAt = (clientY: number): Strip | undefined => {
		const y = clientY - canvas.current!.getBoundingClientRect().top - AXIS;
		return y < 0 ? undefined : samples[Math.floor(y / stripHeight)];
	};
	const slackHere = (): number => (3 / Math.max(1, (canvas.current?.clientWidth ?? 1000) - GUTTER)) * (view.to - view.from);
	const collectionUnder = (clientX: number, clientY: number): Collection | null =>
		(stripAt(clientY)?.kind === 'gc' ? collectionAt(collections, timeAt(clientX), slackHere()) : null);
	// The shortest event at a place; over the row of a kind, of that kind.
	const eventAt = (clientX: number, clientY: number): Event | null => {
		const lane = laneAt(clientY);
		if (!lane) return null;
		const t = timeAt(clientX);
		const inLane = clientY - canvas.current!.getBoundingClientRect().top - headHeight + top - lane.y;
		const kind = lane.kinds[Math.floor((inLane - rh * 1.5 - 3) / (rh * 0.75))];
		const slack = slackHere();
		let best: Event | null = null;
		for (const e of [...lane.events, ...lane.bands])
			if (e.begin - slack <= t && e.end + slack >= t && (kind === undefined ? !lane.kinds.includes(e.kind) || e.kind === 'clock' : e.kind === kind)
				&& (!best || e.end - e.begin < best.end - best.begin)) best = e;
		return best;
	};
	const rowsOfLanes = messages.length ? new Map(placed.flatMap((p) => p.lane.members.map((lane) => [lane, p] as const))) : null;
	const linesIn = (width: number): Line[] => linesOf(messages, {
		x: (t) => timeToX(view, width, t), left: GUTTER, right: width,
		y: (lane) => { const p = rowsOfLanes?.get(lane); return p && headHeight + p.y - top + rh * 0.75; },
	});
	const messageUnder = (clientX: number, clientY: number): Message | null => {
		const rect = canvas.current!.getBoundingClientRect();
		return clientY - rect.top < headHeight ? null : messageAt(linesIn(rect.width), { x: clientX - rect.left, y: clientY - rect.top });
	};
	const tellMessage = (m: Message): void => {
		setChosen(null);
		setMessage(m);
		selection.value = { kind: 'row', name: messageTitle(m), facts: messageFacts(m) };
	};
	const tellCollection = (c: Collection): void => {
		setChosen(null);
		setMessage(null);
		selection.value = { kind: 'row', name: collectionTitle(c), facts: collectionFacts(c) };
	};
	const sourceOf = (event: Event): Events | null => (bands?.events.includes(event) ? bands : events);
	const tell = (event: Event | null): void => {
		setChosen(event);
		setMessage(null);
		const source = event && sourceOf(event);
		if (!event || !source) return;
		if (event.kind === 'held') {
			selection.value = { kind: 'row', name: holdTitle(event), facts: holdFacts(event) };
			return;
		}
		const stack = framesOf(event, source).map((f) => ({
			name: f.name, object: f.object, text: `${f.name}${f.file ? `, ${baseName(f.file)}:${f.line}` : f.object ? ` [${baseName(f.object)}]` : ''}`, file: f.file, line: f.line,
		}));
		const more = Object.entries(event.row).filter(([k, v]) => !['lane', 'kind', 'type', 'begin_s', 'end_s', 'stack'].includes(k) && !k.startsWith('e.') && v !== null);
		selection.value = {
			kind: 'event', name: `${event.kind}: ${event.type}`, stack,
			facts: [['Thread', all.lanes[event.lane]?.name ?? ''], ['Begin', formatTime(event.begin, view.to - view.from)], ['Length', formatAlone(event.end - event.begin, 's')],
				...more.map(([k, v]): [string, string] => [k, String(v)])],
		};
	};
	const stepEvent = (by: number): void => {
		if (!events?.events.length) return;
		const list = chosen ? events.events.filter((e) => e.lane === chosen.lane) : events.events;
		const i = chosen ? list.indexOf(chosen) : by > 0 ? -1 : list.length;
		const next = list[i + by];
		if (next) tell(next);
	};
	const paint = (pen: Pen): void => paintTimeline(pen, {
		all, detail, refined, events, lines: linesIn(pen.width), message, collections, samples, several, placed, view, picked, hover, chosen, top, headHeight, rh, colours,
	});
	painter.current = paint;
	const usePicked = (action: (r: Range) => void): void => { if (picked) action(picked); };
	useKeys([
		{ key: 'w +', help: 'zoom in', group: 'Timeline', run: () => zoomBy(0.5) },
		{ key: 's - −', help: 'zoom out', group: 'Timeline', run: () => zoomBy(2) },
		{ key: 'a ArrowLeft', help: 'earlier', group: 'Timeline', run: () => pan(-0.25) },
		{ key: 'd ArrowRight', help: 'later', group: 'Timeline', run: () => pan(0.25) },
		{ key: '0', help: 'all of the time', group: 'Timeline', run: () => commit(limits) },
		{ key: 'z Enter', help: 'zoom to the selected range', group: 'Timeline', run: () => usePicked((r) => commit(r)) },
		{ key: 'f', help: 'only the selected range, in all views', group: 'Timeline', run: () => usePicked((r) => filterTime(r)) },
		{ key: '.', help: 'next event', group: 'Timeline', run: () => stepEvent(1) },
		{ key: ',', help: 'previous event', group: 'Timeline', run: () => stepEvent(-1) },
		{ key: 'Escape', help: 'forget the selected range', group: 'Timeline', run: () => setPicked(null) },
	]);
	const down = (e: PointerEvent): void => {
		if (e.button !== 0) return;
		canvas.current!.setPointerCapture(e.pointerId);
		drag.current = { x: e.clientX, t: timeAt(e.clientX), moved: false, pan: e.shiftKey };
	};
	const move = (e: PointerEvent): void => {
		setHover({ x: e.clientX, y: e.clientY });
		const d = drag.current;
		if (!d) return;
		if (!d.moved && Math.abs(e.clientX - d.x) < 4) return;
		d.moved = true;
		if (d.pan) {
			const by = d.t - timeAt(e.clientX);
			commit({ from: view.from + by, to: view.to + by }, true);
			return;
		}
		const t = Math.max(limits.from, Math.min(limits.to, timeAt(e.clientX)));
		setPicked({ from: Math.max(limits.from, Math.min(d.t, t)), to: Math.max(d.t, t) });
	};
	const up = (e: PointerEvent): void => {
		const d = drag.current;
		drag.current = null;
		if (!d || d.moved) return;
		setPicked(null);
		const collection = collectionUnder(e.clientX, e.clientY);
		const sent = messageUnder(e.clientX, e.clientY);
		const event = eventAt(e.clientX, e.clientY);
		if (collection) tellCollection(collection);
		else if (sent) tellMessage(sent);
		else if (event) tell(event);
		else if (!events) tellCell(e);
	};
	const tellCell = (e: PointerEvent): void => {
		const lane = laneAt(e.clientY);
		if (!lane) return;
		const cells = closer(detail, refined, lane.lane) ?? all;
		const c = Math.floor((timeAt(e.clientX) - cells.begin) / cells.cell);
		const f = lane.lane.members.map((m) => cells.fn[m * cells.count + c] ?? -1).find((x) => x >= 0);
		if (f !== undefined && cells.functions[f]) selection.value = { kind: 'function', name: cells.functions[f]!.name, object: cells.functions[f]!.object };
	};
	const menu = (e: MouseEvent): void => {
		const lane = laneAt(e.clientY);
		const event = eventAt(e.clientX, e.clientY);
		const source = event && sourceOf(event);
		const leaf = event && source ? framesOf(event, source)[0] : undefined;
		const collection = collectionUnder(e.clientX, e.clientY);
		openMenu([
			...(collection ? collectionMenu(collection) : []),
			...(event?.kind === 'held' ? holdMenu(event) : []),
			...(picked ? [{ text: 'Zoom to the range', hint: 'z', run: () => commit(picked) }, { text: 'Only this time range', hint: 'f', run: () => filterTime(picked) }, null] : []),
			...(lane && lane.lane.thread ? threadMenu(lane.lane.experiment, lane.lane.thread) : []),
			...(lane && lane.lane.cpu !== undefined ? cpuMenu(lane.lane.cpu) : []),
			{ text: 'All of the time', hint: '0', run: () => commit(limits) },
			...(leaf ? [null, ...functionMenu(leaf.name, leaf.object)] : []),
		], e.clientX, e.clientY);
	};
	const stripUnder = hover && !drag.current ? stripAt(hover.y) : undefined;
	const laneUnder = hover && !stripUnder ? laneAt(hover.y) : undefined;
	const under = hover && !drag.current && messages.length ? messageUnder(hover.x, hover.y) : null;
	return (
		<div class="picture timeline">
			<div class="scroll" ref={scroll} onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
				<div class="sticky"><Canvas canvasRef={canvas} label={`Timeline of ${lanes.length} rows; ${grouping === 'cpu' ? 'CPUs' : 'Threads'} and Seconds have the same as tables`} paint={paint}
					redraw={[all, detail, refined, events, messages, message, collections, samples, placed, view, picked, hover, chosen, top, colours, rh]}
					onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerLeave={() => setHover(null)} onContextMenu={menu}
					onDblClick={() => { if (picked) commit(picked); else zoomBy(0.4); }}
					onWheel={(e) => {
						if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoomBy(e.deltaY < 0 ? 0.8 : 1.25, timeAt(e.clientX)); }
						else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) { e.preventDefault(); pan(e.deltaX / 1500); }
					}} /></div>
				<div style={{ height: `${Math.max(0, total + headHeight - 1)}px` }} class="spacer" />
			</div>
			{stripUnder && hover ? <StripTip strip={stripUnder} collection={collectionUnder(hover.x, hover.y)} time={timeAt(hover.x)} x={hover.x} y={hover.y} />
				: under && hover ? <MessageTip message={under} x={hover.x} y={hover.y} /> : hover && !drag.current && <Tip all={all} near={laneUnder ? closer(detail, refined, laneUnder.lane) : null} sourceOf={sourceOf} lane={laneUnder} time={timeAt(hover.x)} event={eventAt(hover.x, hover.y)} x={hover.x} y={hover.y} />}
			<div class="foot">
				<div class="legend">{most.map((f) => <span title={f.name}><i class="swatch" style={{ background: nameColour(f.name, dark.value) }} />{shorten(f.name)}</span>)}
					{colours === 'omp' && Object.entries(ompStateName).map(([s, name]) => <span><i class="swatch" style={{ background: stateColour(s, dark.value) }} />{name}</span>)}
					{(colours !== 'state' ? [] : stateOrder.filter((s, k) => s !== 'trap' && all.states[k]!.some((v) => v > 0))).map((s) => <span><i class="swatch" style={{ background: stateColour(s, dark.value) }} />{stateName[s]}</span>)}
					{barKinds.filter((k) => (rowKinds.includes(k) && all.lanes.some((l) => (l.kinds[k] ?? 0) > 0)) || bands?.events.some((e) => e.kind === k)).map((k) => <span><i class="swatch" style={{ background: kindColour[k]! }} />{kindTitle[k]}</span>)}
					{collections.length > 0 && <span><i class="swatch" style={{ background: kindColour.gc! }} />garbage collections</span>}
					{messages.length > 0 && <span>— {messages.some((m) => m.count > 1) ? 'messages, several to a line' : 'messages'}</span>}</div>
				<span>{formatTime(view.from, view.to - view.from)} – {formatTime(view.to, view.to - view.from)}</span>
				{all.hosts.length > 0 && <span title={all.hosts.map((h) => `${h.host}: ${h.error === null ? 'by its wall clock' : `error ${formatAlone(h.error, 's')}`}`).join('\n')}>{hostsText(all.hosts)}</span>}
				{picked && <span class="picked" aria-live="polite">selected {formatAlone(picked.to - picked.from, 's')} from {formatTime(picked.from, picked.to - picked.from)}
					<button onClick={() => commit(picked)}>Zoom <kbd>z</kbd></button><button onClick={() => filterTime(picked)}>Filter <kbd>f</kbd></button></span>}
				{busy && <span class="hint" aria-busy="true">…</span>}
			</div>
		</div>
	);
}

const SHORT = 30;
const shorten = (name: string): string => (name.length > SHORT ? `${name.slice(0, SHORT - 1)}…` : name);

const filterTime = (range: Range): void => setTimeFilter(range.from, range.to, 'ATSTAMP');

const framesOf = (event: Event, source: Events): StackFrame[] => (source.stacks[event.stack] ?? []).map((f) => source.frames[f]!);

function Tip({ all, near, sourceOf, lane, time, event, x, y }: { all: Cells; near: Cells | null; sourceOf(event: Event): Events | null; lane: Placed | undefined; time: number; event: Event | null; x: number; y: number }): JSX.Element | null {
	if (!lane || time < all.begin) return null;
	const cells = near && time >= near.begin && time <= near.end ? near : all;
	const c = Math.floor((time - cells.begin) / cells.cell);
	const shares = stateOrder.map((s, k) => [s, lane.lane.members.reduce((sum, m) => sum + (cells.states[k]![m * cells.count + c] ?? 0), 0)] as const).filter(([, v]) => v > 0.005);
	const f = lane.lane.members.length === 1 ? cells.fn[lane.lane.members[0]! * cells.count + c] ?? -1 : -1;
	const source = event && sourceOf(event);
	const leaf = event && source ? framesOf(event, source)[0] : undefined;
	return (
		<div class="tip" role="tooltip" style={{ left: `${Math.min(x + 14, innerWidth - 320)}px`, top: `${Math.min(y + 16, innerHeight - 150)}px` }}>
			<b>{lane.lane.name}</b><div>{formatTime(time, cells.cell * 4)}</div>
			{lane.bands.filter((e) => e !== event && e.begin <= time && time < e.end).slice(0, 4).map((e) => <div><i class="swatch" style={{ background: kindColour[e.kind]! }} />{e.kind} {e.type} · {formatAlone(e.end - e.begin, 's')}</div>)}
			{event?.kind === 'held' ? <><div><i class="swatch" style={{ background: kindColour.held! }} />{holdTitle(event)}</div>{holdFacts(event).slice(1).map(([name, value]) => <div>{name}: {value}</div>)}</>
				: event ? <div>{event.kind} {event.type} · {formatAlone(event.end - event.begin, 's')}{leaf ? ` · ${leaf.name}` : ''}</div> : <>
				{shares.map(([s, v]) => <div><i class="swatch" style={{ background: stateColour(s, dark.value) }} />{stateName[s]} {(100 * v).toFixed(0)}%</div>)}
				{f >= 0 && <div class="dim">{cells.functions[f]?.name}</div>}</>}
		</div>
	);
}

// What a strip has at a moment.
function StripTip({ strip, collection, time, x, y }: { strip: Strip; collection: Collection | null; time: number; x: number; y: number }): JSX.Element | null {
	const point = strip.points.find((p) => p.begin <= time && time < p.end);
	if (!collection && (!point || strip.kind === 'gc')) return null;
	return (
		<div class="tip" role="tooltip" style={{ left: `${Math.min(x + 14, innerWidth - 320)}px`, top: `${Math.min(y + 16, innerHeight - 150)}px` }}>
			{collection ? <CollectionTip collection={collection} /> : <><b>{strip.title}</b><div>{strip.unit ? formatAlone(point!.value, strip.unit) : point!.value.toFixed(2)}</div>
				<div class="dim">{formatTime(point!.begin, point!.end - point!.begin)} – {formatTime(point!.end, point!.end - point!.begin)}</div></>}
		</div>
	);
}

interface Scene {
	all: Cells; detail: Cells | null; refined: boolean; events: Events | null; lines: Line[]; message: Message | null; collections: Collection[]; samples: Strip[]; several: boolean; placed: Placed[]; view: Range; picked: Range | null;
	hover: { x: number; y: number } | null; chosen: Event | null; top: number; headHeight: number; rh: number; colours: Colours;
}

// What a row's colours tell: the states of the clock, or what took most of each cell: the function, or by it the state of OpenMP.
type Colours = 'state' | 'function' | 'omp';
const coloursOf = (chosen: string, hasStates: boolean): Colours => (chosen === 'function' || (chosen === 'omp' && hasStates) ? chosen : 'state');

const timeToX = (view: Range, width: number, t: number): number => GUTTER + ((t - view.from) / (view.to - view.from || 1)) * (width - GUTTER);

function paintTimeline(pen: Pen, s: Scene): void {
	const { view } = s;
	const x = (t: number): number => timeToX(view, pen.width, t);
	pen.rect(0, 0, pen.width, pen.height, paper());
	for (const p of s.placed) {
		const y = s.headHeight + p.y - s.top;
		if (y + p.height < s.headHeight || y > pen.height) continue;
		paintLane(pen, s, p, y, x);
	}
	paintMessages(pen, s.lines, s.message);
	// What has been scrolled under the axis goes away.
	pen.rect(0, 0, pen.width, s.headHeight, paper());
	paintHead(pen, s, x);
	pen.rect(GUTTER - 1, 0, 1, pen.height, rule());
	if (s.picked) {
		const a = Math.max(GUTTER, x(s.picked.from));
		const b = Math.min(pen.width, x(s.picked.to));
		pen.rect(a, 0, Math.max(1, b - a), pen.height, dark.value ? 'rgba(108,178,255,0.22)' : 'rgba(10,95,191,0.14)');
		pen.rect(a, 0, 1, pen.height, accent());
		pen.rect(b - 1, 0, 1, pen.height, accent());
	}
}

function paintHead(pen: Pen, s: Scene, x: (t: number) => number): void {
	const { view, rh } = s;
	const span = view.to - view.from;
	for (const t of ticks(view.from, view.to, Math.max(2, Math.floor((pen.width - GUTTER) / 110)))) {
		pen.rect(x(t), 0, 1, s.headHeight, rule());
		pen.text(x(t) + 3, AXIS / 2, formatTime(t, span / 4), dim(), 100);
	}
	const h = Math.round(rh * 1.7);
	s.samples.forEach((strip, i) => {
		const y = AXIS + i * h;
		pen.text(6, y + h / 2 - 6, strip.title, ink(), GUTTER - 12);
		pen.text(6, y + h / 2 + 7, `at most ${strip.unit ? formatAlone(strip.max, strip.unit) : strip.max.toFixed(2)}`, dim(), GUTTER - 12);
		for (const p of strip.points) {
			const a = Math.max(GUTTER, x(p.begin));
			const b = Math.min(pen.width, x(p.end));
			if (b <= a) continue;
			const height = ((h - 4) * p.value) / strip.max;
			pen.rect(a, y + h - 1 - height, Math.max(0.7, b - a - (b - a > 5 ? 1 : 0)), height, strip.kind === 'gc' ? kindColour.gc! : dark.value ? '#42688f' : '#a9c7e6');
		}
		pen.rect(0, y + h - 1, pen.width, 1, rule());
	});
	pen.rect(0, s.headHeight - 1, pen.width, 1, rule());
}

function paintLane(pen: Pen, s: Scene, p: Placed, y: number, x: (t: number) => number): void {
	const { rh } = s;
	const bar = rh * 1.5;
	pen.text(6, y + bar / 2 + 1, laneLabel(p.lane, s.several), ink(), GUTTER - 12);
	const near = closer(s.detail, s.refined, p.lane);
	const parts: { cells: Cells; from: number; to: number }[] = near
		? [{ cells: s.all, from: -Infinity, to: near.begin }, { cells: near, from: near.begin, to: near.end }, { cells: s.all, from: near.end, to: Infinity }]
		: [{ cells: s.all, from: -Infinity, to: Infinity }];
	if (s.events && p.lane.members.length === 1 && s.colours === 'state' && p.events.some((e) => e.kind === 'clock')) paintEvents(pen, s, p, y, bar, x);
	else for (const part of parts) paintCells(pen, s, p, y, bar, part.cells, part.from, part.to, x);
	let at = y + bar + 3;
	for (const e of p.events) if (e.kind !== 'clock' && !p.kinds.includes(e.kind) && !(p.bands.length && bandKinds.includes(e.kind))) paintBand(pen, e, y + 1, 4, x);
	for (const e of p.bands) if (!p.kinds.includes(e.kind)) paintBand(pen, e, y + 1, 4, x);
	for (const kind of p.kinds) {
		const title = kindTitle[kind]!;
		pen.text(GUTTER - 8 - pen.measure(title), at + rh * 0.35, title, dim(), 100);
		paintKind(pen, s, p, kind, at, rh * 0.7, x);
		at += rh * 0.75;
	}
	const step = rh * 0.78;
	const measure = (text: string): number => pen.measure(text);
	for (const c of p.charts) {
		if (c.depth >= p.depth) continue;
		const a = Math.max(GUTTER, x(c.begin));
		const b = Math.min(pen.width, x(c.end));
		if (b - a < 0.5) continue;
		const frame = s.events!.frames[c.frame]!;
		pen.rect(a, at + c.depth * step, Math.max(0.5, b - a - (b - a > 3 ? 0.7 : 0)), step - 1, frame.object ? nameColour(baseName(frame.object), dark.value) : grey(dark.value));
		if (b - a > 24) pen.text(a + 3, at + c.depth * step + step / 2, fitName(frame.name, b - a - 6, measure), ink(), b - a - 6);
	}
	paintCollections(pen, s.collections, p.lane, y, p.height - 1, GUTTER, x);
	if (s.chosen && p.lane.members.includes(s.chosen.lane)) {
		const a = Math.max(GUTTER, x(s.chosen.begin));
		pen.frame(a, y + 1, Math.max(2, Math.min(pen.width, x(s.chosen.end)) - a), p.height - 3, accent(), 2);
	}
	pen.rect(0, y + p.height - 1, pen.width, 1, rule());
}

function paintBand(pen: Pen, e: Event, y: number, height: number, x: (t: number) => number): void {
	if (x(e.end) < GUTTER) return; // it ended before what is seen
	const a = Math.max(GUTTER, x(e.begin));
	const b = Math.min(pen.width, Math.max(x(e.end), a + 1.5));
	// One that follows at once is told from it.
	if (b > a) pen.rect(a, y, b - a - (b - a > 4 ? 1 : 0), height, kindColour[e.kind] ?? kindColour.other!);
}

// Near enough, each event of the clock is drawn with its begin and end.
function paintEvents(pen: Pen, s: Scene, p: Placed, y: number, bar: number, x: (t: number) => number): void {
	for (const e of p.events) {
		if (e.kind !== 'clock') continue;
		const a = Math.max(GUTTER, x(e.begin));
		const b = Math.min(pen.width, x(e.end));
		if (b > a) pen.rect(a, y + 2, b - a - (b - a > 4 ? 0.5 : 0), bar - 2, stateColour(e.type, dark.value));
	}
	for (const [from, to] of [[s.view.from, s.events!.begin], [s.events!.end, s.view.to]] as const)
		if (from < to) paintCells(pen, s, p, y, bar, s.all, from, to, x);
}

// The colours of what took most of a cell, a share of each thread, as a stack.
function paintMost(pen: Pen, s: Scene, cells: Cells, members: number[], c: number, a: number, width: number, bottom: number, height: number): void {
	const heights = new Map<string, number>();
	let up = bottom;
	for (const m of members) {
		const f = cells.functions[cells.fn[m * cells.count + c]!];
		if (!f) continue;
		const shares: [string, number][] = s.colours === 'omp' ? ompShares(f.name, statesOf(cells, m, c)).map(([state, share]) => [stateColour(state, dark.value), share]) : [[nameColour(f.name, dark.value), 1]];
		for (const [colour, share] of shares) heights.set(colour, (heights.get(colour) ?? 0) + (share * height) / members.length);
	}
	const order = [...heights];
	if (s.colours === 'omp') order.sort(([colour], [other]) => ompOrder(colour) - ompOrder(other));
	else order.sort(([, h], [, other]) => other - h);
	for (const [colour, h] of order) pen.rect(a, up -= h, width, h, colour);
}

const statesOf = (cells: Cells, member: number, cell: number): [string, number][] => stateOrder.map((state, k) => [state, cells.states[k]![member * cells.count + cell]!]);
// Work lies below, so that it has one edge; what is off the processor on top.
const ompOrder = (colour: string): number => Object.keys(ompStateName).findIndex((state) => stateColour(state, dark.value) === colour);

// States are stacked.
function paintCells(pen: Pen, s: Scene, p: Placed, y: number, bar: number, cells: Cells, from: number, to: number, x: (t: number) => number): void {
	const { view } = s;
	const first = Math.max(0, Math.floor((Math.max(view.from, from) - cells.begin) / cells.cell));
	const last = Math.min(cells.count - 1, Math.ceil((Math.min(view.to, to) - cells.begin) / cells.cell));
	const members = p.lane.members;
	const threads = members.length;
	for (let c = first; c <= last; c++) {
		const begin = Math.max(from, cells.begin + c * cells.cell);
		const a = Math.max(GUTTER, x(begin));
		const b = Math.min(pen.width, x(Math.min(to, cells.begin + (c + 1) * cells.cell)));
		if (b <= a) continue;
		if (s.colours !== 'state') {
			paintMost(pen, s, cells, members, c, a, b - a + 0.3, y + bar, bar - 2);
			continue;
		}
		let up = y + bar;
		// An event counts where it ends, so that a cell may hold more than its own length.
		let whole = 0;
		for (const shares of cells.states) for (const m of members) whole += shares[m * cells.count + c]!;
		const most = Math.max(threads, whole);
		for (let k = 0; k < stateOrder.length; k++) {
			let share = 0;
			for (const m of members) share += cells.states[k]![m * cells.count + c]!;
			if (share <= 0) continue;
			const h = (share / most) * (bar - 2);
			up -= h;
			pen.rect(a, up, b - a + 0.3, h, stateColour(stateOrder[k]!, dark.value));
		}
	}
}

function paintKind(pen: Pen, s: Scene, p: Placed, kind: string, y: number, h: number, x: (t: number) => number): void {
	const colour = kindColour[kind] ?? kindColour.other!;
	const bands = p.bands.filter((e) => e.kind === kind);
	const own = bands.length ? bands : p.events.filter((e) => e.kind === kind);
	if (own.length) {
		for (const e of own) paintBand(pen, e, y, h, x);
		return;
	}
	const cells = closer(s.detail, s.refined, p.lane) ?? s.all;
	const counts = cells.events[kind];
	if (!counts) return;
	const sums = new Float64Array(cells.count);
	let max = 0;
	for (let c = 0; c < cells.count; c++) {
		for (const m of p.lane.members) sums[c]! += counts[m * cells.count + c]!;
		if (sums[c]! > max) max = sums[c]!;
	}
	for (let c = 0; c < cells.count; c++) {
		if (!sums[c]) continue;
		const a = Math.max(GUTTER, x(cells.begin + c * cells.cell));
		const b = Math.min(pen.width, x(cells.begin + (c + 1) * cells.cell));
		const height = Math.max(1.5, h * Math.sqrt(sums[c]! / max));
		if (b > a) pen.rect(a, y + h - height, Math.max(1, b - a), height, colour);
	}
}
