// SPDX-License-Identifier: Apache-2.0
// Requests to the server. Errors are sentences, to be shown as they are.

import type { Answer, Bootstrap, PrintRequest, Result } from './types';

export class ApiError extends Error {
	constructor(text: string, readonly status: number) {
		super(text);
	}
}

async function failure(response: Response): Promise<ApiError> {
	let text = '';
	try {
		text = ((await response.json()) as { error?: { text?: string } }).error?.text ?? '';
	} catch {
		// No JSON: the status has to do.
	}
	return new ApiError(text || `The server answered ${response.status} ${response.statusText}.`, response.status);
}

async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
	if (isFixed) throw new ApiError(FIXED, 400);
	const init: RequestInit = { method, credentials: 'same-origin', cache: 'no-store' };
	if (signal) init.signal = signal;
	if (body !== undefined) {
		init.headers = { 'Content-Type': 'application/json' };
		init.body = JSON.stringify(body);
	}
	let response: Response;
	try {
		response = await fetch(`/api/v1/${path}`, init);
	} catch (error) {
		if (signal?.aborted) throw error;
		throw new ApiError('The server does not answer any more: it has ended, or the connection is cut. Start helio view again.', 0);
	}
	if (!response.ok) throw await failure(response);
	return response;
}

export async function get<T>(path: string): Promise<T> {
	return (await (await send('GET', path)).json()) as T;
}

export async function post<T>(path: string, body: unknown): Promise<T> {
	const response = await send('POST', path, body);
	return (response.status === 204 ? null : await response.json()) as T;
}

// The token stands in the fragment, which no request carries; it is valid once.
export async function login(): Promise<void> {
	if (isFixed) return;
	const token = /^#t=([A-Za-z0-9_-]+)/.exec(location.hash);
	if (!token) return;
	history.replaceState(null, '', location.pathname + '#');
	try {
		await post('login', { token: token[1] });
	} catch (error) {
		// Used before: this browser may be logged in by it.
		if (!(error instanceof ApiError) || error.status !== 401) throw error;
	}
}

// `helio html`: a file with the page and its answers. Each command is looked up by its words, or else by the
// first one of its name; what would need other answers says so.
interface Fixed {
	bootstrap: Bootstrap;
	answers: Record<string, Answer['results'][number]>;
}
const element = document.getElementById('helio-data');
const fixed = element ? (JSON.parse(element.textContent ?? 'null') as Fixed | null) : null;
export const FIXED = 'This file holds fixed answers; open the experiment with helio view.';
export const isFixed = fixed !== null;

function lookUp(command: string[]): Answer['results'][number] | undefined {
	const { answers } = fixed!;
	const exact = answers[JSON.stringify(command)];
	if (exact || /^(csingle|fsingle|source|disasm|lock|indxobj|memobj|cprepend|cappend)$/.test(command[0]!)) return exact;
	const inverted = command.includes('-inverted');
	for (const key of Object.keys(answers)) {
		const words = JSON.parse(key) as string[];
		if (words[0] === command[0] && words.includes('-inverted') === inverted && ['-from', '-cpus'].every((w) => words.includes(w) === command.includes(w))) return answers[key];
	}
	return undefined;
}

// Whether the file has an answer to a command, of the object or function `of`, or of any; a server has all.
export function holds(command: string, of?: string): boolean {
	return !fixed || Object.keys(fixed.answers).some((key) => {
		const words = JSON.parse(key) as string[];
		return words[0] === command && (of === undefined || words[1] === of);
	});
}

function fixedAnswer(request: PrintRequest): Answer {
	const other = request.settings.some(([name]) => !/^(limit|metrics|sort)$/.test(name));
	const results = request.commands.map((command) => (other ? null : lookUp(command) ?? null));
	return { results, messages: results.flatMap((r, i) => (r ? [] : [{ level: 'error' as const, text: FIXED, command: i }])) };
}

export const bootstrap = (): Promise<Bootstrap> => (fixed ? Promise.resolve(fixed.bootstrap) : get<Bootstrap>('bootstrap'));

let nextId = 0;
const page = Math.random().toString(36).slice(2, 8);

export interface Running<T> {
	id: string;
	answer: Promise<T>;
	cancel(): void;
}

function run<T>(session: number, request: PrintRequest, format: string, read: (r: Response) => Promise<T>): Running<T> {
	const id = `${page}-${nextId++}`;
	if (fixed) return { id, answer: Promise.reject(new ApiError(FIXED, 400)), cancel: () => undefined };
	const abort = new AbortController();
	const answer = send('POST', 'print', { session, id, format, ...request }, abort.signal).then(read);
	return {
		id,
		answer,
		cancel: () => {
			abort.abort();
			void send('POST', 'cancel', { id }).catch(() => undefined);
		},
	};
}

// Told what each answer says of names that are still asked for.
export const listener = { names: (_session: number, _waiting: number, _found: number): void => undefined };

// A command that answers several times is one result with the rows of all.
export function joined(result: Result | Result[] | null): Result | null {
	if (!Array.isArray(result)) return result;
	return result[0] ? { ...result[0], rows: result.flatMap((r) => r.rows), each: result } : null;
}

async function readAnswer(session: number, response: Response): Promise<Answer> {
	const answer = (await response.json()) as Answer;
	answer.results = answer.results.map(joined);
	listener.names(session, answer.names_waiting ?? 0, answer.names_found ?? 0);
	return answer;
}

export const print = (session: number, request: PrintRequest): Running<Answer> =>
	fixed ? { id: 'fixed', answer: Promise.resolve(fixedAnswer(request)), cancel: () => undefined }
		: run(session, request, 'json', (r) => readAnswer(session, r));

export const printText = (session: number, request: PrintRequest, format: string): Running<string> =>
	run(session, request, format, (r) => r.text());

export const progress = (id: string): Promise<{ done: number | null }> => get(`progress?id=${encodeURIComponent(id)}`);
