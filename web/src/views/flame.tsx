// SPDX-License-Identifier: Apache-2.0
// Flame graph: the tree of calls drawn; width is the metric that lists are sorted by. Icicles, the callers
// and callees of one function (sandwich), differences of experiments. Keys walk over the frames.

import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { differenceColour, grey, kindFill, kindOf, kindText, nameColour, type Kind } from '../colour';
import * as filter from '../filter';
import { baseName, exact, fitName, formatAlone, percent } from '../format';
import { useKeys } from '../keys';
import { useQuery } from '../query';
import { functionRef, request } from '../request';
import { matcher } from '../search';
import { catalogue, colouring, dark, experiments, mainMetric, mainTitle, mainUnit, param, patch, rowHeight, state } from '../store';
import { findAt, layoutTree, matched, treeFromRows, treeFromStacks, type Layout, type Tree } from '../tree';
import type { Frame as StackFrame, Result } from '../types';
import { num } from '../types';
import { functionMenu, selectFunction } from '../ui/actions';
import { accent, Canvas, dim, ink, paper, SvgPen, type Pen } from '../ui/canvas';
import { openMenu } from '../ui/menu';
import { Choice, Frame, Toggle, usePublish } from '../ui/view';

const STACKS = 20000;
const PERCENT = '0.05';

const metricKeys = (result: Result): { key: string; base?: string } => {
	const m = mainMetric.value;
	const flavour = result.command === 'calltree' ? 'a' : 'e';
	const own = result.metrics.filter((x) => x.name === `${flavour}.${m}` || x.name.startsWith(`${flavour}.${m}.`));
	if (own.length > 1) return { key: own[own.length - 1]!.name, base: own[0]!.name };
	return { key: own[0]?.name ?? result.metrics[0]?.name ?? '' };
};

function stacksTree(result: Result, mode: 'all' | 'callees' | 'callers', fn: string): Tree {
	const { key } = metricKeys(result);
	const frames = (result.frames as StackFrame[] | undefined) ?? [];
	const rows = result.rows.map((r) => ({ stack: (r.stack as number[] | undefined) ?? [], value: num(r, key) }));
	const name = filter.plainName(fn);
	const object = / \[([^\]]*)\]$/.exec(fn)?.[1];
	return treeFromStacks(frames, rows, mode, (f) => filter.plainName(f.name) === name && (!object || !f.object || baseName(f.object) === object));
}

