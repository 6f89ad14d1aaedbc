// SPDX-License-Identifier: Apache-2.0
// The page: login, what the experiments have, then the shell.

import { render } from 'preact';
import * as api from './api';
import { startKeys } from './keys';
import { Shell } from './shell';
import { boot, fail, fatal, startHistory, startSessions } from './store';

async function start(): Promise<void> {
	try {
		await api.login();
		const answer = await api.bootstrap();
		startHistory();
		boot.value = answer;
	} catch (error) {
		if (error instanceof api.ApiError && error.status === 401)
			fatal.value = 'This page is not logged in: the address that helio view printed is valid once. Start helio view again.';
		else fail(error);
		if (!fatal.value) fatal.value = error instanceof Error ? error.message : String(error);
		return;
	}
	startSessions();
	startKeys();
}

render(<Shell />, document.getElementById('app')!);
void start();
