// SPDX-License-Identifier: Apache-2.0
// What a browser needs for the page, for bench/page.py: `node measure.mjs EXPERIMENT` prints one line of JSON. HELIO and
// HELIO_TEST_EXPERIMENTS are those of the tests.
import { closeAll, closePage, go, openBrowser, openPage, serve, settled } from './harness.mjs';

const VIEWS = ['overview', 'functions', 'timeline', 'flame', 'calltree', 'callers', 'threads', 'functions'];
const PAINTS = 7;
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

// Notes when the first rows of a table are there, in ms since the page was asked for.
const noteRows = () => {
	new MutationObserver((_, observer) => {
		if (!document.querySelector('[role=row][id]')) return;
		globalThis.rowsAt = performance.now();
		observer.disconnect();
	}).observe(document, { childList: true, subtree: true });
};

async function loads(page, address) {
	const times = { paint: [], rows: [] };
	let files = [];
	for (let i = 0; i < PAINTS; i++) {
		await page.goto('about:blank');
		await page.goto(address);
		await page.waitForFunction(() => globalThis.rowsAt !== undefined);
		const seen = await page.evaluate(() => ({
			paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime, rows: globalThis.rowsAt,
			files: [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].filter((e) => !e.name.includes('/api/')).map((e) => e.encodedBodySize),
		}));
		times.paint.push(seen.paint);
		times.rows.push(seen.rows);
		files = seen.files;
	}
	return { paint_ms: median(times.paint), rows_ms: median(times.rows), files: files.length, file_bytes: files.reduce((a, b) => a + b, 0) };
}

async function heap(page) {
	const session = await page.context().newCDPSession(page);
	await session.send('HeapProfiler.collectGarbage');
	return (await session.send('Runtime.getHeapUsage')).usedSize;
}

// Lengths of frames while the timeline is moved by its key, once for each frame.
async function frames(page) {
	await go(page, 'timeline');
	await page.evaluate(() => document.activeElement?.blur());
	await page.keyboard.press('w');
	await settled(page);
	const lengths = await page.evaluate(() => new Promise((done) => {
		const list = [];
		let last = performance.now();
		const step = (now) => {
			list.push(now - last);
			last = now;
			if (list.length > 60) return done(list.slice(1));
			document.body.dispatchEvent(new KeyboardEvent('keydown', { key: list.length % 20 < 10 ? 'd' : 'a', bubbles: true }));
			requestAnimationFrame(step);
		};
		requestAnimationFrame(step);
	}));
	await settled(page);
	return lengths;
}

async function measure(experiment) {
	const server = await serve(experiment);
	const page = await openPage(server, 'overview');
	await page.addInitScript(noteRows);
	const result = await loads(page, `${server.base}#v1/functions?m=e.totalcpu:name`);
	await settled(page);
	for (const view of VIEWS) await go(page, view);
	result.heap_bytes = await heap(page);
	const lengths = await frames(page);
	result.frame_ms = median(lengths);
	result.longest_frame_ms = Math.max(...lengths);
	const empty = await (await (await openBrowser()).newContext()).newPage();
	result.empty_heap_bytes = await heap(empty);
	await closePage(page);
	return result;
}

try {
	console.log(JSON.stringify(await measure(process.argv[2])));
} finally {
	await closeAll(); // the server, too
}
