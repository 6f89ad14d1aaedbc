// SPDX-License-Identifier: Apache-2.0
// Small charts: a course over time, a histogram.

import type { JSX } from 'preact';
import { formatAlone, formatTime, formatValue, largest, scaleFor, ticks } from '../format';
import { dark } from '../store';
import { accent, Canvas, dim, ink, paper, rule, type Pen } from './canvas';

const fill = (): string => (dark.value ? '#4d8fd1' : '#3b7fc4');

export interface Bin { label: string; value: number; other?: number }

// Bars lying on their sides, with their labels and numbers as a table: nothing to be read from a picture only.
export function Histogram({ title, bins, unit, otherUnit, otherTitle, valueTitle }: { title: string; bins: Bin[]; unit: string; otherUnit?: string; otherTitle?: string; valueTitle?: string }): JSX.Element | null {
	if (!bins.length) return null;
	const max = largest(bins.map((b) => b.value)) || 1;
	return (
		<section class="histogram"><h3>{title}</h3><table class="plain bars">
			{(otherTitle || valueTitle) && <thead><tr><th /><th class="n">{valueTitle}</th>{otherUnit && <th class="n">{otherTitle}</th>}</tr></thead>}
			<tbody>{bins.map((b) => <tr><th scope="row">{b.label}</th>
				<td class="n barcell wide"><span class="bar e" style={{ width: `${(100 * b.value) / max}%` }} /><span>{b.value ? formatAlone(b.value, unit) : ''}</span></td>
				{otherUnit && <td class="n dim">{!b.other ? '' : formatAlone(b.other, otherUnit)}</td>}</tr>)}</tbody>
		</table></section>
	);
}

// A table whose cells are the darker the more they have.
export function HeatTable({ title, down, across, unit, value, tip, text }: { title: string; down: string[]; across: string[]; unit: string; value(d: number, a: number): number; tip(d: number, a: number, v: number): string; text: boolean }): JSX.Element | null {
	const max = Math.max(0, ...down.flatMap((_, d) => across.map((__, a) => value(d, a))));
	const heat = (v: number): string => (v > 0 ? `heat${Math.max(1, Math.min(5, 5 + Math.ceil(Math.log10(v / max) * 2)))}` : '');
	if (!(max > 0)) return null;
	return <section><h3>{title}</h3><table class={`matrix ${text ? '' : 'small'}`} aria-label={title}><thead><tr><th />{across.map((a) => <th scope="col">{a}</th>)}</tr></thead><tbody>
		{down.map((label, d) => <tr><th scope="row">{label}</th>{across.map((_, a) => {
			const v = value(d, a);
			return <td class={heat(v)} title={v > 0 ? tip(d, a, v) : undefined}>{text && v > 0 ? formatAlone(v, unit) : ''}</td>;
		})}</tr>)}</tbody></table></section>;
}

export interface Share { title: string; value: number; colour: string }

// Times divided into parts, a bar each: all of one length, or by the largest. What is in the bars stands beside them.
export function Shares({ title, rows, scaled }: { title: string; rows: { label: string; parts: Share[] }[]; scaled?: boolean }): JSX.Element | null {
	const shown = rows.slice(0, 24);
	const sum = (parts: Share[]): number => parts.reduce((all, p) => all + p.value, 0);
	const max = Math.max(...shown.map((r) => sum(r.parts)));
	if (!(max > 0)) return null;
	return <section class="statesof"><h3>{title}</h3>
		<p class="legend">{shown[0]!.parts.map((p) => <span><i class="swatch" style={{ background: p.colour }} /> {p.title} </span>)}</p>
		<div class="sharebox"><table class="plain shares"><tbody>{shown.map((r) => <tr><th scope="row" title={r.label}>{r.label}</th>
			<td class="sharebar"><div class="stackbar">{r.parts.map((p) => <i title={`${p.title}: ${formatAlone(p.value, 's')}`} style={{ width: `${(100 * p.value) / ((scaled ? max : sum(r.parts)) || 1)}%`, background: p.colour }} />)}</div></td>
			{r.parts.map((p) => <td class="n dim">{p.value > 0 ? `${((100 * p.value) / sum(r.parts)).toFixed(1)}%` : ''}</td>)}</tr>)}</tbody></table></div>
		{rows.length > shown.length && <p class="hint">the first {shown.length} of {rows.length}</p>}
	</section>;
}

export function Course({ title, points, unit, peak, onPick }: { title: string; points: { x: number; y: number }[]; unit: string; peak?: number; onPick?(seconds: number): void }): JSX.Element | null {
	if (points.length < 2) return null;
	const left = 70;
	const x0 = points[0]!.x;
	const x1 = points[points.length - 1]!.x;
	const max = largest(points.map((p) => p.y)) || 1;
	const paint = (pen: Pen): void => {
		const h = pen.height - 26;
		const x = (t: number): number => left + ((t - x0) / (x1 - x0 || 1)) * (pen.width - left - 8);
		const y = (v: number): number => 8 + h - (h * v) / max;
		const scale = scaleFor(unit, max);
		pen.rect(0, 0, pen.width, pen.height, paper());
		for (const t of ticks(0, max / scale.factor, 4)) {
			pen.rect(left, y(t * scale.factor), pen.width - left, 1, rule());
			const label = t === 0 ? '0' : `${formatValue(t * scale.factor, { ...scale, decimals: t < 10 && t % 1 ? 1 : 0 })} ${scale.unit}`;
			pen.text(left - 6 - pen.measure(label), y(t * scale.factor), label, dim(), left);
		}
		for (const t of ticks(x0, x1, 8)) pen.text(x(t), pen.height - 8, formatTime(t, (x1 - x0) / 4), dim(), 80);
		points.forEach((p, i) => {
			const next = points[i + 1]?.x ?? x1;
			pen.rect(x(p.x), y(p.y), Math.max(0.5, x(next) - x(p.x) + 0.3), 8 + h - y(p.y), dark.value ? '#2c4a6b' : '#cfe0f2');
			pen.rect(x(p.x), y(p.y), Math.max(0.5, x(next) - x(p.x) + 0.3), 1.5, fill());
		});
		if (peak !== undefined) {
			pen.rect(x(peak), 6, 1.5, h, accent());
			pen.text(Math.min(x(peak) + 4, pen.width - 40), 12, 'peak', ink(), 60);
		}
	};
	return <div class="chartbox"><div class="charttext"><b>{title}</b></div><Canvas height={150} label={`${title}; at most ${formatAlone(max, unit)}`} paint={paint} redraw={[points, dark.value]}
		onDblClick={(e) => { const r = (e.currentTarget as HTMLElement).getBoundingClientRect(); onPick?.(x0 + ((e.clientX - r.left - left) / (r.width - left - 8)) * (x1 - x0)); }} /></div>;
}
