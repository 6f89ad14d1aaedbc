// SPDX-License-Identifier: Apache-2.0
// The settings as one dialog: those of this browser, which it keeps; and those of what is shown, which are in
// the address, and in .er.rc when they are saved there. A change is seen at once, behind the dialog.

import type { JSX } from 'preact';
import type { Signal } from '@preact/signals';
import * as api from '../api';
import { boot, calls, details, fail, fatal, nav, param, patch, state, textSize, theme } from '../store';
import { closeDialog, openDialog, toast } from './menu';
import { Choice } from './view';

type Options = [string, string][];

const ofBrowser: [string, Signal<string | undefined>, Options][] = [
	['Theme', theme, [['auto', 'as the system'], ['light', 'light'], ['dark', 'dark']]],
	['Size of text', textSize, ['11', '12', '13', '15', '18'].map((v) => [v, `${v} pixels`])],
];
const panes: [string, Signal<string | undefined>, string][] = [
	['List of views', nav, 'b'], ['Details', details, 'D'], ['Called by and calls', calls, 'B'],
];
// By their key in the address, with the command of helio print that they become.
const ofView: [string, string, string, Options][] = [
	['vm', 'viewmode', 'View mode', [['', 'user'], ['expert', 'expert'], ['machine', 'machine']]],
	['nm', 'name', 'Names of functions', [['', 'short'], ['long', 'long'], ['mangled', 'mangled']]],
	['inl', 'inlines', 'Inlined calls', [['', 'in trees only'], ['on', 'everywhere'], ['off', 'nowhere']]],
	['desc', 'en_desc', 'Descendants', [['', 'all'], ['off', 'none: founders only']]],
];

export const openSettings = (): void => openDialog('Settings', () => <Settings />);

function Settings(): JSX.Element {
	return (
		<div class="settings">
			<section><h3>This browser</h3>
				{ofBrowser.map(([label, value, options]) => <Choice label={label} value={value.value ?? ''} options={options} onChange={(v) => { value.value = v; }} />)}
				{panes.map(([label, value, key]) => <label class="check"><input type="checkbox" checked={value.value === 'on'} onChange={(e) => { value.value = e.currentTarget.checked ? 'on' : 'off'; }} /> {label} <kbd>{key}</kbd></label>)}
			</section>
			<section><h3>What is shown</h3>
				{ofView.map(([key, , label, options]) => <Choice label={label} value={param(key)} options={options} onChange={(v) => patch({ [key]: v })} />)}
				<p class="hint">Also metrics and their order, hidden load objects and comparison, as they are now, are saved: helio print takes them in this directory, too.</p>
				<div class="buttons">
					<button disabled={boot.value?.readonly === true || api.isFixed} onClick={() => void save()}>Save to .er.rc</button>
					<button disabled={!ofView.some(([key]) => param(key))} onClick={() => patch(Object.fromEntries(ofView.map(([key]) => [key, undefined])))}>Reset</button>
				</div>
			</section>
			{!api.isFixed && <div class="buttons"><button onClick={() => void end()}>End the server</button></div>}
		</div>
	);
}

async function save(): Promise<void> {
	const p = state.value.p;
	const settings: string[][] = [];
	const named = [['m', 'dmetrics'], ['sort', 'dsort'], ['cmp', 'compare'], ...ofView.map(([key, command]) => [key, command]), ['hide', 'object_hide']];
	for (const [key, command] of named) if (p[key!]) settings.push([command!, p[key!]!]);
	try {
		await api.post('save', { settings });
		toast('Saved to .er.rc');
	} catch (error) {
		fail(error);
	}
}

async function end(): Promise<void> {
	try {
		await api.post('quit', {});
		closeDialog();
		fatal.value = 'The server has ended.';
	} catch (error) {
		fail(error);
	}
}
