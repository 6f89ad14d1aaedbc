// SPDX-License-Identifier: Apache-2.0
// What somebody meets who opens a view for the first time, with nothing chosen.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { closeAll, closePage, folder, go, openPage, print, serve, settled } from './harness.mjs';

let server;
before(async () => { server = await serve('all.1.er'); });
after(closeAll);

test('the source view lists the hottest functions while none is chosen, and opens one at a click', async () => {
	const page = await openPage(server, 'source');
	await page.waitForSelector('.empty .hints button');
	const listed = await page.$$eval('.empty .hints button', (buttons) => buttons.map((b) => b.textContent));
	const hottest = print(['all.1.er'], '-limit', '12', '-functions').at(-1).rows.filter((r) => r.object && !r.name.startsWith('<')).map((r) => r.name);
	assert.deepEqual(listed, hottest.slice(0, 8));
	await page.click(`.empty .hints button:text-is("${listed[0]}")`);
	await settled(page);
	assert.ok((await page.$$('[aria-label=Source] [role=row]')).length > 1);
	await closePage(page);
});

test('the timeline by functions has a legend of them', async () => {
	const page = await openPage(server, 'timeline?tc=function');
	const legend = await page.$$eval('.legend span[title]', (spans) => spans.map((s) => s.title));
	const functions = print(['all.1.er'], '-functions').at(-1).rows.map((r) => r.name);
	assert.ok(legend.length > 1 && legend.length <= 10 && legend.every((name) => functions.includes(name)), legend.join());
	await go(page, 'timeline');
	assert.equal((await page.$$('.legend span[title]')).length, 0);
	await closePage(page);
});

test('what the overview tells to look at next leads to the view of OpenMP', { skip: !existsSync(`${folder}/omp.1.er`) }, async () => {
	const own = await serve('omp.1.er');
	const page = await openPage(own, 'overview');
	await page.click('.hints button:has-text("-regions")');
	await page.waitForFunction(() => location.hash.includes('openmp'));
	await closePage(page);
	await own.stop();
});

test('code has the room of the details in a narrow window, which come back in a wide one', async () => {
	const page = await openPage(server, 'both?fn=crunch');
	const details = () => page.$eval('.right', (box) => box.getBoundingClientRect().width);
	assert.equal(await details(), 0);
	await page.setViewportSize({ width: 1900, height: 800 });
	assert.ok(await details() > 100);
	await closePage(page);
});