export function Flame(): JSX.Element {
	const mode = param('mode') || 'flame';
	const fn = param('of'); // apart from the selected function: selecting a frame leaves the picture as it is
	const sandwich = mode === 'sandwich' && fn !== '' && fn !== '<Total>';
	const byFile = colouring.value === 'file';
	const difference = param('cmp') !== '' && experiments.value.length > 1 && !sandwich;
	const inverted = param('inv') === '1';
	const m = mainMetric.value;
	const stacks = sandwich || (byFile && !difference);
	const wish = stacks
		? { metrics: `e.${m}:name`, sort: `e.${m}`, noCompare: true, ...(sandwich ? { extraFilter: filter.onStack(fn) } : {}) }
		: { metrics: `ei.${m}:name`, sort: `i.${m}` };
	const command: [string, ...string[]] = stacks ? ['stacks', String(STACKS)] : ['calltree', ...(inverted ? ['-inverted'] : []), '-percent', PERCENT];
	const asked = request(state.value, wish, command);
	// Differences are computed here from the values of each experiment.
	const req = { ...asked, settings: asked.settings.map((s): typeof s => (s[0] === 'compare' ? ['compare', 'on'] : s)) };
	const query = useQuery(catalogue.value ? req : null).value;
	const result = query.answer?.results[0];
	const canvases = useRef<Pane[]>([]);
	usePublish(req, () => {
		const panes = canvases.current;
		const width = panes[0]?.canvas?.clientWidth ?? 1000;
		const heights = panes.map((p) => p.height());
		const pen = new SvgPen(width, heights.reduce((a, b) => a + b, 0));
		let y = 0;
		panes.forEach((p, i) => {
			p.paint(shifted(pen, y, heights[i]!));
			y += heights[i]!;
		});
		return { svg: pen.finish(), canvas: panes[0]?.canvas ?? null };
	});
	const tools = <>
		<Choice label="Picture" value={mode} options={[['flame', 'flame graph'], ['icicle', 'icicle'], ['sandwich', 'one function']]} onChange={(v) => patch({ mode: v === 'flame' ? undefined : v, of: v === 'sandwich' ? fn || param('fn') : undefined })} />
		{!sandwich && !stacks && <Toggle label="Inverted" on={inverted} title="From the leaves up" onChange={(on) => patch({ inv: on ? '1' : undefined })} />}
		{!difference && <Choice label="Colour by" value={colouring.value ?? 'object'} options={[['object', 'load object'], ['kind', 'kind'], ['file', 'source file'], ['function', 'function'], ['none', 'none']]} onChange={(v) => (colouring.value = v)} />}
		<span class="hint">{mainTitle.value}{sandwich ? ` of ${fn}` : ''}{difference ? ': blue less, red more than the first experiment' : ''}</span>
	</>;
	const trees = useMemo(() => {
		if (!result) return null;
		if (sandwich) return [stacksTree(result, 'callers', fn), stacksTree(result, 'callees', fn)];
		if (stacks) return [stacksTree(result, 'all', '')];
		const { key, base } = metricKeys(result);
		return [treeFromRows(result.rows, key, difference ? base : undefined)];
	}, [result, sandwich, stacks, fn, difference]);
	if (mode === 'sandwich' && !sandwich) return <section class="view"><div class="tools">{tools}</div><div class="empty">Select a function first, in Functions for example.</div></section>;
	canvases.current = [];
	return <Frame query={query} command={stacks ? 'stacks' : 'calltree'} tools={tools} count={() => (trees?.some((t) => t.total > 0) ? 1 : 0)}
		empty={`Nothing that the filters let through has ${mainTitle.value}: choose another metric to sort by.`}
		show={() => trees && (sandwich
			? <div class="sandwich"><h3>Callers</h3><Picture tree={trees[0]!} up hideRoot panes={canvases.current} /><h3>Callees</h3><Picture tree={trees[1]!} up={false} hideRoot panes={canvases.current} /></div>
			: <Picture tree={trees[0]!} up={mode === 'flame' && !inverted} panes={canvases.current} />)} />;
}

interface Pane { canvas: HTMLCanvasElement | null; paint(pen: Pen): void; height(): number }

function shifted(pen: Pen, dy: number, height: number): Pen {
	return {
		width: pen.width, height,
		rect: (x, y, w, h, f) => pen.rect(x, y + dy, w, h, f),
		text: (x, y, t, f, m) => pen.text(x, y + dy, t, f, m),
		line: (x0, y0, x1, y1, s, w) => pen.line(x0, y0 + dy, x1, y1 + dy, s, w),
		frame: (x, y, w, h, s, lw) => pen.frame(x, y + dy, w, h, s, lw),
		measure: (t) => pen.measure(t),
	};
}

function fillFor(tree: Tree): (i: number) => string {
	const isDark = dark.value;
	const cache = new Map<string, string>();
	const named = (name: string): string => {
		let c = cache.get(name);
		if (!c) cache.set(name, (c = nameColour(name, isDark)));
		return c;
	};
	if (tree.other) {
		const base = tree.other[0] || 1;
		return (i) => differenceColour(Math.max(-1, Math.min(1, ((tree.value[i]! - tree.other![i]!) / Math.max(base, tree.total)) * 8)), isDark);
	}
	const programs = new Set(catalogue.value?.processes.map((p) => String(p.executable ?? '')) ?? []);
	const first = catalogue.value?.objects[0]?.path;
	if (typeof first === 'string') programs.add(first);
	switch (colouring.value) {
	case 'kind': return (i) => kindFill[kindOf(tree.object[i], programs)][isDark ? 1 : 0];
	case 'function': return (i) => (!tree.object[i] ? grey(isDark) : named(tree.name[i]!));
	case 'file': return (i) => (tree.file[i] ? named(baseName(tree.file[i]!)) : grey(isDark));
	case 'none': return () => (isDark ? 'oklch(0.42 0.06 60)' : 'oklch(0.86 0.09 75)');
	default: return (i) => (tree.object[i] ? named(baseName(tree.object[i]!)) : grey(isDark));
	}
}

