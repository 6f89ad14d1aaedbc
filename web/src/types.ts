// SPDX-License-Identifier: Apache-2.0
// What the server sends: the objects of `helio print -printmode json`, and those around them.

export interface Metric {
	name: string; // the key in rows: e.totalcpu, a.sync, e.totalcpu.2
	title: string;
	unit: string; // s, count, bytes, text, ...
	experiment?: string;
	form?: 'value' | 'difference' | 'ratio';
	recorded?: false; // not by its experiment
	current?: boolean;
}

export interface Row {
	name?: string | null;
	object?: string | null;
	[key: string]: unknown;
}

export interface Result {
	command: string;
	experiments: string[];
	metrics: Metric[];
	rows: Row[];
	warnings: string[];
	sort?: string;
	each?: Result[]; // of a command that answers for each of the experiments that are compared
	[key: string]: unknown;
}

export interface Message {
	level: 'error' | 'warning' | 'note';
	text: string;
	command: number | null;
}

export interface Answer {
	results: (Result | null)[];
	messages: Message[];
	names_waiting?: number;
	names_found?: number;
}

// Debug files that servers are asked for while results are shown without their names.
export interface Names {
	waiting: number; // load objects whose files are not there yet
	name: string; // the one that is asked for now
	found: number; // files that came
}

// A request is what `helio print` could be asked for: settings, then commands that show something.
export interface PrintRequest {
	settings: [string, ...string[]][];
	commands: [string, ...string[]][];
}

export interface CommandInfo {
	name: string;
	group: string;
	arguments: string;
	help: string;
	available: boolean;
	why: string | null;
}

export interface Session {
	id: number;
	experiments: string[];
	growing: boolean;
	names_found?: number; // as it was opened
	opening?: number; // how far it is, until it is open
	failed?: boolean;
	messages?: { level: string; text: string }[];
}

export interface Bootstrap {
	version: string;
	sessions: Session[];
	directory: string;
	readonly: boolean;
	commands: CommandInfo[];
}

export interface Frame {
	name: string;
	object: string | null;
	address: number | null;
	file: string | null;
	line: number | null;
	inlined: boolean;
}

// What experiments that are compared have is in columns of their own: e.totalcpu.2. A command is told the metric.
export const metricOf = (key: string): string => key.replace(/\.\d+$/, '');
// Whether the rows are in the order of a column.
export const isSortedBy = (sort: string | undefined, key: string): boolean => sort !== undefined && metricOf(sort.replace(/^-/, '')) === metricOf(key);
export const num = (row: Row | undefined, key: string): number => {
	const value = row?.[key];
	return typeof value === 'number' ? value : 0;
};
export const str = (row: Row | undefined, key: string): string => {
	const value = row?.[key];
	return typeof value === 'string' ? value : '';
};
