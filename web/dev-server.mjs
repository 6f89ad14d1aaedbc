// SPDX-License-Identifier: Apache-2.0
// Stands in for `helio view` while the page is developed: serves dist/ and answers the API's requests by
// running `helio print` for each. `node dev-server.mjs [--port N] [--dir DIRECTORY] EXPERIMENT...`, with HELIO
// naming the program. For one developer on one machine: it asks nobody who they are. Never installed.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const helio = process.env.HELIO ?? join(here, '../build/helio');
const words = process.argv.slice(2);
const option = (name, other) => {
	const at = words.indexOf(name);
	return at < 0 ? other : words.splice(at, 2)[1];
};
const port = Number(option('--port', '0'));
const cwd = option('--dir', process.cwd());
const dist = option('--dist', join(here, 'dist'));
const sessions = [null, ...(words.length ? [{ experiments: words }] : [])];
const running = new Map();

const run = (args, id) => new Promise((done) => {
	const child = execFile(helio, args, { cwd, maxBuffer: 1 << 28 }, (error, stdout, stderr) =>
		done({ status: error ? error.code ?? 1 : 0, stdout, stderr }));
	if (id) running.set(id, child);
	child.on('close', () => running.delete(id));
});
const flags = (list) => list.flatMap(([name, ...rest]) => [`-${name}`, ...rest]);
const message = (line, command) => {
	const match = /^(?:helio print: )?(Error|Warning): (.*)$/s.exec(line);
	return match && { level: match[1].toLowerCase(), text: match[2], command };
};

// One process for each command: a command that fails says so, and those after it still run.
async function print({ session, settings = [], commands, format, id }) {
	const { experiments } = sessions[session];
	const results = [];
	const messages = [];
	const begin = format === 'text' ? [] : format === 'csv' ? ['-printmode', ','] : ['-printmode', 'json'];
	if (format !== 'json' && format !== 'slab') {
		const { stdout } = await run(['print', ...begin, ...flags(settings), ...flags(commands), ...experiments], id);
		return stdout;
	}
	for (const [i, command] of commands.entries()) {
		const { stdout, stderr } = await run(['print', ...begin, ...flags(settings), ...flags([command]), ...experiments], id);
		const lines = stdout.split('\n').filter((l) => l.startsWith('{'));
		results.push(lines.length ? JSON.parse(lines[lines.length - 1]) : null);
		for (const line of stderr.split(/\n(?=Error|Warning|helio print)/))
			if (message(line.trim(), i)) messages.push(message(line.trim(), i));
		if (!lines.length && !messages.length) messages.push({ level: 'error', text: stderr.trim() || 'no output', command: i });
	}
	return { results, messages };
}

const api = {
	'POST login': () => null,
	'GET bootstrap': async () => {
		const first = sessions[1]?.experiments;
		const { stdout } = first ? await run(['print', '-printmode', 'json', '-help', ...first]) : { stdout: '{"rows":[]}' };
		return {
			version: 'development', directory: cwd, readonly: false,
			sessions: sessions.slice(1).map((s, i) => ({ id: i + 1, experiments: s.experiments, growing: false })),
			commands: JSON.parse(stdout).rows.map((c) => ({ ...c, available: true, why: null })),
		};
	},
	'POST print': print,
	'POST cancel': ({ id }) => void running.get(id)?.kill(),
	'POST open': ({ experiments }) => ({ session: sessions.push({ experiments }) - 1 }),
	'POST refresh': ({ session }) => ({ session: sessions.push({ ...sessions[session] }) - 1 }),
	'POST close': () => null,
	'GET experiments': async () => JSON.parse((await run(['ls', '--json', '.'])).stdout).experiments,
	'GET doctor': async () => JSON.parse((await run(['doctor', '--json'])).stdout),
	'GET options': () => [
		{ command: 'collect', option: '--heap', argument: 'on|off', help: 'heap tracing', group: 'Data' },
		{ command: 'collect', option: '--output', argument: 'NAME.er', help: 'the experiment to make', group: 'Output' },
		{ command: 'attach', option: '--duration', argument: 'TIME', help: 'for how long', group: 'Control' },
	],
	'GET recordings': () => [],
};

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8' };
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const server = createServer(async (request, response) => {
	const url = new URL(request.url, 'http://localhost');
	const head = { 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff' };
	if (!url.pathname.startsWith('/api/v1/')) {
		const name = url.pathname === '/' ? 'index.html' : url.pathname.slice(1);
		try {
			const text = readFileSync(join(dist, name.replaceAll('..', '')));
			response.writeHead(200, { ...head, 'Content-Type': types[extname(name)] ?? 'application/octet-stream' }).end(text);
		} catch {
			response.writeHead(404, head).end();
		}
		return;
	}
	let body = '';
	for await (const part of request) body += part;
	const name = url.pathname.slice('/api/v1/'.length);
	const handler = api[`${request.method} ${name}`];
	try {
		if (!handler) throw Object.assign(new Error(`no ${request.method} ${name}`), { status: 404 });
		const answer = await handler(body ? JSON.parse(body) : {});
		const text = typeof answer === 'string';
		response.writeHead(answer === null || answer === undefined ? 204 : 200, { 'Content-Type': text ? 'text/plain; charset=utf-8' : 'application/json' });
		response.end(answer === null || answer === undefined ? undefined : text ? answer : JSON.stringify(answer));
	} catch (error) {
		response.writeHead(error.status ?? 500, { 'Content-Type': 'application/json' });
		response.end(JSON.stringify({ error: { text: String(error.message) } }));
	}
});
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
