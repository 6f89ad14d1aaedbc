// SPDX-License-Identifier: Apache-2.0
// What can be done with a function, a line, a thread and so on: the items of menus.

import * as filter from '../filter';
import { baseName } from '../format';
import { functionRef } from '../request';
import { addFilter, param, patch, selection, setFilters, show, state } from '../store';
import { copyText, type Menu } from './menu';

export const selectFunction = (name: string, object: string | null | undefined): void => {
	selection.value = { kind: 'function', name, object: object ?? null };
	const ref = functionRef(name, object);
	if (param('fn') !== ref) patch({ fn: ref }, { replace: true });
};

export function functionMenu(name: string, object: string | null | undefined, path?: string[]): Menu {
	const ref = functionRef(name, object);
	const code = !filter.isPseudo(name, object);
	const copy: Menu = [{ text: 'Copy name', run: () => void copyText(filter.plainName(name), 'the name') }];
	if (!code) return copy;
	const items: Menu = [
		{ text: 'Only with this function', hint: 'f', run: () => addFilter(filter.onStack(name)) },
		{ text: 'Without this function', hint: 'd', run: () => addFilter(filter.notOnStack(name)) },
		{ text: 'Only where it is the innermost', run: () => addFilter(filter.isLeaf(name)) },
		{ text: 'Not where it is the innermost', run: () => addFilter(filter.isNotLeaf(name)) },
	];
	if (path && path.length > 1) items.push(
		{ text: 'Only with this path of calls', run: () => addFilter(filter.stackHas(path)) },
		{ text: 'Without this path of calls', run: () => addFilter(`!(${filter.stackHas(path)})`) },
	);
	if (object) {
		const base = baseName(object);
		items.push(null, { text: `Show ${base} as one function`, run: () => patch({ hide: [...new Set([...param('hide').split(',').filter(Boolean), base])].join(',') }) });
	}
	return [...items, null,
		{ text: 'Source', hint: 's', run: () => show('source', { fn: ref, file: undefined, line: undefined }) },
		{ text: 'Disassembly', run: () => show('disassembly', { fn: ref, file: undefined, line: undefined }) },
		{ text: 'Callers and callees', hint: 'c', run: () => show('callers', { fn: ref, frag: undefined }) },
		{ text: 'Flame graph of it (callers and callees)', run: () => show('flame', { fn: ref, of: ref, mode: 'sandwich' }) },
		null, ...copy,
	];
}

// A new range takes the place of the last one.
export function setTimeFilter(from: number, to: number, clock?: filter.Clock): void {
	const rest = state.value.filters.filter((f) => !/^(A?TSTAMP) >= \d+ && \1 <= \d+$/.test(f));
	setFilters([...rest, filter.timeRange(from, to, clock)]);
}

export function fileMenu(file: string): Menu {
	const base = baseName(file);
	return [
		{ text: `Only stacks through ${base}`, run: () => addFilter(filter.sourceFile(base)) },
		{ text: `Without stacks through ${base}`, run: () => addFilter(filter.negate(filter.sourceFile(base))) },
	];
}

export function lineMenu(file: string, line: number): Menu {
	const base = baseName(file);
	return [
		{ text: `Only stacks through line ${line}`, run: () => addFilter(filter.sourceLine(base, line)) },
		{ text: `Without stacks through line ${line}`, run: () => addFilter(filter.negate(filter.sourceLine(base, line))) },
		...fileMenu(file),
		null,
		{ text: 'Copy place', run: () => void copyText(`${file}:${line}`, 'the place') },
	];
}

export function threadMenu(experiment: number, number: number): Menu {
	const one = filter.thread(experiment, number);
	return [
		{ text: 'Only this thread', run: () => addFilter(one) },
		{ text: 'Without this thread', run: () => addFilter(filter.negate(one)) },
		{ text: 'Only this process', run: () => addFilter(`EXPID == ${experiment}`) },
	];
}

export function cpuMenu(cpu: number): Menu {
	return expressionMenu(cpu < 0 ? '!HAS_PROP(CPUID)' : `CPUID == ${cpu}`, cpu < 0 ? 'what has no processor' : 'this processor');
}

export function expressionMenu(expression: string, what: string, without = filter.negate(expression)): Menu {
	return [
		{ text: `Only ${what}`, run: () => addFilter(expression) },
		{ text: `Without ${what}`, run: () => addFilter(without) },
	];
}

export function lockMenu(title: string): Menu {
	const expression = filter.lock(title);
	return expressionMenu(expression, 'this lock', filter.without(expression.split(' ')[0]!, expression));
}
