// SPDX-License-Identifier: Apache-2.0
// Functions, source lines, instructions: tables whose rows lead to the source.

import type { JSX } from 'preact';
import { isPseudo } from '../filter';
import { baseName } from '../format';
import { functionRef } from '../request';
import { selection, show } from '../store';
import type { Row } from '../types';
import { functionMenu, lineMenu, selectFunction } from '../ui/actions';
import { List } from './list';

const withObject = (row: Row): JSX.Element => (
	<>{row.name}{row.object && <span class="obj">{baseName(row.object)}</span>}</>
);

export const Functions = (): JSX.Element => (
	<List command={['functions']} label="Functions" name={withObject}
		select={(row) => selectFunction(row.name!, row.object)}
		open={(row) => !isPseudo(row.name!, row.object) && show('source', { fn: functionRef(row.name!, row.object), file: undefined, line: undefined })}
		menu={(row) => functionMenu(row.name!, row.object)} />
);

// `insert, line 13 in "work.c"`
export function placeOf(name: string): { fn: string; line: number; file: string } | null {
	const match = /^(.*), line (\d+) in "([^"]*)"$/.exec(name) ;
	return match ? { fn: match[1]!, line: Number(match[2]), file: match[3]! } : null;
}

export const Lines = (): JSX.Element => (
	<List command={['lines']} label="Source lines" name={withObject}
		select={(row, result) => {
			const place = placeOf(row.name ?? '');
			selection.value = { kind: 'row', name: row.name ?? '', object: row.object ?? null, row, result, ...(place ? { title: `${place.file}:${place.line}`, facts: [['Function', place.fn]] as [string, string][] } : {}) };
		}}
		open={(row) => {
			const place = placeOf(row.name ?? '');
			if (place) show('source', { fn: functionRef(place.fn, row.object), file: undefined, line: String(place.line) });
		}}
		menu={(row) => {
			const place = placeOf(row.name ?? '');
			return place ? [...lineMenu(place.file, place.line), null, ...functionMenu(place.fn, row.object)] : [];
		}} />
);

export function instructionOf(name: string): { fn: string; offset: number } | null {
	const match = /^(.*) \+ 0x([0-9a-f]+)/i.exec(name);
	return match ? { fn: match[1]!, offset: parseInt(match[2]!, 16) } : null;
}

export const Instructions = (): JSX.Element => (
	<List command={['pcs']} label="Instructions" name={withObject}
		open={(row) => {
			const place = instructionOf(row.name ?? '');
			if (place) show('disassembly', { fn: functionRef(place.fn, row.object), file: undefined, line: undefined });
		}}
		menu={(row) => {
			const place = instructionOf(row.name ?? '');
			return place ? functionMenu(place.fn, row.object) : [];
		}} />
);
