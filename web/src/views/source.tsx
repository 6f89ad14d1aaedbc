// SPDX-License-Identifier: Apache-2.0
// Source and disassembly, alone or side by side and linked: metrics for each line and instruction, hot
// marks in the scroll bar, jumps as arrows, remarks of compilers.

import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { baseName, largest } from '../format';
import { highlight, highlightInstruction, jumpTarget, languageOf, type Carry, type Piece } from '../highlight';
import { useKeys } from '../keys';
import { useQuery } from '../query';
import { functionRef, request } from '../request';
import { matcher } from '../search';
import { catalogue, mainMetric, param, patch, rowHeight, selection, show, state } from '../store';
import type { Result, Row } from '../types';
import { isSortedBy, num, str } from '../types';
import { functionMenu, lineMenu } from '../ui/actions';
import { copyText, openMenu, type Menu } from '../ui/menu';
import { metricColumns, Table } from '../ui/table';
import { Choice, Frame, Toggle, usePublish } from '../ui/view';

type What = 'source' | 'disasm';

const target = (): string => param('file') || param('fn') || (selection.value?.kind === 'function' ? functionRef(selection.value.name, selection.value.object) : '');

interface Listing { source?: { path?: string | null; missing?: boolean; newer?: boolean; found_as?: string | null }; load_object?: { path?: string } }
const listingOf = (result: Result | null | undefined): Listing => (result?.listing as Listing | undefined) ?? {};

// Classes of remarks are settings of the command.
function settingsOf(what: What, wish: { narrow: boolean }): { request: ReturnType<typeof request> } {
	const name = target();
	const metrics = wish.narrow && !param('m') ? `e.${mainMetric.value}:i.${mainMetric.value}:name` : undefined;
	const command: [string, ...string[]] = [what, ...(what === 'disasm' ? [...(param('intel') ? ['-intel'] : []), ...(param('hex') ? ['-hex'] : [])] : []), name];
	const req = request(state.value, metrics ? { metrics } : {}, command);
	if (param('cc')) req.settings.push([what === 'source' ? 'scc' : 'dcc', param('cc')]);
	return { request: req };
}

// The listing's number and text; instructions keep theirs.
const textOf = (row: Row): string => (row.kind === 'source' ? String(row.name ?? '').replace(/^\s*\d+\. ?/, '') : String(row.name ?? '').replace(/^ {1,7}/, ''));

function Pieces({ pieces, fits }: { pieces: Piece[]; fits: boolean }): JSX.Element {
	return <span class={`txt ${fits ? 'hit' : ''}`}>{pieces.map((p) => (p.kind ? <span class={`k-${p.kind}`}>{p.text}</span> : p.text))}</span>;
}

interface ListingProps {
	result: Result;
	what: What;
	line: number | null; // linked from the other listing
	onLine(line: number | null): void;
}

