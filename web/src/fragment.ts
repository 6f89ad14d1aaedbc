// SPDX-License-Identifier: Apache-2.0
// The state of the page as text and back: `#v1/VIEW?key=value&...`. The version lets a later page read
// old links. Keys that may come several times: f (filters in force), g (filters put aside), e (experiments).

export const VERSION = 'v1';

export interface State {
	view: string;
	filters: string[];
	parked: string[];
	experiments: string[];
	p: Record<string, string>;
}

export const initialState = (): State => ({ view: 'overview', filters: [], parked: [], experiments: [], p: {} });

export function parseFragment(hash: string): State {
	const state = initialState();
	const match = /^#v1\/([a-z-]+)(?:\?(.*))?$/s.exec(hash);
	if (!match) return state;
	state.view = match[1]!;
	for (const [key, value] of new URLSearchParams(match[2] ?? '')) {
		if (key === 'f') state.filters.push(value);
		else if (key === 'g') state.parked.push(value);
		else if (key === 'e') state.experiments.push(value);
		else state.p[key] = value;
	}
	return state;
}

export function formatFragment(state: State): string {
	const query = new URLSearchParams();
	for (const value of state.experiments) query.append('e', value);
	for (const value of state.filters) query.append('f', value);
	for (const value of state.parked) query.append('g', value);
	for (const key of Object.keys(state.p).sort()) {
		const value = state.p[key];
		if (value !== undefined && value !== '') query.append(key, value);
	}
	const text = query.toString();
	return `#${VERSION}/${state.view}${text ? `?${text}` : ''}`;
}
