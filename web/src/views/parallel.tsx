// SPDX-License-Identifier: Apache-2.0
// What parallel programs have: OpenMP's regions and tasks; MPI's functions, ranks, messages, waits and
// communicators.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { stateColour } from '../colour';
import { baseName, formatAlone, largest } from '../format';
import { useQuery } from '../query';
import { request } from '../request';
import { dark, param, selection, state } from '../store';
import type { Metric, Result, Row } from '../types';
import { num, str } from '../types';
import { type Bin, HeatTable, Histogram, Shares, type Share } from '../ui/charts';
import { metricColumn, metricColumns, Table, type Column } from '../ui/table';
import { Frame, held, Tabs, Toggle, usePublish } from '../ui/view';
import { List } from './list';
import { IndexObject } from './objects';
import { parseFrame, StackTable } from './stacks';

const seconds = (name: string, title: string): Metric => ({ name, title, unit: 's' });
const count = (name: string, title: string): Metric => ({ name, title, unit: 'count' });
const bytes = (name: string, title: string): Metric => ({ name, title, unit: 'bytes' });
const part = (title: string, value: number, like: string): Share => ({ title, value: Math.max(0, value), colour: stateColour(like, dark.value) });

// ---- OpenMP ------------------------------------------------------------------------------------------------
const ompTabs: [string, string][] = [['regions', 'Regions'], ['tasks', 'Tasks'], ['OMP_preg', 'Metrics by region'], ['OMP_task', 'Metrics by task']];

// The threads' time of each region: its threads' times its duration.
function regionShares(rows: Row[]): JSX.Element {
	return <Shares title="What became of the time of each region’s threads" rows={rows.filter((r) => r.name !== '<Total>').map((r) => ({
		label: r.name ?? '',
		parts: [part('work', num(r, 'work'), 'user'), part('lost by unequal work', num(r, 'unequal'), 'lock'), part('lost otherwise', num(r, 'lost') - num(r, 'unequal'), 'sleep')],
	}))} />;
}

// What to look at first is in sight where the names leave little room.
const order = ['lost', 'unequal', 'work', 'duration', 'calls', 'threads'];
const lossFirst = (columns: Column[]): Column[] => columns.sort((a, b) => order.indexOf(a.key) - order.indexOf(b.key));

export function OpenMP(): JSX.Element {
	const tab = param('omp') || 'regions';
	const tools = <Tabs key_="omp" tabs={held(ompTabs, (v) => (v.startsWith('OMP') ? ['indxobj', v] : [v]))} now={tab} />;
	if (tab === 'OMP_preg' || tab === 'OMP_task')
		return <div class="stackview"><div class="tools">{tools}</div><IndexObject key={tab} name={tab} title={tab === 'OMP_preg' ? 'OpenMP regions' : 'OpenMP tasks'} /></div>;
	return <List key={tab} command={[tab]} label={tab === 'regions' ? 'Regions' : 'Tasks'} nameTitle={tab === 'regions' ? 'Parallel region' : 'Task'} tools={tools} wish={{ plain: true }} sortable={false}
		empty={tab === 'tasks' ? 'The program made no explicit tasks that the filters let through.' : 'No parallel region ended that the filters let through.'}
		columns={(result) => (tab === 'regions' ? lossFirst(metricColumns(result)) : metricColumns(result))}
		{...(tab === 'regions' ? { above: (_: Result, rows: Row[]) => regionShares(rows) } : {})} />;
}

// ---- MPI -----------------------------------------------------------------------------------------------------
const mpiTabs: [string, string][] = [['functions', 'Functions'], ['ranks', 'Ranks'], ['mpimatrix', 'Messages'], ['mpiwaits', 'Waits'], ['mpiwaitstacks', 'Waits by call path'], ['sizes', 'Sizes'], ['mpicomms', 'Communicators']];
const callColumns = [
	count('calls', 'Calls'), seconds('time_s', 'Time'), seconds('longest_s', 'Longest'), count('sends', 'Sends'), bytes('bytes_sent', 'Bytes Sent'),
	count('receives', 'Receives'), bytes('bytes_received', 'Bytes Asked For'), bytes('bytes_arrived', 'Bytes Arrived'), count('errors', 'Errors'),
];
const rankName = (rank: unknown): string => (typeof rank === 'number' && rank >= 0 ? `Rank ${rank}` : 'Rank unknown');
const whose = (row: Row): string => (str(row, 'experiment') ? ` — ${baseName(str(row, 'experiment'))}` : '');

const textColumn = (key: string, title: string, width: number, text: (row: Row) => string): Column =>
	({ key, title, full: title, unit: 'text', scale: { unit: '', factor: 1, decimals: 0 }, max: 0, total: 0, tone: 'e', form: 'value', width, text });

