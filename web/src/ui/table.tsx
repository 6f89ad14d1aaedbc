// SPDX-License-Identifier: Apache-2.0
// A table that draws only the rows in sight: rows of one height, numbers at the left, the name at the right
// edge, where it stays while many metrics are scrolled. With `tree` its rows are those of a tree.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { baseName, exact, formatValue, percent, scaleFor, shortTitle, type Scale } from '../format';
import { cells, rowHeight } from '../store';
import type { Metric, Result, Row } from '../types';
import { isSortedBy, num } from '../types';

export interface Column {
	key: string;
	title: string;
	full: string;
	unit: string;
	scale: Scale;
	max: number; // of the rows, for the bar
	total: number; // what 100 % is; 0: no percentages
	tone: 'e' | 'i';
	form: 'value' | 'difference' | 'ratio';
	absent?: boolean; // not recorded by its experiment
	width: number; // in characters
	text?: (row: Row) => string; // no number
}

const EXTRA = 8;

export function metricColumns(result: Result, rows: Row[] = result.rows): Column[] {
	const list: Column[] = [];
	const total = rows[0]?.name === '<Total>' ? rows[0] : (result.total as Row | undefined);
	for (const metric of result.metrics) {
		if (metric.unit === 'text') continue;
		list.push(metricColumn(metric, rows, total));
	}
	return list;
}

export function metricColumn(metric: Metric, rows: Row[], total?: Row): Column {
	const key = metric.name;
	let max = 0;
	for (const row of rows) {
		const value = Math.abs(num(row, key));
		if (value > max) max = value;
	}
	const form = metric.form ?? 'value';
	const unit = form === 'ratio' ? 'x' : metric.unit;
	const scale = form === 'ratio' ? { unit: '×', factor: 1, decimals: 3 } : scaleFor(unit, max);
	const whole = form === 'value' && metric.unit !== 'ratio' ? num(total, key) : 0;
	const widest = Math.max(formatValue(max, scale).length, scale.decimals ? scale.decimals + 3 : 0) + (form === 'difference' ? 1 : 0);
	const whose = metric.experiment ? ` ${baseName(metric.experiment).replace(/\.er$/, '')}` : '';
	const title = (form === 'difference' ? 'Δ ' : '') + shortTitle(metric.title) + whose;
	return {
		key, title, full: metric.title + (metric.experiment ? ` — ${metric.experiment}` : ''), unit: metric.unit, scale,
		max, total: whole, form, absent: metric.recorded === false, tone: /^i\./.test(key) ? 'i' : 'e',
		width: Math.max(widest + 2, Math.min(13, Math.max(...title.split(' ').map((w) => w.length)) + 1), Math.ceil((title.length + scale.unit.length) / 3) + 2),
	};
}

const shows = (): { value: boolean; share: boolean } =>
	({ value: cells.value !== 'percent', share: cells.value !== 'value' });

// How many lines a title takes where so many letters fit.
function linesOf(title: string, letters: number): number {
	let lines = 1;
	let used = 0;
	for (const word of title.split(' ')) {
		if (used && used + 1 + word.length > letters) {
			lines++;
			used = word.length;
		} else used += (used ? 1 : 0) + word.length;
	}
	return Math.min(4, lines);
}

function Cell({ column, row }: { column: Column; row: Row }): JSX.Element {
	if (column.text) return <div role="gridcell" class="c txt" title={column.text(row)}>{column.text(row)}</div>;
	const raw = row[column.key];
	if (column.absent) return <div role="gridcell" class="c n" title="not recorded by this experiment">n/a</div>;
	if (typeof raw !== 'number') return <div role="gridcell" class="c" />;
	const { value, share } = shows();
	const part = column.total ? percent(raw, column.total) : '';
	const text = formatValue(raw, column.scale, column.form === 'difference');
	const width = column.form === 'value' && column.max ? Math.max(0, (100 * raw) / (column.total || column.max)) : 0;
	const sign = column.form === 'difference' && raw !== 0 ? (raw > 0 ? ' more' : ' less') : '';
	const tip = raw === 0 ? '' : `${exact(raw, column.unit)}${part ? ` · ${part} of the total ${exact(column.total, column.unit)}` : ''}`;
	return (
		<div role="gridcell" class={`c n ${sign}`} title={tip}>
			{width > 0.3 && <span class={`bar ${column.tone}`} style={{ width: `${Math.min(100, width)}%` }} />}
			{(value || !column.total) && <span class="v">{text}</span>}
			{share && column.total > 0 && <span class="p">{part}</span>}
		</div>
	);
}

export interface TreeInfo {
	depth(i: number): number;
	children(i: number): boolean;
	open(i: number): boolean;
	toggle(i: number, open: boolean): void;
	parent(i: number): number;
}

