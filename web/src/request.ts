// SPDX-License-Identifier: Apache-2.0
// State to a request of `helio print`, and a request to the command line that asks for the same.

import { conjunction, isPseudo } from './filter';
import type { State } from './fragment';
import { metricOf, type PrintRequest } from './types';

export interface Wish {
	metrics?: string; // instead of those in the state
	sort?: string | undefined;
	limit?: number;
	plain?: boolean; // no metrics, no order: what the command shows has none
	noCompare?: boolean;
	extraFilter?: string;
}

type Setting = PrintRequest['settings'][number];

export function settingsFor(state: State, wish: Wish = {}): Setting[] {
	const list: Setting[] = [];
	const p = state.p;
	for (const definition of (p.idx ?? '').split('\n'))
		if (definition.includes(' ')) list.push(['indxobj_define', ...splitOnce(definition)]);
	if (p.hide) list.push(['object_hide', p.hide]);
	if (p.desc) list.push(['en_desc', p.desc]);
	if (p.vm) list.push(['viewmode', p.vm]);
	if (p.nm) list.push(['name', p.nm]);
	if (p.inl) list.push(['inlines', p.inl]);
	if (p.cmp && !wish.noCompare) list.push(['compare', p.cmp]);
	if (!wish.plain) {
		const metrics = wish.metrics ?? p.m;
		const sort = wish.sort ?? p.sort;
		if (metrics) list.push(['metrics', metrics]);
		if (sort) list.push(['sort', metricOf(sort)]);
	}
	const filters = wish.extraFilter ? [...state.filters, wish.extraFilter] : state.filters;
	if (filters.length) list.push(['filters', conjunction(filters)]);
	if (wish.limit) list.push(['limit', String(wish.limit)]);
	return list;
}

function splitOnce(text: string): [string, string] {
	const at = text.indexOf(' ');
	return [text.slice(0, at), text.slice(at + 1)];
}

export const request = (state: State, wish: Wish, ...commands: [string, ...string[]][]): PrintRequest =>
	({ settings: settingsFor(state, wish), commands });

export const quote = (word: string): string =>
	/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;

// As typed in a shell. -printmode json would give what the page works with.
export function commandLine(req: PrintRequest, experiments: string[]): string {
	const words = ['helio', 'print'];
	for (const [name, ...rest] of [...req.settings, ...req.commands]) words.push(`-${name}`, ...rest.map(quote));
	return [...words, ...experiments.map(quote)].join(' ');
}

// How a function is named to a command: with its load object, for there may be others of the name.
export function functionRef(name: string, object: string | null | undefined): string {
	const plain = name.replace(/ \(inlined\)$/, '');
	if (!object || isPseudo(plain, object) || / \[[^\]]*\]$/.test(plain)) return plain;
	return `${plain} [${object.slice(object.lastIndexOf('/') + 1)}]`;
}