function Rows({ label, nameTitle, rows, metrics, name, texts = [] }: { label: string; nameTitle: string; rows: Row[]; metrics: Metric[]; name(row: Row): string; texts?: Column[] }): JSX.Element {
	const [at, setAt] = useState(0);
	const columns = metrics.map((m) => metricColumn(m, rows)).filter((c) => c.max > 0);
	return <Table label={label} rows={rows} columns={[...columns, ...texts]} nameTitle={nameTitle} selected={Math.min(at, rows.length - 1)} focus name={name}
		onSelect={(i) => {
			setAt(i);
			selection.value = { kind: 'row', name: name(rows[i]!), row: rows[i]!, facts: texts.map((c): [string, string] => [c.title, c.text!(rows[i]!)]) };
		}} />;
}

export function Mpi(): JSX.Element {
	const tab = param('mpi') || 'functions';
	const commandOf = (v: string): string => (v === 'functions' || v === 'ranks' || v === 'sizes' ? 'mpistat' : v);
	const command = commandOf(tab);
	const req = request(state.value, { plain: true }, [command]);
	const query = useQuery(req).value;
	usePublish(req);
	const of = (rows: Row[]): Row[] => rows.filter((r) => tab === 'functions' ? r.function !== undefined : tab === 'ranks' ? r.process !== undefined : tab === 'sizes' ? r.size_from !== undefined : true);
	return <Frame query={query} command={command} tools={<Tabs key_="mpi" tabs={held(mpiTabs, (v) => [commandOf(v)])} now={tab} />} count={([result]) => of(result?.rows ?? []).length}
		empty={tab === 'mpimatrix' || tab === 'sizes' ? 'No message between ranks was sent that the filters let through.' : tab.startsWith('mpiwait') ? 'No rank waited for another one in a call that the filters let through.' : 'No call of MPI that the filters let through.'}
		show={([result]) => {
			const rows = of(result!.rows);
			if (tab === 'functions') return <Rows key={tab} label="MPI functions" nameTitle="Function" rows={rows} metrics={callColumns} name={(r) => str(r, 'function') + whose(r)} />;
			if (tab === 'ranks') return <Ranks result={result!} rows={rows} />;
			if (tab === 'mpimatrix') return <Messages rows={rows} />;
			if (tab === 'mpiwaits') return <Waits result={result!} rows={rows} />;
			if (tab === 'mpiwaitstacks') return <WaitsByPath rows={rows} />;
			if (tab === 'sizes') return <Histogram title="Messages by size" bins={sizeBins(rows)} unit="count" valueTitle="Messages" />;
			return <Rows key={tab} label="Communicators" nameTitle="Communicator" rows={rows} metrics={[count('number', 'Number'), count('size', 'Ranks')]} name={(r) => str(r, 'name') || `communicator ${num(r, 'number')}`}
				texts={[textColumn('identity', 'Members', 24, (r) => str(r, 'identity'))]} />;
		}} />;
}

function Ranks({ result, rows }: { result: Result; rows: Row[] }): JSX.Element {
	return <>
		{typeof result.imbalance === 'number' && <p class="line">Imbalance of work outside MPI: <b>{result.imbalance.toFixed(1)} %</b>: the mean rank works so much less than the slowest one.</p>}
		<Shares title="What each rank’s time went to" scaled rows={rows.map((r) => ({
			label: rankName(r.rank) + whose(r),
			parts: [part('outside MPI', num(r, 'run_s') - num(r, 'time_s'), 'user'), part('waits for messages', num(r, 'wait_s'), 'lock'), part('collectives', num(r, 'collective_s'), 'wait'),
				part('other calls of MPI', num(r, 'time_s') - num(r, 'wait_s') - num(r, 'collective_s'), 'system')],
		}))} />
		<Rows label="Ranks" nameTitle="Rank" rows={rows} metrics={[seconds('run_s', 'Run'), seconds('time_s', 'In MPI'), seconds('wait_s', 'Waits'), seconds('collective_s', 'Collectives'), ...callColumns.filter((m) => m.name !== 'time_s')]} name={(r) => rankName(r.rank) + whose(r)} />
	</>;
}

const MATRIX = 48;

// Senders down, receivers across; where there are many ranks, several of them are one line.
function Messages({ rows }: { rows: Row[] }): JSX.Element {
	const [key, setKey] = useState('bytes');
	const groups = [...new Set(rows.map((r) => `${num(r, 'world')}${whose(r)}`))];
	return <>
		<div class="tools"><div class="seg" role="group"><Toggle label="Bytes" on={key === 'bytes'} onChange={() => setKey('bytes')} /><Toggle label="Messages" on={key === 'messages'} onChange={() => setKey('messages')} /></div></div>
		<div class="charts">{groups.map((g) => <Matrix pairs={rows.filter((r) => `${num(r, 'world')}${whose(r)}` === g)} unit={key === 'bytes' ? 'bytes' : 'count'} value={key} title={groups.length > 1 ? `World ${g}` : ''} />)}</div>
		<Rows label="Messages" nameTitle="From rank to rank" rows={rows} metrics={[count('messages', 'Messages'), bytes('bytes', 'Bytes')]} name={(r) => `${num(r, 'from')} → ${num(r, 'to')}${whose(r)}`} />
	</>;
}

