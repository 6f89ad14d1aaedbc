// SPDX-License-Identifier: Apache-2.0
// For work on the page: `node dev-server.mjs [--port N] [--dir DIRECTORY] [EXPERIMENT...]` starts
// `helio view`, hands all requests of the API on to it, and serves the page itself, made anew whenever it is
// loaded. HELIO names the program. For one developer on one machine: it logs everybody in. Never installed.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, request as ask } from 'node:http';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, 'node_modules/.cache/page');
const words = process.argv.slice(2);
const option = (name, other) => {
	const at = words.indexOf(name);
	return at < 0 ? other : words.splice(at, 2)[1];
};
const port = Number(option('--port', '0'));
const cwd = option('--dir', process.cwd());

const view = spawn(process.env.HELIO ?? join(here, '../build/helio'), ['view', '--no-open', ...words], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
process.on('exit', () => view.kill('SIGINT'));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));
view.on('exit', () => process.exit(1));
let upstream = null;
let key = '';
let said = '';
for (const stream of [view.stdout, view.stderr])
	stream.on('data', (data) => {
		said += data;
		upstream ??= /http:\/\/127\.0\.0\.1:(\d+)\//.exec(said)?.[1] ?? null;
		key ||= /Bearer (\S+)/.exec(said)?.[1] ?? '';
	});

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8' };
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

function serve(name, response) {
	if (name === '/') spawnSync('node', [join(here, 'build.mjs'), page], { stdio: ['ignore', 'ignore', 'inherit'] });
	try {
		const text = readFileSync(join(page, name === '/' ? 'index.html' : name.replaceAll('..', '')));
		response.writeHead(200, { 'Content-Type': types[extname(name) || '.html'], 'Content-Security-Policy': policy }).end(text);
	} catch {
		response.writeHead(404).end();
	}
}

function forward(request, response) {
	const headers = { host: `127.0.0.1:${upstream}`, authorization: `Bearer ${key}` };
	for (const name of ['content-type', 'content-length']) if (request.headers[name]) headers[name] = request.headers[name];
	const onward = ask({ host: '127.0.0.1', port: upstream, method: request.method, path: request.url, headers }, (answer) => {
		response.writeHead(answer.statusCode, answer.headers);
		answer.pipe(response);
	});
	onward.on('error', () => response.writeHead(502).end());
	response.on('close', () => onward.destroy());
	request.pipe(onward);
}

const server = createServer((request, response) => {
	const { pathname } = new URL(request.url, 'http://localhost');
	if (pathname.startsWith('/api/')) forward(request, response);
	else serve(pathname, response);
});
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
