// SPDX-License-Identifier: Apache-2.0
// The filters in force as chips: taken away, put aside, negated, edited; all of them together are the
// filter expression. The editor completes words and says where an expression is wrong.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { conjunction, negate } from '../filter';
import { ask, useQuery } from '../query';
import { addFilter, param, patch, setFilters, state } from '../store';
import { closeDialog, copyText, openDialog, openMenu } from './menu';

export function Chips(): JSX.Element | null {
	const { filters, parked } = state.value;
	const hidden = param('hide');
	if (!filters.length && !parked.length && !hidden) return null;
	const drop = (i: number): string[] => filters.filter((_, k) => k !== i);
	const menu = (i: number, x: number, y: number): void => openMenu([
		{ text: 'Edit …', run: () => editFilter(i) },
		{ text: 'Negate', run: () => setFilters(filters.map((f, k) => (k === i ? negate(f) : f))) },
		{ text: 'Put aside', run: () => setFilters(drop(i), [...parked, filters[i]!]) },
		{ text: 'Only this one', run: () => setFilters([filters[i]!]) },
		{ text: 'Copy', run: () => void copyText(filters[i]!, 'the filter') },
		{ text: 'Remove', run: () => setFilters(drop(i)) },
	], x, y);
	return (
		<div class="chips" role="group" aria-label="Filters">
			{filters.map((f, i) => (
				<span class="chip">
					<button class="text" title={f} onClick={(e) => menu(i, e.clientX, e.clientY)}
						onContextMenu={(e) => { e.preventDefault(); menu(i, e.clientX, e.clientY); }}>{f}</button>
					<button class="x" aria-label={`Remove filter ${f}`} onClick={() => setFilters(drop(i))}>✕</button>
				</span>
			))}
			{parked.map((f, i) => (
				<span class="chip off">
					<button class="text" title={`Put aside: ${f}`} onClick={() => setFilters([...filters, f], parked.filter((_, k) => k !== i))}>{f}</button>
					<button class="x" aria-label={`Forget filter ${f}`} onClick={() => setFilters(filters, parked.filter((_, k) => k !== i))}>✕</button>
				</span>
			))}
			{hidden && <span class="chip"><span class="text">as one function each: {hidden}</span><button class="x" aria-label="Show all load objects" onClick={() => patch({ hide: undefined })}>✕</button></span>}
			<button class="flat" onClick={() => editFilter()}>+ filter</button>
			<button class="flat" title="Copy the filters as one expression" onClick={() => void copyText(conjunction(filters), 'the filter expression')} disabled={!filters.length}>copy</button>
			<button class="flat" onClick={() => setFilters([], [])}>remove all</button>
		</div>
	);
}

export function editFilter(i?: number): void {
	openDialog(i === undefined ? 'Add a filter' : 'Edit the filter', () => <Editor index={i} />, true);
}

function Editor({ index }: { index: number | undefined }): JSX.Element {
	const [text, setText] = useState(index === undefined ? '' : state.value.filters[index] ?? '');
	const [error, setError] = useState('');
	const field = useRef<HTMLTextAreaElement>(null);
	const words = useQuery({ settings: [], commands: [['describe']] }).value.answer?.results[0]?.rows ?? [];
	const at = field.current?.selectionStart ?? text.length;
	const begun = /[A-Za-z_]+$/.exec(text.slice(0, at))?.[0] ?? '';
	const fitting = words.filter((w) => String(w.name).toUpperCase().startsWith(begun.toUpperCase()));
	const list = begun ? fitting : words;
	const insert = (word: string): void => {
		const from = at - begun.length;
		setText(text.slice(0, from) + word + text.slice(at));
		field.current?.focus();
	};
	const use = async (): Promise<void> => {
		if (!text.trim()) return;
		const answer = await ask({ settings: [['filters', text]], commands: [['filters']] });
		const wrong = answer.messages.find((m) => m.level === 'error');
		if (wrong) return setError(wrong.text);
		if (index === undefined) addFilter(text.trim());
		else setFilters(state.value.filters.map((f, k) => (k === index ? text.trim() : f)));
		closeDialog();
	};
	return (
		<div class="filteredit">
			<p class="hint">Events count for which the expression holds. Operators are those of C; <code>IN</code>, <code>SOME IN</code>, <code>ORDERED IN</code> compare sets: <code>FNAME("qsort") SOME IN STACK</code>.</p>
			<textarea ref={field} rows={4} spellcheck={false} value={text} aria-label="Filter expression" aria-invalid={!!error}
				onInput={(e) => { setText(e.currentTarget.value); setError(''); }}
				onKeyDown={(e) => {
					if (e.key === 'Enter' && !e.shiftKey) { e.preventDefault(); void use(); }
					if (e.key === 'Tab' && begun && fitting[0]) { e.preventDefault(); insert(String(fitting[0].name)); }
				}} />
			{error && <pre class="problem" role="alert">{error}</pre>}
			<div class="buttons"><button class="main" onClick={() => void use()}>Apply <kbd>Enter</kbd></button><span class="hint"><kbd>Tab</kbd> completes</span></div>
			<ul class="words">{list.slice(0, 200).map((w) => <li><button onClick={() => insert(String(w.name))}>{String(w.name)}</button><span>{String(w.description)}</span></li>)}</ul>
		</div>
	);
}
