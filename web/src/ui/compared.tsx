// SPDX-License-Identifier: Apache-2.0
// What experiments that are compared have: sums beside each other, as `compared` of an answer has them, columns
// of rows that have it, and what is told of one experiment after the other.

import type { ComponentChildren, JSX } from 'preact';
import { baseName, exact, formatAlone } from '../format';
import { num, str, type Metric, type Row } from '../types';

export interface ComparedSum {
	name: string;
	title: string;
	unit: string;
	experiments: { experiment: string; value: number | null; difference?: number | null; ratio?: number | null }[];
}

type Cell = ComparedSum['experiments'][number];

function shown(sum: ComparedSum, cell: Cell): string {
	if ('ratio' in cell) return typeof cell.ratio === 'number' ? cell.ratio.toFixed(3) : cell.value ? 'new' : '—';
	const value = 'difference' in cell ? cell.difference : cell.value;
	if (typeof value !== 'number') return '—';
	return ('difference' in cell && value > 0 ? '+' : '') + formatAlone(value, sum.unit);
}

export const sumsOf = (result: object | null | undefined, wanted: (sum: ComparedSum) => boolean = () => true): ComparedSum[] =>
	((result as { compared?: ComparedSum[] } | null | undefined)?.compared ?? []).filter(wanted);

const markOf = (cell: Cell): string => ('difference' in cell ? 'Δ ' : 'ratio' in cell ? '× ' : '');

export function Compared({ sums, note, open }: { sums: ComparedSum[]; note: string; open?: (name: string) => void }): JSX.Element | null {
	if (!sums[0]) return null;
	return (
		<section class="compared"><h2>Experiments compared</h2><p class="line dim">{note}</p>
			<table class="plain"><thead><tr><th scope="col">Metric</th>{sums[0].experiments.map((e) => <th scope="col" class="n" title={e.experiment}>{markOf(e)}{baseName(e.experiment)}</th>)}</tr></thead>
				<tbody>{sums.map((sum) => <tr><th scope="row">{open ? <button class="link" onClick={() => open(sum.name)}>{sum.title}</button> : sum.title}</th>
					{sum.experiments.map((e) => <td class="n" title={typeof e.value === 'number' ? exact(e.value, sum.unit) : 'not recorded'}>{shown(sum, e)}</td>)}</tr>)}</tbody></table>
		</section>
	);
}

// Rows of one experiment after the other, each below its name; what is not compared has none.
export function ofEach(rows: Row[]): { experiment: string; rows: Row[] }[] {
	const groups = new Map<string, Row[]>();
	for (const row of rows) {
		const experiment = str(row, 'experiment');
		groups.set(experiment, [...(groups.get(experiment) ?? []), row]);
	}
	return [...groups].map(([experiment, own]) => ({ experiment, rows: own }));
}

export function Each({ rows, show }: { rows: Row[]; show(rows: Row[]): ComponentChildren }): JSX.Element {
	return <>{ofEach(rows).map(({ experiment, rows: own }) => (experiment ? <section class="each"><h2>{experiment}</h2>{show(own)}</section> : show(own)))}</>;
}

// A column for each experiment, where the rows have a list of what each has: [{experiment, bytes}, ...].
export function spreadCompared(rows: Row[], metrics: Metric[], list: string): { rows: Row[]; metrics: Metric[] } {
	const parts = (row: Row | undefined): Row[] => (row?.[list] as Row[] | undefined) ?? [];
	const names = parts(rows[0]).map((part) => str(part, 'experiment'));
	if (!names.length) return { rows, metrics };
	const member = (m: Metric): string => m.name.replace(/^leaked_/, '');
	return {
		rows: rows.map((row) => ({ ...row, ...Object.fromEntries(metrics.flatMap((m) => parts(row).map((part, i) => [`${m.name}.${i + 1}`, num(part, member(m))]))) })),
		metrics: metrics.flatMap((m) => names.map((experiment, i): Metric => ({ ...m, name: `${m.name}.${i + 1}`, experiment }))),
	};
}
