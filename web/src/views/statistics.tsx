// SPDX-License-Identifier: Apache-2.0
// Statistics: what each process used as a whole, and between sample points. Experiments: what was recorded,
// where and how, with notes that can be edited.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import * as api from '../api';
import { stateColour, stateName } from '../colour';
import { baseName, formatAlone } from '../format';
import { useQuery } from '../query';
import { request } from '../request';
import { boot, dark, fail, param, patch, session, state } from '../store';
import type { Metric, Row } from '../types';
import { num, str } from '../types';
import { setTimeFilter } from '../ui/actions';
import { Course } from '../ui/charts';
import { Compared, sumsOf } from '../ui/compared';
import { openMenu, toast } from '../ui/menu';
import { metricColumn, Table } from '../ui/table';
import { Choice, Frame, Toggle, usePublish } from '../ui/view';

const used: Metric[] = [
	['duration_s', 'Duration', 's'], ['user_s', 'User CPU', 's'], ['system_s', 'System CPU', 's'], ['rss_bytes', 'RSS', 'bytes'], ['max_rss_bytes', 'Largest RSS', 'bytes'],
	['minor_faults', 'Minor Faults', 'count'], ['major_faults', 'Major Faults', 'count'], ['voluntary_switches', 'Voluntary Switches', 'count'], ['involuntary_switches', 'Involuntary Switches', 'count'],
	['read_bytes', 'Bytes Read', 'bytes'], ['write_bytes', 'Bytes Written', 'bytes'], ['read_calls', 'Read Calls', 'count'], ['write_calls', 'Write Calls', 'count'],
	['input_blocks', 'Input Blocks', 'count'], ['output_blocks', 'Output Blocks', 'count'], ['threads', 'Threads', 'count'],
].map(([name, title, unit]) => ({ name: name!, title: title!, unit: unit! }));

export function Statistics(): JSX.Element {
	const bySample = param('stat') === 'samples';
	const command: [string, ...string[]] = [bySample ? 'sample_detail' : 'statistics', 'all'];
	const req = request(state.value, { plain: true }, command);
	const query = useQuery(req).value;
	usePublish(req);
	const [at, setAt] = useState(0);
	const tools = <div class="seg" role="group"><Toggle label="Processes" on={!bySample} onChange={() => patch({ stat: undefined })} /><Toggle label="Between sample points" on={bySample} onChange={() => patch({ stat: 'samples' })} /></div>;
	return <Frame query={query} command="statistics" tools={tools} show={([result]) => {
		const rows = bySample ? result!.rows.filter((r) => typeof r.sample === 'number') : result!.rows;
		const columns = used.map((m) => ({ ...metricColumn(m, rows), total: 0 })).filter((c) => c.max > 0);
		const row = rows[Math.min(at, rows.length - 1)];
		return <>
			{bySample && <Course title="Memory (RSS) at sample points" unit="bytes" points={rows.filter((r) => r.experiment === rows[0]?.experiment).map((r) => ({ x: num(r, 'end_s'), y: num(r, 'rss_bytes') }))} />}
			<Table label="Statistics" rows={rows} columns={columns} nameTitle={bySample ? 'Sample' : 'Process'} selected={at} onSelect={setAt} focus
				name={(r) => (bySample ? `${str(r, 'name')}, sample ${String(r.sample)}: ${num(r, 'start_s').toFixed(3)} to ${num(r, 'end_s').toFixed(3)} s (${str(r, 'end_label')})` : str(r, 'name'))}
				{...(bySample ? { onMenu: (i: number, x: number, y: number) => openMenu([{ text: 'Only this time range', run: () => setTimeFilter(num(rows[i], 'start_s'), num(rows[i], 'end_s')) }], x, y) } : {})} />
			{!bySample && row && <States row={row} />}
			{sumsOf(result).length > 0 && <div class="statesof beside" tabIndex={0} role="region" aria-label="Experiments compared"><Compared sums={sumsOf(result)} note="Of each experiment with its descendants; above are the processes." /></div>}
		</>;
	}} />;
}

function States({ row }: { row: Row }): JSX.Element | null {
	const seconds = row.state_seconds as Record<string, number> | null | undefined;
	if (!seconds) return null;
	const list = Object.entries(seconds).filter(([, v]) => v > 0).sort((a, b) => b[1] - a[1]);
	const sum = list.reduce((s, [, v]) => s + v, 0);
	return <section class="statesof"><h3>What its threads’ time went to: {str(row, 'name')}</h3>
		<div class="stackbar">{list.map(([k, v]) => <i title={`${stateName[k] ?? k}: ${formatAlone(v, 's')}`} style={{ width: `${(100 * v) / sum}%`, background: stateColour(k, dark.value) }} />)}</div>
		<table class="plain"><tbody>{list.map(([k, v]) => <tr><td><i class="swatch" style={{ background: stateColour(k, dark.value) }} /> {stateName[k] ?? k}</td><td class="n">{formatAlone(v, 's')}</td><td class="n dim">{((100 * v) / sum).toFixed(1)}%</td></tr>)}</tbody></table></section>;
}

