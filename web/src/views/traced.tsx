// SPDX-License-Identifier: Apache-2.0
// What was traced: the heap, locks, input and output.

import type { JSX } from 'preact';
import { holds } from '../api';
import * as filter from '../filter';
import { formatAlone } from '../format';
import { useQuery } from '../query';
import { request } from '../request';
import { catalogue, param, patch, selection, state, whyNot } from '../store';
import type { Metric, Result, Row } from '../types';
import { num, str } from '../types';
import { expressionMenu, lockMenu } from '../ui/actions';
import type { Menu } from '../ui/menu';
import { Each, spreadCompared } from '../ui/compared';
import { Course, HeatTable, Histogram, type Bin } from '../ui/charts';
import { metricColumns } from '../ui/table';
import { Frame, held, Tabs, usePublish } from '../ui/view';
import { List } from './list';
import { IndexObject } from './objects';
import { StackTable } from './stacks';

const count = (title: string, name: string): Metric => ({ name, title, unit: 'count' });
const bytes = (title: string, name: string): Metric => ({ name, title, unit: 'bytes' });

const heapTabs: [string, string][] = [['heapstat', 'Peak and statistics'], ['leaks', 'Leaks'], ['allocs', 'Allocations']];
const javaTab: [string, string] = ['JClasses', 'Java classes'];
const PEAK_STACKS = 500; // a program may have one for each block that it has

export const hasJavaHeap = (): boolean => catalogue.value?.metrics.some((m) => /jalloc/.test(m.name)) ?? false;

export function Heap(): JSX.Element {
	const all = !hasJavaHeap() ? heapTabs : whyNot('heapstat') ? [javaTab] : [...heapTabs, javaTab];
	const tabs = held(all, (tab) => (tab === 'JClasses' ? ['indxobj', tab] : [tab]));
	const tab = param('heap') || (tabs[0] ?? all[0]!)[0];
	const tools = <Tabs key_="heap" tabs={tabs} now={tab} />;
	return tab === 'JClasses' ? <div class="stackview"><div class="tools">{tools}</div><IndexObject name="JClasses" title="Java classes" /></div> : <NativeHeap key={tab} tab={tab} tools={tools} />;
}

function NativeHeap({ tab, tools }: { tab: string; tools: JSX.Element }): JSX.Element {
	const req = request(state.value, { plain: true, limit: tab === 'heapstat' ? PEAK_STACKS : 2000 }, [tab]);
	const query = useQuery(req).value;
	usePublish(req);
	return <Frame query={query} command={tab} tools={tools} show={([result]) => (tab === 'heapstat' ? <HeapStatistics result={result!} /> : <HeapStacks result={result!} tab={tab} />)} />;
}

function HeapStacks({ result, tab }: { result: Result; tab: string }): JSX.Element {
	const total = result.total as Row;
	const all = spreadCompared(result.rows, [bytes('Bytes', 'bytes'), count('Blocks', 'instances')], 'compared');
	const leaked = tab === 'leaks' ? { rows: all.rows, metrics: [] } : spreadCompared(all.rows, [bytes('Bytes Leaked', 'leaked_bytes'), count('Blocks Leaked', 'leaked_instances')], 'leaked_compared');
	const metrics = [...all.metrics, ...leaked.metrics];
	const fates = tab === 'leaks' ? result.rows.reduce((sum, r) => sum.set(str(r, 'fate'), (sum.get(str(r, 'fate')) ?? 0) + num(r, 'bytes')), new Map<string, number>()) : null;
	return <>
		<p class="line">{tab === 'leaks' ? 'Lost' : 'Allocated'}: {formatAlone(num(total, 'bytes'), 'bytes')} in {num(total, 'instances').toLocaleString('en-US')} blocks
			{fates && [...fates].map(([fate, v]) => <span> · {fate} {formatAlone(v, 'bytes')}</span>)}</p>
		<StackTable label={tab} rows={leaked.rows} key_="stack" metrics={metrics} facts={(row) => (str(row, 'fate') ? [['Fate', str(row, 'fate')]] : [])}
			extra={tab === 'leaks' ? [{ key: 'fate', title: 'Fate', full: 'Whether something still points to it', unit: 'text', scale: { unit: '', factor: 1, decimals: 0 }, max: 0, total: 0, tone: 'e', form: 'value', width: 16, text: (r) => str(r, 'fate') }] : []} />
	</>;
}

