// SPDX-License-Identifier: Apache-2.0
// A server with its page and a browser, for the tests. Every test fails on what the browser's console says of
// errors: a violated content security policy, an exception, a request that failed.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chromium } from 'playwright-core';

export const helio = process.env.HELIO;
export const folder = process.env.HELIO_TEST_EXPERIMENTS;
const flags = ['--disable-background-networking', '--disable-gpu', '--disable-sync', '--disable-component-update', '--disable-extensions',
	'--no-first-run', '--disable-default-apps', '--force-device-scale-factor=1'];

// A program beside the tests. Those still running after the last test are ended: node waits for its children.
const running = new Set();
export function start(program, args, options) {
	const child = spawn(program, args, { cwd: folder, ...options });
	running.add(child);
	child.on('exit', () => running.delete(child));
	return child;
}

let browser = null;
export async function openBrowser() {
	const args = process.getuid?.() === 0 ? [...flags, '--no-sandbox'] : flags;
	browser ??= await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
	return browser;
}
export async function closeAll() {
	await browser?.close();
	for (const child of running) child.kill('SIGKILL');
}

// helio view over experiments; the address logs in once.
export const serve = (...experiments) => serveWith({}, ...experiments);
export async function serveWith(environment, ...experiments) {
	const child = start(helio, ['view', '--no-open', ...experiments], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, BROWSER: '', SSH_CONNECTION: '', ...environment } });
	let said = '';
	const address = await new Promise((found, failed) => {
		for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => {
			said += data;
			const match = /(http:\/\/127\.0\.0\.1:\d+\/)(#t=\S+)/.exec(said);
			if (match && said.includes('Bearer')) found(match);
		});
		child.on('exit', (code) => failed(new Error(`helio view ended with ${code}: ${said}`)));
	});
	return {
		base: address[1], token: address[2], key: /Bearer (\S+)/.exec(said)[1],
		stop: async () => {
			child.kill('SIGINT');
			if (child.exitCode === null) await once(child, 'exit');
		},
	};
}

// A page that is logged in, and what its console complained of.
export async function openPage(server, hash = '', options = {}) {
	const context = await (await openBrowser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
	const page = await context.newPage();
	page.complaints = [];
	// A request that ends while its progress is asked for is no longer known.
	page.on('console', (m) => { if (m.type() === 'error' && !m.location().url.includes('/api/v1/progress')) page.complaints.push(m.text()); });
	page.on('pageerror', (e) => page.complaints.push(String(e)));
	page.requested = [];
	page.on('request', (r) => page.requested.push(r.url()));
	await context.request.post(`${server.base}api/v1/login`, { data: { token: server.key } });
	await page.goto(`${server.base}#v1/${hash}`);
	await page.waitForSelector('.page');
	await settled(page);
	return page;
}

export async function settled(page) {
	await page.waitForFunction(() => document.querySelector('.page') && !document.querySelector('[aria-busy=true]') && !document.querySelector('.work'));
	await page.waitForTimeout(60);
	await page.waitForFunction(() => !document.querySelector('[aria-busy=true]'));
}

export async function go(page, hash) {
	await page.evaluate((h) => { location.hash = h; }, `#v1/${hash}`);
	await settled(page);
}

export async function closePage(page) {
	const { complaints } = page;
	await page.context().close();
	assert.deepEqual(complaints, []);
}

export function print(experiments, ...commands) {
	const out = execFileSync(helio, ['print', '-printmode', 'json', ...commands, ...experiments], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
	return out.split('\n').filter((l) => l.startsWith('{')).map((l) => JSON.parse(l));
}

// The visible rows of a table: names, and cells as they are written, without percentages.
export const rowsOf = (page, label) => page.$$eval(`[aria-label="${label}"] [role=row][id]`, (rows) => rows.map((row) => ({
	index: Number(row.id.slice(3)),
	name: row.querySelector('.name').getAttribute('title'),
	cells: [...row.querySelectorAll('.c.n')].map((c) => c.querySelector('.v')?.textContent ?? ''),
	tips: [...row.querySelectorAll('.c.n')].map((c) => c.getAttribute('title')),
})));

// A tooltip has the value in full: "0.956744 s · 28.9% of ...", "279,689 ...".
export const valueOf = (tip) => (tip ? Number(/^-?[\d,.e+-]+/.exec(tip)[0].replaceAll(',', '')) : 0);