const hidden = new Set(['events', 'settings', 'notes', 'id', 'name']);
const titleOf = (key: string): string => key.replace(/_(s|ns|bytes)$/, '').replace(/_/g, ' ');
function valueOf(key: string, value: unknown): string {
	if (value === null || value === undefined || value === '') return '';
	if (key === 'wall_start_ns' && typeof value === 'number') return new Date(value / 1e6).toLocaleString();
	if (/^(pid|ppid|pgrp|sid)$/.test(key)) return String(value);
	if (typeof value === 'number') return /_s$/.test(key) ? formatAlone(value, 's') : value.toLocaleString('en-US');
	if (Array.isArray(value)) return value.join(' ');
	if (typeof value === 'object') return Object.entries(value).map(([k, v]) => `${k} ${Number(v).toLocaleString('en-US')}`).join(', ');
	return String(value);
}

export function Experiments(): JSX.Element {
	const req = request(state.value, { plain: true }, ['header', 'all'], ['objects']);
	const query = useQuery(req).value;
	usePublish(req);
	const [at, setAt] = useState(0);
	return <Frame query={query} command="header" show={([header, objects]) => {
		const row = header!.rows[Math.min(at, header!.rows.length - 1)]!;
		return <div class="scrolled">
			{header!.rows.length > 1 && <div class="tools"><Choice label={`${header!.rows.length} processes`} value={String(at)} options={header!.rows.map((r, i) => [String(i), `${String(r.id)}. ${str(r, 'name')} (${str(r, 'target')})`])} onChange={(v) => setAt(Number(v))} /></div>}
			<h2>{str(row, 'name')}</h2>
			<Notes key={str(row, 'path')} row={row} />
			<Otherwise header={header!} />
			<div class="cols">
				<section><h3>Recorded</h3><table class="plain kv"><tbody>{Object.entries(row).filter(([k, v]) => !hidden.has(k) && valueOf(k, v) !== '').map(([k, v]) => <tr><th scope="row">{titleOf(k)}</th><td>{valueOf(k, v)}</td></tr>)}</tbody></table></section>
				<section><h3>Settings</h3><table class="plain kv"><tbody>{Object.entries((row.settings as Record<string, string> | undefined) ?? {}).map(([k, v]) => <tr><th scope="row">{titleOf(k)}</th><td>{v}</td></tr>)}</tbody></table>
					<h3>Load objects</h3><table class="plain"><thead><tr><th scope="col">Path</th><th scope="col">Names come from</th></tr></thead><tbody>{objects?.rows.map((o) => <tr><td>{str(o, 'path')}</td><td class="dim">{str(o, 'provenance')}</td></tr>)}</tbody></table></section>
				<section><h3>Log</h3><table class="plain"><tbody>{((row.events as Row[] | undefined) ?? []).map((e) => <tr class={/warning|error/.test(str(e, 'kind')) ? 'warned' : ''}><td class="n">{num(e, 'time_s').toFixed(3)} s</td><td>{str(e, 'kind')}</td><td class="dim attributes">{Object.entries((e.attributes as Record<string, string> | undefined) ?? {}).map(([k, v]) => (k === 'text' ? v : `${k}=${v}`)).join(' ')}</td></tr>)}</tbody></table></section>
			</div>
		</div>;
	}} />;
}

// What experiments that are compared do not have in common.
function Otherwise({ header }: { header: object }): JSX.Element | null {
	const { differences } = header as { differences?: { name: string; experiments: { experiment: string; value: string | null }[] }[] };
	if (!differences) return null;
	return <section class="compared"><h3>Recorded otherwise</h3>
		{differences[0] ? <table class="plain"><thead><tr><th scope="col">What</th>{differences[0].experiments.map((e) => <th scope="col" title={e.experiment}>{baseName(e.experiment)}</th>)}</tr></thead>
			<tbody>{differences.map((d) => <tr><th scope="row">{titleOf(d.name)}</th>{d.experiments.map((e) => <td>{e.value ?? <span class="dim">—</span>}</td>)}</tr>)}</tbody></table>
			: <p class="line dim">All of them were recorded alike.</p>}</section>;
}

function Notes({ row }: { row: Row }): JSX.Element {
	const before = typeof row.notes === 'string' ? row.notes : '';
	const [text, setText] = useState(before);
	const save = async (): Promise<void> => {
		try {
			await api.post('notes', { session: session.value, experiment: str(row, 'path'), text });
			toast('Notes are stored in the experiment');
		} catch (error) {
			fail(error);
		}
	};
	return <section><h3>Notes</h3><textarea class="notes" rows={3} aria-label="Notes" value={text} placeholder="What was measured, and why" readOnly={boot.value?.readonly === true} onInput={(e) => setText(e.currentTarget.value)} />
		<div class="buttons"><button disabled={text === before || boot.value?.readonly} onClick={() => void save()}>Store in the experiment</button></div></section>;
}
