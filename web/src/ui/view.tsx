// SPDX-License-Identifier: Apache-2.0
// What all views share: the request that they show, its errors and warnings, and why nothing is to be seen.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { signal } from '@preact/signals';
import { holds } from '../api';
import type { Query } from '../query';
import { growing, patch, whyNot } from '../store';
import type { PrintRequest, Result } from '../types';

// What "copy" and "the command line" of the current view are about.
export interface Published {
	request: PrintRequest | null;
	picture?: (() => { svg: string; canvas: HTMLCanvasElement | null }) | undefined;
}
export const published = signal<Published>({ request: null });

export function usePublish(request: PrintRequest | null, picture?: Published['picture']): void {
	const key = JSON.stringify(request);
	useEffect(() => {
		published.value = { request, picture };
		return () => {
			published.value = { request: null };
		};
	}, [key]);
}

export function Empty({ command, text }: { command: string; text?: string | undefined }): JSX.Element {
	const why = whyNot(command) ?? text ?? 'There is nothing to show: no event that the filters let through has such data.';
	return (
		<div class="empty" role="status">
			<p>{why}</p>
			{growing.value && <p>The recording goes on; Refresh looks again.</p>}
		</div>
	);
}

export interface FrameProps {
	query: Query;
	command: string; // whose availability says why it is empty
	tools?: ComponentChildren;
	show(results: (Result | null)[]): ComponentChildren;
	count?: (results: (Result | null)[]) => number; // 0: it is empty
	empty?: string;
}

export function Frame({ query, command, tools, show, count, empty }: FrameProps): JSX.Element {
	const results = query.answer?.results;
	const main = results?.[0];
	const n = results ? (count ? count(results) : main?.rows.length ?? 0) : 0;
	const why = whyNot(command);
	return (
		<section class={`view ${query.busy ? 'busy' : ''} ${query.stale ? 'stale' : ''}`} aria-busy={query.busy}>
			{tools && <div class="tools">{tools}</div>}
			{why ? <Empty command={command} />
				: query.error && !main ? <div class={/record/.test(query.error) ? 'empty' : 'problem'} role="alert">{query.error}</div>
				: !results ? <div class="empty">{query.busy ? 'Working …' : ''}</div>
				: n === 0 ? <Empty command={command} text={empty} />
				: <>{query.error && <div class="problem" role="alert">{query.error}</div>}{show(results)}</>}
		</section>
	);
}

export function Choice({ label, value, options, onChange }: {
	label: string; value: string; options: [string, string][]; onChange(value: string): void;
}): JSX.Element {
	return (
		<label class="choice"><span>{label}</span>
			<select value={value} onChange={(e) => onChange(e.currentTarget.value)}>
				{options.map(([v, text]) => <option value={v} selected={v === value}>{text}</option>)}
			</select>
		</label>
	);
}

export function Toggle({ label, on, onChange, title }: { label: string; on: boolean; onChange(on: boolean): void; title?: string }): JSX.Element {
	return <button class={`toggle ${on ? 'on' : ''}`} aria-pressed={on} title={title} onClick={() => onChange(!on)}>{label}</button>;
}

// Those parts of a view that a file with fixed answers has, by the words of their commands.
export const held = (tabs: [string, string][], words: (tab: string) => [string, string?] = (tab) => [tab]): [string, string][] =>
	tabs.filter(([tab]) => holds(...words(tab)));

// The parts of a view: which is shown is in the address, the first one by saying nothing.
export function Tabs({ key_, tabs, now }: { key_: string; tabs: [string, string][]; now: string }): JSX.Element {
	return <div class="seg" role="group">{tabs.map(([v, label], i) => <Toggle label={label} on={now === v} onChange={() => patch({ [key_]: i === 0 ? undefined : v })} />)}</div>;
}