function Legend({ tree }: { tree: Tree }): JSX.Element | null {
	if (tree.other) return null;
	const isDark = dark.value;
	const own = new Map<string, number>();
	const add = (key: string, i: number): void => {
		let self = tree.value[i]!;
		for (const c of tree.children[i]!) self -= tree.value[c]!;
		own.set(key, (own.get(key) ?? 0) + Math.max(0, self));
	};
	const programs = new Set([String(catalogue.value?.objects[0]?.path ?? '')]);
	for (let i = 1; i < tree.name.length; i++) {
		if (colouring.value === 'kind') add(kindOf(tree.object[i], programs), i);
		else if (colouring.value === 'file') add(tree.file[i] ? baseName(tree.file[i]!) : '(no file)', i);
		else if (colouring.value === 'object') add(tree.object[i] ? baseName(tree.object[i]!) : '(no code)', i);
	}
	const list = [...own].sort((a, b) => b[1] - a[1]).slice(0, 8);
	if (!list.length) return null;
	const swatch = (key: string): string => (colouring.value === 'kind' ? kindFill[key as Kind][isDark ? 1 : 0] : key.startsWith('(') ? grey(isDark) : nameColour(key, isDark));
	return <div class="legend">{list.map(([key, v]) => <span><i class="swatch" style={{ background: swatch(key) }} />{colouring.value === 'kind' ? kindText[key as Kind] : key} <small>{percent(v, tree.total) || '0%'}</small></span>)}</div>;
}

