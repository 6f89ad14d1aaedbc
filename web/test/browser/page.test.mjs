// SPDX-License-Identifier: Apache-2.0
// The page in a browser: what it shows is what `helio print` says, and it can be worked with.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { closeAll, closePage, folder, go, helio, openBrowser, openPage, print, rowsOf, serve, settled, start, valueOf } from './harness.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b)), `${what}: ${a}, not ${b}`);
let server;
before(async () => { server = await serve('all.1.er'); });
after(closeAll);

// The table of a view has the rows of a command, with its values.
async function sameAsPrint(page, label, result, rows = result.rows) {
	const shown = await rowsOf(page, label);
	const metrics = result.metrics.filter((m) => m.unit !== 'text');
	assert.ok(shown.length > 0, `${label}: no rows`);
	assert.deepEqual(shown.map((r) => r.name), shown.map((r) => rows[r.index]?.name), label);
	for (const row of shown) metrics.forEach((m, k) => near(valueOf(row.tips[k]), rows[row.index][m.name] ?? 0, `${label}: ${row.name}: ${m.name}`));
}

test('the address logs in once, the secret leaves it, and nothing else is asked', async () => {
	const fresh = await serve('clock.1.er');
	const context = await (await openBrowser()).newContext();
	const page = await context.newPage();
	const asked = [];
	page.on('request', (r) => asked.push(r.url()));
	await page.goto(fresh.base + fresh.token);
	await page.waitForSelector('.page');
	await settled(page);
	assert.ok(!page.url().includes(fresh.token.slice(3)));
	assert.deepEqual(asked.filter((u) => !u.startsWith(fresh.base) && !u.startsWith('data:')), []);
	assert.ok(!asked.some((u) => u.includes(fresh.token.slice(3))));
	const other = await (await openBrowser()).newContext();
	const second = await other.newPage();
	await second.goto(fresh.base + fresh.token);
	await second.waitForSelector('input[type=password]');
	await second.fill('input[type=password]', fresh.key);
	await second.click('button.main');
	await second.waitForSelector('.page');
	await context.close();
	await other.close();
	await fresh.stop();
});

for (const [view, label, command] of [
	['functions', 'Functions', ['-functions']], ['lines', 'Source lines', ['-lines']], ['pcs', 'Instructions', ['-pcs']],
	['threads', 'Threads', ['-indxobj', 'Threads']], ['processes', 'Processes', ['-indxobj', 'Processes']], ['cpus', 'CPUs', ['-indxobj', 'CPUs']],
	['samples', 'Samples', ['-indxobj', 'Samples']], ['seconds', 'Seconds', ['-indxobj', 'Seconds']], ['expids', 'Experiment IDs', ['-indxobj', 'Experiment_IDs']],
	['objects?iobj=Datasize', 'Data sizes', ['-indxobj', 'Datasize']], ['data', 'Data objects', ['-data_objects']],
	['memory', 'Pages of 4 KB', ['-memobj', 'Memory_page_4K']], ['locks', 'Locks', ['-locks']],
	['functions?m=ei.user:e.page-faults:name&sort=i.user', 'Functions', ['-metrics', 'ei.user:e.page-faults:name', '-sort', 'i.user', '-functions']],
	['functions?f=THRID%20%3D%3D%202', 'Functions', ['-filters', 'THRID == 2', '-functions']],
])
	test(`${view} has the rows and values of ${command.join(' ')}`, async () => {
		const page = await openPage(server, view);
		await sameAsPrint(page, label, print(['all.1.er'], ...command).at(-1));
		await closePage(page);
	});

test('the menu of a lock shows who waited for whom', async () => {
	const page = await openPage(server, 'locks');
	const last = print(['all.1.er'], '-locks')[0].rows.at(-1).name;
	await page.click(`[aria-label="Locks"] [role=row][id]:has-text("${last}")`, { button: 'right' });
	await page.click('role=menuitem[name=/Who waited for whom/]');
	await page.waitForSelector(`.onelock h3:has-text("${last}")`);
	await closePage(page);
});

test('a lock is shown by the address alone', async () => {
	const rows = print(['all.1.er'], '-locks')[0].rows.filter((row) => row.name !== '<Total>');
	const page = await openPage(server, `locks?lock=${rows.length}`);
	await page.waitForSelector(`.onelock h3:has-text("${rows.at(-1).name}")`);
	await page.waitForSelector(`[aria-label="Locks"] [role=row][aria-selected=true]:has-text("${rows.at(-1).name}")`);
	await closePage(page);
});

test('a lock that was chosen is shown again when its view comes back', async () => {
	const page = await openPage(server, 'locks');
	const last = print(['all.1.er'], '-locks')[0].rows.at(-1).name;
	await page.click(`[aria-label="Locks"] [role=row][id]:has-text("${last}")`);
	await page.waitForSelector(`.onelock h3:has-text("${last}")`);
	for (const other of ['Functions', 'Threads', 'Heap']) {
		await page.click(`nav a:has-text("${other}")`);
		await settled(page);
		await page.click('nav a:has-text("Locks")');
		await settled(page);
		assert.equal(await page.$$eval(`.onelock h3:has-text("${last}")`, (e) => e.length), 1, `after ${other}`);
		assert.match(await page.textContent('[aria-label="Locks"] [role=row][aria-selected=true]'), new RegExp(`${last.replace(/[()]/g, '.')}$`), `after ${other}`);
	}
	await closePage(page);
});

test('only the waits for a lock, or those for all others, are chosen from its menu', async () => {
	const page = await openPage(server, 'locks');
	const { name } = print(['all.1.er'], '-locks')[0].rows.at(-1);
	for (const [item, expression] of [['Only this lock', `SLOCK IN LOCKNAME("${name.replace(/ \(.*/, '')}")`], ['Without this lock', `!(HAS_PROP(SLOCK) && SLOCK IN LOCKNAME("${name.replace(/ \(.*/, '')}"))`]]) {
		await page.click(`[aria-label="Locks"] [role=row][id]:has-text("${name}")`, { button: 'right' });
		await page.click(`role=menuitem[name="${item}"]`);
		await settled(page);
		assert.equal(await page.textContent('.chip .text'), expression);
		await sameAsPrint(page, 'Locks', print(['all.1.er'], '-filters', expression, '-locks').at(-1));
		await page.click('text=remove all');
		await settled(page);
	}
	await closePage(page);
});

test('callers and callees have those of csingle, and a fragment is made longer', async () => {
	const page = await openPage(server, 'callers?fn=insert');
	const [result] = print(['all.1.er'], '-csingle', 'insert');
	for (const [label, role] of [['Called by', 'caller'], ['Function', 'center'], ['Calls', 'callee']])
		await sameAsPrint(page, label, result, result.rows.filter((r) => r.role === role));
	await page.click('[aria-label="Called by"] [role=row][id]:has-text("work")');
	await page.click('text=Add caller');
	await settled(page);
	const appended = print(['all.1.er'], '-csingle', 'insert', '-cprepend', 'work').at(-1);
	await sameAsPrint(page, 'Fragment of calls', appended, appended.rows.filter((r) => r.role === 'center'));
	await closePage(page);
});

test('the call tree opens along the hottest path, and its rows are those of calltree', async () => {
	const page = await openPage(server, 'calltree');
	const result = print(['all.1.er'], '-calltree', '-percent', '0.2').at(-1);
	await page.click('text=Expand all');
	await page.waitForTimeout(100);
	await sameAsPrint(page, 'Call tree', result);
	const levels = await page.$$eval('[aria-label="Call tree"] [role=row][id]', (rows) => rows.map((r) => Number(r.getAttribute('aria-level'))));
	assert.deepEqual(levels, result.rows.slice(0, levels.length).map((r) => r.depth + 1));
	await page.click('text=Collapse');
	assert.equal((await rowsOf(page, 'Call tree')).length, 1 + result.rows.filter((r) => r.depth === 1).length);
	await page.keyboard.press('i');
	await settled(page);
	assert.match(await page.textContent('.status'), /-calltree -inverted/);
	await closePage(page);
});

for (const [view, label, command] of [['source', 'Source', '-source'], ['disassembly', 'Disassembly', '-disasm']])
	test(`${view} has the lines of ${command}, each with its values`, async () => {
		const page = await openPage(server, `${view}?fn=insert&m=ei.totalcpu:name`);
		const [result] = print(['all.1.er'], '-metrics', 'ei.totalcpu:name', command, 'insert').slice(-1);
		const shown = await page.$$eval(`[aria-label="${label}"] [role=row][id]`, (rows) => rows.map((row) => ({
			index: Number(row.id.slice(3)), text: row.querySelector('.txt').textContent, tips: [...row.querySelectorAll('.c.n')].map((c) => c.getAttribute('title')),
		})));
		assert.ok(shown.length > 10);
		for (const { index, text, tips } of shown) {
			const row = result.rows[index];
			assert.ok(row.name.endsWith(text), `${row.name} / ${text}`);
			near(valueOf(tips[0]), row['e.totalcpu'] ?? 0, row.name);
			near(valueOf(tips[1]), row['i.totalcpu'] ?? 0, row.name);
		}
		await closePage(page);
	});