function bins(list: unknown, unit: string, valueKey: string, otherKey?: string): Bin[] {
	const rows = Array.isArray(list) ? (list as Row[]) : [];
	return rows.map((r) => {
		const from = num(r, 'from') || num(r, 'from_bytes') || num(r, 'from_s');
		return { label: from ? `from ${formatAlone(from, unit)}` : unit === 'bytes' ? '0 B' : 'less', value: num(r, valueKey), ...(otherKey ? { other: num(r, otherKey) } : {}) };
	});
}

const rangeBins = (list: unknown): Bin[] =>
	(Array.isArray(list) ? (list as Row[]) : []).map((r) => ({ label: str(r, 'range'), value: num(r, 'blocks'), other: num(r, 'bytes') }));

function HeapStatistics({ result }: { result: Result }): JSX.Element {
	return <div class="scrolled"><Each rows={result.rows} show={(rows) => rows.map((row) => <HeapOfOne row={row} />)} /></div>;
}

function HeapOfOne({ row }: { row: Row }): JSX.Element {
	const peak = row.peak as Row | null | undefined;
	const course = ((peak?.course as Row[] | undefined) ?? []).map((p) => ({ x: num(p, 'seconds'), y: num(p, 'bytes') }));
	const part = (key: string): Row => (row[key] as Row | null | undefined) ?? {};
	const temporary = part('temporary');
	const pairs = (key: string): [string, Row][] => Object.entries(part(key)) as [string, Row][];
	const blocks = (title: string, key: string): JSX.Element | null => {
		const list = pairs(key).filter(([, v]) => num(v, 'blocks') > 0);
		return list.length ? <section><h3>{title}</h3><table class="plain"><thead><tr><th /><th class="n">Blocks</th><th class="n">Bytes</th></tr></thead><tbody>
			{list.map(([name, v]) => <tr><th scope="row">{name}</th><td class="n">{num(v, 'blocks').toLocaleString('en-US')}</td><td class="n">{formatAlone(num(v, 'bytes'), 'bytes')}</td></tr>)}</tbody></table></section> : null;
	};
	const histogram = (title: string, list: unknown): JSX.Element => <Histogram title={title} bins={rangeBins(list)} unit="count" valueTitle="Blocks" otherUnit="bytes" otherTitle="Bytes" />;
	return <>
		{peak && <p class="line">Peak of live memory: <b>{formatAlone(num(peak, 'bytes'), 'bytes')}</b> in {num(peak, 'blocks').toLocaleString('en-US')} blocks, at {formatAlone(num(peak, 'seconds'), 's')}, in process {String(peak.pid)}.
			{num(temporary, 'blocks') > 0 && <> Freed by their thread’s next call: {num(temporary, 'blocks').toLocaleString('en-US')} blocks, {formatAlone(num(temporary, 'bytes'), 'bytes')}.</>}
			{row.sampled === true && <> These are estimates: the heap was sampled.</>}</p>}
		<Course title="Live memory over time" points={course} unit="bytes" {...(peak ? { peak: num(peak, 'seconds') } : {})} />
		<div class="cols">
			{histogram('Allocated, by size', part('allocated').classes)}
			{num(part('leaked').total as Row | undefined, 'blocks') > 0 && histogram('Leaked, by size', part('leaked').classes)}
			{histogram('How long blocks lived', row.lifetimes)}
			<div>{blocks('What became of blocks never freed', 'fates')}{blocks('Mappings', 'mappings')}</div>
		</div>
		{peak && <><h3>What made up the peak{num(peak, 'stack_count') > PEAK_STACKS && <small class="dim"> the first {PEAK_STACKS} of {num(peak, 'stack_count').toLocaleString('en-US')} call stacks</small>}</h3><div class="inner"><StackTable label="Stacks of the peak" rows={(peak.stacks as Row[] | undefined) ?? []} key_="stack" metrics={[bytes('Bytes', 'bytes'), count('Blocks', 'blocks')]} total={{ bytes: num(peak, 'bytes'), blocks: num(peak, 'blocks') }} /></div></>}
	</>;
}

