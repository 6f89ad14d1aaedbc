// SPDX-License-Identifier: Apache-2.0
// What the page knows: its state (in the address), the session, and what the experiments have.
// A change of state is a step of the browser's history, so that back, forward, undo and redo are one thing.

import { batch, computed, effect, signal, untracked } from '@preact/signals';
import * as api from './api';
import { reserveHues } from './colour';
import { baseName } from './format';
import { formatFragment, initialState, parseFragment, type State } from './fragment';
import { metricOf, type Bootstrap, type Metric, type Names, type Result, type Row } from './types';

export const boot = signal<Bootstrap | null>(null);
export const fatal = signal('');
export const locked = signal(false); // not logged in
export const state = signal<State>(initialState());
export const opening = signal(0); // how far the first session is
export const session = signal(0); // 0: none is open
export const experiments = signal<string[]>([]);
export const growing = signal(false);
export const refreshing = signal(false);
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
	const list = boot.value?.sessions ?? [];
	const key = wanted.join('\n');
	const known = opened.get(key);
	const same = list.filter((s) => !s.failed && (wanted.length === 0 || s.experiments.join('\n') === key));
	// One that is being recorded may have grown, and names may have come, since it was opened: by another page, but not by this one.
	const first = same[0]?.experiments.join('\n');
	let there = known === undefined ? same.filter((s) => wanted.length > 0 || s.experiments.join('\n') === first).pop() : list.find((s) => s.id === known);
	if (!there && wanted.length) {
		const id = known ?? (await api.post<{ session: number }>('open', { experiments: wanted })).session;
		opened.set(key, id);
		const again = await api.bootstrap();
		boot.value = again;
		there = again.sessions.find((s) => s.id === id) ?? { id, experiments: wanted, growing: false };
	}
	batch(() => {
		session.value = there?.id ?? 0;
		experiments.value = there?.experiments ?? [];
		growing.value = there?.growing ?? false;
	});
}

// The experiments of a growing session, read again: one reading at a time.
export async function refresh(): Promise<void> {
	if (!session.value || refreshing.value) return;
	refreshing.value = true;
	try {
		await readAgain(session.value);
	} finally {
		refreshing.value = false;
	}
}

async function readAgain(before: number): Promise<void> {
	const next = await api.post<{ session: number }>('refresh', { session: before });
	opened.set(state.value.experiments.join('\n'), next.session);
	const again = await api.bootstrap();
	batch(() => {
		boot.value = again;
		growing.value = again.sessions.find((s) => s.id === next.session)?.growing ?? false;
		session.value = next.session;
	});
	// The one before is no longer shown; the server keeps the first, whose data it tells of.
	if (before !== again.sessions[0]?.id) await api.post('close', { session: before });
}

// ---- names that debuginfod servers are asked for ---------------------------------------------------------
// Results are shown without them, and again with them: when all have come, or some and more take long.
export const names = signal<Names | null>(null);
const NAMES_EVERY = 500; // ms
const NAMES_TAKEN = 5000; // ms from one reading to the next
let following = false;

const namesOf = (id: number): number => boot.value?.sessions.find((s) => s.id === id)?.names_found ?? 0;

async function followNames(): Promise<void> {
	let read = Date.now();
	for (;;) {
		const now = await api.get<Names>('names');
		names.value = now.waiting ? now : null;
		if (now.found > namesOf(session.value) && (!now.waiting || Date.now() - read > NAMES_TAKEN)) {
			await refresh();
			read = Date.now();
		} else if (!now.waiting) return;
		await new Promise((done) => setTimeout(done, NAMES_EVERY));
	}
}

api.listener.names = (id, waiting, found) => {
	if (following || id !== session.value || (!waiting && found <= namesOf(id))) return;
	following = true;
	void followNames().catch(fail).finally(() => {
		following = false;
		names.value = null;
	});
};

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
	reserveHues((objects?.rows ?? []).map((o) => baseName(String(o.path ?? o.name))));
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
	const name = metricOf(sort).replace(/^-/, '').replace(/^[eia]\./, '');
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
	if (error instanceof api.ApiError && error.status === 401) locked.value = true;
	else if (error instanceof api.ApiError && error.status === 0) fatal.value = text;
	else notice.value = { text, level: 'error' };
}

export function startSessions(): void {
	const wanted = computed(() => state.value.experiments.join('\n'));
	effect(() => {
		const list = wanted.value ? wanted.value.split('\n') : [];
		untracked(() => void openSession(list).catch(fail));
	});
	effect(() => {
		const id = session.value;
		if (id) readCatalogue(id).catch(fail);
		else catalogue.value = null;
	});
}

// Whether a command has data to show, of the object `of` if that is said, and if not, why.
export function whyNot(command: string, of?: string): string | null {
	return noDataFor(command) ?? (api.holds(command, of) ? null : api.FIXED);
}

function noDataFor(command: string): string | null {
	const first = boot.value?.sessions[0]; // what the server says is about this one
	if (session.value !== first?.id && (growing.value || experiments.value.join('\n') !== first?.experiments.join('\n'))) return null;
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
// A row and an event are those of their view; a function is the same in all of them.
effect(() => {
	void view.value;
	untracked(() => {
		if (selection.value && selection.value.kind !== 'function') selection.value = null;
	});
});
