// SPDX-License-Identifier: Apache-2.0
// Names that only a debuginfod server has: nobody waits for them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { closeAll, closePage, folder, go, openPage, rowsOf, serveWith, settled, valueOf } from './harness.mjs';

after(closeAll);

test('results are there before debuginfod has answered, and have its names afterwards', { skip: !existsSync(`${folder}/stripped.1.er`) }, async () => {
	let release;
	const released = new Promise((done) => { release = done; });
	const asked = [];
	const debuginfod = createServer(async (request, response) => {
		asked.push(request.url);
		await released;
		if (request.url.endsWith('/debuginfo') && request.url.includes(buildId)) response.end(readFileSync(`${folder}/stripped.debug`));
		else response.writeHead(404).end();
	});
	const buildId = /Build ID: (\w+)/.exec(execFileSync('readelf', ['-n', `${folder}/stripped`], { encoding: 'utf8' }))[1];
	await new Promise((done) => debuginfod.listen(0, '127.0.0.1', done));
	const own = await serveWith({ DEBUGINFOD_URLS: `http://127.0.0.1:${debuginfod.address().port}/`, DEBUGINFOD_CACHE_PATH: `${folder}/cache/debuginfod`, HELIO_CACHE: 'all' }, 'stripped.1.er');
	const page = await openPage(own, 'functions');
	const names = async () => (await rowsOf(page, 'Functions')).map((r) => r.name);
	const before = await rowsOf(page, 'Functions');
	assert.ok(before.length > 1 && !before.some((r) => /hidden_name/.test(r.name)), before.map((r) => r.name).join());
	await page.waitForSelector('.names:has-text("debuginfod")');
	release();
	await page.waitForFunction(() => [...document.querySelectorAll('[aria-label=Functions] .name')].some((c) => /hidden_name/.test(c.title)));
	await page.waitForFunction(() => !document.querySelector('.names'));
	await settled(page);
	const after = await rowsOf(page, 'Functions');
	const total = (rows) => valueOf(rows.find((r) => r.name === '<Total>').tips[0]);
	assert.equal(total(after), total(before));
	assert.ok(asked.some((url) => url.includes(buildId)));
	await go(page, 'source?fn=hidden_name');
	await page.waitForSelector('text=x * 1e-9');
	// Another page, and the program started again, have them at once.
	await page.reload();
	await go(page, 'functions');
	assert.ok((await names()).includes('hidden_name'));
	await closePage(page);
	await own.stop();
	const again = await serveWith({ DEBUGINFOD_URLS: 'http://127.0.0.1:9/', DEBUGINFOD_CACHE_PATH: `${folder}/cache/debuginfod`, HELIO_CACHE: 'all' }, 'stripped.1.er');
	const other = await openPage(again, 'functions');
	assert.ok((await rowsOf(other, 'Functions')).some((r) => r.name === 'hidden_name'));
	await closePage(other);
	await again.stop();
	debuginfod.close();
});
