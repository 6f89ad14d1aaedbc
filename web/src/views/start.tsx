// SPDX-License-Identifier: Apache-2.0
// Without experiments: those of the directory to open, one or several; and a form to record a program or to
// attach to one, with what the options mean, what this machine can record, the command line, and how it goes.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import * as api from '../api';
import { formatAlone } from '../format';
import { quote } from '../request';
import { boot, experiments, fail, setState, state } from '../store';
import { initialState } from '../fragment';
import type { Row } from '../types';
import { num, str } from '../types';

function useFetched<T>(path: string, empty: T, again = 0): T {
	const [value, setValue] = useState<T>(empty);
	useEffect(() => { api.get<T>(path).then(setValue, fail); }, [path, again]);
	return value;
}

export const openExperiments = (list: string[]): void =>
	setState({ ...initialState(), experiments: list, p: state.value.p.cmp && list.length > 1 ? { cmp: state.value.p.cmp } : {} });

export function Start(): JSX.Element {
	const [again, setAgain] = useState(0);
	return <div class="scrolled start">
		<List_ again={again} reload={() => setAgain(again + 1)} />
		{!boot.value?.readonly && <Record done={() => setAgain(again + 1)} />}
	</div>;
}

function List_({ again, reload }: { again: number; reload(): void }): JSX.Element {
	const answer = useFetched<Row[] | { experiments: Row[] }>('experiments', [], again);
	const list = Array.isArray(answer) ? answer : answer.experiments ?? [];
	const [marked, setMarked] = useState<string[]>([]);
	const mark = (path: string): void => setMarked(marked.includes(path) ? marked.filter((p) => p !== path) : [...marked, path]);
	return (
		<section><h2>Experiments in {boot.value?.directory}</h2>
			{list.length === 0 ? <p class="hint">There are none yet: record one below, or on a command line by helio collect.</p> :
				<table class="plain list"><thead><tr><th /><th scope="col">Name</th><th scope="col">Recorded</th><th class="n" scope="col">Duration</th><th class="n" scope="col">Events</th><th class="n" scope="col">Size</th><th scope="col">Processes</th><th scope="col">State</th><th scope="col">Command</th></tr></thead><tbody>
					{[...list].sort((a, b) => (str(a, 'began') < str(b, 'began') ? 1 : -1)).map((e) => {
						const path = str(e, 'path') || str(e, 'name');
						const events = num(e, 'events') + Object.values((e.trace_events as Record<string, number> | undefined) ?? {}).reduce((a, b) => a + b, 0);
						return <tr><td><input type="checkbox" aria-label={`Mark ${path}`} checked={marked.includes(path)} onChange={() => mark(path)} /></td>
							<td><button class="link strong" onClick={() => openExperiments([path])}>{path}</button></td>
							<td class="once">{e.began ? new Date(str(e, 'began')).toLocaleString() : ''}</td><td class="n">{formatAlone(num(e, 'duration'), 's')}</td><td class="n">{events.toLocaleString('en-US')}</td><td class="n">{formatAlone(num(e, 'bytes'), 'bytes')}</td>
							<td>{String(e.processes ?? '')}</td><td>{str(e, 'state')}</td><td class="dim cut" title={str(e, 'command')}>{str(e, 'command')}</td></tr>;
					})}
				</tbody></table>}
			<div class="buttons">
				<button class="main" disabled={!marked.length} onClick={() => openExperiments(marked)}>Open {marked.length > 1 ? 'together' : ''}</button>
				<button disabled={marked.length < 2} onClick={() => setState({ ...initialState(), view: 'functions', experiments: marked, p: { cmp: 'on' } })}>Compare</button>
				{experiments.value.length > 0 && <button disabled={!marked.length} onClick={() => openExperiments([...experiments.value, ...marked.filter((m) => !experiments.value.includes(m))])}>Add to those that are open</button>}
				<button onClick={reload}>Look again</button>
			</div>
		</section>
	);
}

interface Option { command: string; option: string; long?: string | null; argument: string | null; help: string; group?: string | null }
interface Check { name: string; state: string; meaning: string; remedy: string | null }

// Words as a shell cuts them: blanks separate, quotes hold together.
export function shellWords(text: string): string[] {
	const words: string[] = [];
	let word: string | null = null;
	let quoted = '';
	for (let i = 0; i < text.length; i++) {
		const c = text[i]!;
		if (quoted) {
			if (c === quoted) quoted = '';
			else if (c === '\\' && quoted === '"' && i + 1 < text.length) word = (word ?? '') + text[++i]!;
			else word = (word ?? '') + c;
		} else if (c === '"' || c === "'") {
			quoted = c;
			word ??= '';
		} else if (c === '\\' && i + 1 < text.length) word = (word ?? '') + text[++i]!;
		else if (/\s/.test(c)) {
			if (word !== null) words.push(word);
			word = null;
		} else word = (word ?? '') + c;
	}
	if (word !== null) words.push(word);
	return words;
}

const flagOf = (o: Option): string => o.long || o.option;