function CodeListing({ result, what, line, onLine }: ListingProps): JSX.Element {
	const rows = result.rows;
	const path = listingOf(result).source?.path ?? '';
	const object = listingOf(result).load_object?.path ?? null;
	const columns = useMemo(() => metricColumns(result, rows).filter((c) => c.max > 0 || isSortedBy(result.sort, c.key)).map((c) => ({ ...c, total: 0 })), [result]);
	const scored = (columns.find((c) => isSortedBy(result.sort, c.key)) ?? columns[0])?.key ?? '';
	const [at, setAt] = useState(-1);
	const max = useMemo(() => largest([0, ...rows.map((r) => num(r, scored))]), [rows, scored]);
	const pieces = useMemo(() => {
		const language = languageOf(path);
		const carry: Carry = { comment: false };
		return rows.map((r) => (r.kind === 'source' ? highlight(textOf(r), language, carry) : r.kind === 'instruction' ? highlightInstruction(textOf(r)) : [{ text: textOf(r), kind: 'com' as const }]));
	}, [rows]);
	const hot = useMemo(() => rows.flatMap((r, i) => (num(r, scored) > 0 ? [i] : [])), [rows, scored]);
	const hottest = useMemo(() => hot.filter((i) => rows[i]!.hot || num(rows[i], scored) >= max * 0.1), [hot, max]);
	const arrows = useMemo(() => (what === 'disasm' ? jumps(rows) : null), [rows, what]);
	const fits = matcher(param('q'));
	const hits = useMemo(() => (fits ? rows.flatMap((r, i) => (fits(r.name ?? '') ? [i] : [])) : []), [rows, param('q')]);

	useEffect(() => {
		const wanted = Number(param('line'));
		let i = wanted && what === 'source' ? rows.findIndex((r) => r.line === wanted && r.kind === 'source') : -1;
		if (i < 0) for (const h of hot) if (i < 0 || num(rows[h], scored) > num(rows[i], scored)) i = h;
		setAt(i < 0 ? 0 : i);
	}, [result]);
	useEffect(() => {
		if (line === null || rows[at]?.line === line) return;
		const i = rows.findIndex((r) => r.line === line && r.kind === (what === 'source' ? 'source' : 'instruction'));
		if (i >= 0) setAt(i);
	}, [line]);
	const choose = (i: number): void => {
		setAt(i);
		const row = rows[i];
		if (!row) return;
		selection.value = { kind: 'row', name: textOf(row).trim(), title: typeof row.line === 'number' ? `${baseName(path)}:${row.line}` : textOf(row).trim(), object, row, result };
		onLine(typeof row.line === 'number' ? row.line : null);
	};
	const jumpTo = (list: number[], by: number): void => {
		if (!list.length) return;
		const next = by > 0 ? list.find((i) => i > at) ?? list[0]! : [...list].reverse().find((i) => i < at) ?? list[list.length - 1]!;
		choose(next);
	};
	useKeys([
		{ key: ']', help: 'next hot line', group: 'Source', run: () => jumpTo(hottest, 1) },
		{ key: '[', help: 'previous hot line', group: 'Source', run: () => jumpTo(hottest, -1) },
		{ key: '}', help: 'next line with a value', group: 'Source', run: () => jumpTo(hot, 1) },
		{ key: '{', help: 'previous line with a value', group: 'Source', run: () => jumpTo(hot, -1) },
		{ key: 'n', help: 'next that fits Find', group: 'Find', run: () => jumpTo(hits, 1) },
		{ key: 'N', help: 'previous that fits Find', group: 'Find', run: () => jumpTo(hits, -1) },
	]);
	const menu = (i: number): Menu => {
		const row = rows[i]!;
		const call = /<([^>+]+)>\s*$/.exec(row.name ?? '')?.[1];
		const items: Menu = typeof row.line === 'number' && path ? lineMenu(path, row.line) : [];
		const goal = row.kind === 'instruction' ? jumpTarget(row.name ?? '') : null;
		if (goal !== null) items.unshift({ text: 'Go to the target of the jump', run: () => { const t = rows.findIndex((r) => r.address === goal); if (t >= 0) choose(t); } });
		if (call) items.push(null, ...functionMenu(call, null));
		return [...items, { text: 'Copy line', run: () => void copyText(textOf(row), 'the line') }];
	};
	// Heat on a logarithmic scale, in five steps.
	const heat = (row: Row): string => {
		const v = num(row, scored);
		return v > 0 && max > 0 ? `heat${Math.max(1, Math.min(5, 5 + Math.ceil(Math.log10(v / max) * 2)))}` : '';
	};
	const gutter = useMemo(() => String(largest([0, ...rows.map((r) => num(r, 'line'))])).length, [rows]);
	const linked = line ?? rows[at]?.line;
	return (
		<Table code label={what === 'source' ? 'Source' : 'Disassembly'} rows={rows} columns={columns} nameTitle={what === 'source' ? path || 'Source' : `Instructions${object ? ` of ${baseName(object)}` : ''}`}
			selected={at} onSelect={choose} focus onMenu={(i, x, y) => openMenu(menu(i), x, y)}
			onOpen={(i) => { const call = /<([^>+]+)>\s*$/.exec(rows[i]!.name ?? '')?.[1]; if (call) patch({ fn: call, file: undefined, line: undefined }); }}
			rowClass={(row) => `k-${String(row.kind)} ${heat(row)} ${row.hot ? 'hot' : ''} ${typeof linked === 'number' && row.line === linked ? 'linked' : ''}`}
			marks={hottest.slice(0, 400).map((i) => ({ at: i / rows.length, colour: rows[i]!.hot ? 'var(--hot)' : 'var(--warm)' }))}
			name={(row, i) => <>
				{arrows && <Gutter arrows={arrows} i={i} at={at} />}
				{row.kind === 'source' && <span class="ln" style={{ width: `${gutter + 2}ch` }}>{typeof row.line === 'number' ? row.line : ''}</span>}
				<Pieces pieces={pieces[i]!} fits={fits?.(row.name ?? '') ?? false} />
			</>} />
	);
}

