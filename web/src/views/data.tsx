// SPDX-License-Identifier: Apache-2.0
// Data objects: variables and types by the addresses that counters saw; and structures drawn as they lie in
// memory, with the lines of the cache and the heat of each member.

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import * as filter from '../filter';
import { formatAlone, largest, percent } from '../format';
import { useQuery } from '../query';
import { request } from '../request';
import { matcher } from '../search';
import { param, state } from '../store';
import type { Result, Row } from '../types';
import { isSortedBy, num, str } from '../types';
import { expressionMenu } from '../ui/actions';
import { openMenu } from '../ui/menu';
import { Frame, usePublish } from '../ui/view';
import { List } from './list';

const LINE = 64;

const resolved = (result: Result): JSX.Element => (
	<p class="line">{typeof result.resolved === 'number' ? `${(100 * result.resolved).toFixed(1)} % of the events belong to a known data object` : ''}
		{typeof result.resolved_of_addresses === 'number' ? `; of those with an address ${(100 * result.resolved_of_addresses).toFixed(1)} %` : ''}</p>
);

export const DataObjects = (): JSX.Element => (
	<List command={['data_objects']} label="Data objects" above={resolved} nameTitle="Data object"
		menu={(row) => (/^[<(]/.test(row.name ?? '') ? [] : expressionMenu(filter.dataObject(row.name!), 'this data object'))} />
);

interface Member { row: Row; name: string; offset: number; size: number; depth: number; value: number }
interface Structure { name: string; size: number; value: number; members: Member[] }

export function structures(result: Result, key: string): Structure[] {
	const list: Structure[] = [];
	for (const row of result.rows) {
		if (row.element === null || row.element === undefined) continue;
		const member = { row, name: str(row, 'element'), offset: num(row, 'offset'), size: num(row, 'size'), depth: num(row, 'depth'), value: num(row, key) };
		if (member.depth === 0) list.push({ name: member.name, size: member.size, value: member.value, members: [] });
		else list[list.length - 1]?.members.push(member);
	}
	return list.sort((a, b) => b.value - a.value);
}

export function DataLayout(): JSX.Element {
	const req = request(state.value, {}, ['data_layout']);
	const query = useQuery(req).value;
	usePublish(req);
	return <Frame query={query} command="data_layout" show={([result]) => <Layout result={result!} />} count={(r) => r[0]?.rows.filter((x) => x.element).length ?? 0} />;
}

function Layout({ result }: { result: Result }): JSX.Element {
	const metric = result.metrics.find((m) => isSortedBy(result.sort, m.name)) ?? result.metrics.find((m) => m.unit !== 'text');
	const key = metric?.name ?? '';
	const list = useMemo(() => structures(result, key), [result, key]);
	const fits = matcher(param('q'));
	const [all, setAll] = useState(false);
	const total = num(result.rows[0], key);
	const shown = list.filter((s) => (!fits || fits(s.name)) && (all || s.value > 0 || fits));
	return (
		<div class="scrolled">{resolved(result)}
			{shown.map((s) => <OneStructure s={s} total={total} unit={metric?.unit ?? 'count'} />)}
			{!all && <button class="flat" onClick={() => setAll(true)}>also structures without events ({list.length - shown.length})</button>}
		</div>
	);
}

// One row for each line of the cache; members as boxes as wide as their bytes.
function OneStructure({ s, total, unit }: { s: Structure; total: number; unit: string }): JSX.Element {
	const outer = s.members.filter((m) => m.depth === 1);
	const max = largest(outer.map((m) => m.value)) || 1;
	const lines = Math.max(1, Math.ceil(s.size / LINE));
	const heat = (v: number): string => (v > 0 ? `heat${Math.max(1, Math.min(5, 5 + Math.ceil(Math.log10(v / max) * 2)))}` : '');
	const parts = Array.from({ length: Math.min(lines, 64) }, (_, line) => outer.filter((m) => m.size > 0 && m.offset < (line + 1) * LINE && m.offset + m.size > line * LINE)
		.map((m) => ({ m, from: Math.max(0, m.offset - line * LINE), to: Math.min(LINE, m.offset + m.size - line * LINE) })));
	const label = (name: string): string => {
		const inner = name.replace(/^\{|\}$/g, '');
		const last = inner.replace(/^.* /, '');
		return last === '-' ? inner : last;
	};
	// Lines that one member fills are drawn once.
	const filled = (line: number): string => (parts[line]?.length === 1 && parts[line]![0]!.to - parts[line]![0]!.from === LINE ? parts[line]![0]!.m.name + parts[line]![0]!.m.offset : '');
	const repeats = (line: number): boolean => line > 0 && filled(line) !== '' && filled(line) === filled(line - 1);
	const until = (line: number): number => { let n = line; while (repeats(n + 1)) n++; return n; };
	return (
		<section class="structure"><h3>{s.name} <small>{s.size} bytes, {lines} {lines === 1 ? 'line' : 'lines'} of the cache · {formatAlone(s.value, unit)} {percent(s.value, total)}</small></h3>
			<div class="lines">{parts.map((list, line) => !repeats(line) && <div class="cacheline"><span class="off">+{line * LINE}{until(line) > line ? ` … ${until(line) * LINE}` : ''}</span><div class="bytes">
				{list.map(({ m, from, to }) => <button class={`member ${heat(m.value)}`} style={{ left: `${(100 * from) / LINE}%`, width: `${(100 * (to - from)) / LINE}%` }}
					title={`${m.name}\noffset ${m.offset}, ${m.size} bytes\n${formatAlone(m.value, unit)} ${percent(m.value, s.value)} of the structure`}
					onClick={(e) => openMenu(expressionMenu(filter.dataObject(`${s.name}.${m.name}`), 'this member'), e.clientX, e.clientY)}>{label(m.name)}{m.value > 0 && <small> {percent(m.value, s.value)}</small>}</button>)}
			</div></div>)}
			{lines > 64 && <p class="hint">and {lines - 64} more lines</p>}</div>
		</section>
	);
}