// ---- locks: the list above, below it who waited for whom ------------------------------------------------
export function Locks(): JSX.Element {
	const chosen = param('lock');
	const choose = (row: Row, result: Result): void => {
		const place = String(result.rows.filter((r) => r.name !== '<Total>').indexOf(row) + 1);
		if (place !== '0' && param('lock') !== place) patch({ lock: place }, { replace: true });
	};
	return (
		<div class="stackview">
			<List command={['locks']} label="Locks" nameTitle="Lock" wish={{ limit: 1000 }} sortable={false}
				first={(rows) => rows.indexOf(rows.filter((r) => r.name !== '<Total>')[Number(chosen || 0) - 1]!)}
				select={(row, result) => {
					selection.value = { kind: 'row', name: row.name ?? '', object: row.object ?? null, row, result };
					choose(row, result);
				}}
				menu={(row, result) => (row.name === '<Total>' ? [] : [{ text: 'Who waited for whom', run: () => choose(row, result) }, null, ...lockMenu(row.name ?? '')])} />
			{chosen && holds('lock', chosen) && <OneLock name={chosen} />}
		</div>
	);
}

function OneLock({ name }: { name: string }): JSX.Element {
	const req = request(state.value, { plain: true, limit: 200 }, ['lock', name]);
	const query = useQuery(req).value;
	return <Frame query={query} command="lock" show={([result]) => <div class="onelock">{(result!.each ?? [result!]).map((one) => <WaitsForLock rows={one.rows} />)}</div>} />;
}

// In one experiment, where several are compared: its name is with the lock's.
function WaitsForLock({ rows }: { rows: Row[] }): JSX.Element {
	const pairs = rows.filter((r) => r.waiter !== undefined);
	const waits = rows.filter((r) => Array.isArray(r.frames) && r.held === undefined);
	const holders = rows.filter((r) => Array.isArray(r.frames) && r.held !== undefined);
	const metrics: Metric[] = [{ name: 'sync', title: 'Wait Time', unit: 's' }, { name: 'syncn', title: 'Waits', unit: 'count' }, { name: 'longest', title: 'Longest', unit: 's' }];
	const whose = str(rows[0], 'experiment');
	return <section><h3>{whose && `${whose} — `}{str(rows[0], 'name')}: {formatAlone(num(rows[0], 'sync'), 's')} in {num(rows[0], 'syncn') === 1 ? '1 wait' : `${num(rows[0], 'syncn').toLocaleString('en-US')} waits, the longest ${formatAlone(num(rows[0], 'longest'), 's')}`}</h3>
		<div class="cols">
			<Matrix pairs={pairs} />
			<div class="inner wide"><h3>Where they waited</h3><StackTable label="Waits" rows={waits} key_="frames" metrics={metrics} total={rows[0]} /></div>
			{holders.length > 0 && <div class="inner wide"><h3>What holders did meanwhile</h3><StackTable label="Holders" rows={holders} key_="frames" metrics={[{ name: 'held', title: 'Others Waited', unit: 's' }]} total={{ held: num(rows[0], 'sync') }} /></div>}
		</div></section>;
}

const shortThread = (name: string): string => /Thread (\d+)/.exec(name)?.[0].replace('Thread ', 'T') ?? name;