// Jumps inside what is listed, each in a lane where it meets no other.
interface Arrow { from: number; to: number; lane: number }
const LANES = 6;

export function jumps(rows: Row[]): Arrow[] {
	const at = new Map<number, number>();
	rows.forEach((r, i) => { if (typeof r.address === 'number' && r.kind === 'instruction') at.set(r.address, i); });
	const list: Arrow[] = [];
	rows.forEach((r, i) => {
		const goal = r.kind === 'instruction' ? jumpTarget(r.name ?? '') : null;
		const to = goal === null ? undefined : at.get(goal);
		if (to !== undefined && to !== i) list.push({ from: i, to, lane: -1 });
	});
	list.sort((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from));
	const taken: [number, number][][] = Array.from({ length: LANES }, () => []);
	for (const arrow of list) {
		const [low, high] = [Math.min(arrow.from, arrow.to), Math.max(arrow.from, arrow.to)];
		arrow.lane = taken.findIndex((lane) => lane.every(([a, b]) => high < a || low > b));
		if (arrow.lane >= 0) taken[arrow.lane]!.push([low, high]);
	}
	return list.filter((a) => a.lane >= 0);
}

function Gutter({ arrows, i, at }: { arrows: Arrow[]; i: number; at: number }): JSX.Element {
	const h = rowHeight.value;
	const w = LANES * 6 + 8;
	const here = arrows.filter((a) => i >= Math.min(a.from, a.to) && i <= Math.max(a.from, a.to));
	return (
		<svg class="gutter" width={w} height={h} aria-hidden="true">
			{here.map((a) => {
				const x = w - 8 - a.lane * 6 + 0.5;
				const low = Math.min(a.from, a.to);
				const y0 = i === low ? h / 2 : 0;
				const y1 = i === Math.max(a.from, a.to) ? h / 2 : h;
				const end = i === a.from || i === a.to;
				const chosen = at === a.from || at === a.to;
				return <g class={chosen ? 'on' : ''}>
					<path d={`M${x} ${y0}V${y1}${end ? `M${x} ${h / 2}H${w - 2}` : ''}`} />
					{i === a.to && <path d={`M${w - 5} ${h / 2 - 3}L${w - 1} ${h / 2}L${w - 5} ${h / 2 + 3}`} />}
				</g>;
			})}
		</svg>
	);
}

