// SPDX-License-Identifier: Apache-2.0
// Views that are one table of a command: functions, lines, instructions, index and memory objects, files ...

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { isPseudo } from '../filter';
import { useKeys } from '../keys';
import { useQuery } from '../query';
import { request, type Wish } from '../request';
import { matcher } from '../search';
import { param, patch, selection, state } from '../store';
import { metricOf, type Result, type Row } from '../types';
import { openMenu, type Menu } from '../ui/menu';
import { metricColumns, Table, type Column } from '../ui/table';
import { Frame, usePublish } from '../ui/view';

export interface ListProps {
	command: [string, ...string[]];
	label: string;
	availability?: string;
	nameTitle?: string;
	sortable?: boolean;
	wish?: Wish;
	tools?: ComponentChildren;
	menu?(row: Row, result: Result): Menu;
	open?(row: Row, result: Result): void;
	select?(row: Row, result: Result): void;
	first?(rows: Row[]): number; // which row the address says to begin with; below 0: none
	name?(row: Row): ComponentChildren;
	above?(result: Result, rows: Row[]): ComponentChildren;
	columns?(result: Result): Column[];
	empty?: string;
}

const LIMIT = 3000;

// By the metric of a column; once more, the other way round.
export function sortBy(column: string, current: string | undefined): void {
	const key = metricOf(column);
	patch({ sort: current === key ? `-${key}` : key });
}

export function List(props: ListProps): JSX.Element {
	const all = param('all') === '1';
	const limit = all ? 0 : LIMIT;
	const req = request(state.value, { ...(limit ? { limit } : {}), ...props.wish }, props.command);
	const query = useQuery(req).value;
	usePublish(req);
	const find = param('q');
	const result = query.answer?.results[0];
	const fits = useMemo(() => matcher(find), [find]);
	const rows = useMemo(() => (fits && result ? result.rows.filter((r) => r.name === '<Total>' || fits(r.name ?? '')) : result?.rows ?? []), [result, fits]);
	const [at, setAt] = useState(-1);
	const columns = useMemo(() => (result ? (props.columns ?? metricColumns)(result) : []), [result]);

	const choose = (i: number): void => {
		setAt(i);
		const row = rows[i];
		if (!row || !result) return;
		if (props.select) props.select(row, result);
		else selection.value = { kind: 'row', name: row.name ?? '', object: row.object ?? null, row, result };
	};
	useEffect(() => {
		// The selected row stays selected when rows come in another order.
		const name = selection.value?.name;
		const told = at < 0 ? props.first?.(rows) ?? -1 : -1;
		const again = told >= 0 ? told : name === undefined ? -1 : rows.findIndex((r) => r.name === name && (r.object ?? null) === (selection.value?.object ?? null));
		if (again >= 0 && at < 0 && props.select) choose(again);
		else if (again !== at) setAt(again);
		if (again < 0 && rows.length > 1 && query.answer && !query.busy) choose(rows[0]?.name === '<Total>' ? 1 : 0);
	}, [rows]);
	const menuItems = (i: number): Menu => (result && rows[i] && props.menu ? props.menu(rows[i]!, result) : []);
	useKeys([
		...['f', 'd', 's', 'c'].map((key) => ({
			key, help: '', run: (): void => {
				menuItems(at).find((item) => item?.hint === key)?.run?.();
			},
		})),
	]);
	const cut = !all && (result?.rows.length ?? 0) >= LIMIT;
	return (
		<Frame query={query} command={props.availability ?? props.command[0]} tools={props.tools} {...(props.empty ? { empty: props.empty } : {})}
			count={(r) => (r[0]?.rows.filter((row) => row.name !== '<Total>').length ?? 0) || (r[0]?.rows.some((row) => columnsHave(row)) ? 1 : 0)}
			show={(results) => (
				<>
					{props.above?.(results[0]!, rows)}
					<Table label={props.label} rows={rows} columns={columns} nameTitle={props.nameTitle ?? 'Name'} selected={at} onSelect={choose} focus
						{...(props.open ? { onOpen: (i: number) => props.open!(rows[i]!, results[0]!) } : {})}
						{...(props.menu ? { onMenu: (i: number, x: number, y: number) => openMenu(menuItems(i), x, y) } : {})}
						{...(props.name ? { name: props.name } : {})}
						sort={results[0]!.sort}
						{...(props.sortable !== false ? { onSort: (key: string) => sortBy(key, results[0]!.sort) } : {})}
						rowClass={(row) => (isPseudo(row.name ?? '', row.object) ? 'pseudo' : '')} />
					<div class="foot">{rows.length.toLocaleString('en-US')} rows{fits ? ` of ${results[0]!.rows.length.toLocaleString('en-US')} fit` : ''}
						{cut && <> · the first {LIMIT.toLocaleString('en-US')}; <button class="flat" onClick={() => patch({ all: '1' }, { replace: true })}>show all</button></>}</div>
				</>
			)} />
	);
}

const columnsHave = (row: Row): boolean => Object.values(row).some((v) => typeof v === 'number' && v !== 0);
