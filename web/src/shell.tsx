// SPDX-License-Identifier: Apache-2.0
// The frame of the page: navigation at the left, the bar above, the panes around the view.

import type { ComponentType, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import * as api from './api';
import { baseName } from './format';
import { allKeys, useKeys, type Key } from './keys';
import { works } from './query';
import {
	boot, calls, canRedo, canUndo, catalogue, details, experiments, fail, fatal, growing, locked, names, nav, notice, opening, param, patch,
	redo, refresh, refreshing, setState, show, state, theme, undo, view, whyNot,
} from './store';
import { Chips, editFilter } from './ui/chips';
import { commandOfView, copyCommand, copyView, exportMenu } from './ui/exporting';
import { DialogHost, MenuHost, openDialog, openMenu, toasted } from './ui/menu';
import { Marks } from './ui/marks';
import { openMetrics } from './ui/metrics';
import { Calls, Details, Splitter } from './ui/panes';
import { openSettings } from './ui/settings';
import { published } from './ui/view';
import { views, type ViewInfo } from './views/all';

const current = (): ViewInfo => views.find((v) => v.id === view.value) ?? views[0]!;

export function Shell(): JSX.Element {
	if (fatal.value) return <main class="fatal"><h1>Heliometer</h1><p role="alert">{fatal.value}</p></main>;
	if (locked.value) return <Login />;
	if (!boot.value) return <main class="fatal"><p role="status">{opening.value > 0 ? `Opening the experiments … ${Math.round(100 * opening.value)} %` : 'Loading …'}</p></main>;
	return <Page />;
}

// The address of helio view is valid once; its key, any number of times.
function Login(): JSX.Element {
	const [key, setKey] = useState('');
	const [error, setError] = useState('');
	const use = async (): Promise<void> => {
		try {
			await api.post('login', { token: key.trim() });
			dispatchEvent(new Event('helio-login'));
		} catch (e) {
			setError(e instanceof Error ? e.message : String(e));
		}
	};
	return <main class="fatal"><h1>Heliometer</h1><p>This browser is not logged in. The address that helio view printed is valid once; start it again for a new one, or type the key that <code>helio view --no-open</code> prints.</p>
		<form class="form" onSubmit={(e) => { e.preventDefault(); void use(); }}><label>Key <input type="password" autocomplete="off" value={key} onInput={(e) => setKey(e.currentTarget.value)} required /></label>
			<div class="buttons"><button class="main" type="submit">Log in</button></div>{error && <p class="problem" role="alert">{error}</p>}</form></main>;
}

function Page(): JSX.Element {
	const [right, setRight] = useState(330);
	const [below, setBelow] = useState(190);
	const now = current();
	const View: ComponentType = now.component;
	const hasSession = experiments.value.length > 0;
	const shown = hasSession || now.free ? View : views.find((v) => v.id === 'start')!.component;
	const Shown = shown;
	const withPanes = hasSession && !now.free;
	useEffect(() => {
		document.title = `${now.title}${experiments.value.length ? ` — ${experiments.value.join(', ')}` : ''} — Heliometer`;
	});
	useKeys(globalKeys());
	return (
		<div class="page">
			<Bar />
			<Chips />
			<div class="middle">
				{nav.value === 'on' && <Nav />}
				<main class="content">
					<div class={now.wide ? 'upper wide' : 'upper'}>
						<div class="viewbox" key={now.id}><Shown /></div>
						{withPanes && details.value === 'on' && now.details !== false && <>
							<Splitter vertical size={right} setSize={setRight} label="Width of the details" />
							<div class="right" style={{ width: `${right}px` }}><Details /></div></>}
					</div>
					{withPanes && calls.value === 'on' && now.calls && <>
						<Splitter vertical={false} size={below} setSize={setBelow} label="Height of called by and calls" />
						<div class="below" style={{ height: `${below}px` }}><Calls /></div></>}
				</main>
			</div>
			<StatusBar />
			<MenuHost />
			<DialogHost />
			{toasted.value && <div class="toast" role="status">{toasted.value}</div>}
		</div>
	);
}

function Nav(): JSX.Element {
	const groups = [...new Set(views.map((v) => v.group))];
	let key = 0;
	return (
		<nav class="nav" aria-label="Views">
			{groups.map((g) => (
				<div role="group" aria-label={g}>{g && <h2>{g}</h2>}
					{views.filter((v) => v.group === g && !v.hidden && !(api.isFixed && v.free)).map((v) => {
						const why = v.command && experiments.value.length && !v.unless?.() ? whyNot(v.command, v.of) : null;
						const number = v.group !== '' && key < 9 ? ++key : 0;
						return <a href={`#v1/${v.id}`} class={`${view.value === v.id ? 'on' : ''} ${why ? 'off' : ''}`} aria-current={view.value === v.id ? 'page' : undefined}
							title={why ?? v.about} onClick={(e) => { e.preventDefault(); show(v.id); }}>{v.title}{number > 0 && <kbd>{number}</kbd>}</a>;
					})}
				</div>
			))}
		</nav>
	);
}

function Bar(): JSX.Element {
	const find = useRef<HTMLInputElement>(null);
	const compared = param('cmp');
	return (
		<header class="topbar">
			<button class="flat" aria-label="Show or hide the list of views" aria-pressed={nav.value === 'on'} title="List of views (b)" onClick={() => (nav.value = nav.value === 'on' ? 'off' : 'on')}>☰</button>
			<button class="flat exp" title={experiments.value.join('\n')} onClick={(e) => experimentMenu(e)}>{experiments.value.length ? experiments.value.join(' + ') : 'no experiment'} ▾</button>
			{growing.value && <Growing />}
			<button class="flat" disabled={!canUndo.value} onClick={undo} title="Undo (u)" aria-label="Undo">↶</button>
			<button class="flat" disabled={!canRedo.value} onClick={redo} title="Redo (U)" aria-label="Redo">↷</button>
			<input ref={find} id="find" type="search" placeholder="Find: regex, with commas: and, -not   ( / )" aria-label="Find in this view" value={param('q')}
				onInput={(e) => patch({ q: e.currentTarget.value || undefined }, { replace: true })}
				onKeyDown={(e) => { if (e.key === 'Escape' || e.key === 'Enter') { e.currentTarget.blur(); (document.querySelector('.viewbox [tabindex="0"]') as HTMLElement | null)?.focus(); } }} />
			<Marks />
			<button onClick={() => editFilter()} title="Add a filter (F)">Filter …</button>
			<button onClick={openMetrics} title="Which metrics are shown (m)">Metrics …</button>
			{experiments.value.length > 1 && <label class="choice"><span>Compare</span><select value={compared} onChange={(e) => patch({ cmp: e.currentTarget.value || undefined })}>
				{[['', 'off'], ['on', 'side by side'], ['delta', 'differences'], ['ratio', 'ratios']].map(([v, t]) => <option value={v} selected={v === compared}>{t}</option>)}</select></label>}
			<span class="space" />
			<button onClick={(e) => openMenu(exportMenu(), e.clientX, e.clientY)} title="Copy or save what the view shows">Copy ▾</button>
			<button onClick={openSettings} title="Settings (S)">Settings …</button>
			<button class="flat" aria-label="Keys" title="Keys (?)" onClick={openHelp}>?</button>
		</header>
	);
}

function Growing(): JSX.Element {
	const [every, setEvery] = useState(0);
	useEffect(() => {
		if (!every) return;
		const timer = setInterval(() => void refresh().catch(fail), every * 1000);
		return () => clearInterval(timer);
	}, [every]);
	return <span class="growing" aria-busy={refreshing.value}><span class="live">recording</span><button disabled={refreshing.value} onClick={() => void refresh().catch(fail)} title="Look again (R)">Refresh</button>
		<label class="choice"><span>every</span><select onChange={(e) => setEvery(Number(e.currentTarget.value))}>{[[0, '–'], [2, '2 s'], [10, '10 s'], [60, '1 min']].map(([v, t]) => <option value={v}>{t}</option>)}</select></label></span>;
}

function experimentMenu(event: MouseEvent): void {
	const list = experiments.value;
	const set = (next: string[]): void => setState({ ...state.value, experiments: next, p: { ...state.value.p, ...(next.length < 2 ? { cmp: '' } : {}) } });
	openMenu([
		...list.length > 1 ? [
			...list.map((name, i) => ({ text: i === 0 ? `Base: ${name}` : `Make ${name} the base of comparison`, off: i === 0, run: () => set([name, ...list.filter((n) => n !== name)]) })),
			null,
			...list.map((name) => ({ text: `Leave out ${name}`, run: () => set(list.filter((n) => n !== name)) })),
			null] : [],
		{ text: 'Add or open experiments …', run: () => show('start') },
		{ text: 'Refresh', hint: 'R', run: () => void refresh().catch(fail) },
	], event.clientX, event.clientY);
}

function StatusBar(): JSX.Element {
	const warnings = catalogue.value?.warnings ?? [];
	const command = commandOfView();
	const slowest = Math.min(...works.value.map((w) => w.done));
	return (
		<footer class="status">
			{works.value.length > 0 && <span class="work" role="status">working<progress max={1} aria-label="Progress" {...(slowest > 0 ? { value: slowest } : {})} /><button class="flat" onClick={() => works.value.forEach((w) => w.cancel())}>cancel</button></span>}
			{names.value && <span class="names" role="status" title="Results are shown without names and lines that a debuginfod server is asked for (DEBUGINFOD_URLS), and again when they have come">asks debuginfod for {baseName(names.value.name)}{names.value.waiting > 1 && ` and ${names.value.waiting - 1} more`}</span>}
			{notice.value && <span class={`said ${notice.value.level}`} role="alert">{notice.value.text}<button class="flat" aria-label="Dismiss" onClick={() => (notice.value = null)}>✕</button></span>}
			{warnings.length > 0 && <button class="flat warn" onClick={() => openDialog('Warnings', () => <ul class="hints">{warnings.map((w) => <li>{w}</li>)}</ul>, true)}>⚠ {warnings.length} {warnings.length === 1 ? 'warning' : 'warnings'}</button>}
			<span class="space" />
			{published.value.request && <button class="flat command" title="The command line that shows the same; click to copy it" onClick={copyCommand}>{command}</button>}
		</footer>
	);
}

function globalKeys(): Key[] {
	const list = views.filter((v) => v.group !== '' && !v.hidden);
	return [
		{ key: '?', help: 'this list', group: 'Everywhere', run: openHelp },
		{ key: '/ Ctrl+f', help: 'find', group: 'Everywhere', run: () => (document.getElementById('find') as HTMLInputElement).select() },
		...list.slice(0, 9).map((v, i) => ({ key: String(i + 1), help: v.title, group: 'Views', run: () => show(v.id) })),
		{ key: 'u Ctrl+z', help: 'undo, back', group: 'Everywhere', run: undo },
		{ key: 'U Ctrl+Shift+Z Ctrl+y', help: 'redo, forward', group: 'Everywhere', run: redo },
		{ key: 'F', help: 'add a filter', group: 'Everywhere', run: () => editFilter() },
		{ key: 'm', help: 'choose metrics', group: 'Everywhere', run: openMetrics },
		{ key: 'f', help: 'only with the selected function', group: 'Selected row', run: () => undefined },
		{ key: 'd', help: 'without the selected function', group: 'Selected row', run: () => undefined },
		{ key: 's', help: 'its source (also Enter)', group: 'Selected row', run: () => undefined },
		{ key: 'c', help: 'its callers and callees', group: 'Selected row', run: () => undefined },
		{ key: 'Shift+F10', help: 'the menu of the selected row', group: 'Selected row', run: () => undefined },
		{ key: 'y', help: 'copy the view as text', group: 'Everywhere', run: copyView },
		{ key: 'Y', help: 'copy the command line of the view', group: 'Everywhere', run: copyCommand },
		{ key: 'b', help: 'list of views', group: 'Everywhere', run: () => { nav.value = nav.value === 'on' ? 'off' : 'on'; } },
		{ key: 'D', help: 'details', group: 'Everywhere', run: () => { details.value = details.value === 'on' ? 'off' : 'on'; } },
		{ key: 'B', help: 'called by and calls', group: 'Everywhere', run: () => { calls.value = calls.value === 'on' ? 'off' : 'on'; } },
		{ key: 'S', help: 'settings', group: 'Everywhere', run: openSettings },
		{ key: 'R', help: 'refresh', group: 'Everywhere', run: () => void refresh().catch(fail) },
		{ key: 't', help: 'dark or light', group: 'Everywhere', run: () => { theme.value = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'; } },
	];
}

function openHelp(): void {
	const keys = allKeys().filter((k) => k.help);
	const groups = [...new Set(keys.map((k) => k.group ?? 'This view'))];
	openDialog('Keys', () => (
		<div class="keys">{groups.map((g) => <section><h3>{g}</h3><dl>{keys.filter((k) => (k.group ?? 'This view') === g).map((k) =>
			<><dt>{k.key.split(' ').map((x) => <kbd>{x}</kbd>)}</dt><dd>{k.help}</dd></>)}</dl></section>)}
		<section><h3>Tables</h3><dl><dt><kbd>↑</kbd><kbd>↓</kbd></dt><dd>row</dd><dt><kbd>←</kbd><kbd>→</kbd></dt><dd>close and open a branch</dd><dt><kbd>Enter</kbd></dt><dd>open</dd></dl></section></div>
	), true);
}