function Picture({ tree, up, hideRoot, panes }: { tree: Tree; up: boolean; hideRoot?: boolean; panes: Pane[] }): JSX.Element {
	const layout = useMemo(() => layoutTree(tree), [tree]);
	const rows = hideRoot ? layout.rows.slice(1) : layout.rows;
	const [zoom, setZoom] = useState(0); // node
	const [focus, setFocus] = useState(-1);
	const [hover, setHover] = useState<{ node: number; x: number; y: number } | null>(null);
	const canvas = useRef<HTMLCanvasElement | null>(null);
	const scroll = useRef<HTMLDivElement>(null);
	const rh = rowHeight.value;
	const skip = hideRoot ? 1 : 0;
	const height = Math.max(rows.length * rh, rh) + 2;
	useEffect(() => { setZoom(0); setFocus(-1); setHover(null); }, [tree]);
	useEffect(() => {
		if (up && scroll.current) scroll.current.scrollTop = scroll.current.scrollHeight;
	}, [tree, up]);
	const fits = useMemo(() => matcher(param('q')), [param('q')]);
	const hits = useMemo(() => (fits ? matched(tree, (name) => fits(name)) : null), [tree, fits]);
	const from = layout.x0[zoom] ?? 0;
	const to = layout.x1[zoom] ?? 1;
	const depthY = (d: number): number => (up ? height - 1 - (d - skip + 1) * rh : (d - skip) * rh + 1);
	const fill = useMemo(() => fillFor(tree), [tree, dark.value, colouring.value, catalogue.value]);
	const paint = (pen: Pen): void => paintFlame(pen, { tree, layout, from, to, zoom, focus, hits: hits?.nodes ?? null, fill, rh, depthY, skip });
	panes.push({ canvas: canvas.current, paint, height: () => height });

	const nodeAt = (event: MouseEvent): number => {
		const rect = canvas.current!.getBoundingClientRect();
		const y = event.clientY - rect.top;
		const d = up ? Math.floor((height - 1 - y) / rh) + skip : Math.floor((y - 1) / rh) + skip;
		const row = layout.rows[d];
		if (!row) return -1;
		const x = from + ((event.clientX - rect.left) / rect.width) * (to - from);
		const k = findAt(row.x0, x);
		return k >= 0 && row.x1[k]! >= x ? row.node[k]! : -1;
	};
	const choose = (i: number): void => {
		setFocus(i);
		if (i >= 0 && tree.name[i] !== '<Total>') selectFunction(tree.name[i]!, tree.object[i] ?? null);
		if (i >= 0 && scroll.current) {
			const y = depthY(tree.depth[i]!);
			const box = scroll.current;
			if (y < box.scrollTop) box.scrollTop = y;
			else if (y + rh > box.scrollTop + box.clientHeight) box.scrollTop = y + rh - box.clientHeight;
		}
	};
	const path = (i: number): string[] => {
		const names = [];
		for (let p = i; p > 0; p = tree.parent[p]!) names.push(tree.name[p]!);
		return names.reverse();
	};
	const siblings = (i: number, by: number): number => {
		const row = layout.rows[tree.depth[i]!];
		const k = row ? row.node.indexOf(i) + by : -1;
		return row && k >= 0 && k < row.node.length ? row.node[k]! : i;
	};
	const walk = (event: KeyboardEvent): void => {
		const i = focus < 0 ? zoom : focus;
		const deeper = tree.children[i]?.find((c) => tree.value[c]! > 0) ?? i;
		const less = tree.parent[i]! >= 0 ? tree.parent[i]! : i;
		const actions: Record<string, () => void> = {
			ArrowUp: () => choose(up ? deeper : less), ArrowDown: () => choose(up ? less : deeper),
			ArrowLeft: () => choose(siblings(i, -1)), ArrowRight: () => choose(siblings(i, 1)),
			Enter: () => setZoom(i), Escape: () => setZoom(0), '0': () => setZoom(0), Backspace: () => setZoom(Math.max(0, tree.parent[zoom]!)),
		};
		const action = event.ctrlKey || event.metaKey ? undefined : actions[event.key];
		if (!action) return;
		event.preventDefault();
		action();
	};
	const hitList = useMemo(() => (hits ? [...hits.nodes.keys()].filter((i) => hits.nodes[i]) : []), [hits]);
	const step = (by: number): void => {
		if (!hitList.length) return;
		const now = hitList.indexOf(focus);
		choose(hitList[(now + by + hitList.length) % hitList.length]!);
	};
	useKeys([
		{ key: 'n', help: 'next that fits Find', group: 'Find', run: () => step(1) },
		{ key: 'N', help: 'previous that fits Find', group: 'Find', run: () => step(-1) },
		{ key: 'z', help: 'zoom to the selected frame (also Enter, click)', group: 'Flame graph', run: () => focus >= 0 && setZoom(focus) },
		{ key: '0', help: 'the whole picture (also Escape)', group: 'Flame graph', run: () => setZoom(0) },
		{ key: 'i', help: 'inverted', group: 'Flame graph', run: () => patch({ inv: param('inv') ? undefined : '1' }) },
		...['f', 'd', 's', 'c'].map((key) => ({ key, help: '', run: (): void => { if (focus > 0) functionMenu(tree.name[focus]!, tree.object[focus] ?? null).find((m) => m?.hint === key)?.run?.(); } })),
	]);
	const told = hover && hover.node >= 0 ? hover.node : focus;
	return (
		<div class={`picture ${up ? 'up' : ''}`}>
			<div class="scroll" ref={scroll}>
				<Canvas canvasRef={canvas} height={height} label={`Flame graph of ${mainTitle.value}; the call tree is the same as a table`} paint={paint}
					redraw={[tree, zoom, focus, hits, fill, rh, up]} onKeyDown={walk}
					onPointerDown={(e) => { if (e.button === 0) { const i = nodeAt(e); if (i >= 0) { choose(i); setZoom(i); } } }}
					onPointerMove={(e) => { const i = nodeAt(e); setHover(i < 0 ? null : { node: i, x: e.clientX, y: e.clientY }); }}
					onPointerLeave={() => setHover(null)}
					onDblClick={(e) => { const i = nodeAt(e); if (i > 0) patch({ fn: functionRef(tree.name[i]!, tree.object[i] ?? null), file: undefined, line: undefined }, { view: 'source' }); }}
					onContextMenu={(e) => { const i = nodeAt(e); if (i >= 0) { choose(i); openMenu(functionMenu(tree.name[i]!, tree.object[i] ?? null, path(i)), e.clientX, e.clientY); } }} />
			</div>
			{hover && <Tip tree={tree} node={hover.node} x={hover.x} y={hover.y} />}
			<div class="foot"><Legend tree={tree} />
				<span aria-live="polite">{told >= 0 ? describe(tree, told) : ''}</span>
				{hits && <span class="hint">Find: {percent(hits.value, tree.total) || 'nothing fits'} of {formatAlone(tree.total, mainUnit.value)}{hitList.length ? `, ${hitList.length} frames; n: next` : ''}</span>}
				{zoom > 0 && <button class="flat" onClick={() => setZoom(0)}>whole picture</button>}
			</div>
		</div>
	);
}

