// SPDX-License-Identifier: Apache-2.0
// The tree of calls as a table that is opened branch by branch; also from the leaves up.

import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { baseName } from '../format';
import { isPseudo } from '../filter';
import { useKeys } from '../keys';
import { useQuery } from '../query';
import { functionRef, request } from '../request';
import { matcher } from '../search';
import { param, patch, show, state } from '../store';
import type { Row } from '../types';
import { isSortedBy, num } from '../types';
import { functionMenu, selectFunction } from '../ui/actions';
import { openMenu } from '../ui/menu';
import { metricColumns, Table } from '../ui/table';
import { Choice, Frame, Toggle, usePublish } from '../ui/view';
import { sortBy } from './list';

interface Node { row: Row; parent: number; depth: number; children: number[] }

function nodesOf(rows: Row[]): Node[] {
	const at = new Map<unknown, number>();
	const nodes: Node[] = [];
	rows.forEach((row, i) => {
		const parent = row.parent === null ? -1 : at.get(row.parent) ?? -1;
		at.set(row.id, i);
		nodes.push({ row, parent, depth: parent < 0 ? 0 : nodes[parent]!.depth + 1, children: [] });
		if (parent >= 0) nodes[parent]!.children.push(i);
	});
	return nodes;
}

function hottest(nodes: Node[], from: number): number[] {
	const path = [];
	for (let i = from; i >= 0 && nodes[i]; i = nodes[i]!.children[0] ?? -1) path.push(i);
	return path;
}

