// SPDX-License-Identifier: Apache-2.0
// Tables whose rows are call stacks: of allocations, leaks, I/O, waits.

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { baseName, formatAlone } from '../format';
import { matcher } from '../search';
import { param, selection } from '../store';
import type { Metric, Row } from '../types';
import { num } from '../types';
import { functionMenu, lineMenu } from '../ui/actions';
import { openMenu } from '../ui/menu';
import { metricColumn, Table, type Column } from '../ui/table';

export interface ParsedFrame { text: string; name: string; object: string | null; file: string | null; line: number | null }

// `insert + 0x0000005e, work.c:12`, `scribble (inlined), work.c:16`, `_start + 0x00000020`
export function parseFrame(text: string): ParsedFrame {
	const place = /^(.*), ([^,]+):(\d+)$/.exec(text);
	const head = place ? place[1]! : text;
	return {
		text, name: head.replace(/ \+ 0x[0-9a-f]+$/i, '').replace(/ \(inlined\)$/, ''), object: null,
		file: place ? place[2]! : null, line: place ? Number(place[3]) : null,
	};
}

export interface StackTableProps {
	label: string;
	rows: Row[];
	key_: string; // the member with the frames
	metrics: Metric[];
	total?: Row | undefined;
	extra?: Column[];
	facts?(row: Row): [string, string][];
}

export function StackTable({ label, rows, key_, metrics, total, extra, facts }: StackTableProps): JSX.Element {
	const [at, setAt] = useState(-1);
	const find = param('q');
	const frames = (row: Row): string[] => (row[key_] as string[] | undefined) ?? [];
	const shown = useMemo(() => {
		const fits = matcher(find);
		return fits ? rows.filter((r) => frames(r).some(fits)) : rows;
	}, [rows, find]);
	const columns = useMemo(() => [...metrics.map((m) => metricColumn(m, rows, total)), ...(extra ?? [])], [rows]);
	return <Table label={label} rows={shown} columns={columns} nameTitle="Call stack, innermost first" selected={at}
		onSelect={(i) => {
			setAt(i);
			const row = shown[i];
			if (row) selection.value = {
				kind: 'event', name: frames(row)[0] ?? row.name ?? '', stack: frames(row).map(parseFrame),
				facts: [...metrics.map((m): [string, string] => [m.experiment ? `${m.title} — ${baseName(m.experiment)}` : m.title, formatAlone(num(row, m.name), m.unit)]), ...(facts?.(row) ?? [])],
			};
		}}
		onMenu={(i, x, y) => {
			const top = frames(shown[i]!)[0];
			if (!top) return;
			const f = parseFrame(top);
			openMenu([...functionMenu(f.name, null), ...(f.file && f.line ? [null, ...lineMenu(f.file, f.line)] : [])], x, y);
		}}
		name={(row) => <span class="frames">{row.name && !frames(row).length ? row.name : shortened(frames(row)).map((f, i) => <>{i > 0 && <i class="sep">←</i>}<span class={f.file ? '' : 'dim'} title={f.text}>{f.name}{f.file && i === 0 ? <small> {f.file}:{f.line}</small> : null}</span></>)}</span>} />;
}

// A recursion is written once, with how often.
function shortened(frames: string[]): ParsedFrame[] {
	const list: ParsedFrame[] = [];
	let times = 1;
	for (const text of frames.slice(0, 60)) {
		const f = parseFrame(text);
		const last = list[list.length - 1];
		if (last && last.name.replace(/ ×\d+$/, '') === f.name) last.name = `${f.name} ×${++times}`;
		else {
			times = 1;
			list.push(f);
		}
	}
	return list;
}
