// SPDX-License-Identifier: Apache-2.0
// Panes around the view: details of the selection at the right, called-by and calls below; the splitters.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { exact, formatAlone, percent, shortTitle } from '../format';
import { useQuery } from '../query';
import { functionRef, request } from '../request';
import { param, selection, show, state } from '../store';
import type { Result, Row } from '../types';
import { num } from '../types';
import { functionMenu, selectFunction } from './actions';
import { openMenu } from './menu';
import { metricColumns, Table } from './table';

export function Splitter({ vertical, size, setSize, label }: {
	vertical: boolean; size: number; setSize(n: number): void; label: string;
}): JSX.Element {
	const drag = (event: PointerEvent): void => {
		const from = vertical ? event.clientX : event.clientY;
		const target = event.currentTarget as HTMLElement;
		target.setPointerCapture(event.pointerId);
		const move = (e: PointerEvent): void => setSize(Math.max(60, size + from - (vertical ? e.clientX : e.clientY)));
		const end = (): void => {
			target.removeEventListener('pointermove', move);
			target.removeEventListener('pointerup', end);
		};
		target.addEventListener('pointermove', move);
		target.addEventListener('pointerup', end);
	};
	return <div class={`split ${vertical ? 'v' : 'h'}`} role="separator" aria-orientation={vertical ? 'vertical' : 'horizontal'} aria-label={label}
		tabIndex={0} aria-valuenow={Math.round(size)} onPointerDown={drag} onKeyDown={(e) => {
			const by = { ArrowLeft: 20, ArrowUp: 20, ArrowRight: -20, ArrowDown: -20 }[e.key];
			if (by) { e.preventDefault(); setSize(Math.max(60, size + by)); }
		}} />;
}

// All metrics of the selected function, or of the selected row.
export function Details(): JSX.Element {
	const chosen = selection.value;
	const isFunction = chosen?.kind === 'function';
	const ref = isFunction ? functionRef(chosen.name, chosen.object) : '';
	const req = isFunction ? request(state.value, { plain: true, noCompare: true }, ['fsingle', ref]) : null;
	const total = isFunction ? request(state.value, { plain: true, noCompare: true }, ['fsingle', '<Total>']) : null;
	const query = useQuery(req).value;
	const whole = useQuery(total).value.answer?.results[0]?.rows[0];
	if (!chosen) return <aside class="details" aria-label="Selection details"><p class="hint">Select a row to see its details.</p></aside>;
	const result = query.answer?.results[0];
	return (
		<aside class="details" aria-label="Selection details">
			<h2 title={chosen.name}>{chosen.title ?? chosen.name}</h2>
			{chosen.object && <p class="where">{chosen.object}</p>}
			{chosen.facts && <dl>{chosen.facts.map(([k, v]) => <><dt>{k}</dt><dd>{v}</dd></>)}</dl>}
			{isFunction && result && <FunctionFacts result={result} total={whole} />}
			{isFunction && query.error && <p class="hint">{query.error}</p>}
			{chosen.kind === 'row' && chosen.row && chosen.result && <RowFacts row={chosen.row} result={chosen.result} />}
			{chosen.stack && <Stack frames={chosen.stack} />}
		</aside>
	);
}

export function Stack({ frames }: { frames: NonNullable<typeof selection.value>['stack'] }): JSX.Element {
	return (
		<ol class="stack">
			{frames!.map((f) => (
				<li title={f.text} onDblClick={() => show('source', { fn: functionRef(f.name, f.object), file: undefined, line: undefined })}
					onContextMenu={(e) => { e.preventDefault(); openMenu(functionMenu(f.name, f.object), e.clientX, e.clientY); }}>{f.text}</li>
			))}
		</ol>
	);
}

