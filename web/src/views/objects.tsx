// SPDX-License-Identifier: Apache-2.0
// Index objects and memory objects: threads, processes, processors, seconds, pages ... as a table with bars
// above it, and how evenly the work is spread where that makes sense.

import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import * as filter from '../filter';
import { formatAlone, formatValue, largest, scaleFor, ticks } from '../format';
import { catalogue, dark, param, patch } from '../store';
import type { Result, Row } from '../types';
import { isSortedBy, num } from '../types';
import { expressionMenu, setTimeFilter, threadMenu } from '../ui/actions';
import { accent, Canvas, dim, ink, paper, rule, type Pen } from '../ui/canvas';
import { openDialog, closeDialog, type Menu } from '../ui/menu';
import { List } from './list';

const expressionOf = (name: string): string => {
	const all = [...(catalogue.value?.indexObjects ?? []), ...(catalogue.value?.memoryObjects ?? [])];
	const known = all.find((r) => String(r.name).toLowerCase() === name.toLowerCase())?.expression;
	const own = param('idx').split('\n').find((line) => line.startsWith(`${name} `));
	return typeof known === 'string' ? known : own ? own.slice(name.length + 1) : '';
};

function menuFor(name: string, row: Row): Menu {
	if (typeof row.value !== 'number' || (name === 'JClasses' && row.name === '<Unknown>')) return [];
	if (name === 'Threads') return threadMenu(Math.floor(row.value / 2 ** 32), row.value % 2 ** 32);
	if (name === 'Seconds') return [{ text: 'Only this second', run: () => setTimeFilter(row.value as number, (row.value as number) + 1) }, ...expressionMenu(filter.indexValue(expressionOf(name), row.value), 'this second').slice(1)];
	if (name === 'JClasses') return expressionMenu(filter.javaClass(row.name ?? ''), `“${row.name}”`, filter.without('JHCLASS', filter.javaClass(row.name ?? '')));
	const expression = name === 'CPUs' ? `CPUID == ${row.value}` : filter.indexValue(expressionOf(name), row.value);
	return expressionMenu(expression, `“${row.name}”`);
}

export function IndexObject({ name, title, memory }: { name: string; title: string; memory?: boolean }): JSX.Element {
	const command: [string, ...string[]] = memory ? ['memobj', name] : ['indxobj', name];
	return <List command={command} availability={memory ? 'memobj' : 'indxobj'} label={title} nameTitle={title} sortable
		menu={(row) => menuFor(name, row)}
		above={(result, rows) => <Chart result={result} rows={rows.some((r) => !r.name?.startsWith('<')) ? rows.filter((r) => !r.name?.startsWith('<')) : rows} title={title} balance={name === 'Threads' || name === 'Processes'} ordered={name === 'Seconds' || name === 'Samples'} />} />;
}

// The metric that the table is sorted by, or the first.
function charted(result: Result): { key: string; title: string; unit: string } | null {
	const metric = result.metrics.find((m) => isSortedBy(result.sort, m.name) && m.unit !== 'text') ?? result.metrics.find((m) => m.unit !== 'text');
	return metric ? { key: metric.name, title: metric.title, unit: metric.unit } : null;
}

function Chart({ result, rows, title, balance, ordered }: { result: Result; rows: Row[]; title: string; balance: boolean; ordered: boolean }): JSX.Element | null {
	const metric = charted(result);
	const canvas = useRef<HTMLCanvasElement | null>(null);
	if (!metric || rows.length < 2) return null;
	const values = rows.map((r) => num(r, metric.key));
	const max = largest(values);
	if (!(max > 0)) return null;
	const mean = values.reduce((a, b) => a + b, 0) / values.length;
	const busiest = max / (mean || 1);
	return (
		<div class="chartbox">
			<div class="charttext"><b>{metric.title}</b>
				{balance && <span> · mean {formatAlone(mean, metric.unit)}, largest {formatAlone(max, metric.unit)}: imbalance {busiest.toFixed(2)}× {busiest > 1.5 ? '(the work is spread unevenly)' : ''}</span>}
				{!balance && <span> · {rows.length} rows, largest {formatAlone(max, metric.unit)}</span>}
			</div>
			<Canvas canvasRef={canvas} height={110} label={`${metric.title} by ${title}; the table below has the numbers`} redraw={[result, rows, dark.value]}
				paint={(pen) => paintBars(pen, values, rows, metric.unit, balance ? mean : 0, ordered)} />
		</div>
	);
}

