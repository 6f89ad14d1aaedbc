// SPDX-License-Identifier: Apache-2.0
// Overview: the experiments, where the time goes, the metrics to choose from, the hottest functions and path,
// hints. It is what `report` and `overview` say.

import type { JSX } from 'preact';
import { exact, formatAlone, formatValue, scaleFor } from '../format';
import { useQuery } from '../query';
import { request } from '../request';
import { dark, mainMetric, patch, show, state } from '../store';
import type { Row } from '../types';
import { num, str } from '../types';
import { stateColour } from '../colour';
import { functionMenu, selectFunction } from '../ui/actions';
import { Compared, sumsOf } from '../ui/compared';
import { openMenu } from '../ui/menu';
import { Frame, usePublish } from '../ui/view';

const stateOf: Record<string, string> = {
	user: 'user', system: 'system', wait: 'wait', lock: 'lock', datapfault: 'datapfault', textpfault: 'textpfault',
	kernelpfault: 'kernelpfault', sleep: 'sleep', stop: 'stop',
};

export function Overview(): JSX.Element {
	const req = request(state.value, { plain: true }, ['overview'], ['report']);
	const query = useQuery(req).value;
	usePublish(req);
	return <Frame query={query} command="overview" show={([overview, report]) => (
		<div class="overview">
			<Experiments rows={(overview!.processes as Row[] | undefined) ?? []} notes={report?.rows.filter((r) => r.section === 'experiment') ?? []} total={num(overview as unknown as Row, 'duration_s')} />
			<div class="cols">
				<div>
					<WhereTimeGoes rows={report?.rows.filter((r) => r.section === 'time') ?? []} />
					<Bars title="Threads" rows={report?.rows.filter((r) => r.section === 'threads') ?? []} open={() => show('threads')} />
					<Bars title="Processes" rows={report?.rows.filter((r) => r.section === 'processes') ?? []} open={() => show('processes')} />
				</div>
				<div>
					<Bars title="Hottest functions" rows={report?.rows.filter((r) => r.section === 'functions') ?? []} functions open={(row) => {
						selectFunction(str(row, 'name'), null);
						show('functions');
					}} />
					<Path rows={report?.rows.filter((r) => r.section === 'path') ?? []} />
					<Collections row={report?.rows.find((r) => r.section === 'collections')} />
					<Hints title="What is missing" rows={report?.rows.filter((r) => r.section === 'missing') ?? []} />
					<Hints title="What to look at next" rows={report?.rows.filter((r) => r.section === 'next') ?? []} />
				</div>
				<div>
					<Compared sums={sumsOf(overview, (s) => s.experiments.some((e) => e.value))} note="The other parts of this view are sums of all of them." open={byMetric} />
					<Metrics rows={overview!.rows} />
				</div>
			</div>
		</div>
	)} count={(r) => (r[0] ? 1 : 0)} />;
}

function Experiments({ rows, notes, total }: { rows: Row[]; notes: Row[]; total: number }): JSX.Element {
	return (
		<section><h2>{rows.length === 1 ? 'Experiment' : `${rows.length} processes, ${formatAlone(total, 's')}`}</h2>
			{notes.map((n) => <p class="line">{str(n, 'name')}</p>)}
			{rows.length > 1 && <table class="plain"><thead><tr><th scope="col">Process</th><th scope="col">Program</th><th scope="col">Duration</th></tr></thead><tbody>
				{rows.slice(0, 12).map((r) => <tr><td>{String(r.id)}. {str(r, 'name')}</td><td>{str(r, 'target')}</td><td class="n">{formatAlone(num(r, 'duration_s'), 's')}</td></tr>)}
				{rows.length > 12 && <tr><td colSpan={3}><button class="flat" onClick={() => show('experiments')}>all {rows.length}</button></td></tr>}
			</tbody></table>}
		</section>
	);
}

function WhereTimeGoes({ rows }: { rows: Row[] }): JSX.Element | null {
	if (!rows.length) return null;
	const parts = rows.filter((r) => stateOf[str(r, 'metric')]);
	const scale = scaleFor('s', num(rows[0], 'value'));
	return (
		<section><h2>Where the time of all threads goes <small class="dim">{scale.unit}</small></h2>
			<div class="stackbar" aria-hidden="true">{parts.map((r) => num(r, 'percent') > 0.2 && <i title={`${str(r, 'name')}: ${num(r, 'percent').toFixed(1)} %`} style={{ width: `${num(r, 'percent')}%`, background: stateColour(stateOf[str(r, 'metric')]!, dark.value) }} />)}</div>
			<table class="plain"><tbody>
				{rows.map((r) => {
					const m = str(r, 'metric');
					return <tr>
						<td class="sw">{stateOf[m] && <i class="swatch" style={{ background: stateColour(stateOf[m]!, dark.value) }} />}</td>
						<td class={stateOf[m] ? '' : 'strong'}>{m ? <button class="link" title="Functions by this metric" onClick={() => byMetric(m)}>{str(r, 'name')}</button> : str(r, 'name')}</td>
						{'value' in r && <><td class="n">{formatValue(num(r, 'value'), scale)}</td><td class="n dim">{num(r, 'percent').toFixed(1)}%</td></>}
					</tr>;
				})}
			</tbody></table>
		</section>
	);
}

const byMetric = (metric: string): void => show('functions', { m: `ei.${metric}:name`, sort: `e.${metric}` });

