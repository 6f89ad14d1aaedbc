// SPDX-License-Identifier: Apache-2.0
// Callers and callees of one function, or of a fragment of calls that is made longer and shorter.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { baseName } from '../format';
import { useKeys } from '../keys';
import { useQuery } from '../query';
import { functionRef, request } from '../request';
import { param, patch, selection, state, undo } from '../store';
import type { Result, Row } from '../types';
import { functionMenu, selectFunction } from '../ui/actions';
import { openMenu } from '../ui/menu';
import { metricColumns, Table } from '../ui/table';
import { Frame, usePublish } from '../ui/view';
import { sortBy } from './list';

// The fragment stands in the address as the commands that made it: "csingle F", "cappend G", "crmfirst" ...
export function CallersCallees(): JSX.Element {
	const fn = param('fn') || (selection.value?.kind === 'function' ? functionRef(selection.value.name, selection.value.object) : '<Total>');
	const fragment = param('frag').split('\n').filter(Boolean);
	const commands: [string, ...string[]][] = [['csingle', fn], ...fragment.map((line): [string, ...string[]] => {
		const at = line.indexOf(' ');
		return at < 0 ? [line] : [line.slice(0, at), line.slice(at + 1)];
	})];
	const req = request(state.value, {}, ...commands);
	const query = useQuery(req).value;
	usePublish(req);
	const results = query.answer?.results;
	const result = results?.[results.length - 1];
	const [at, setAt] = useState<{ role: string; i: number }>({ role: 'center', i: 0 });
	const rows = (role: string): Row[] => result?.rows.filter((r) => r.role === role) ?? [];
	const center = (row: Row): void => {
		selectFunction(row.name!, row.object);
		patch({ fn: functionRef(row.name!, row.object), frag: undefined });
		setAt({ role: 'center', i: 0 });
	};
	const extend = (command: string, row?: Row): void =>
		patch({ fn, frag: [...fragment, row ? `${command} ${functionRef(row.name!, row.object)}` : command].join('\n') });
	const chosen = rows(at.role)[at.i];
	useKeys([
		{ key: 'Enter', help: 'the selected function to the middle', group: 'Callers and callees', run: () => chosen && center(chosen) },
		{ key: 'a', help: 'add the selected caller or callee to the fragment', group: 'Callers and callees', run: () => chosen && at.role !== 'center' && extend(at.role === 'caller' ? 'cprepend' : 'cappend', chosen) },
		{ key: 'Backspace', help: 'back to the function before', group: 'Callers and callees', run: undo },
	]);
	const tools = <>
		<button onClick={undo}>← Back</button>
		<button disabled={at.role !== 'caller' || !chosen} onClick={() => chosen && extend('cprepend', chosen)} title="Put the selected caller before the fragment">Add caller</button>
		<button disabled={at.role !== 'callee' || !chosen} onClick={() => chosen && extend('cappend', chosen)} title="Put the selected callee behind the fragment">Add callee</button>
		<button disabled={rows('center').length < 2} onClick={() => extend('crmfirst')}>Remove first</button>
		<button disabled={rows('center').length < 2} onClick={() => extend('crmlast')}>Remove last</button>
		<span class="hint">Double-click or Enter: to the middle</span>
	</>;
	const pane = (role: string, label: string, r: Result): JSX.Element => (
		<div class={`ccpane ${role}`}><h3>{label}</h3>
			{rows(role).length === 0 ? <p class="hint">none</p> :
				<Table label={label} rows={rows(role)} columns={metricColumns({ ...r, rows: [...r.rows] })} selected={at.role === role ? at.i : -1}
					onSelect={(i) => { setAt({ role, i }); const row = rows(role)[i]; if (row) selection.value = { kind: 'function', name: row.name!, object: row.object ?? null }; }}
					onOpen={(i) => center(rows(role)[i]!)} sort={r.sort} onSort={(key) => key !== 'name' && sortBy(key.replace(/^a\./, 'i.'), param('sort'))}
					onMenu={(i, x, y) => openMenu([{ text: 'To the middle', hint: 'Enter', run: () => center(rows(role)[i]!) }, null, ...functionMenu(rows(role)[i]!.name!, rows(role)[i]!.object)], x, y)}
					name={(row) => <>{row.name}{row.object && <span class="obj">{baseName(row.object)}</span>}</>} />}
		</div>
	);
	return <Frame query={query} command="csingle" tools={tools} count={(list) => list[list.length - 1]?.rows.length ?? 0} show={() => result && (
		<div class="cc">
			{pane('caller', 'Called by', result)}
			{pane('center', rows('center').length > 1 ? 'Fragment of calls' : 'Function', result)}
			{pane('callee', 'Calls', result)}
		</div>
	)} />;
}
