// SPDX-License-Identifier: Apache-2.0
// Makes the page: `node build.mjs [OUTDIR]`. OUTDIR gets index.html, hashed js and css, and
// manifest.json, which lists them with their content types for the program that embeds them. The same
// sources give the same bytes. A bundle beyond its budget is an error.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const BUDGET_JS = 100 * 1000;
const BUDGET_CSS = 12 * 1000;
const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, 'node_modules/.cache/page'));

const made = await build({
	entryPoints: [join(here, 'src/main.tsx'), join(here, 'src/style.css')],
	bundle: true,
	minify: true,
	format: 'esm',
	target: ['chrome111', 'firefox113', 'safari16.4'],
	jsx: 'automatic',
	jsxImportSource: 'preact',
	legalComments: 'none',
	charset: 'utf8',
	outdir: out,
	write: false,
	logLevel: 'warning',
});

mkdirSync(out, { recursive: true });
for (const name of readdirSync(out))
	if (/^(app-.*\.(js|css)|index\.html|manifest\.json)$/.test(name)) rmSync(join(out, name));

const files = [];
const put = (name, type, text, immutable) => {
	writeFileSync(join(out, name), text);
	files.push({ name, type, immutable, bytes: text.length, gzip: gzipSync(text, { level: 9 }).length });
};
const names = {};
for (const file of made.outputFiles) {
	const kind = file.path.endsWith('.css') ? 'css' : 'js';
	const hash = createHash('sha256').update(file.contents).digest('hex').slice(0, 12);
	names[kind] = `app-${hash}.${kind}`;
	put(names[kind], kind === 'css' ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
		Buffer.from(file.contents), true);
}
const html = readFileSync(join(here, 'src/index.html'), 'utf8')
	.replace('app.css', names.css).replace('app.js', names.js);
put('index.html', 'text/html; charset=utf-8', Buffer.from(html), false);
writeFileSync(join(out, 'manifest.json'), JSON.stringify({ files }, null, '\t') + '\n');

for (const file of files) {
	const budget = file.name.endsWith('.js') ? BUDGET_JS : file.name.endsWith('.css') ? BUDGET_CSS : Infinity;
	if (file.gzip > budget) {
		console.error(`${file.name}: ${file.gzip} bytes compressed, more than the ${budget} it may have`);
		process.exit(1);
	}
}
console.log(files.map((f) => `${f.name} ${f.bytes} (${f.gzip} compressed)`).join('\n'));