export function CallTree(): JSX.Element {
	const inverted = param('inv') === '1';
	const least = param('pct') || '0.2';
	const command: [string, ...string[]] = ['calltree', ...(inverted ? ['-inverted'] : []), '-percent', least];
	const req = request(state.value, {}, command);
	const query = useQuery(req).value;
	usePublish(req);
	const result = query.answer?.results[0];
	const nodes = useMemo(() => nodesOf(result?.rows ?? []), [result]);
	const [open, setOpen] = useState(new Set<number>());
	const [at, setAt] = useState(0); // of nodes
	useEffect(() => {
		if (!nodes.length) return;
		if (inverted) {
			setOpen(new Set([0]));
			setAt(nodes[0]!.children[0] ?? 0);
			return;
		}
		const path = hottest(nodes, 0);
		setOpen(new Set(path));
		const key = result?.metrics.find((m) => isSortedBy(result.sort, m.name))?.name ?? '';
		const total = num(nodes[0]!.row, key);
		const big = path.filter((i) => num(nodes[i]!.row, key) > total / 2);
		setAt(big[big.length - 1] ?? 0);
	}, [nodes]);
	const visible = useMemo(() => {
		const list: number[] = [];
		const walk = (start: number): void => {
			const todo = [start];
			while (todo.length) {
				const i = todo.pop()!;
				list.push(i);
				if (open.has(i)) for (let k = nodes[i]!.children.length - 1; k >= 0; k--) todo.push(nodes[i]!.children[k]!);
			}
		};
		if (nodes.length) walk(0);
		return list;
	}, [nodes, open]);
	const find = matcher(param('q'));
	const hits = useMemo(() => (find ? nodes.flatMap((n, i) => (find(n.row.name ?? '') ? [i] : [])) : []), [nodes, param('q')]);

	const reveal = (i: number): void => {
		const next = new Set(open);
		for (let p = nodes[i]?.parent ?? -1; p >= 0; p = nodes[p]!.parent) next.add(p);
		setOpen(next);
		choose(i);
	};
	const choose = (i: number): void => {
		setAt(i);
		const row = nodes[i]?.row;
		if (row) selectFunction(row.name!, row.object);
	};
	const path = (i: number): string[] => {
		const names = [];
		for (let p = i; p > 0; p = nodes[p]!.parent) names.push(nodes[p]!.row.name!);
		return inverted ? names : names.reverse();
	};
	const step = (by: number): void => {
		if (!hits.length) return;
		const now = hits.findIndex((h) => h >= at);
		reveal(hits[((by > 0 ? (hits[now] === at ? now + 1 : Math.max(0, now)) : now - 1) + hits.length) % hits.length]!);
	};
	const menu = (i: number) => functionMenu(nodes[i]!.row.name!, nodes[i]!.row.object, path(i));
	const expandHot = (): void => {
		const way = hottest(nodes, at);
		setOpen(new Set([...open, ...way]));
		choose(way[way.length - 1] ?? at);
	};
	const branch = (i: number): number[] => [i, ...nodes[i]!.children.flatMap(branch)];
	useKeys([
		{ key: 'h', help: 'expand the hottest branch', group: 'Call tree', run: expandHot },
		{ key: '*', help: 'expand all below', group: 'Call tree', run: () => setOpen(new Set([...open, ...branch(at)])) },
		{ key: '_', help: 'collapse all', group: 'Call tree', run: () => { setOpen(new Set([0])); setAt(0); } },
		{ key: 'i', help: 'callers instead of callees (invert)', group: 'Call tree', run: () => patch({ inv: inverted ? undefined : '1' }) },
		{ key: 'n', help: 'next that fits Find', group: 'Find', run: () => step(1) },
		{ key: 'N', help: 'previous that fits Find', group: 'Find', run: () => step(-1) },
		...['f', 'd', 's', 'c'].map((key) => ({ key, help: '', run: (): void => { menu(at).find((m) => m?.hint === key)?.run?.(); } })),
	]);
	const columns = useMemo(() => (result ? metricColumns(result) : []), [result]);
	const tools = <>
		<Toggle label="Inverted" on={inverted} title="From the leaves up: who calls what takes the time (i)" onChange={(on) => patch({ inv: on ? '1' : undefined })} />
		<Choice label="Leave out less than" value={least} options={[['0', 'nothing'], ['0.01', '0.01 %'], ['0.2', '0.2 %'], ['1', '1 %'], ['5', '5 %']]} onChange={(v) => patch({ pct: v === '0.2' ? undefined : v })} />
		<button onClick={expandHot}>Expand hottest <kbd>h</kbd></button>
		<button onClick={() => setOpen(new Set(nodes.keys()))}>Expand all</button>
		<button onClick={() => { setOpen(new Set([0])); setAt(0); }}>Collapse</button>
		{hits.length > 0 && <span class="hint">{hits.length} fit; <kbd>n</kbd> next</span>}
	</>;
	return <Frame query={query} command="calltree" tools={tools} show={() => (
		<>
			<Table label="Call tree" rows={visible.map((i) => nodes[i]!.row)} columns={columns} focus
				selected={visible.indexOf(at)} onSelect={(k) => choose(visible[k]!)}
				onOpen={(k) => { const r = nodes[visible[k]!]!.row; show('source', { fn: functionRef(r.name!, r.object), file: undefined, line: undefined }); }}
				onMenu={(k, x, y) => openMenu([...menu(visible[k]!), null, { text: 'Expand all below', hint: '*', run: () => setOpen(new Set([...open, ...branch(visible[k]!)])) }], x, y)}
				sort={result?.sort} onSort={(key) => key !== 'name' && sortBy(key.replace(/^a\./, 'i.'), param('sort'))}
				tree={{
					depth: (k) => nodes[visible[k]!]!.depth,
					children: (k) => nodes[visible[k]!]!.children.length > 0,
					open: (k) => open.has(visible[k]!),
					toggle: (k, on) => { const next = new Set(open); if (on) next.add(visible[k]!); else next.delete(visible[k]!); setOpen(next); },
					parent: (k) => visible.indexOf(nodes[visible[k]!]!.parent),
				}}
				name={(row) => <><span class={find?.(row.name ?? '') ? 'hit' : ''}>{row.name}</span>{row.object && <span class="obj">{baseName(row.object)}</span>}</>}
				rowClass={(row) => (isPseudo(row.name ?? '', row.object) ? 'pseudo' : '')} />
			<div class="foot">{nodes.length.toLocaleString('en-US')} calls{least !== '0' ? `; branches of less than ${least} % are left out` : ''}</div>
		</>
	)} />;
}