const describe = (tree: Tree, i: number): string => {
	const base = tree.other ? `; first: ${formatAlone(tree.other[i]!, mainUnit.value)}` : '';
	return `${tree.name[i]}: ${formatAlone(tree.value[i]!, mainUnit.value)} (${percent(tree.value[i]!, tree.total) || '0%'})${base}`;
};

function Tip({ tree, node, x, y }: { tree: Tree; node: number; x: number; y: number }): JSX.Element {
	let own = tree.value[node]!;
	for (const c of tree.children[node]!) own -= tree.value[c]!;
	const unit = mainUnit.value;
	return (
		<div class="tip" style={{ left: `${Math.min(x + 14, innerWidth - 380)}px`, top: `${Math.min(y + 16, innerHeight - 110)}px` }} role="tooltip">
			<b>{tree.name[node]}</b>
			<div>{formatAlone(tree.value[node]!, unit)} · {percent(tree.value[node]!, tree.total) || '0%'} of what is shown</div>
			{own > tree.total * 1e-6 && own < tree.value[node]! * 0.9999 && <div>itself {formatAlone(own, unit)}</div>}
			{tree.other && <div>first experiment {formatAlone(tree.other[node]!, unit)}; difference {exact(tree.value[node]! - tree.other[node]!, unit)}</div>}
			{tree.object[node] && <div class="dim">{tree.object[node]}</div>}
			{tree.file[node] && <div class="dim">{tree.file[node]}</div>}
		</div>
	);
}

interface Scene {
	tree: Tree; layout: Layout; from: number; to: number; zoom: number; focus: number; hits: Uint8Array | null;
	fill(i: number): string; rh: number; depthY(d: number): number; skip: number;
}

// Rectangles of less than half a pixel are drawn together, as one grey block where they lie side by side.
function paintFlame(pen: Pen, s: Scene): void {
	const { tree, layout, from, to, rh } = s;
	const scale = pen.width / (to - from || 1);
	const text = ink();
	const faint = grey(dark.value);
	const measure = (name: string): number => pen.measure(name);
	const above = new Set<number>();
	for (let p = tree.parent[s.zoom] ?? -1; p >= 0; p = tree.parent[p]!) above.add(p);
	pen.rect(0, 0, pen.width, pen.height, paper());
	layout.rows.forEach((row, d) => {
		if (d < s.skip) return;
		const y = s.depthY(d);
		let k = Math.max(0, findAt(row.x0, from));
		let gap = -1;
		let gapEnd = -1;
		const flush = (): void => {
			if (gap >= 0 && gapEnd - gap > 0.5) pen.rect(gap, y, gapEnd - gap, rh - 1, faint);
			gap = -1;
		};
		for (; k < row.node.length && row.x0[k]! < to; k++) {
			const x0 = Math.max(0, (row.x0[k]! - from) * scale);
			const x1 = Math.min(pen.width, (row.x1[k]! - from) * scale);
			const w = x1 - x0;
			if (w <= 0) continue;
			if (w < 1) {
				if (gap >= 0 && x0 - gapEnd < 1) gapEnd = x1;
				else { flush(); gap = x0; gapEnd = x1; }
				continue;
			}
			flush();
			const i = row.node[k]!;
			const out = s.hits && !s.hits[i];
			pen.rect(x0, y, Math.max(0.5, w - (w > 3 ? 1 : 0.3)), rh - 1, above.has(i) || out ? faint : s.fill(i));
			if (s.hits?.[i]) pen.rect(x0, y + rh - 3, w - 1, 2, accent());
			if (w > 22) pen.text(x0 + 3, y + rh / 2, fitName(tree.name[i]!, w - 6, measure), out ? dim() : text, w - 6);
			if (i === s.focus) pen.frame(x0 + 0.75, y + 0.75, Math.max(1, w - 2), rh - 2.5, accent(), 1.5);
		}
		flush();
	});
}
