// SPDX-License-Identifier: Apache-2.0
// Filter expressions of `helio print`, made from what was clicked.

const escapeRegex = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

// A name as a regular expression inside the quotes of an expression, which cannot hold a quote.
export const pattern = (name: string): string => escapeRegex(name).replace(/"/g, '.');

// Rows that are no functions: <Total>, <before recording>. What a program calls `<x` is one.
export const isPseudo = (name: string, object?: string | null): boolean => !object && /^<.*>$/.test(name);

// The function's own name, without what lists put behind it to tell it from others.
export const plainName = (name: string): string => name.replace(/ \(inlined\)$/, '').replace(/ \[[^\]]*\]$/, '');

export const functions = (name: string): string => `FNAME("${pattern(plainName(name))}")`;
export const onStack = (name: string): string => `${functions(name)} SOME IN STACK`;
export const notOnStack = (name: string): string => `!(${onStack(name)})`;
export const isLeaf = (name: string): string => `LEAF IN ${functions(name)}`;
export const isNotLeaf = (name: string): string => `!(${isLeaf(name)})`;

// What stands on the stack in this order without gaps. Inlined calls and pseudo-functions are no part of
// what a filter sees.
export function stackHas(names: string[]): string {
	const real = names.filter((name) => !isPseudo(name) && !name.endsWith(' (inlined)'));
	if (real.length === 0) return 'TRUE';
	if (real.length === 1) return onStack(real[0]!);
	return `(${real.map(functions).join(',')}) ORDERED IN STACK`;
}

// By the experiment's own time, or by that of the timeline, which experiments that were recorded at once have in common.
export type Clock = 'TSTAMP' | 'ATSTAMP';
export const timeRange = (fromSeconds: number, toSeconds: number, clock: Clock = 'TSTAMP'): string =>
	`${clock} >= ${Math.max(0, Math.round(fromSeconds * 1e9))} && ${clock} <= ${Math.max(0, Math.round(toSeconds * 1e9))}`;

export const thread = (experiment: number, number: number): string => `EXPID == ${experiment} && THRID == ${number}`;
export const sourceLine = (file: string, line: number): string => `LNAME("${pattern(file)}:${line}") SOME IN STACKL`;
export const sourceFile = (file: string): string => `LNAME("${pattern(file)}:[0-9]+") SOME IN STACKL`;
export const ioFile = (name: string): string => `IOVFD IN FILEIOVFD("${pattern(name)}")`;
// A lock by what the list calls it, "name (mutex, condition)"; one that is only an address has no name.
export const lock = (title: string): string => {
	const name = title.replace(/ \([^()]*\)$/, '');
	return /^0x[0-9a-f]+$/.test(name) ? `SOBJ == ${name}` : `SLOCK IN LOCKNAME("${pattern(name)}")`;
};
// A class of sampled objects of Java by its name: its number is another one in another experiment.
export const javaClass = (name: string): string => `JHCLASS IN JCLASS("${pattern(name)}")`;
export const dataObject = (name: string): string => `DOBJ IN DNAME("${pattern(name)}")`;

export const conjunction = (parts: string[]): string =>
	parts.length === 1 ? parts[0]! : parts.map((part) => `(${part})`).join(' && ');
export const negate = (text: string): string => {
	const inner = /^!\((.*)\)$/s.exec(text);
	return inner && balanced(inner[1]!) ? inner[1]! : `!(${text})`;
};

function balanced(text: string): boolean {
	let depth = 0;
	let quoted = false;
	for (const c of text) {
		if (c === '"') quoted = !quoted;
		else if (quoted) continue;
		else if (c === '(') depth++;
		else if (c === ')' && --depth < 0) return false;
	}
	return depth === 0;
}

// Without what an expression about a property chooses; events that have no such property stay.
export const without = (property: string, expression: string): string => `!(HAS_PROP(${property}) && ${expression})`;

// What an index object's row stands for: its expression has the row's value.
export const indexValue = (expression: string, value: number): string => `(${expression}) == ${value}`;
