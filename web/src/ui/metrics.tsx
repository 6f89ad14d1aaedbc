// SPDX-License-Identifier: Apache-2.0
// Which metrics are shown, in which order and form.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { shortTitle } from '../format';
import { catalogue, cells, patch, state } from '../store';
import { closeDialog, openDialog } from './menu';

export interface Picked { name: string; e: boolean; i: boolean }

// A specification of metrics as lists of names with their flavours, in order.
export function parseSpecification(text: string): Picked[] {
	const list: Picked[] = [];
	for (const part of text.split(':')) {
		const match = /^([eia]*)[.%+!~]*([A-Za-z_][\w-]*)$/.exec(part.includes('.') || /[%+]/.test(part) ? part : `.${part}`);
		const name = match?.[2] ?? '';
		if (!name || name === 'name') continue;
		const known = list.find((p) => p.name === name);
		const e = match![1]!.includes('e');
		const i = match![1]!.includes('i');
		if (known) {
			known.e ||= e;
			known.i ||= i;
		} else list.push({ name, e, i });
	}
	return list;
}

export const formatSpecification = (list: Picked[]): string =>
	[...list.filter((p) => p.e || p.i).map((p) => `${p.e ? 'e' : ''}${p.i ? 'i' : ''}.${p.name}`), 'name'].join(':');

export const openMetrics = (): void => openDialog('Metrics', () => <Picker />, true);

function Picker(): JSX.Element {
	const known = catalogue.value;
	const titles = new Map<string, string>();
	for (const m of known?.metrics ?? []) {
		const name = m.name.replace(/^[eia]\./, '');
		if (m.unit !== 'text' && name !== m.name) titles.set(name, shortTitle(m.title).replace(/^(Excl|Incl)\. /, ''));
	}
	// Those that are shown, in their order, then all others. A row stays where it is while it is picked.
	const [rows, setRows] = useState<Picked[]>(() => {
		const shown = parseSpecification(state.value.p.m || known?.specification || '');
		return [...shown, ...[...titles.keys()].filter((n) => !shown.some((p) => p.name === n)).map((name) => ({ name, e: false, i: false }))];
	});
	if (!known) return <p>Working …</p>;
	const set = (name: string, flavour: 'e' | 'i', on: boolean): void =>
		setRows(rows.map((p) => (p.name === name ? { ...p, [flavour]: on } : p)));
	const move = (i: number, by: number): void => {
		const next = [...rows];
		const [taken] = next.splice(i, 1);
		next.splice(Math.max(0, i + by), 0, taken!);
		setRows(next);
	};
	const apply = (): void => {
		patch({ m: rows.some((p) => p.e || p.i) ? formatSpecification(rows) : undefined });
		closeDialog();
	};
	return (
		<div class="picker">
			<table><thead><tr><th scope="col">Metric</th><th scope="col">Excl.</th><th scope="col">Incl.</th><th scope="col">Order</th></tr></thead><tbody>
				{rows.map((p, i) => (
					<tr key={p.name} class={p.e || p.i ? 'on' : ''}>
						<th scope="row" title={p.name}>{titles.get(p.name) ?? p.name}</th>
						{(['e', 'i'] as const).map((f) => <td><input type="checkbox" checked={p[f]} aria-label={`${f === 'e' ? 'Exclusive' : 'Inclusive'} ${titles.get(p.name) ?? p.name}`} onChange={(e) => set(p.name, f, e.currentTarget.checked)} /></td>)}
						<td>{(p.e || p.i) && <><button class="flat" aria-label="Up" disabled={i === 0} onClick={() => move(i, -1)}>↑</button><button class="flat" aria-label="Down" disabled={i === rows.length - 1} onClick={() => move(i, 1)}>↓</button></>}</td>
					</tr>
				))}
			</tbody></table>
			<div class="buttons">
				<button class="main" onClick={apply}>Apply</button>
				<button onClick={() => { patch({ m: undefined, sort: undefined }); closeDialog(); }}>Default</button>
				<label class="choice"><span>Cells show</span><select value={cells.value} onChange={(e) => (cells.value = e.currentTarget.value)}>
					<option value="both" selected={cells.value === 'both'}>values and percent</option>
					<option value="value" selected={cells.value === 'value'}>values</option>
					<option value="percent" selected={cells.value === 'percent'}>percent</option>
				</select></label>
			</div>
		</div>
	);
}
