// SPDX-License-Identifier: Apache-2.0
// The page: login, what the experiments have, then the shell.

import { render } from 'preact';
import * as api from './api';
import { startKeys } from './keys';
import { Shell } from './shell';
import { boot, fail, fatal, locked, notice, opening, startHistory, startSessions } from './store';

async function start(): Promise<void> {
	try {
		await api.login();
		locked.value = false;
		let answer = await api.bootstrap();
		while (answer.sessions[0]?.opening !== undefined) {
			opening.value = answer.sessions[0].opening;
			await new Promise((done) => setTimeout(done, 250));
			answer = await api.bootstrap();
		}
		const first = answer.sessions[0];
		if (first?.failed) notice.value = { level: 'error', text: first.messages?.map((m) => m.text).join(' ') || 'The experiments could not be opened.' };
		startHistory();
		boot.value = answer;
	} catch (error) {
		if (error instanceof api.ApiError && error.status === 401) {
			locked.value = true;
			return;
		}
		fail(error);
		if (!fatal.value) fatal.value = error instanceof Error ? error.message : String(error);
		return;
	}
	startSessions();
	startKeys();
}

render(<Shell />, document.getElementById('app')!);
void start();
addEventListener('helio-login', () => void start());