export interface TableProps {
	label: string;
	rows: Row[];
	columns: Column[];
	nameTitle?: string;
	name?(row: Row, i: number): ComponentChildren;
	tree?: TreeInfo;
	selected: number;
	onSelect(i: number): void;
	onOpen?(i: number): void;
	onMenu?(i: number, x: number, y: number): void;
	sort?: string | undefined;
	onSort?(key: string): void;
	rowClass?(row: Row, i: number): string;
	marks?: { at: number; colour: string }[]; // places in the scroll bar, 0 to 1
	focus?: boolean;
	code?: boolean;
	numbers?: boolean;
}

export function Table(props: TableProps): JSX.Element {
	const { rows, columns, tree, selected } = props;
	const box = useRef<HTMLDivElement>(null);
	const [top, setTop] = useState(0);
	const [size, setSize] = useState({ height: 600, width: 800 });
	const rh = rowHeight.value;

	const ch = rh / 1.5 * 0.6;
	const { share } = shows();
	const widths = columns.map((c) => Math.round((c.width + (share && c.total ? (cells.value === 'both' ? 6 : 0) : 0)) * ch + 14));
	const sum = widths.reduce((a, b) => a + b, 0);
	let longest = 12;
	for (let i = 0; i < Math.min(rows.length, 300); i++) longest = Math.max(longest, (rows[i]!.name ?? '').length + (rows[i]!.object ? 14 : 0) + (tree ? Math.min(20, tree.depth(i)) : 0));
	const least = props.code ? 560 : props.name && !rows[0]?.name ? 340 : Math.min(340, longest * ch * 1.1 + 24);
	const nameWidth = Math.max(size.width - sum, Math.min(least, size.width * 0.5));
	const lineHeight = Math.round(rh * 0.8);
	const head = 6 + lineHeight * Math.max(2, ...columns.map((c, i) => linesOf(`${c.title} ${c.scale.unit}${isSortedBy(props.sort, c.key) ? ' ▼' : ''}`, (widths[i]! - 13) / (ch * 1.02))));
	const template = `${widths.map((w) => `${w}px`).join(' ')} ${nameWidth}px`;
	useLayoutEffect(() => {
		const element = box.current;
		if (!element) return;
		const observer = new ResizeObserver(() => setSize({ height: element.clientHeight, width: element.clientWidth }));
		observer.observe(element);
		return () => observer.disconnect();
	}, []);
	useEffect(() => {
		const element = box.current;
		if (!element || selected < 0) return;
		const y = selected * rh;
		if (y < element.scrollTop) element.scrollTop = y;
		else if (y + rh > element.scrollTop + element.clientHeight - head) element.scrollTop = y + rh - element.clientHeight + head;
	}, [selected, rows.length, rh]);
	useEffect(() => {
		if (props.focus) box.current?.focus({ preventScroll: true });
	}, []);

	const first = Math.max(0, Math.floor(top / rh) - EXTRA);
	const end = Math.min(rows.length, Math.ceil((top + size.height) / rh) + EXTRA);

	// Deep down, what all rows in sight have in common is not indented, and steps get smaller.
	let base = Infinity;
	let deepest = 0;
	if (tree) for (let i = Math.max(0, Math.floor(top / rh)); i < Math.min(rows.length, Math.ceil((top + size.height) / rh)); i++) {
		base = Math.min(base, tree.depth(i));
		deepest = Math.max(deepest, tree.depth(i));
	}
	base = Math.max(0, base - 1);
	const step = Math.max(3, Math.min(10, (nameWidth * 0.45) / Math.max(1, deepest - base)));

	const move = (i: number): void => {
		if (rows.length) props.onSelect(Math.max(0, Math.min(rows.length - 1, i)));
	};
	const key = (event: KeyboardEvent): void => {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const page = Math.max(1, Math.floor((size.height - head) / rh) - 1);
		const actions: Record<string, () => void> = {
			ArrowDown: () => move(selected + 1),
			ArrowUp: () => move(selected - 1),
			PageDown: () => move(selected + page),
			PageUp: () => move(selected - page),
			Home: () => move(0),
			End: () => move(rows.length - 1),
			Enter: () => selected >= 0 && props.onOpen?.(selected),
			ContextMenu: () => menuAt(selected),
			F10: () => event.shiftKey && menuAt(selected),
		};
		if (tree && selected >= 0) {
			actions.ArrowRight = () => (tree.children(selected) && !tree.open(selected) ? tree.toggle(selected, true) : move(selected + 1));
			actions.ArrowLeft = () => (tree.children(selected) && tree.open(selected) ? tree.toggle(selected, false) : move(tree.parent(selected)));
		}
		const action = actions[event.key];
		if (!action) return;
		event.preventDefault();
		action();
	};
	const menuAt = (i: number): void => {
		const element = box.current;
		if (!element || i < 0 || !props.onMenu) return;
		const rect = element.getBoundingClientRect();
		props.onMenu(i, rect.left + Math.min(sum + 40, size.width - 200), rect.top + head + (i + 1) * rh - element.scrollTop);
	};
	const sorted = (k: string): boolean => isSortedBy(props.sort, k);
	const order = (k: string): 'ascending' | 'descending' | 'none' =>
		sorted(k) ? (props.sort!.startsWith('-') ? 'ascending' : 'descending') : 'none';

	const header = (
		<div class="thead" role="row" style={{ gridTemplateColumns: template, height: `${head}px` }}>
			{columns.map((c) => (
				<div role="columnheader" class={`h n ${sorted(c.key) ? 'on' : ''}`} aria-sort={order(c.key)} title={c.full}>
					{props.onSort && !c.text
						? <button tabIndex={-1} onClick={() => props.onSort!(c.key)}>{c.title}{c.scale.unit && <small> {c.scale.unit}</small>}{sorted(c.key) ? (props.sort!.startsWith('-') ? ' ▲' : ' ▼') : ''}</button>
						: <span>{c.title}{c.scale.unit && <small> {c.scale.unit}</small>}</span>}
				</div>
			))}
			<div role="columnheader" class="h name" aria-sort={sorted('name') ? order('name') : 'none'}>
				{props.onSort
					? <button tabIndex={-1} onClick={() => props.onSort!('name')}>{props.nameTitle ?? 'Name'}{sorted('name') ? ' ▼' : ''}</button>
					: <span>{props.nameTitle ?? 'Name'}</span>}
			</div>
		</div>
	);
	const visible: JSX.Element[] = [];
	for (let i = first; i < end; i++) {
		const row = rows[i]!;
		const open = tree?.children(i) ? tree.open(i) : undefined;
		const attributes: Record<string, unknown> = tree ? { 'aria-level': tree.depth(i) + 1, 'aria-expanded': open } : {};
		visible.push(
			<div key={i} id={`row${i}`} role="row" aria-rowindex={i + 2} aria-selected={i === selected} {...attributes}
				class={`tr ${i === selected ? 'sel' : ''} ${i % 2 ? 'odd' : ''} ${props.rowClass?.(row, i) ?? ''}`}
				style={{ top: `${i * rh}px`, gridTemplateColumns: template }}
				onMouseDown={(e) => e.button === 0 && props.onSelect(i)}
				onDblClick={() => props.onOpen?.(i)}
				onContextMenu={(e) => {
					if (!props.onMenu) return;
					e.preventDefault();
					props.onSelect(i);
					props.onMenu(i, e.clientX, e.clientY);
				}}>
				{columns.map((c) => <Cell column={c} row={row} />)}
				<div role="gridcell" class="c name" title={row.name ?? ''}>
					{tree && <span class="ind" style={{ width: `${Math.max(0, Math.min(tree.depth(i) - base, 200)) * step}px` }} />}
					{tree && <span class={`tw ${open === undefined ? 'none' : open ? 'open' : ''}`} onMouseDown={(e) => {
						e.stopPropagation();
						if (open !== undefined) tree.toggle(i, !open);
					}} />}
					{props.name ? props.name(row, i) : row.name}
				</div>
			</div>,
		);
	}
	return (
		<div class="tablebox">
			<div ref={box} class={`table ${props.code ? 'code' : ''}`} role={tree ? 'treegrid' : 'grid'} tabIndex={0} aria-label={props.label}
				aria-rowcount={rows.length + 1} aria-activedescendant={selected >= first && selected < end ? `row${selected}` : undefined}
				onScroll={(e) => setTop(e.currentTarget.scrollTop)} onKeyDown={key}>
				{header}
				<div class="tbody" role="rowgroup" style={{ height: `${rows.length * rh}px`, width: `${sum + nameWidth}px` }}>{visible}</div>
			</div>
			{props.marks && props.marks.length > 0 && <Marks marks={props.marks} head={head} jump={(at) => {
				if (box.current) box.current.scrollTop = at * rows.length * rh - size.height / 2;
			}} />}
		</div>
	);
}

function Marks({ marks, head, jump }: { marks: { at: number; colour: string }[]; head: number; jump(at: number): void }): JSX.Element {
	return (
		<div class="marks" style={{ top: `${head}px` }} aria-hidden="true" onMouseDown={(e) => {
			const rect = e.currentTarget.getBoundingClientRect();
			jump((e.clientY - rect.top) / rect.height);
		}}>
			{marks.map((m) => <i style={{ top: `${m.at * 100}%`, background: m.colour }} />)}
		</div>
	);
}