test('source and disassembly side by side are linked', async () => {
	const page = await openPage(server, 'both?fn=insert');
	const line = print(['all.1.er'], '-disasm', 'insert').at(-1).rows.find((r) => r.kind === 'instruction').line;
	await page.click(`[aria-label="Source"] [role=row][id]:has(.ln:text-is("${line}"))`);
	await page.waitForTimeout(150);
	const marked = await page.$$eval('[aria-label="Disassembly"] [role=row].linked, [aria-label="Disassembly"] [role=row].sel', (rows) => rows.map((r) => r.textContent));
	assert.ok(marked.length > 0 && marked.some((text) => text.includes(`[${line}]`)), marked.join('\n'));
	await closePage(page);
});

for (const view of ['overview', 'timeline', 'flame', 'flame?mode=icicle', 'flame?mode=sandwich&of=insert', 'heap', 'heap?heap=leaks', 'heap?heap=allocs', 'io', 'io?io=iodetail', 'io?io=iocallstack',
	'io?io=iostat', 'layout', 'statistics', 'statistics?stat=samples', 'experiments', 'start'])
	test(`${view} opens`, async () => {
		const page = await openPage(server, view);
		assert.equal(await page.$$eval('.empty', (e) => e.length), 0, await page.textContent('.viewbox'));
		await closePage(page);
	});

test('heap, I/O and statistics tell what print does', async () => {
	const page = await openPage(server, 'heap?heap=leaks');
	const [leaks] = print(['all.1.er'], '-leaks');
	const stacks = await page.$$eval('[aria-label="leaks"] [role=row][id]', (rows) => rows.map((r) => r.querySelector('.c.n').getAttribute('title')));
	stacks.forEach((tip, i) => near(valueOf(tip), leaks.rows[i].bytes, 'leaked bytes'));
	await go(page, 'heap');
	const [heap] = print(['all.1.er'], '-heapstat');
	const peak = heap.rows[0].peak;
	assert.ok((await page.textContent('.viewbox')).includes(`the first 500 of ${peak.stack_count.toLocaleString('en-US')} call stacks`) === peak.stack_count > 500);
	for (const { index, tips } of await rowsOf(page, 'Stacks of the peak')) near(valueOf(tips[0]), peak.stacks[index].bytes, 'bytes of the peak');
	await go(page, 'io');
	const [io] = print(['all.1.er'], '-ioactivity');
	const names = (await rowsOf(page, 'Files')).map((r) => r.name);
	assert.deepEqual(names, io.rows.slice(0, names.length).map((r) => r.name));
	await go(page, 'statistics');
	const [statistics] = print(['all.1.er'], '-statistics', 'all');
	near(valueOf((await rowsOf(page, 'Statistics'))[0].tips[1]), statistics.rows[0].user_s, 'user time');
	await closePage(page);
});

test('Find marks what fits in views that are text, and n goes through it', async () => {
	const page = await openPage(server, 'overview?q=crunch');
	const marks = () => page.$$eval('.viewbox [data-found]', (e) => e.map((x) => x.textContent));
	const found = await marks();
	assert.ok(found.length >= 3 && found.every((text) => text.includes('crunch')), found.join('\n'));
	assert.equal(await page.textContent('.topbar [role=status]'), `${found.length} found`);
	await page.fill('#find', 'crunch, -csingle');
	await page.waitForFunction((n) => document.querySelectorAll('.viewbox [data-found]').length === n, found.filter((text) => !text.includes('csingle')).length);
	await go(page, 'experiments?q=everything\\.c|page size');
	assert.ok((await marks()).some((text) => text.startsWith('page size')));
	await page.evaluate(() => document.activeElement?.blur());
	await page.keyboard.press('n');
	await go(page, 'functions?q=crunch');
	assert.deepEqual(await marks(), []);
	assert.ok((await rowsOf(page, 'Functions')).some((r) => r.name === 'crunch'));
	await go(page, 'overview');
	assert.deepEqual(await marks(), []);
	await closePage(page);
});

test('sizes and durations begin with durations; numbers of processes are plain', async () => {
	const page = await openPage(server, 'objects');
	await sameAsPrint(page, 'Durations', print(['all.1.er'], '-indxobj', 'Duration').at(-1));
	await go(page, 'experiments');
	const [{ pid }] = print(['all.1.er'], '-header', 'all')[0].rows;
	assert.equal(await page.textContent('tr:has(th:text-is("pid")) td'), String(pid));
	await closePage(page);
});

test('the overview tells what is missing and what to look at next, and goes there', async () => {
	const page = await openPage(server, 'overview');
	const report = print(['all.1.er'], '-report')[0].rows;
	for (const [title, section] of [['What is missing', 'missing'], ['What to look at next', 'next']])
		assert.deepEqual(await page.$$eval(`.overview section:has(h2:text-is("${title}")) li`, (items) => items.map((i) => i.textContent)), report.filter((r) => r.section === section).map((r) => r.name));
	await page.click('.hints >> text=/-sort .* -functions/');
	await settled(page);
	const asked = /-metrics (\S+) -sort (\S+) -functions/.exec(report.find((r) => /-sort .* -functions/.test(r.name)).name);
	assert.ok((await page.textContent('.status')).includes(asked[0].replace(' -functions', '')), await page.textContent('.status'));
	await closePage(page);
});

// By name: what the rows of a table have in the columns that are drawn.
const byTitle = (page, label) => page.$eval(`[aria-label="${label}"]`, (table) => {
	const titles = [...table.querySelectorAll('[role=columnheader]')].map((h) => h.getAttribute('title') ?? h.textContent);
	return [...table.querySelectorAll('[role=row][id]')].map((row) => ({
		name: row.querySelector('.name').getAttribute('title') || row.querySelector('.name').textContent,
		cells: Object.fromEntries([...row.querySelectorAll('[role=gridcell]')].map((c, i) => [titles[i], c.getAttribute('title') ?? ''])),
	}));
});
async function sameByTitle(page, label, rows, name, columns) {
	const shown = await byTitle(page, label);
	assert.deepEqual(shown.map((r) => r.name), rows.map(name), label);
	for (const [title, key] of Object.entries(columns))
		shown.forEach((row, i) => {
			const cell = Object.entries(row.cells).find(([t]) => t.startsWith(title));
			assert.ok(cell, `${label}: no column ${title}, but ${Object.keys(row.cells)}`);
			near(valueOf(cell[1]), rows[i][key] ?? 0, `${label}: ${row.name}: ${title}`);
		});
}