function Bars({ title, rows, open, functions }: { title: string; rows: Row[]; open(row: Row): void; functions?: boolean }): JSX.Element | null {
	if (!rows.length) return null;
	const scale = scaleFor(str(rows[0], 'unit') || 's', Math.max(...rows.map((r) => num(r, 'value'))));
	return (
		<section><h2>{title} <small class="dim">{scale.unit}</small></h2><table class="plain bars"><tbody>
			{rows.map((r) => (
				<tr onContextMenu={(e) => { if (functions) { e.preventDefault(); openMenu(functionMenu(str(r, 'name'), null), e.clientX, e.clientY); } }}>
					<td class="n barcell"><span class="bar e" style={{ width: `${Math.min(100, num(r, 'percent'))}%` }} /><span>{formatValue(num(r, 'value'), scale)}</span></td>
					<td class="n dim">{num(r, 'percent').toFixed(1)}%</td>
					<td class="long"><button class="link" title={str(r, 'name')} onClick={() => open(r)}>{str(r, 'name')}</button></td>
				</tr>
			))}
		</tbody></table></section>
	);
}

function Path({ rows }: { rows: Row[] }): JSX.Element | null {
	if (!rows.length) return null;
	return (
		<section><h2>Hottest path</h2><table class="plain"><tbody>
			{rows.map((r, i) => <tr><td class="n dim">{num(r, 'percent').toFixed(1)}%</td><td class="long"><span class="ind" style={{ width: `${Math.min(i, 30) * 8}px` }} />
				<button class="link" title={str(r, 'name')} style={{ maxWidth: `calc(100% - ${Math.min(i, 30) * 8}px)` }} onClick={() => { selectFunction(str(r, 'name'), null); show('calltree'); }}>{str(r, 'name')}</button></td></tr>)}
		</tbody></table></section>
	);
}

// How long Java's garbage collections stopped the program.
function Collections({ row }: { row: Row | undefined }): JSX.Element | null {
	if (!row) return null;
	return <section><h2>Garbage collections</h2><p class="line">{num(row, 'calls').toLocaleString('en-US')}, together <span title={exact(num(row, 'value'), 's')}>{formatAlone(num(row, 'value'), 's')}</span>, {num(row, 'percent').toFixed(1)}% of the time:
		all threads that run Java stood still. <button class="link" onClick={() => show('timeline')}>On the timeline</button></p></section>;
}

function Hints({ title, rows }: { title: string; rows: Row[] }): JSX.Element | null {
	if (!rows.length) return null;
	return <section><h2>{title}</h2><ul class="hints">{rows.map((r) => <li><Hint text={str(r, 'name')} /></li>)}</ul></section>;
}

const viewOf: [RegExp, string][] = [
	[/-functions/, 'functions'], [/-calltree/, 'calltree'], [/-csingle/, 'callers'], [/-source/, 'source'], [/-disasm/, 'disassembly'],
	[/-locks?\b/, 'locks'], [/-leaks|-heap|-allocs/, 'heap'], [/-io/, 'io'], [/-threads/, 'threads'], [/-timeline/, 'timeline'],
	[/-flamegraph/, 'flame'], [/-data_/, 'data'], [/-lines/, 'lines'], [/-regions|-tasks|-OMP_/, 'openmp'], [/-mpi/, 'mpi'],
	[/-statistics/, 'statistics'], [/-header/, 'experiments'],
];
function Hint({ text }: { text: string }): JSX.Element {
	const target = viewOf.find(([regex]) => regex.test(text))?.[1];
	if (!target) return <>{text}</>;
	const fn = /-(?:csingle|source|disasm) (?:'([^']*)'|"([^"]*)"|(\S+))/.exec(text);
	const name = fn?.[1] ?? fn?.[2] ?? fn?.[3];
	const order = /-metrics (\S+) -sort (\S+)/.exec(text);
	return <button class="link" onClick={() => show(target, { ...(name ? { fn: name } : {}), ...(order ? { m: order[1], sort: order[2] } : {}) })}>{text}</button>;
}

function Metrics({ rows }: { rows: Row[] }): JSX.Element {
	const time = num(rows.find((r) => r.name === 'total'), 'total');
	const seconds = scaleFor('s', Math.max(...rows.filter((r) => r.unit === 's').map((r) => num(r, 'total'))));
	const shown = (value: number, unit: string): string => (unit === 's' ? `${formatValue(value, seconds)} ${seconds.unit}` : formatAlone(value, unit));
	return (
		<section class="metrics"><h2>Metrics</h2><table class="plain"><tbody>
			{rows.map((r) => {
				const name = str(r, 'name');
				const value = num(r, 'total');
				const hot = r.hot === true || (str(r, 'unit') === 's' && time > 0 && value >= time / 10 && name !== 'total');
				return <tr class={`${hot ? 'hot' : ''} ${value ? '' : 'zero'}`}>
					<td><input type="radio" name="metric" aria-label={`Sort by ${str(r, 'title')}`} checked={mainMetric.value === name} disabled={!value} onChange={() => patch({ m: `ei.${name}:name`, sort: `e.${name}` })} /></td>
					<td class={/^(user|system|wait|lock|textpfault|datapfault|kernelpfault|sleep|stop|masterthread)$/.test(name) ? 'sub' : ''}><button class="link" disabled={!value} onClick={() => byMetric(name)}>{str(r, 'title')}</button></td>
					<td class="n" title={exact(value, str(r, 'unit'))}>{value ? shown(value, str(r, 'unit')) : ''}</td>
					<td>{hot ? <span class="hotmark" title="At least a tenth of the time of all threads">hot</span> : ''}</td>
				</tr>;
			})}
		</tbody></table></section>
	);
}
