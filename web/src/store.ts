// SPDX-License-Identifier: Apache-2.0
// What the page knows: its state (in the address), the session, and what the experiments have.
// A change of state is a step of the browser's history, so that back, forward, undo and redo are one thing.

import { batch, computed, effect, signal } from '@preact/signals';
import * as api from './api';
import { formatFragment, initialState, parseFragment, type State } from './fragment';
import type { Bootstrap, Metric, Result, Row } from './types';

export const boot = signal<Bootstrap | null>(null);
export const fatal = signal('');
export const state = signal<State>(initialState());
export const session = signal(0); // 0: none is open
export const experiments = signal<string[]>([]);
export const growing = signal(false);
export const generation = signal(0); // counts refreshes
export const notice = signal<{ text: string; level: string } | null>(null);

// ---- history -----------------------------------------------------------------------------------------
let step = 0;
let last = 0;
export const canUndo = signal(false);
export const canRedo = signal(false);

function steps(): void {
	canUndo.value = step > 0;
	canRedo.value = step < last;
}

export function setState(next: State, replace = false): void {
	const hash = formatFragment(next);
	if (hash === formatFragment(state.value)) return;
	if (replace) history.replaceState({ step }, '', hash);
	else {
		step++;
		last = step;
		history.pushState({ step }, '', hash);
	}
	state.value = next;
	steps();
}

export function patch(p: Record<string, string | undefined>, options: { view?: string; replace?: boolean } = {}): void {
	const next: State = { ...state.value, p: { ...state.value.p } };
	if (options.view) next.view = options.view;
	for (const [key, value] of Object.entries(p))
		if (value === undefined || value === '') delete next.p[key];
		else next.p[key] = value;
	setState(next, options.replace);
}

export const show = (view: string, p: Record<string, string | undefined> = {}): void => patch(p, { view });
export const undo = (): void => (canUndo.value ? history.back() : undefined);
export const redo = (): void => (canRedo.value ? history.forward() : undefined);

export function setFilters(filters: string[], parked = state.value.parked): void {
	setState({ ...state.value, filters, parked });
}
export function addFilter(expression: string): void {
	if (!state.value.filters.includes(expression)) setFilters([...state.value.filters, expression]);
}

function fromAddress(event?: PopStateEvent): void {
	const at = (event?.state as { step?: number } | null)?.step;
	if (at !== undefined) step = at;
	state.value = parseFragment(location.hash);
	steps();
}

export function startHistory(): void {
	const known = (history.state as { step?: number } | null)?.step;
	step = known ?? 0;
	last = step;
	fromAddress();
	history.replaceState({ step }, '', formatFragment(state.value));
	addEventListener('popstate', fromAddress);
}

export const param = (key: string): string => state.value.p[key] ?? '';
export const view = computed(() => state.value.view);

// ---- sessions: one for each list of experiments that the address has ------------------------------------
const opened = new Map<string, number>();

async function openSession(wanted: string[]): Promise<void> {
	const first = boot.value?.sessions[0];
	if (!wanted.length) {
		batch(() => {
			session.value = first?.id ?? 0;
			experiments.value = first?.experiments ?? [];
			growing.value = first?.growing ?? false;
		});
		return;
	}
	const key = wanted.join('\n');
	let id = opened.get(key);
	if (id === undefined) {
		id = (await api.post<{ session: number }>('open', { experiments: wanted })).session;
		opened.set(key, id);
	}
	batch(() => {
		session.value = id;
		experiments.value = wanted;
	});
}

// The experiments of a growing session, read again.
export async function refresh(): Promise<void> {
	if (!session.value) return;
	const next = await api.post<{ session: number; growing?: boolean }>('refresh', { session: session.value });
	const key = state.value.experiments.join('\n');
	if (key) opened.set(key, next.session);
	else if (boot.value?.sessions[0]) boot.value.sessions[0].id = next.session;
	batch(() => {
		session.value = next.session;
		if (next.growing !== undefined) growing.value = next.growing;
		generation.value++;
	});
}

// ---- what the experiments have ----------------------------------------------------------------------------
export interface Catalogue {
	metrics: Metric[]; // all that there are; `current` marks the default ones
	specification: string;
	sort: string;
	indexObjects: Row[];
	memoryObjects: Row[];
	processes: Row[];
	objects: Row[];
	overview: Result | null;
	warnings: string[];
}
export const catalogue = signal<Catalogue | null>(null);

