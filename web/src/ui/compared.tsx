// SPDX-License-Identifier: Apache-2.0
// Sums of experiments beside each other, as `compared` of an answer has them.

import type { JSX } from 'preact';
import { baseName, exact, formatAlone } from '../format';

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