// Waiters down, holders across, the darker the longer.
function Matrix({ pairs }: { pairs: Row[] }): JSX.Element | null {
	const waiters = [...new Set(pairs.map((p) => str(p, 'waiter')))].slice(0, 24);
	const holders = [...new Set(pairs.map((p) => str(p, 'holder') || 'unknown'))].slice(0, 24);
	const pair = (w: number, h: number): Row | undefined => pairs.find((p) => str(p, 'waiter') === waiters[w] && (str(p, 'holder') || 'unknown') === holders[h]);
	return <HeatTable title="Who waited (down) for whom (across)" down={waiters.map(shortThread)} across={holders.map(shortThread)} unit="s" text value={(w, h) => num(pair(w, h), 'sync')}
		tip={(w, h) => `${waiters[w]} waited for ${holders[h]}: ${num(pair(w, h), 'syncn')} times`} />;
}

// ---- input and output ------------------------------------------------------------------------------------
const ioTabs: [string, string][] = [['ioactivity', 'Files'], ['iodetail', 'Descriptors'], ['iocallstack', 'Call stacks'], ['iostat', 'Sizes and times']];
export function InputOutput(): JSX.Element {
	const tab = param('io') || 'ioactivity';
	const tools = <Tabs key_="io" tabs={held(ioTabs)} now={tab} />;
	if (tab === 'iostat') return <IoStatistics tools={tools} />;
	if (tab === 'iocallstack') return <IoStacks tools={tools} />;
	return <List command={[tab]} label="Files" nameTitle="File" tools={tools} wish={{ plain: true, limit: 3000 }} sortable={false}
		menu={(row) => (row.name?.startsWith('<') ? [] : fileMenu(row.name ?? ''))}
		columns={(result) => metricColumns(result).filter((c) => c.max > 0)} />;
}

function fileMenu(name: string): Menu {
	const expression = filter.ioFile(name.replace(/ \(IOVFD=.*$/, ''));
	return expressionMenu(expression, 'this file', filter.without('IOVFD', expression));
}

function IoStacks({ tools }: { tools: JSX.Element }): JSX.Element {
	const req = request(state.value, { plain: true, limit: 2000 }, ['iocallstack']);
	const query = useQuery(req).value;
	usePublish(req);
	return <Frame query={query} command="iocallstack" tools={tools} show={([result]) => {
		const metrics = result!.metrics.filter((m) => m.unit !== 'text' && result!.rows.some((r) => num(r, m.name) > 0));
		const table = (rows: Row[]): JSX.Element => <StackTable label="Call stacks of I/O" rows={rows} key_="frames" metrics={metrics} total={rows[0]} />;
		return str(result!.rows[0], 'experiment') ? <div class="scrolled"><Each rows={result!.rows} show={(rows) => <div class="inner">{table(rows)}</div>} /></div> : table(result!.rows);
	}} />;
}

function IoStatistics({ tools }: { tools: JSX.Element }): JSX.Element {
	const req = request(state.value, { plain: true }, ['iostat']);
	const query = useQuery(req).value;
	usePublish(req);
	return <Frame query={query} command="iostat" tools={tools} show={([result]) => (
		<div class="scrolled"><Each rows={result!.rows} show={(rows) => <>{rows.filter((r) => num(r, 'calls') > 0).map((r) => <section class="iogroup"><h2>{str(r, 'group')}: {num(r, 'calls').toLocaleString('en-US')} calls, {formatAlone(num(r, 'bytes'), 'bytes')}, {formatAlone(num(r, 'time_s'), 's')}, the longest {formatAlone(num(r, 'longest_s'), 's')}</h2>
			<div class="cols"><Histogram title="Sizes" bins={bins(r.sizes, 'bytes', 'calls')} unit="count" /><Histogram title="Durations" bins={bins(r.times, 's', 'calls')} unit="count" /></div></section>)}
			{errorsOf(result!, rows).length > 0 && <section><h2>Errors</h2><table class="plain"><tbody>{errorsOf(result!, rows).map((e) => <tr><td>{str(e, 'name')}</td><td class="n">{num(e, 'calls')}</td><td class="n">{formatAlone(num(e, 'time_s'), 's')}</td></tr>)}</tbody></table></section>}
			</>} /></div>
	)} />;
}

const errorsOf = (result: Result, rows: Row[]): Row[] => ((rows.find((r) => r.errors) ?? result).errors as Row[] | undefined) ?? [];