function Record({ done }: { done(): void }): JSX.Element {
	const options = useFetched<Option[]>('options', []);
	const doctor = useFetched<{ checks?: Check[] }>('doctor', {});
	const [command, setCommand] = useState<'collect' | 'attach'>('collect');
	const [program, setProgram] = useState('');
	const [values, setValues] = useState<Record<string, string>>({});
	const own = options.filter((o) => o.command === command && !/^--(help|version|dry-run|attach|view|verbose|quiet)$/.test(flagOf(o)));
	const groups = [...new Set(own.map((o) => o.group ?? ''))];
	const words = own.flatMap((o) => {
		const value = values[flagOf(o)];
		if (value === undefined || value === '') return [];
		return o.argument ? [flagOf(o), value] : [flagOf(o)];
	});
	const argv = ['helio', command, ...words, ...(command === 'collect' ? shellWords(program) : program.trim() ? [program.trim()] : [])];
	const [running, setRunning] = useState<number | null>(null);
	const start = async (): Promise<void> => {
		try {
			const body = command === 'collect' ? { command, options: words, program: shellWords(program) } : { command, options: words, pid: Number(program) };
			setRunning((await api.post<{ recording: number }>('record', body)).recording);
		} catch (error) {
			fail(error);
		}
	};
	const set = (o: Option, value: string): void => setValues({ ...values, [flagOf(o)]: value });
	return (
		<section><h2>Record</h2>
			<div class="seg" role="group"><button class={`toggle ${command === 'collect' ? 'on' : ''}`} aria-pressed={command === 'collect'} onClick={() => { setCommand('collect'); setProgram(''); }}>Run a program</button>
				<button class={`toggle ${command === 'attach' ? 'on' : ''}`} aria-pressed={command === 'attach'} onClick={() => { setCommand('attach'); setProgram(''); }}>Attach to a process</button></div>
			<form class="form" onSubmit={(e) => { e.preventDefault(); void start(); }}>
				<label class="wide">{command === 'collect' ? 'Program and its arguments' : 'Process id'}<input required value={program} placeholder={command === 'collect' ? "sqlite3 :memory: '.read query.sql'" : '1234'} inputMode={command === 'attach' ? 'numeric' : 'text'} onInput={(e) => setProgram(e.currentTarget.value)} /></label>
				{groups.map((g) => <details open={/data|what/i.test(g) || groups.length === 1}><summary>{g || 'Options'}</summary><table class="plain options"><tbody>
					{own.filter((o) => (o.group ?? '') === g).map((o) => <tr><th scope="row"><code>{flagOf(o)}</code></th>
						<td>{o.argument ? <input aria-label={flagOf(o)} placeholder={o.argument} value={values[flagOf(o)] ?? ''} onInput={(e) => set(o, e.currentTarget.value)} /> : <input type="checkbox" aria-label={flagOf(o)} checked={values[flagOf(o)] === 'on'} onChange={(e) => set(o, e.currentTarget.checked ? 'on' : '')} />}</td><td class="dim">{o.help}</td></tr>)}
				</tbody></table></details>)}
				<p class="commandline"><code>{argv.map(quote).join(' ')}</code></p>
				<div class="buttons"><button class="main" type="submit" disabled={!program.trim()}>{command === 'collect' ? 'Run and record' : 'Attach and record'}</button></div>
			</form>
			{running !== null && <Progress id={running} done={done} />}
			<h3>What this machine can record</h3>
			<table class="plain doctor"><tbody>{(doctor.checks ?? []).map((c) => <tr class={c.state === 'yes' ? '' : 'warned'}><td>{c.state === 'yes' ? '✓' : c.state === 'no' ? '✗' : '!'}</td><th scope="row">{c.name}</th><td>{c.meaning}{c.remedy && <div class="dim">{c.remedy}</div>}</td></tr>)}</tbody></table>
		</section>
	);
}

interface Recording { id: number; argv: string[]; running: boolean; status: number | null; output: string; experiment: string | null }

function Progress({ id, done }: { id: number; done(): void }): JSX.Element | null {
	const [now, setNow] = useState<Recording | null>(null);
	useEffect(() => {
		let stopped = false;
		const look = async (): Promise<void> => {
			try {
				const list = await api.get<Recording[]>('recordings');
				const mine = list.find((r) => r.id === id) ?? null;
				if (stopped) return;
				setNow(mine);
				if (mine?.running) setTimeout(() => void look(), 1000);
				else done();
			} catch (error) {
				fail(error);
			}
		};
		void look();
		return () => { stopped = true; };
	}, [id]);
	if (!now) return null;
	return <section class="recording" role="status"><h3>{now.running ? <span class="live">recording</span> : now.status === 0 ? 'Recorded' : `Ended with status ${now.status}`}</h3>
		<pre>{now.output}</pre>
		<div class="buttons">{now.running && <button onClick={() => void api.post('stop', { recording: id }).catch(fail)}>Stop</button>}
			{now.experiment && <button class="main" onClick={() => openExperiments([now.experiment!])}>{now.running ? 'Watch it grow' : 'Open'} {now.experiment}</button>}</div></section>;
}