test('OpenMP: regions, tasks, and view modes are those of print', { skip: !existsSync(`${folder}/omp.1.er`) }, async () => {
	const other = await serve('omp.1.er');
	const page = await openPage(other, 'openmp', { acceptDownloads: true });
	const [regions] = print(['omp.1.er'], '-regions');
	await sameByTitle(page, 'Regions', regions.rows, (r) => r.name, { 'Lost Time': 'lost', 'Lost by Unequal Work': 'unequal', 'Work Time': 'work', Duration: 'duration' });
	// The first region has a thread that works three times as long as the other: of 2 × 3 parts of time 4 are work.
	const shares = await page.$$eval('.shares tr', (rows) => rows.map((r) => [...r.querySelectorAll('td.n')].map((c) => parseFloat(c.textContent) || 0)));
	assert.equal(shares.length, regions.rows.length - 1);
	regions.rows.slice(1).forEach((r, i) => {
		const of = (v) => (100 * v) / (r.work + r.lost);
		[r.work, r.unequal, r.lost - r.unequal].forEach((v, k) => assert.ok(Math.abs(shares[i][k] - of(v)) < 0.06, `${r.name}: ${shares[i]}`));
	});
	await go(page, 'openmp?omp=OMP_preg');
	await sameAsPrint(page, 'OpenMP regions', print(['omp.1.er'], '-indxobj', 'OMP_preg')[0]);
	await go(page, 'openmp?omp=tasks');
	assert.match(await page.textContent('.empty'), /no explicit tasks/);
	// Two regions are entered five times each: as many bands, as long as those.
	await go(page, 'timeline');
	await page.waitForSelector('.legend >> text=OpenMP regions');
	await page.click('.topbar >> text=Copy');
	const [download] = await Promise.all([page.waitForEvent('download'), page.click('role=menuitem[name="Save picture as SVG …"]')]);
	const bands = [...readFileSync(await download.path(), 'utf8').matchAll(/<rect [^>]*#6a51a3[^>]*>/g)].map((m) => Number(/width="([\d.]+)"/.exec(m[0])[1]));
	assert.equal(bands.length, 10);
	const [time] = print(['omp.1.er'], '-timeline', '1');
	const wide = (await page.$eval('.timeline canvas', (c) => c.clientWidth)) - 178;
	const drawn = bands.reduce((a, b) => a + b + 1, 0) / wide * (time.end_s - time.begin_s);
	assert.ok(Math.abs(drawn - regions.rows[0].duration) < 0.02 * time.end_s, `${drawn} s, not ${regions.rows[0].duration}`);
	// By the states of OpenMP: as much of the colour of barriers as there is time at them, of that of work what the threads compute; the rest
	// of their time they were off the processor. A cell is divided by height.
	await go(page, 'timeline?tc=omp&stacks=0');
	assert.match(await page.textContent('.legend'), /work.*waits at a barrier.*idle/);
	const states = await wordsOfPicture(page);
	const [total, ...functions] = print(['omp.1.er'], '-metrics', 'e.total:e.totalcpu:name', '-functions').at(-1).rows;
	const seconds = (metric, what) => functions.filter((r) => what(r.name)).reduce((sum, r) => sum + r[metric], 0);
	const own = (name) => !/^<OMP-/.test(name);
	const number = (rect, key) => Number(new RegExp(` ${key}="([\\d.]+)"`).exec(rect)[1]);
	const rects = [...states.matchAll(/<rect [^>]*>/g)].map((m) => m[0]);
	for (const [colour, expected] of [['#e69f00', seconds('e.total', (name) => /^<OMP-implicit_barrier>/.test(name))], ['#0072b2', seconds('e.totalcpu', own)],
		['#7a7f87', seconds('e.total', own) - seconds('e.totalcpu', own)]]) {
		const areas = rects.filter((r) => r.includes(`fill="${colour}"`)).map((r) => (number(r, 'width') - 0.3) * number(r, 'height') / 25);
		const shown = areas.reduce((a, b) => a + b, 0) / wide * (time.end_s - time.begin_s);
		assert.ok(Math.abs(shown - expected) < 0.05 * total['e.total'], `${colour}: ${shown} s, not ${expected}`);
	}
	// After the last region there is no band of one.
	const ends = print(['omp.1.er'], '-timeline', '-events', '1', '8000').at(-1).rows.filter((r) => r.kind === 'omp').map((r) => r.end_s);
	const last = Math.max(...ends) + (time.end_s - Math.max(...ends)) / 10;
	await go(page, `timeline?t0=${last.toFixed(9)}&t1=${time.end_s.toFixed(9)}`);
	assert.ok(ends.length >= 10 && last < time.end_s);
	assert.ok(!(await wordsOfPicture(page)).includes('#6a51a3'), 'a band of a region that has ended');
	// What neither machine mode nor rows of processors have is neither chosen nor drawn.
	for (const other of ['vm=machine', 'rows=cpu']) {
		await go(page, `timeline?tc=omp&stacks=0&${other}`);
		assert.deepEqual(await page.$$eval('.choice:has-text("Colours") option', (list) => list.map((o) => [o.value, o.selected])), [['state', true], ['function', false]], other);
		assert.doesNotMatch(await page.textContent('.legend'), /barrier/, other);
	}
	for (const mode of ['user', 'expert', 'machine']) {
		await go(page, `functions?vm=${mode}`);
		await sameAsPrint(page, 'Functions', print(['omp.1.er'], '-viewmode', mode, '-functions')[0]);
	}
	await closePage(page);
	await other.stop();
	const more = await serve('tasks.1.er');
	const tasks = await openPage(more, 'openmp?omp=tasks');
	await sameAsPrint(tasks, 'Tasks', print(['tasks.1.er'], '-tasks')[0]);
	await closePage(tasks);
	await more.stop();
});

test('MPI: functions, ranks, messages, waits and communicators are those of print', { skip: !existsSync(`${folder}/mpi.1.er`) }, async () => {
	const other = await serve('mpi.1.er');
	const page = await openPage(other, 'mpi');
	const [stat] = print(['mpi.1.er'], '-mpistat');
	await sameByTitle(page, 'MPI functions', stat.rows.filter((r) => r.function !== undefined), (r) => r.function, { Calls: 'calls', Time: 'time_s', Longest: 'longest_s', 'Bytes Sent': 'bytes_sent' });
	await go(page, 'mpi?mpi=ranks');
	await sameByTitle(page, 'Ranks', stat.rows.filter((r) => r.process !== undefined), (r) => `Rank ${r.rank}`, { Run: 'run_s', 'In MPI': 'time_s', Collectives: 'collective_s' });
	assert.ok((await page.textContent('.viewbox')).includes(`${stat.imbalance.toFixed(1)} %`));
	await go(page, 'mpi?mpi=mpimatrix');
	const [matrix] = print(['mpi.1.er'], '-mpimatrix');
	await sameByTitle(page, 'Messages', matrix.rows, (r) => `${r.from} → ${r.to}`, { Messages: 'messages', Bytes: 'bytes' });
	// Rank 0 sends messages of 4 bytes each: 10 to 1 and to 3, 5 to 2, and receives 5 from each.
	assert.deepEqual(await page.$$eval('.matrix tbody tr', (rows) => rows.map((r) => [...r.querySelectorAll('td')].map((c) => c.textContent))),
		[['', '40 B', '20 B', '40 B'], ['20 B', '', '', ''], ['20 B', '', '', ''], ['20 B', '', '', '']]);
	await page.click('button.toggle:text-is("Messages"):not(.on)');
	assert.equal(await page.textContent('.matrix tbody tr:first-child td:nth-child(4)'), '5');
	await go(page, 'mpi?mpi=mpiwaits');
	const [waits] = print(['mpi.1.er'], '-mpiwaits');
	await sameByTitle(page, 'Waits', waits.rows, (r) => `rank ${r.waiter} in ${r.function} for rank ${r.other} in ${r.other_function}`, { Time: 'time_s', Waits: 'count', Longest: 'longest_s' });
	await go(page, 'mpi?mpi=mpiwaitstacks');
	const [paths] = print(['mpi.1.er'], '-mpiwaitstacks');
	await sameByTitle(page, 'Waits by call path', paths.rows, (r) => r.frames.map((f) => f.replace(/ (\+|\(inlined\)).*/, '')).join('←'), { Time: 'time_s', Waits: 'count' });
	await go(page, 'mpi?mpi=sizes');
	const sizes = stat.rows.filter((r) => r.size_from !== undefined);
	assert.ok(sizes.length > 0);
	for (const { messages } of sizes) assert.ok((await page.textContent('.viewbox')).includes(String(messages)), `${messages} messages of one size`);
	await go(page, 'mpi?mpi=mpicomms');
	await sameByTitle(page, 'Communicators', print(['mpi.1.er'], '-mpicomms')[0].rows, (r) => r.name, { Ranks: 'size' });
	assert.equal(await page.evaluate(() => document.querySelectorAll('.empty').length), 0);
	await closePage(page);
	await other.stop();
});

test('a filter from the menu is a chip, holds in every view, is undone, and stands in the link', async () => {
	const page = await openPage(server, 'functions?m=ei.totalcpu:name');
	await page.click('[aria-label="Functions"] [role=row][id]:has-text("insert")', { button: 'right' });
	await page.click('role=menuitem[name=/Only with this function/]');
	await settled(page);
	const expression = 'FNAME("insert") SOME IN STACK';
	assert.equal(await page.textContent('.chip .text'), expression);
	const filtered = (...command) => print(['all.1.er'], '-metrics', 'ei.totalcpu:name', '-filters', expression, ...command).at(-1);
	await sameAsPrint(page, 'Functions', filtered('-functions'));
	await page.keyboard.press('5');
	await settled(page);
	near(valueOf((await rowsOf(page, 'Call tree'))[0].tips[0]), filtered('-calltree').rows[0]['a.totalcpu'], 'total of the tree');
	const link = page.url();
	const again = await openPage(server, link.slice(link.indexOf('#v1/') + 4));
	assert.equal(await again.textContent('.chip .text'), expression);
	await closePage(again);
	await page.keyboard.press('u');
	await settled(page);
	await page.keyboard.press('u');
	await settled(page);
	assert.equal(await page.$('.chip'), null);
	await page.keyboard.press('U');
	await settled(page);
	assert.equal(await page.textContent('.chip .text'), expression);
	await page.click('.chip .text');
	await page.click('role=menuitem[name=Negate]');
	await settled(page);
	assert.equal(await page.textContent('.chip .text'), `!(${expression})`);
	await page.click('.chip .x');
	await settled(page);
	assert.equal(await page.$('.chip'), null);
	await closePage(page);
});

test('a wrong filter is told with its place; words are completed', async () => {
	const page = await openPage(server, 'functions');
	await page.keyboard.press('F');
	await page.fill('.filteredit textarea', 'THRID === 2');
	await page.keyboard.press('Enter');
	await page.waitForSelector('.filteredit .problem');
	assert.match(await page.textContent('.filteredit .problem'), /\^/);
	await page.fill('.filteredit textarea', 'THRI');
	await page.keyboard.press('Tab');
	assert.match(await page.inputValue('.filteredit textarea'), /^THRID/);
	await page.keyboard.type(' == 3');
	await page.keyboard.press('Enter');
	await settled(page);
	assert.equal(await page.textContent('.chip .text'), 'THRID == 3');
	page.complaints = page.complaints.filter((c) => !/\b4\d\d\b/.test(c));
	await closePage(page);
});

test('the command line of a view gives the same', async () => {
	const page = await openPage(server, 'functions?f=FNAME(%22insert%22)%20SOME%20IN%20STACK&m=e.user%3Aname&sort=e.user');
	const command = await page.textContent('.status .command');
	const out = execFileSync('sh', ['-c', command.replace(/^helio print/, `"${helio}" print -printmode json`)], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
	await sameAsPrint(page, 'Functions', JSON.parse(out.trim().split('\n').at(-1)));
	await closePage(page);
});

test('columns sort, and the metrics that are picked are shown', async () => {
	const page = await openPage(server, 'functions?m=ei.totalcpu:name');
	await page.click('role=columnheader >> text=/Incl/');
	await settled(page);
	await sameAsPrint(page, 'Functions', print(['all.1.er'], '-metrics', 'ei.totalcpu:name', '-sort', 'i.totalcpu', '-functions').at(-1));
	await page.keyboard.press('m');
	await page.check('[aria-label="Exclusive System CPU Time"]');
	await page.click('.picker >> text=Apply');
	await settled(page);
	await sameAsPrint(page, 'Functions', print(['all.1.er'], '-metrics', 'ei.totalcpu:e.system:name', '-sort', 'i.totalcpu', '-functions').at(-1));
	await closePage(page);
});

test('everything by keyboard: views, rows, find, source, help', async () => {
	const page = await openPage(server, 'overview');
	await page.keyboard.press('2');
	await settled(page);
	const names = (await rowsOf(page, 'Functions')).map((r) => r.name);
	const selected = () => page.$eval('[aria-selected=true] .name', (e) => e.getAttribute('title'));
	const first = names.indexOf(await selected());
	await page.keyboard.press('ArrowDown');
	assert.equal(await selected(), names[first + 1]);
	await page.keyboard.press('/');
	await page.keyboard.type('insert');
	await page.keyboard.press('Enter');
	await settled(page);
	assert.ok((await rowsOf(page, 'Functions')).every((r) => /insert|<Total>/.test(r.name)));
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('End');
	await page.keyboard.press('Enter');
	await settled(page);
	assert.match(page.url(), /#v1\/source/);
	await page.keyboard.press(']');
	await page.keyboard.press('?');
	assert.match(await page.textContent('[role=dialog]'), /next hot line/);
	await page.keyboard.press('Escape');
	await page.waitForSelector('[role=dialog]', { state: 'detached' });
	await page.keyboard.press('2');
	await settled(page);
	await page.fill('#find', '');
	await page.focus('[aria-label="Functions"]');
	await page.keyboard.press('Shift+F10');
	await page.waitForSelector('[role=menu]');
	await page.keyboard.press('Escape');
	await page.waitForSelector('[role=menu]', { state: 'detached' });
	await closePage(page);
});

test('the details and the calls of the selected function are those of fsingle and csingle', async () => {
	const page = await openPage(server, 'functions?m=ei.totalcpu:name');
	await page.click('[aria-label="Functions"] [role=row][id]:has-text("add_up")');
	await settled(page);
	const [single] = print(['all.1.er'], '-fsingle', 'add_up');
	const text = await page.textContent('.details');
	assert.ok(text.includes(single.rows[0].source_file) && text.includes(`${single.rows[0].size} bytes`), text);
	const tips = await page.$$eval('.details .facts tr', (rows) => Object.fromEntries(rows.map((r) => [r.querySelector('th').textContent, [...r.querySelectorAll('td')].map((d) => d.title)])));
	near(valueOf(tips['Total CPU Time'][0]), single.rows[0]['e.totalcpu'], 'exclusive');
	near(valueOf(tips['Total CPU Time'][1]), single.rows[0]['i.totalcpu'], 'inclusive');
	const [calls] = print(['all.1.er'], '-metrics', 'ei.totalcpu:name', '-csingle', 'add_up').slice(-1);
	await sameAsPrint(page, 'Called by', calls, calls.rows.filter((r) => r.role === 'caller'));
	await closePage(page);
});

test('a row of another view is told no longer, a function is', async () => {
	const page = await openPage(server, 'pcs');
	await page.click('[aria-label="Instructions"] [role=row][id] >> nth=1');
	await settled(page);
	assert.doesNotMatch(await page.textContent('.right'), /^Select a row/);
	await go(page, 'layout');
	assert.match(await page.textContent('.right'), /^Select a row/);
	await go(page, 'functions');
	await page.click('[aria-label="Functions"] [role=row][id] >> nth=1');
	await settled(page);
	await go(page, 'timeline');
	assert.doesNotMatch(await page.textContent('.right'), /^Select a row/);
	await closePage(page);
});

test('frames of the flame graph are found, told, zoomed into', async () => {
	const page = await openPage(server, 'flame?m=ei.totalcpu:name&sort=e.totalcpu');
	const result = print(['all.1.er'], '-metrics', 'ei.totalcpu:name', '-sort', 'i.totalcpu', '-calltree', '-percent', '0.05').at(-1);
	const canvas = page.locator('canvas').first();
	await canvas.focus();
	const own = (id) => result.rows.filter((r) => r.parent === id).sort((a, b) => b['a.totalcpu'] - a['a.totalcpu'])[0];
	let row = result.rows[0];
	for (let i = 0; i < 3; i++) {
		await page.keyboard.press('ArrowUp');
		row = own(row.id);
		await page.waitForTimeout(50);
		assert.ok((await page.textContent('.picture .foot [aria-live]')).startsWith(`${row.name}: `), row.name);
	}
	await page.keyboard.press('Enter');
	await page.waitForSelector('text=whole picture');
	await page.keyboard.press('0');
	await page.waitForTimeout(100);
	assert.equal(await page.$('text=whole picture'), null);
	await page.fill('#find', '^add_up$');
	await page.waitForTimeout(100);
	const total = result.rows[0]['a.totalcpu'];
	const at = new Map(result.rows.map((r) => [r.id, r]));
	const inside = (r) => { for (let p = at.get(r.parent); p; p = at.get(p.parent)) if (p.name === 'add_up') return true; return false; };
	const sum = result.rows.filter((r) => r.name === 'add_up' && !inside(r)).reduce((s, r) => s + r['a.totalcpu'], 0);
	assert.ok((await page.textContent('.picture .foot')).includes(`Find: ${((100 * sum) / total).toFixed(1)}%`), await page.textContent('.picture .foot'));
	await closePage(page);
});

test('a range of the timeline becomes a filter, and zooming is undone', async () => {
	const page = await openPage(server, 'timeline');
	const box = await page.locator('canvas').first().boundingBox();
	const x = (f) => box.x + 178 + (box.width - 178) * f;
	await page.mouse.move(x(0.25), box.y + 170);
	await page.mouse.down();
	await page.mouse.move(x(0.4), box.y + 170, { steps: 4 });
	await page.mouse.move(x(0.5), box.y + 170, { steps: 4 });
	await page.mouse.up();
	await page.keyboard.press('z');
	await page.waitForFunction(() => /t0=/.test(location.hash));
	await settled(page);
	const span = print(['all.1.er'], '-timeline', '4').at(-1);
	const [from, to] = ['t0', 't1'].map((k) => Number(new URLSearchParams(page.url().split('?')[1]).get(k)));
	const length = span.end_s - span.begin_s;
	assert.ok(Math.abs(from - span.begin_s - 0.25 * length) < 0.01 * length && Math.abs(to - span.begin_s - 0.5 * length) < 0.01 * length, `${from} ${to}`);
	await page.keyboard.press('u');
	await page.waitForFunction(() => !/t0=/.test(location.hash));
	await settled(page);
	await page.mouse.move(x(0.25), box.y + 170);
	await page.mouse.down();
	await page.mouse.move(x(0.5), box.y + 170, { steps: 6 });
	await page.mouse.up();
	await page.keyboard.press('f');
	await settled(page);
	const expression = await page.textContent('.chip .text');
	assert.match(expression, /^ATSTAMP >= \d+ && ATSTAMP <= \d+$/);
	await go(page, `functions?m=e.totalcpu:name&f=${encodeURIComponent(expression)}`);
	await sameAsPrint(page, 'Functions', print(['all.1.er'], '-metrics', 'e.totalcpu:name', '-filters', expression, '-functions').at(-1));
	await closePage(page);
});

// The picture's words, as they would be saved.
async function wordsOfPicture(page) {
	await page.evaluate(() => document.activeElement?.blur());
	await page.click('button:has-text("Copy")');
	const [saved] = await Promise.all([page.waitForEvent('download'), page.click('text=Save picture as SVG')]);
	return readFileSync(await saved.path(), 'utf8');
}

test('the timeline has rows of processors and of experiments, whose numbers are those of print', async () => {
	const page = await openPage(server, 'timeline?rows=cpu');
	const cells = print(['all.1.er'], '-timeline', '-cpus', '600').at(-1);
	assert.match(await page.textContent('.status'), /-timeline -cpus 600 /);
	const svg = await wordsOfPicture(page);
	for (const lane of cells.lanes) assert.ok(svg.includes(lane.name.replace('<', '&#60;').replace('>', '&#62;')), lane.name);
	// The fullest cell: what its tooltip has. How full it is depends on what else the machine does.
	const user = (r) => r.states.user ?? 0;
	const full = cells.rows.filter((r) => user(r) <= cells.cell_s).sort((x, y) => user(y) - user(x))[0];
	assert.ok(user(full) > 0, 'no processor was busy');
	const lane = cells.lanes[full.lane];
	const box = await page.locator('canvas').first().boundingBox();
	const x = box.x + 178 + ((full.cell + 0.5) / cells.cells) * (box.width - 178);
	const y = box.y + Number(new RegExp(`<text[^>]* y="([\\d.]+)"[^>]*>${lane.name}<`).exec(svg)[1]);
	await page.mouse.move(x, y);
	const tip = await page.textContent('.tip');
	// What a cell after it has no room for is told here, too.
	const share = Number(/user code (\d+)%/.exec(tip)?.[1]);
	assert.ok(tip.startsWith(lane.name) && share <= 100 && share >= Math.floor((100 * full.states.user) / cells.cell_s), `${tip}: ${full.states.user}`);
	await page.mouse.click(x, y, { button: 'right' });
	await page.click('role=menuitem[name="Only this processor"]');
	await settled(page);
	assert.equal(await page.textContent('.chip .text'), `CPUID == ${lane.cpu}`);
	await go(page, 'timeline?rows=experiment');
	assert.ok((await wordsOfPicture(page)).includes('all.1.er (5 threads)'));
	await closePage(page);
});

test('the timeline has strips of live memory and of waiting threads, and a row of lock waits', async () => {
	const page = await openPage(server, 'timeline');
	const [heap] = print(['all.1.er'], '-heapstat');
	const svg = await wordsOfPicture(page);
	const most = Math.max(...heap.rows[0].peak.course.map((c) => c.bytes));
	assert.ok(svg.includes('Live heap') && svg.includes(`at most ${(most / 2 ** 20).toFixed(2)} MiB`), `Live heap of ${most} bytes`);
	assert.ok(svg.includes('Threads waiting for locks'));
	assert.ok(svg.includes('lock waits') && svg.includes('I/O calls'));
	// Of 40,000 events of all kinds, and yet each wait is a band as long as it was.
	const waits = print(['all.1.er'], '-filters', 'HAS_PROP(STYPE)', '-timeline', '-events', '1', '8000').at(-1);
	const [longest] = waits.rows.filter((r) => r.lane > 0).sort((a, b) => b.end_s - b.begin_s - (a.end_s - a.begin_s));
	const middle = (longest.begin_s + longest.end_s) / 2;
	await go(page, `timeline?q=${encodeURIComponent(`Thread ${waits.lanes[longest.lane].thread} `)}&t0=${middle - 1e-4}&t1=${middle + 1e-4}`);
	const box = await page.locator('canvas').first().boundingBox();
	const x = box.x + 178 + (box.width - 178) / 2;
	let told = '';
	for (let y = box.y + 100; y < box.y + box.height && !told.startsWith('sync'); y += 5) {
		await page.mouse.click(x, y);
		told = (await page.textContent('.right')) ?? '';
	}
	assert.ok(told.startsWith(`sync: ${longest.type}`), told);
	const length = Number(/Length([\d.]+)/.exec(told)[1]);
	const unit = /Length[\d.]+ (\S?s)/.exec(told)[1];
	const seconds = length * { s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9 }[unit];
	assert.ok(Math.abs(seconds - (longest.end_s - longest.begin_s)) < 0.01 * seconds, `${told}: ${JSON.stringify(longest)}`);
	await go(page, 'timeline?kinds=0');
	assert.ok(!(await wordsOfPicture(page)).includes('lock waits'));
	await closePage(page);
});

test('locks held are a row of the timeline, told with who waited', async () => {
	const other = await serve('holds.1.er');
	const page = await openPage(other, 'timeline?stacks=0');
	const { rows } = print(['holds.1.er'], '-lockholds').at(-1);
	const { begin_s: begin, end_s: end } = print(['holds.1.er'], '-timeline', '1').at(-1);
	const box = await page.locator('canvas').first().boundingBox();
	const x = (t) => 178 + ((t - begin) / (end - begin)) * (box.width - 178);
	const svg = await wordsOfPicture(page);
	assert.ok(svg.includes('>locks held<'));
	const bands = [...svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" fill="#b07d00"/g)].map((m) => m.slice(1).map(Number));
	assert.equal(bands.length, rows.length);
	for (const row of rows) assert.ok(bands.some(([left, , width]) => Math.abs(left - x(row.begin_s)) < 1 && Math.abs(width - (x(row.end_s) - x(row.begin_s))) < 2), JSON.stringify(row));
	const longest = rows.reduce((a, b) => (b.end_s - b.begin_s > a.end_s - a.begin_s ? b : a));
	const [left, top, width, height] = bands.find(([at]) => Math.abs(at - x(longest.begin_s)) < 1);
	const middle = [box.x + left + width / 2, box.y + top + height / 2];
	await page.mouse.click(...middle);
	for (const place of ['.right', '.tip']) {
		const told = await page.textContent(place);
		assert.ok(told.includes(`Holds ${longest.lock}`) && longest.waiters.every((name) => told.includes(name)), `${place}: ${told}`);
	}
	await page.mouse.click(...middle, { button: 'right' });
	await page.click('role=menuitem[name=/Who waited for whom/]');
	await page.waitForSelector(`.onelock h3:has-text("${longest.lock}")`);
	await go(page, 'timeline?kinds=0');
	assert.ok(!(await wordsOfPicture(page)).includes('locks held'));
	await closePage(page);
	await other.stop();
});

test('MPI: messages are lines of the timeline, told at a click', { skip: !existsSync(`${folder}/mpi.1.er`) }, async () => {
	const other = await serve('mpi.1.er');
	const page = await openPage(other, 'timeline?stacks=0');
	const linesOf = (svg) => [...svg.matchAll(/<path d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"/g)].map((m) => m.slice(1).map(Number));
	const { rows } = print(['mpi.1.er'], '-mpimessages').at(-1);
	const lines = linesOf(await wordsOfPicture(page));
	assert.equal(lines.length, rows.length);
	// Rank 3's synchronous sends wait for rank 0, which is late.
	const waiting = rows.findIndex((r) => r.from === 3 && r.to === 0);
	const { begin_s: begin, end_s: end } = rows[waiting];
	await go(page, `timeline?stacks=0&t0=${begin - (end - begin)}&t1=${end + (end - begin)}`);
	const box = await page.locator('canvas').first().boundingBox();
	const near = linesOf(await wordsOfPicture(page));
	const [x0, y0, x1, y1] = near.find(([a, , b]) => Math.abs(a - 178 - (box.width - 178) / 3) < 3 && Math.abs(b - 178 - (2 * (box.width - 178)) / 3) < 3);
	assert.ok(y0 > y1, 'from the last rank up to the first');
	await page.mouse.click(box.x + (x0 + x1) / 2, box.y + (y0 + y1) / 2);
	const told = await page.textContent('.right');
	assert.ok(told.startsWith('Message from rank 3 to rank 0') && told.includes('4 B'), told);
	assert.ok((await page.textContent('.tip')).startsWith('Message from rank 3 to rank 0'));
	await page.click('button.toggle:text-is("Messages")');
	await settled(page);
	assert.equal(linesOf(await wordsOfPicture(page)).length, 0);
	await closePage(page);
	await other.stop();
});

test('OpenMP alone: its locks are those of print, with who waited for whom', { skip: !existsSync(`${folder}/omplocks.1.er`) }, async () => {
	const other = await serve('omplocks.1.er');
	const page = await openPage(other, 'locks');
	const rows = print(['omplocks.1.er'], '-locks').at(-1).rows;
	await sameAsPrint(page, 'Locks', print(['omplocks.1.er'], '-locks').at(-1));
	const unnamed = rows.find((r) => r.name.startsWith('<unnamed>')).name;
	for (const name of ['the_lock', 'the_section', '<unnamed>']) {
		await page.click(`[aria-label="Locks"] [role=row][id]:has-text("${name}")`, { button: 'right' });
		await page.click('role=menuitem[name=/Who waited for whom/]');
		await page.waitForSelector(`.onelock h3:has-text("${name}")`);
		assert.ok((await page.$$('.onelock td')).length > 0, `${name}: who waited for whom`);
	}
	assert.ok(unnamed);
	await closePage(page);
	await other.stop();
});

test('the source of a file of 140,000 lines is shown at its hot line', { skip: !existsSync(`${folder}/long.1.er`) }, async () => {
	const other = await serve('long.1.er');
	const page = await openPage(other, 'source?fn=busy');
	await page.waitForSelector('[aria-label="Source"] [role=row][aria-selected=true]');
	assert.match(await page.textContent('[aria-label="Source"] [role=row][aria-selected=true]'), /sink/);
	await closePage(page);
	await other.stop();
});

test('long names of functions take one line of the overview each', { skip: !existsSync(`${folder}/long.1.er`) }, async () => {
	const other = await serve('long.1.er');
	const page = await openPage(other, 'overview');
	const heights = await page.$$eval('.overview td.long, .overview .bars td:last-child', (cells) => cells.map((c) => [c.textContent, c.clientHeight]));
	const name = heights.find(([text]) => text.length > 200);
	assert.ok(name && name[1] < 2 * heights.find(([text]) => text.startsWith('busy'))[1], JSON.stringify(heights));
	await closePage(page);
	await other.stop();
});

test('Java: garbage collections are bands as long as they were, told at a click, and filters', { skip: !existsSync(`${folder}/java.1.er`) }, async () => {
	const other = await serve('java.1.er');
	const page = await openPage(other, 'timeline');
	// Of each: what gcevents says.
	const wanted = print(['java.1.er'], '-gcevents').at(-1).rows.map((r) => /GCEvent (\d+), began ([\d.]+) s, took ([\d.]+) s/.exec(r.name)).filter(Boolean).map((m) => m.slice(1).map(Number));
	assert.ok(wanted.length >= 5);
	const time = print(['java.1.er'], '-timeline', '1').at(-1);
	const width = (await page.locator('canvas').first().boundingBox()).width - 178;
	const scale = width / (time.end_s - time.begin_s);
	const svg = await wordsOfPicture(page);
	assert.ok(svg.includes('Garbage collections'));
	const bars = [...svg.matchAll(/<rect x="([\d.]+)"[^>]*width="([\d.]+)"[^>]*fill="#c51b7d"/g)].map((m) => [Number(m[1]), Number(m[2])]);
	assert.equal(bars.length, wanted.length);
	wanted.forEach(([, began, took], i) => {
		assert.ok(Math.abs(bars[i][0] - 178 - (began - time.begin_s) * scale) < 2, `${bars[i]}: ${began}`);
		assert.ok(Math.abs(bars[i][1] - Math.max(0.7, took * scale)) < 2, `${bars[i]}: ${took}`);
	});
	const [number, began, took] = wanted.reduce((a, b) => (b[2] > a[2] ? b : a));
	const box = await page.locator('canvas').first().boundingBox();
	const at = [box.x + 178 + (began + took / 2 - time.begin_s) * scale, box.y + 30];
	await page.mouse.click(...at);
	assert.match(await page.textContent('.right'), new RegExp(`^Garbage collection ${number}\\D`));
	assert.match(await page.textContent('.right'), /Cause\W*System\.gc\(\).*Heap in use\W*[\d.]+ MiB → [\d.]+ MiB/s);
	await page.mouse.click(...at, { button: 'right' });
	await page.click('role=menuitem[name="Only during this collection"]');
	await settled(page);
	const expression = await page.textContent('.chip .text');
	assert.equal(expression, `EXPID == 1 && GCEVENT == ${number}`);
	await go(page, `functions?m=e.total%3Aname&f=${encodeURIComponent(expression)}`);
	await sameAsPrint(page, 'Functions', print(['java.1.er'], '-metrics', 'e.total:name', '-filters', `EXPID == 1 && GCEVENT == ${number}`, '-functions').at(-1));
	// Of the heap Java's objects alone were recorded.
	await go(page, 'overview');
	await page.click('.nav a:not(.off):text-is("Heap")');
	await settled(page);
	const classes = print(['java.1.er'], '-indxobj', 'JClasses').at(-1);
	await sameAsPrint(page, 'Java classes', classes);
	assert.match(await page.textContent('.charttext'), /Java Bytes Allocated/);
	// Without a class: what has none, as the clock's events, stays.
	const { name } = classes.rows.find((r) => /^[\w.]+(\[\])*$/.test(r.name));
	await page.click(`[aria-label="Java classes"] [role=row][id]:has(.name[title="${name}"])`, { button: 'right' });
	await page.click(`role=menuitem[name="Without “${name}”"]`);
	await settled(page);
	const without = await page.textContent('.chip .text');
	assert.ok(without.includes(`JCLASS("${name.replace(/[.[\]]/g, '\\$&')}")`), without);
	const left = print(['java.1.er'], '-metrics', 'e.totalcpu:e.jallocbytes:name', '-filters', without, '-limit', '1', '-functions').at(-1).rows[0];
	const before = print(['java.1.er'], '-metrics', 'e.totalcpu:e.jallocbytes:name', '-limit', '1', '-functions').at(-1).rows[0];
	near(left['e.totalcpu'], before['e.totalcpu'], 'CPU time without a class');
	assert.equal(left['e.jallocbytes'], before['e.jallocbytes'] - classes.rows.find((r) => r.name === name)['e.jallocbytes']);
	await go(page, 'timeline?kinds=1');
	assert.match(await page.textContent('.legend'), /objects of Java/);
	assert.ok((await wordsOfPicture(page)).includes('fill="#66a61e"'));
	await go(page, 'overview');
	const told = print(['java.1.er'], '-report').at(-1).rows.find((r) => r.section === 'collections');
	assert.match(await page.textContent('.overview section:has(h2:text-is("Garbage collections")) p'), new RegExp(`^${told.calls}, together [^%]*, ${told.percent.toFixed(1)}%`));
	await closePage(page);
	await other.stop();
});

test('rows of the timeline are found by what stands at their left', { skip: !existsSync(`${folder}/mpi.1.er`) }, async () => {
	const other = await serve('mpi.1.er');
	const page = await openPage(other, 'timeline?q=P3%20T1');
	const words = await wordsOfPicture(page);
	assert.ok(words.includes('>P3 T1 ') && !words.includes('>P2 T1 '));
	await closePage(page);
	await other.stop();
});

test('MPI: moving along the timeline asks for no messages and bands that are there', { skip: !existsSync(`${folder}/mpi.1.er`) }, async () => {
	const other = await serve('mpi.1.er');
	const page = await openPage(other, 'timeline');
	const asked = [];
	page.on('request', (r) => { if (r.url().endsWith('/print')) asked.push(JSON.parse(r.postData()).commands[0]); });
	await page.evaluate(() => document.activeElement?.blur());
	for (const key of ['w', 'd', 'a', 'w', 'd']) {
		await page.keyboard.press(key);
		await page.waitForTimeout(250);
		await settled(page);
	}
	assert.ok(asked.some(([name]) => name === 'timeline'));
	assert.deepEqual(asked.filter(([name]) => name === 'mpimessages'), []);
	await closePage(page);
	await other.stop();
});

test('a timeline of thousands of threads is asked for in answers below 4 MB, those in sight in detail', { skip: !existsSync(`${folder}/many.1.er`) }, async () => {
	const other = await serve('many.1.er');
	const page = await openPage(other, 'functions');
	const answers = [];
	page.on('response', async (r) => {
		if (r.url().endsWith('/print')) answers.push({ body: await r.body(), asked: JSON.parse(r.request().postData()) });
	});
	await go(page, 'timeline');
	await page.waitForFunction(() => document.querySelector('.status').textContent.includes('EXPID == 1 '));
	await settled(page);
	// The rows in sight have many more cells than all rows could have.
	const colours = async () => {
		const svg = await wordsOfPicture(page);
		const y = Number(/y="([\d.]+)"[^>]*>P1 T1 /.exec(svg)[1]);
		return [...svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)"/g)].filter(([, x, top]) => Number(x) > 178 && Math.abs(Number(top) - y) < 16).length;
	};
	assert.ok(await colours() > 40, 'cells of the first row');
	await page.mouse.move(500, 500);
	await page.mouse.wheel(0, 30000);
	await page.waitForFunction(() => document.querySelector('.status').textContent.includes('EXPID == 2 '));
	await settled(page);
	for (const { body, asked } of answers) assert.ok(body.length < 4e6, `${body.length} bytes: ${JSON.stringify(asked)}`);
	await closePage(page);
	await other.stop();
});

test('experiments are compared as compare does, and the base is chosen', async () => {
	const page = await openPage(server, 'functions?m=e.totalcpu:name&e=all.1.er&e=clock.1.er&cmp=delta');
	await sameAsPrint(page, 'Functions', print(['all.1.er', 'clock.1.er'], '-metrics', 'e.totalcpu:name', '-compare', 'delta', '-functions').at(-1));
	await page.click('.topbar .exp');
	await page.click('role=menuitem[name=/Make clock.1.er the base/]');
	await settled(page);
	await sameAsPrint(page, 'Functions', print(['clock.1.er', 'all.1.er'], '-metrics', 'e.totalcpu:name', '-compare', 'delta', '-functions').at(-1));
	await go(page, 'flame?e=all.1.er&e=clock.1.er&cmp=on');
	assert.match(await page.textContent('.tools'), /blue less, red more/);
	await closePage(page);
});

test('a click on the column of a compared experiment sorts by its metric, in all views', async () => {
	const page = await openPage(server, 'functions?e=all.1.er&e=clock.1.er&cmp=on&m=e.totalcpu:e.user:name');
	await page.click('[aria-label="Functions"] [role=columnheader][title*="User"][title$="clock.1.er"] button');
	await settled(page);
	assert.ok((await page.textContent('.status')).includes('-sort e.user '), await page.textContent('.status'));
	await sameAsPrint(page, 'Functions', print(['all.1.er', 'clock.1.er'], '-metrics', 'e.totalcpu:e.user:name', '-compare', 'on', '-sort', 'e.user', '-functions').at(-1));
	assert.deepEqual(await page.$$eval('[aria-label="Functions"] [aria-sort=descending]', (list) => list.map((e) => e.title.replace(/ —.*/, ''))), ['Exclusive User CPU Time', 'Exclusive User CPU Time']);
	// An address of old has the column's key.
	for (const view of ['functions', 'flame', 'calltree', 'callers?fn=crunch', 'both?fn=crunch', 'threads']) {
		await go(page, `${view}${view.includes('?') ? '&' : '?'}e=all.1.er&e=clock.1.er&cmp=delta&sort=e.user.2`);
		assert.equal(await page.$$eval('.empty, .problem', (e) => e.length), 0, `${view}: ${await page.textContent('.viewbox')}`);
	}
	await closePage(page);
});

test('what is told of one compared experiment after the other has the name of each, with its own values', async () => {
	const both = ['all.1.er', 'again.1.er'];
	const page = await openPage(server, `locks?${both.map((e) => `e=${e}`).join('&')}&cmp=on&lock=1`);
	const own = (name, ...command) => print([name], ...command).at(-1);
	const headings = (selector) => page.$$eval(selector, (list) => list.map((e) => e.textContent));
	await page.waitForSelector('.onelock h3');
	assert.deepEqual((await headings('.onelock > section > h3')).map((text) => text.replace(/ — .*/, '')), both);
	const { name } = print(both, '-compare', 'on', '-locks').at(-1).rows[1];
	for (const [i, text] of (await headings('.onelock > section > h3')).entries()) {
		const waits = own(both[i], '-locks').rows.find((r) => r.name === name).syncn;
		assert.ok(text.includes(` ${name}: `) && text.includes(waits === 1 ? ' 1 wait' : ` ${waits.toLocaleString('en-US')} waits`), text);
	}
	const at = (view) => go(page, `${view}&${both.map((e) => `e=${e}`).join('&')}&cmp=on`);
	await at('io?io=iocallstack');
	assert.deepEqual(await headings('.each > h2'), both);
	const totals = await page.$$eval('.each', (list) => list.map((e) => [...e.querySelectorAll('[role=row][id]')].filter((r) => r.textContent.includes('<Total>')).map((r) => r.querySelector('.c.n').title)));
	for (const [i, tips] of totals.entries()) {
		const { metrics, rows } = own(both[i], '-iocallstack');
		assert.equal(tips.length, 1, 'one total for each');
		assert.match(tips[0], / · 100(\.0)?% of the total/);
		near(valueOf(tips[0]), rows[0][metrics.find((m) => rows[0][m.name] > 0).name], both[i]);
	}
	await at('io?io=iostat');
	assert.deepEqual(await headings('.each > h2'), both);
	assert.deepEqual(await page.$$eval('.each', (list) => list.map((e) => e.querySelectorAll('.iogroup').length)), both.map((e) => own(e, '-iostat').rows.filter((r) => r.calls > 0).length));
	await at('heap?heap=heapstat');
	assert.deepEqual(await headings('.each > h2'), both);
	await at('heap?heap=leaks');
	const columns = await page.$$eval('[aria-label="leaks"] [role=columnheader]', (list) => list.map((e) => e.title));
	assert.deepEqual(columns.slice(0, 4), ['Bytes', 'Blocks'].flatMap((title) => both.map((e) => `${title} — ${e}`)));
	const leaks = print(both, '-compare', 'on', '-leaks').at(-1).rows;
	const shown = await page.$$eval('[aria-label="leaks"] [role=row][id]', (rows) => rows.map((r) => [...r.querySelectorAll('.c.n')].slice(0, 2).map((c) => c.title)));
	for (const [i, tips] of shown.entries()) assert.deepEqual(tips.map(valueOf), leaks[i].compared.map((c) => c.bytes));
	await closePage(page);
});

test('a view without data says why, and which option records it', async () => {
	const other = await serve('clock.1.er');
	for (const [view, option] of [['heap', /-H/], ['locks', /-s/], ['io', /-i/], ['data', /-h/], ['openmp', /--openmp/], ['mpi', /-m on/]]) {
		const page = await openPage(other, view);
		assert.match(await page.textContent('.viewbox .empty'), option, view);
		await closePage(page);
	}
	await other.stop();
});

test('names are text, whatever they contain', async () => {
	const other = await serve('hostile.1.er');
	const names = process.env.HELIO_TEST_NAMES.split('\n');
	for (const view of ['functions', 'calltree', 'flame', 'timeline', 'overview', 'pcs', 'lines']) {
		const page = await openPage(other, view);
		assert.equal(await page.$$eval('img, script:not([src]), iframe, object', (e) => e.length), 0, view);
		if (view === 'functions') {
			const shown = (await rowsOf(page, 'Functions')).map((r) => r.name);
			for (const name of names) assert.ok(shown.includes(name), name.slice(0, 60));
			await page.click(`[id^=row]:has(.name[title="${names[0].replace(/"/g, '\\"')}"])`, { button: 'right' });
			await page.click('role=menuitem[name=/Only with this function/]');
			await settled(page);
			const total = valueOf((await rowsOf(page, 'Functions'))[0].tips[0]);
			const own = print(['hostile.1.er'], '-functions').at(-1).rows.find((r) => r.name === names[0]);
			near(total, own['i.totalcpu'], 'what the filter lets through');
		}
		assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1280, `${view}: wider than the window`);
		await closePage(page);
	}
	await other.stop();
});

test('the overview has the sums of compared experiments beside each other', async () => {
	const other = await serve('all.1.er', 'clock.1.er');
	const page = await openPage(other, 'overview?cmp=on');
	const columns = () => page.$$eval('.compared thead th', (list) => list.map((e) => e.textContent));
	const row = (title) => page.$$eval('.compared tbody tr', (list, wanted) => list.map((e) => [...e.children].map((c) => c.textContent)).find(([name]) => name === wanted), title);
	await page.waitForSelector('.compared');
	assert.deepEqual(await columns(), ['Metric', 'all.1.er', 'clock.1.er']);
	const [each] = print(['all.1.er', 'clock.1.er'], '-compare', 'ratio', '-metrics', 'e.user:e.heapalloccnt:name', '-limit', '1', '-functions').slice(-1).map((r) => r.rows[0]);
	assert.deepEqual((await row('Allocations')).slice(1), [each['e.heapalloccnt.1'].toLocaleString('en-US'), '—'], 'what one of them has not recorded');
	await go(page, 'overview?cmp=ratio');
	await page.waitForSelector('.compared');
	assert.deepEqual(await columns(), ['Metric', 'all.1.er', '× clock.1.er']);
	assert.equal((await row('User CPU Time'))[2], each['e.user.2'].toFixed(3));
	await go(page, 'statistics?cmp=ratio');
	await page.waitForSelector('.compared');
	const sums = print(['all.1.er', 'clock.1.er'], '-compare', 'ratio', '-statistics').at(-1).compared;
	assert.equal((await row('User CPU'))[2], sums.find((s) => s.name === 'user_s').experiments[1].ratio.toFixed(3));
	await go(page, 'experiments?cmp=on');
	await page.waitForSelector('.compared');
	assert.deepEqual((await row('heap')).slice(1), ['all', '—'], 'how they were recorded');
	await go(page, 'overview');
	assert.equal(await page.$('.compared'), null);
	await closePage(page);
	await other.stop();
});

test('a damaged experiment is shown with a warning', async () => {
	const other = await serve('damaged.1.er');
	const page = await openPage(other, 'functions');
	await sameAsPrint(page, 'Functions', print(['damaged.1.er'], '-functions').at(-1));
	await page.waitForSelector('.status .warn');
	await closePage(page);
	await other.stop();
});

test('descendants have rows, and their processes', async () => {
	const other = await serve('family.1.er');
	const page = await openPage(other, 'processes');
	await sameAsPrint(page, 'Processes', print(['family.1.er'], '-indxobj', 'Processes').at(-1));
	await go(page, 'overview');
	assert.match(await page.textContent('.overview'), /processes/);
	await go(page, 'timeline?rows=process');
	await closePage(page);
	await other.stop();
});

test('what is still being recorded grows by a refresh', async () => {
	const recording = start(helio, ['collect', '-q', '-o', 'growing.1.er', 'sh', '-c', `while [ ! -e enough ]; do ${process.env.HELIO_TEST_SLOW}; done`], { stdio: 'ignore' });
	while (!existsSync(`${folder}/growing.1.er/log.xml`)) await new Promise((done) => setTimeout(done, 100));
	await new Promise((done) => setTimeout(done, 1500));
	const other = await serve('growing.1.er');
	const page = await openPage(other, 'functions?m=e.totalcpu:name');
	await page.waitForSelector('text=recording');
	const total = async () => valueOf((await rowsOf(page, 'Functions'))[0]?.tips[0]);
	const before = await total();
	await new Promise((done) => setTimeout(done, 3000));
	await page.click('text=Refresh');
	await settled(page);
	const later = await total();
	execFileSync('touch', ['enough'], { cwd: folder });
	await once(recording, 'exit');
	assert.ok(later > before, `${later} after ${before}`);
	await page.click('text=Refresh');
	await settled(page);
	await sameAsPrint(page, 'Functions', print(['growing.1.er'], '-metrics', 'e.totalcpu:name', '-functions').at(-1));
	assert.equal(await page.$('.growing'), null);
	await closePage(page);
	await other.stop();
});

test('a program is recorded from the page, and opened', async () => {
	const other = await serve();
	const page = await openPage(other, '');
	await page.fill('input[placeholder^=sqlite3]', process.env.HELIO_TEST_SLOW);
	await page.fill('[aria-label="--output"]', 'frompage.1.er');
	assert.equal(await page.textContent('.commandline'), `helio collect --output frompage.1.er ${process.env.HELIO_TEST_SLOW}`);
	await page.click('text=Run and record');
	await page.click('.recording button:has-text("Open frompage.1.er")', { timeout: 60000 });
	await settled(page);
	await go(page, 'functions?e=frompage.1.er&m=e.totalcpu:name');
	await sameAsPrint(page, 'Functions', print(['frompage.1.er'], '-metrics', 'e.totalcpu:name', '-functions').at(-1));
	await closePage(page);
	await other.stop();
});

test('a view is copied as text, CSV and JSON, a picture saved as SVG', async () => {
	const page = await openPage(server, 'functions?m=e.totalcpu:name', { permissions: ['clipboard-read', 'clipboard-write'], acceptDownloads: true });
	const copied = async (item) => {
		await page.click('.topbar >> text=Copy');
		await page.click(`role=menuitem[name=/^${item}/]`);
		await page.waitForSelector('.toast');
		const text = await page.evaluate(() => navigator.clipboard.readText());
		await page.waitForSelector('.toast', { state: 'detached' });
		return text;
	};
	const [result] = print(['all.1.er'], '-metrics', 'e.totalcpu:name', '-functions').slice(-1);
	assert.deepEqual(JSON.parse(await copied('Copy as JSON')).rows, result.rows);
	const lines = (await copied('Copy as CSV')).trim().split('\n');
	assert.equal(lines.length - 3, result.rows.length);
	assert.ok((await copied('Copy as text')).includes(result.rows[1].name));
	await go(page, 'flame');
	await page.click('.topbar >> text=Copy');
	const [download] = await Promise.all([page.waitForEvent('download'), page.click('role=menuitem[name="Save picture as SVG …"]')]);
	const svg = readFileSync(await download.path(), 'utf8');
	assert.match(svg, /^<svg xmlns=/);
	const blank = await page.context().newPage(); // the page itself may parse nothing: trusted types
	const wrong = await blank.evaluate((text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror')?.textContent ?? '', svg);
	assert.equal(wrong, '');
	assert.ok(svg.includes('>crunch<'));
	await closePage(page);
});

test('the page in one file shows its answers and asks nobody', async () => {
	execFileSync(helio, ['html', 'all.1.er', '-o', 'one.html'], { cwd: folder, stdio: 'ignore' });
	const context = await (await openBrowser()).newContext({ viewport: { width: 1280, height: 800 } });
	const page = await context.newPage();
	const asked = [];
	page.complaints = [];
	page.on('request', (r) => asked.push(r.url()));
	page.on('console', (m) => { if (m.type() === 'error') page.complaints.push(m.text()); });
	await page.goto(`file://${folder}/one.html#v1/functions`);
	await page.waitForSelector('.page');
	await settled(page);
	await sameAsPrint(page, 'Functions', print(['all.1.er'], '-functions').at(-1));
	for (const view of ['overview', 'calltree', 'flame', 'timeline', 'heap']) {
		await page.click(`nav a[href="#v1/${view}"]`);
		await settled(page);
		assert.equal(await page.$('.empty'), null, view);
	}
	await page.click('nav a[href="#v1/threads"]');
	await settled(page);
	await sameAsPrint(page, 'Threads', print(['all.1.er'], '-indxobj', 'Threads').at(-1));
	await page.click('nav a[href="#v1/io"]');
	await settled(page);
	await sameAsPrint(page, 'Files', { ...print(['all.1.er'], '-ioactivity').at(-1), metrics: [] });
	// Whatever is hot can be looked at: functions, libraries' and static ones, and what is none.
	for (const row of print(['all.1.er'], '-functions').at(-1).rows.slice(0, 9)) {
		await page.click('nav a[href="#v1/functions"]');
		await settled(page);
		await page.click(`[aria-label="Functions"] [role=row][id]:has(.name[title="${row.name}"])`);
		await page.click('nav a[href="#v1/callers"]');
		await settled(page);
		assert.equal((await rowsOf(page, 'Function'))[0]?.name, row.name);
	}
	// What is offered is there, in all views and their parts; what is not there is grey and says why.
	const entries = await page.$$eval('nav a', (list) => list.map((a) => ({ view: a.getAttribute('href'), off: a.classList.contains('off'), title: a.title })));
	assert.ok(entries.some((e) => e.off && /fixed answers/.test(e.title)) && entries.filter((e) => !e.off).length > 12);
	const ofFunctions = /source|disassembly|both|callers/; // the hottest functions alone
	for (const { view } of entries.filter((e) => !e.off && !ofFunctions.test(e.view))) {
		await page.click(`nav a[href="${view}"]`);
		await settled(page);
		const parts = await page.$$eval('.tools .seg[role=group]:not([aria-label]) button', (list) => list.map((b) => b.textContent));
		for (const part of parts.length ? parts : ['']) {
			if (part) await page.click(`.tools .seg button:text-is("${part}")`);
			await settled(page);
			assert.doesNotMatch(await page.textContent('.viewbox'), /fixed answers/, `${view} ${part}`);
		}
	}
	assert.deepEqual(asked.filter((u) => !u.startsWith('file:') && !u.startsWith('data:')), []);
	await closePage(page);
});

test('settings: by a key, seen at once, in the address or in the browser, and saved for print', async () => {
	const page = await openPage(server, 'functions?m=e.user:name', { bypassCSP: true, colorScheme: 'light' });
	await page.keyboard.press('S');
	const dialog = page.locator('[role=dialog][aria-label=Settings]');
	await dialog.getByLabel('Theme').selectOption('dark');
	assert.equal(await page.getAttribute('html', 'data-theme'), 'dark');
	await dialog.getByLabel('Called by and calls').uncheck();
	assert.equal(await page.$('.below'), null);
	await dialog.getByLabel('Names of functions').selectOption('mangled');
	await settled(page);
	assert.match(page.url(), /nm=mangled/);
	await page.addScriptTag({ content: axe });
	const { violations } = await page.evaluate(() => globalThis.axe.run('[role=dialog]', { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'cat.aria'] }));
	assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes[0].html}`), []);
	try {
		await dialog.getByText('Save to .er.rc').click();
		await page.waitForSelector('.toast');
		const saved = readFileSync(`${folder}/.er.rc`, 'utf8');
		assert.deepEqual(saved.trim().split('\n').sort(), ['dmetrics "e.user:name"', 'name "mangled"']);
		assert.deepEqual(print(['all.1.er'], '-functions').at(-1).metrics.map((m) => m.name), ['e.user', 'name']);
	} finally {
		rmSync(`${folder}/.er.rc`, { force: true });
	}
	await dialog.getByText('Reset').click();
	await settled(page);
	assert.doesNotMatch(page.url(), /nm=/);
	await page.keyboard.press('Escape');
	assert.equal(await dialog.count(), 0);
	// What the browser keeps is there when the page is loaded again.
	await page.reload();
	await page.waitForSelector('.page');
	assert.equal(await page.getAttribute('html', 'data-theme'), 'dark');
	await closePage(page);
});

async function assertRoles(page, views) {
	await page.addScriptTag({ content: axe });
	for (const view of views) {
		await go(page, view);
		const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'cat.aria'] }));
		assert.deepEqual(violations.map((v) => `${view}: ${v.id}: ${v.nodes.length}: ${v.nodes[0].html.slice(0, 200)} ${v.nodes[0].failureSummary}`), []);
	}
}

for (const colorScheme of ['light', 'dark']) {
	test(`roles and contrast are right (${colorScheme})`, async () => {
		const page = await openPage(server, 'overview', { colorScheme, bypassCSP: true });
		await assertRoles(page, ['overview', 'functions', 'calltree', 'callers?fn=insert', 'flame', 'timeline', 'source?fn=insert', 'threads', 'heap', 'locks', 'io?io=iostat', 'layout', 'statistics', 'experiments', 'start',
			'functions?f=TRUE']);
		await closePage(page);
	});
	for (const [experiment, views] of [['omp.1.er', ['openmp', 'openmp?omp=OMP_preg', 'openmp?omp=tasks', 'timeline']], ['mpi.1.er', ['mpi', 'mpi?mpi=ranks', 'mpi?mpi=mpimatrix', 'mpi?mpi=mpiwaits', 'mpi?mpi=mpicomms']]])
		test(`roles and contrast of ${views[0]} are right (${colorScheme})`, { skip: !existsSync(`${folder}/${experiment}`) }, async () => {
			const other = await serve(experiment);
			const page = await openPage(other, views[0], { colorScheme, bypassCSP: true });
			await assertRoles(page, views);
			await closePage(page);
			await other.stop();
		});
}

for (const width of [1280, 3840])
	test(`nothing is wider than a window of ${width} pixels`, async () => {
		const page = await openPage(server, 'overview', { viewport: { width, height: 900 } });
		for (const view of ['overview', 'functions', 'calltree', 'flame', 'timeline', 'both?fn=insert', 'heap', 'experiments', 'start']) {
			await go(page, view);
			assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, view);
		}
		await closePage(page);
	});
