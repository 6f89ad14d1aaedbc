// SPDX-License-Identifier: Apache-2.0
// A view asks by a request and gets a signal: what came, what went wrong, whether more is coming. Requests
// that are no longer wanted are cancelled; answers are kept for a while, so that going back is immediate.

import { useEffect, useRef } from 'preact/hooks';
import { signal, useSignal, type Signal } from '@preact/signals';
import * as api from './api';
import { fail, session } from './store';
import type { Answer, PrintRequest } from './types';

export interface Query {
	request: PrintRequest | null;
	answer: Answer | null;
	error: string;
	busy: boolean;
	stale: boolean; // the answer is that of another request
}

const KEEP = 40;
const SHOW_AFTER = 200; // ms: what is quicker shows no progress
const cache = new Map<string, Answer>();

function remember(key: string, answer: Answer): void {
	cache.set(key, answer);
	if (cache.size > KEEP) cache.delete(cache.keys().next().value as string);
}

// Work that takes long, for the bar that shows it.
export interface Work {
	id: string;
	done: number;
	cancel(): void;
}
export const works = signal<Work[]>([]);

function follow(running: api.Running<unknown>): () => void {
	let timer = 0;
	const poll = async (): Promise<void> => {
		let done = works.value.find((w) => w.id === running.id)?.done ?? 0;
		try {
			done = (await api.progress(running.id)).done ?? done;
		} catch {
			// It has just ended, or has nothing to say yet.
		}
		if (timer < 0) return;
		const rest = works.value.filter((w) => w.id !== running.id);
		works.value = [...rest, { id: running.id, done, cancel: running.cancel }];
		timer = window.setTimeout(() => void poll(), 250);
	};
	timer = window.setTimeout(() => void poll(), SHOW_AFTER);
	return () => {
		clearTimeout(timer);
		timer = -1;
		works.value = works.value.filter((w) => w.id !== running.id);
	};
}

export async function ask(request: PrintRequest, id = session.value): Promise<Answer> {
	const key = `${id}\n${JSON.stringify(request)}`;
	const known = cache.get(key);
	if (known) return known;
	const answer = await api.print(id, request).answer;
	remember(key, answer);
	return answer;
}

export function useQuery(request: PrintRequest | null): Signal<Query> {
	const query = useSignal<Query>({ request: null, answer: null, error: '', busy: false, stale: false });
	const id = session.value;
	const key = request && id ? `${id}\n${JSON.stringify(request)}` : '';
	const wanted = useRef('');
	useEffect(() => {
		wanted.current = key;
		if (!key || !request) {
			query.value = { request: null, answer: null, error: '', busy: false, stale: false };
			return;
		}
		const known = cache.get(key);
		if (known) {
			query.value = { request, answer: known, error: errorOf(known), busy: false, stale: false };
			return;
		}
		query.value = { ...query.value, busy: true, stale: query.value.answer !== null, error: '' };
		const running = api.print(id, request);
		const stop = follow(running);
		running.answer.then(
			(answer) => {
				stop();
				remember(key, answer);
				if (wanted.current === key) query.value = { request, answer, error: errorOf(answer), busy: false, stale: false };
			},
			(error: unknown) => {
				stop();
				if (wanted.current !== key) return;
				const aborted = error instanceof DOMException && error.name === 'AbortError';
				const text = aborted ? 'Cancelled.' : error instanceof Error ? error.message : String(error);
				query.value = { request, answer: null, error: text, busy: false, stale: false };
				if (!aborted && error instanceof api.ApiError && (error.status === 401 || error.status === 0)) fail(error);
			},
		);
		return () => {
			stop();
			if (query.value.busy) running.cancel();
		};
	}, [key]);
	return query;
}

const errorOf = (answer: Answer): string =>
	answer.messages.filter((m) => m.level === 'error').map((m) => m.text.replace(/^Error: /, '')).join('\n');