async function readCatalogue(id: number): Promise<void> {
	const running = api.print(id, {
		settings: [],
		commands: [['metric_list'], ['indxobj_list'], ['mobj_list'], ['experiment_list'], ['object_list'], ['overview']],
	});
	const { results } = await running.answer;
	if (session.value !== id) return;
	const [metrics, index, memory, processes, objects, overview] = results;
	catalogue.value = {
		metrics: (metrics?.rows ?? []) as unknown as Metric[],
		specification: String(metrics?.specification ?? ''),
		sort: metrics?.sort ?? 'e.totalcpu',
		indexObjects: index?.rows ?? [],
		memoryObjects: memory?.rows ?? [],
		processes: processes?.rows ?? [],
		objects: objects?.rows ?? [],
		overview: overview ?? null,
		warnings: metrics?.warnings ?? [],
	};
}

// The metric that lists are sorted by, without flavour and dash: what pictures show.
export const mainMetric = computed(() => {
	const sort = state.value.p.sort || catalogue.value?.sort || 'e.totalcpu';
	const name = sort.replace(/^-/, '').replace(/^[eia]\./, '');
	if (name !== 'name' && name !== '') return name;
	return (catalogue.value?.sort ?? 'totalcpu').replace(/^[eia]\./, '');
});
export const mainTitle = computed(() => {
	const found = catalogue.value?.metrics.find((m) => m.name.replace(/^[eia]\./, '') === mainMetric.value);
	return found?.title.replace(/^(Exclusive|Inclusive) /, '') ?? mainMetric.value;
});
export const mainUnit = computed(() =>
	catalogue.value?.metrics.find((m) => m.name.replace(/^[eia]\./, '') === mainMetric.value)?.unit ?? 's');

export function fail(error: unknown): void {
	if (error instanceof DOMException && error.name === 'AbortError') return;
	const text = error instanceof Error ? error.message : String(error);
	if (error instanceof api.ApiError && (error.status === 401 || error.status === 0)) fatal.value = text;
	else notice.value = { text, level: 'error' };
}

export function startSessions(): void {
	const wanted = computed(() => state.value.experiments.join('\n'));
	effect(() => {
		const list = wanted.value ? wanted.value.split('\n') : [];
		if (boot.value) openSession(list).catch(fail);
	});
	effect(() => {
		const id = session.value;
		if (id) readCatalogue(id).catch(fail);
		else catalogue.value = null;
	});
}

// Whether a command has data to show, and if not, why.
export function whyNot(command: string): string | null {
	const info = boot.value?.commands.find((c) => c.name === command);
	return info && info.available === false ? info.why ?? 'The experiments have no data for this.' : null;
}

// ---- settings of the page itself ----------------------------------------------------------------------------
function kept(key: string, initial: string): ReturnType<typeof signal<string>> {
	let start = initial;
	try {
		start = localStorage.getItem(`helio.${key}`) ?? initial;
	} catch {
		// Storage is off: the setting lasts as long as the page.
	}
	const value = signal<string>(start);
	effect(() => {
		const now = value.value ?? initial;
		try {
			localStorage.setItem(`helio.${key}`, now);
		} catch {
			// As above.
		}
	});
	return value;
}
export const theme = kept('theme', 'auto');
export const textSize = kept('size', '12');
export const details = kept('details', 'on');
export const calls = kept('calls', 'on');
export const nav = kept('nav', 'on');
export const cells = kept('cells', 'both'); // what cells of tables show: value, percent, both
export const colouring = kept('colouring', 'object');

const darkQuery = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(darkQuery.matches);
darkQuery.addEventListener('change', (event) => (systemDark.value = event.matches));
export const dark = computed(() => theme.value === 'dark' || (theme.value === 'auto' && systemDark.value));
export const rowHeight = computed(() => Math.round(Number(textSize.value) * 1.5));
effect(() => {
	const root = document.documentElement;
	root.dataset.theme = dark.value ? 'dark' : 'light';
	root.style.colorScheme = dark.value ? 'dark' : 'light';
	root.style.setProperty('--fs', `${textSize.value}px`);
	root.style.setProperty('--rh', `${rowHeight.value}px`);
});

// ---- what is selected in the view, for the panes around it ---------------------------------------------------
export interface Selection {
	kind: 'function' | 'row' | 'event';
	name: string;
	object?: string | null;
	title?: string;
	facts?: [string, string][];
	stack?: { text: string; name: string; object: string | null; file?: string | null; line?: number | null }[];
	row?: Row;
	result?: Result;
}
export const selection = signal<Selection | null>(null);