export function paintBars(pen: Pen, values: number[], rows: Row[], unit: string, mean: number, ordered: boolean): void {
	const left = 56;
	const bottom = ordered && values.length > 1 ? 16 : 4;
	const max = largest(values) || 1;
	const scale = scaleFor(unit, max);
	const h = pen.height - bottom - 8;
	pen.rect(0, 0, pen.width, pen.height, paper());
	for (const t of ticks(0, max / scale.factor, 3)) {
		const y = 8 + h - (h * t * scale.factor) / max;
		pen.line(left, y + 0.5, pen.width, y + 0.5, rule());
		const label = t === 0 ? '0' : `${formatValue(t * scale.factor, { ...scale, decimals: Math.min(scale.decimals, t < 1 ? 2 : t < 10 ? 1 : 0) })} ${scale.unit}`;
		pen.text(left - 6 - pen.measure(label), Math.max(7, y), label, dim(), left);
	}
	const step = Math.min(40, (pen.width - left) / values.length);
	values.forEach((v, i) => {
		const height = Math.max(v > 0 ? 1 : 0, (h * v) / max);
		pen.rect(left + i * step + (step > 4 ? 1 : 0), 8 + h - height, Math.max(0.6, step - (step > 4 ? 2 : 0)), height, dark.value ? '#4d8fd1' : '#3b7fc4');
	});
	if (mean > 0) {
		const y = 8 + h - (h * mean) / max;
		pen.line(left, y, left + step * values.length, y, accent(), 1.5);
		pen.text(left + step * values.length + 4, y, 'mean', ink(), 60);
	}
	if (!ordered) return;
	const every = Math.max(1, Math.ceil(50 / step));
	for (let i = 0; i < values.length; i += every) {
		const label = /(\d+)$/.exec(rows[i]?.name ?? '')?.[1] ?? '';
		pen.text(left + i * step, pen.height - 7, label, dim(), step * every);
	}
}

// Memory objects and the remaining index objects share a view that has a list to choose from.
export function MemoryObjects(): JSX.Element {
	const list = catalogue.value?.memoryObjects ?? [];
	const name = param('mobj') || 'Memory_page_4K';
	const chosen = list.find((r) => r.name === name);
	return <div class="stackview"><div class="tools">
		<label class="choice"><span>Pieces of memory</span><select value={name} onChange={(e) => patch({ mobj: e.currentTarget.value })}>
			{list.map((r) => <option value={String(r.name)} selected={r.name === name}>{String(r.title ?? r.name)}</option>)}
		</select></label><span class="hint">{typeof chosen?.expression === 'string' ? chosen.expression : ''}</span></div>
		<IndexObject name={name} title={String(chosen?.title ?? name)} memory /></div>;
}

const ownViews = new Set(['Threads', 'CPUs', 'Samples', 'Seconds', 'Processes', 'Experiment_IDs']);
export function OtherObjects(): JSX.Element {
	const defined = param('idx').split('\n').filter(Boolean).map((line) => ({ name: line.split(' ')[0]!, title: line.split(' ')[0]! } as Row));
	const list = [...(catalogue.value?.indexObjects ?? []).filter((r) => !ownViews.has(String(r.name))), ...defined];
	const usual = ['Duration', 'Datasize'].find((n) => list.some((r) => r.name === n));
	const name = param('iobj') || (usual ?? String(list[0]?.name ?? 'Datasize'));
	const chosen = list.find((r) => r.name === name);
	return <div class="stackview"><div class="tools">
		<label class="choice"><span>By</span><select value={name} onChange={(e) => patch({ iobj: e.currentTarget.value, sort: undefined })}>
			{list.map((r) => <option value={String(r.name)} selected={r.name === name}>{String(r.title ?? r.name)}</option>)}
		</select></label>
		<button onClick={() => openDialog('Define an index object', () => <Define />)}>Define …</button></div>
		<IndexObject name={name} title={String(chosen?.title ?? name)} /></div>;
}

function Define(): JSX.Element {
	const name = useRef<HTMLInputElement>(null);
	const expression = useRef<HTMLInputElement>(null);
	const use = (): void => {
		const n = name.current!.value.trim();
		const e = expression.current!.value.trim();
		if (!/^[A-Za-z_]\w*$/.test(n) || !e) return;
		patch({ idx: [...param('idx').split('\n').filter((l) => l && !l.startsWith(`${n} `)), `${n} ${e}`].join('\n'), iobj: n }, { view: 'objects' });
		closeDialog();
	};
	return <form class="form" onSubmit={(e) => { e.preventDefault(); use(); }}>
		<label>Name <input ref={name} placeholder="Milliseconds" required /></label>
		<label>Expression <input ref={expression} placeholder="TSTAMP / 1000000" size={50} required /></label>
		<button class="main" type="submit">Define</button></form>;
}