function Tools({ what }: { what: What | 'both' }): JSX.Element {
	const [text, setText] = useState('');
	return <>
		<form onSubmit={(e) => { e.preventDefault(); const t = text.trim(); if (t) patch(/[./]/.test(t) && !t.includes('(') ? { file: t, line: undefined } : { fn: t, file: undefined, line: undefined }); }}>
			<input aria-label="Function or file" placeholder={target() || 'function or file'} value={text} onInput={(e) => setText(e.currentTarget.value)} size={26} />
		</form>
		<div class="seg" role="group" aria-label="Listing">
			{([['source', 'Source'], ['disassembly', 'Disassembly'], ['both', 'Both']] as const).map(([v, label]) =>
				<Toggle label={label} on={(v === 'disassembly' ? 'disasm' : v) === what} onChange={() => show(v)} />)}
		</div>
		<Choice label="Remarks" value={param('cc')} options={[['', 'basic'], ['all', 'all'], ['none', 'none'], ['loop', 'loops'], ['inline', 'inlining'], ['basic:query', 'and what was not done']]} onChange={(v) => patch({ cc: v || undefined })} />
		{what !== 'source' && <><Toggle label="Intel" on={param('intel') === '1'} onChange={(on) => patch({ intel: on ? '1' : undefined })} /><Toggle label="Hex" on={param('hex') === '1'} onChange={(on) => patch({ hex: on ? '1' : undefined })} /></>}
		<span class="hint"><kbd>[</kbd> <kbd>]</kbd> hot lines</span>
	</>;
}

// Before a function has been chosen: those that most of the time went to.
function Unchosen({ what }: { what: What | 'both' }): JSX.Element {
	const query = useQuery(catalogue.value ? request(state.value, { metrics: `e.${mainMetric.value}:name`, sort: `e.${mainMetric.value}`, limit: 12, noCompare: true }, ['functions']) : null).value;
	const rows = query.answer?.results[0]?.rows.filter((r) => r.object && !/^</.test(str(r, 'name'))).slice(0, 8) ?? [];
	return <section class="view"><div class="tools"><Tools what={what} /></div>
		<div class="empty"><p>Select a function first, in Functions for example, or type its name above.</p>
			{rows.length > 0 && <><p>The hottest:</p><ul class="hints">{rows.map((r) => <li><button class="link" onClick={() => patch({ fn: functionRef(str(r, 'name'), r.object), file: undefined, line: undefined })}>{str(r, 'name')}</button>
				{' '}<span class="dim">{baseName(r.object ?? '')}</span></li>)}</ul></>}</div></section>;
}

export function SourceOrDisassembly({ what }: { what: What }): JSX.Element {
	const name = target();
	const { request: req } = settingsOf(what, { narrow: false });
	const query = useQuery(name ? req : null).value;
	usePublish(name ? req : null);
	const [line, setLine] = useState<number | null>(null);
	if (!name) return <Unchosen what={what} />;
	return <Frame query={query} command={what} tools={<Tools what={what} />} show={([result]) => <><Note result={result} /><CodeListing result={result!} what={what} line={line} onLine={setLine} /></>} />;
}

function Note({ result }: { result: Result | null | undefined }): JSX.Element | null {
	const source = listingOf(result).source;
	const notes = [];
	if (source?.missing) notes.push(`The source ${source.path} is not here: setpath or pathmap in .er.rc say where it is.`);
	if (source?.newer) notes.push('The source is newer than the program: lines may have moved.');
	return notes.length ? <div class="note">{notes.join(' ')}</div> : null;
}

export function Both(): JSX.Element {
	const name = target();
	const left = settingsOf('source', { narrow: true }).request;
	const right = settingsOf('disasm', { narrow: true }).request;
	const source = useQuery(name && catalogue.value ? left : null).value;
	const disasm = useQuery(name && catalogue.value ? right : null).value;
	usePublish(name ? { settings: left.settings, commands: [...left.commands, ...right.commands] } : null);
	const [line, setLine] = useState<number | null>(null);
	if (!name) return <Unchosen what="both" />;
	return (
		<section class="view"><div class="tools"><Tools what="both" /></div>
			<div class="both">
				<Frame query={source} command="source" show={([result]) => <CodeListing result={result!} what="source" line={line} onLine={setLine} />} />
				<Frame query={disasm} command="disasm" show={([result]) => <CodeListing result={{ ...result!, rows: result!.rows.filter((r) => r.kind !== 'source') }} what="disasm" line={line} onLine={setLine} />} />
			</div>
		</section>
	);
}
