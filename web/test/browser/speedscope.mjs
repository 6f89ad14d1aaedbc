// SPDX-License-Identifier: Apache-2.0
// How long speedscope takes to show a profile, for bench/page.py: `node speedscope.mjs FOLDER PROFILE.json` prints one line of JSON.
// FOLDER has speedscope's release and the profile, whose name the page's title has once it is shown.
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import { join, normalize } from 'node:path';
import { closeAll, openBrowser } from './harness.mjs';

const LOADS = 3;
const [folder, profile] = process.argv.slice(2);
const types = { html: 'text/html', js: 'text/javascript', css: 'text/css', json: 'application/json', wasm: 'application/wasm' };
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

const server = createServer((request, response) => {
	const name = normalize(new URL(request.url, 'http://localhost').pathname);
	response.setHeader('content-type', types[name.split('.').at(-1)] ?? 'application/octet-stream');
	createReadStream(join(folder, name)).on('error', () => response.writeHead(404).end()).pipe(response);
});

// A frame is drawn, and the next one is begun, so the first is done.
const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))));

async function load(base) {
	const page = await (await (await openBrowser()).newContext({ viewport: { width: 1280, height: 800 } })).newPage();
	await page.goto(`${base}/index.html#profileURL=${encodeURIComponent(`${base}/${profile}`)}`);
	await page.waitForFunction((name) => document.title.includes(name), profile.replace(/\..*/, ''), { timeout: 300000 });
	const shown = await page.evaluate(drawn);
	const session = await page.context().newCDPSession(page);
	await session.send('HeapProfiler.collectGarbage');
	const heap = (await session.send('Runtime.getHeapUsage')).usedSize;
	await page.context().close();
	return { shown, heap };
}

try {
	await new Promise((listening) => { server.listen(0, '127.0.0.1', listening); });
	const loads = [];
	for (let i = 0; i < LOADS; i++) loads.push(await load(`http://127.0.0.1:${server.address().port}`));
	console.log(JSON.stringify({ shown_ms: median(loads.map((one) => one.shown)), heap_bytes: median(loads.map((one) => one.heap)) }));
} finally {
	server.close();
	await closeAll();
}