function Matrix({ pairs, unit, value, title }: { pairs: Row[]; unit: string; value: string; title: string }): JSX.Element {
	const ranks = largest(pairs.map((p) => Math.max(num(p, 'from'), num(p, 'to')))) + 1;
	const size = Math.ceil(ranks / MATRIX);
	const sums = new Map<number, number>();
	for (const p of pairs) {
		const at = Math.floor(num(p, 'from') / size) * MATRIX + Math.floor(num(p, 'to') / size);
		if (num(p, 'from') >= 0 && num(p, 'to') >= 0) sums.set(at, (sums.get(at) ?? 0) + num(p, value));
	}
	const labels = Array.from({ length: Math.ceil(ranks / size) }, (_, i) => (size === 1 ? String(i) : `${i * size}–${Math.min(ranks, (i + 1) * size) - 1}`));
	return <HeatTable title={`${title ? `${title}: ` : ''}Who sends (down) to whom (across)`} down={labels} across={labels} unit={unit} text={labels.length <= 16} value={(d, a) => sums.get(d * MATRIX + a) ?? 0}
		tip={(d, a, v) => `rank ${labels[d]} to rank ${labels[a]}: ${formatAlone(v, unit)}`} />;
}

const waitKinds: Record<string, string> = { late_sender: 'late sender', late_receiver: 'late receiver', collective: 'at a collective' };
function Waits({ result, rows }: { result: Result; rows: Row[] }): JSX.Element {
	const ranks = [...new Set(rows.flatMap((r) => [num(r, 'waiter'), num(r, 'other')]))].sort((a, b) => a - b).slice(0, MATRIX);
	const sums = new Map<string, number>();
	for (const r of rows) sums.set(`${num(r, 'waiter')} ${num(r, 'other')}`, (sums.get(`${num(r, 'waiter')} ${num(r, 'other')}`) ?? 0) + num(r, 'time_s'));
	const labels = ranks.map(String);
	return <>
		<p class="line">Messages with both ends: {num(result, 'messages').toLocaleString('en-US')}; sends without a receive: {num(result, 'sends_alone').toLocaleString('en-US')}; receives without a send: {num(result, 'receives_alone').toLocaleString('en-US')}; collective calls with all members: {num(result, 'collectives').toLocaleString('en-US')}</p>
		<div class="charts"><HeatTable title="Which rank waited (down) for which (across)" down={labels} across={labels} unit="s" text={labels.length <= 16} value={(d, a) => sums.get(`${labels[d]} ${labels[a]}`) ?? 0} tip={(d, a, v) => `rank ${labels[d]} waited for rank ${labels[a]}: ${formatAlone(v, 's')}`} /></div>
		<Rows label="Waits" nameTitle="Who waited for whom" rows={rows} metrics={[seconds('time_s', 'Time'), count('count', 'Waits'), seconds('longest_s', 'Longest')]}
			name={(r) => `rank ${num(r, 'waiter')} in ${str(r, 'function')} for rank ${num(r, 'other')} in ${str(r, 'other_function')}`} texts={[textColumn('kind', 'Why', 16, (r) => waitKinds[str(r, 'kind')] ?? str(r, 'kind'))]} />
	</>;
}

// Two call paths a row: the one that waited in the table, the other one in the selection's facts.
function WaitsByPath({ rows }: { rows: Row[] }): JSX.Element {
	return <StackTable label="Waits by call path" rows={rows} key_="frames" metrics={[seconds('time_s', 'Time'), count('count', 'Waits'), seconds('longest_s', 'Longest')]}
		extra={[textColumn('kind', 'Why', 16, (r) => waitKinds[str(r, 'kind')] ?? str(r, 'kind')), textColumn('other', 'Waited for', 24, (r) => callPath(r).map((f) => parseFrame(f).name).join(' ← '))]}
		facts={(r) => callPath(r).map((frame, i): [string, string] => [i ? 'called by' : 'Waited for', frame])} />;
}

const callPath = (row: Row): string[] => (row.other_frames as string[] | undefined) ?? [];

const sizeBins = (rows: Row[]): Bin[] => rows.map((r) => ({ label: `from ${formatAlone(num(r, 'size_from'), 'bytes')}${whose(r)}`, value: num(r, 'messages') }));