function FunctionFacts({ result, total }: { result: Result; total: Row | undefined }): JSX.Element {
	const row = result.rows[0];
	const byName = new Map<string, { title: string; unit: string; e?: string; i?: string }>();
	for (const m of result.metrics) {
		const [flavour, ...rest] = m.name.split('.');
		if (rest.length === 0) continue;
		const entry = byName.get(rest.join('.')) ?? { title: shortTitle(m.title).replace(/^(Excl|Incl)\. /, ''), unit: m.unit };
		if (flavour === 'e') entry.e = m.name;
		else if (flavour === 'i') entry.i = m.name;
		byName.set(rest.join('.'), entry);
	}
	const cell = (key: string | undefined, unit: string): JSX.Element => {
		const v = key ? num(row, key) : 0;
		return <td title={v ? exact(v, unit) : ''}>{v ? formatAlone(v, unit) : ''}<small>{v && total ? percent(v, num(total, key!)) : ''}</small></td>;
	};
	const shown = [...byName.values()].filter((m) => (m.e && num(row, m.e)) || (m.i && num(row, m.i)));
	const facts: [string, unknown][] = [['Size', row?.size], ['Address', row?.address], ['Source file', row?.source ?? row?.source_file],
		['Object file', row?.object_file], ['Load object', row?.load_object ?? row?.object], ['Mangled name', row?.mangled ?? row?.mangled_name]];
	return (
		<>
			<table class="facts"><thead><tr><th scope="col">Metric</th><th scope="col">Excl.</th><th scope="col">Incl.</th></tr></thead>
				<tbody>{shown.map((m) => <tr><th scope="row">{m.title}</th>{cell(m.e, m.unit)}{cell(m.i, m.unit)}</tr>)}</tbody></table>
			<dl>{facts.filter(([, v]) => typeof v === 'string' || typeof v === 'number').map(([k, v]) => <><dt>{k}</dt><dd>{k === 'Size' ? `${v} bytes` : k === 'Address' && typeof v === 'number' ? `0x${v.toString(16)}` : String(v)}</dd></>)}</dl>
		</>
	);
}

function RowFacts({ row, result }: { row: Row; result: Result }): JSX.Element {
	const total = result.rows[0]?.name === '<Total>' ? result.rows[0] : undefined;
	return (
		<table class="facts"><tbody>
			{result.metrics.filter((m) => m.unit !== 'text' && typeof row[m.name] === 'number').map((m) => {
				const v = num(row, m.name);
				return <tr><th scope="row">{shortTitle(m.title)}</th><td title={exact(v, m.unit)}>{v ? formatAlone(v, m.unit) : ''}<small>{total && m.form !== 'difference' ? percent(v, num(total, m.name)) : ''}</small></td></tr>;
			})}
		</tbody></table>
	);
}

// Who calls the selected function, and what it calls.
export function Calls(): JSX.Element {
	const chosen = selection.value;
	const ref = chosen?.kind === 'function' ? functionRef(chosen.name, chosen.object) : '';
	const req = ref ? request(state.value, {}, ['csingle', ref]) : null;
	const query = useQuery(req).value;
	const result = query.answer?.results[0];
	const part = (role: string): Row[] => result?.rows.filter((r) => r.role === role) ?? [];
	return (
		<div class="calls">
			<CallList label="Called by" result={result} rows={part('caller')} error={query.error} />
			<CallList label="Calls" result={result} rows={part('callee')} error="" />
		</div>
	);
}

function CallList({ label, result, rows, error }: { label: string; result: Result | null | undefined; rows: Row[]; error: string }): JSX.Element {
	const [at, setAt] = useState(-1);
	if (!result) return <div class="calllist"><h3>{label}</h3><p class="hint">{error || 'Select a function.'}</p></div>;
	if (!rows.length) return <div class="calllist"><h3>{label}</h3><p class="hint">{label === 'Calls' ? 'Nothing that took time.' : 'No function: it is the outermost.'}</p></div>;
	const columns = metricColumns(result, result.rows).slice(0, 4);
	return (
		<div class="calllist"><h3>{label}</h3>
			<Table label={label} rows={rows} columns={columns} selected={at} onSelect={setAt}
				onOpen={(i) => selectFunction(rows[i]!.name!, rows[i]!.object)}
				onMenu={(i, x, y) => openMenu([{ text: 'Select', run: () => selectFunction(rows[i]!.name!, rows[i]!.object) }, null, ...functionMenu(rows[i]!.name!, rows[i]!.object)], x, y)} />
		</div>
	);
}

export const selectedRef = (): string => param('fn');
