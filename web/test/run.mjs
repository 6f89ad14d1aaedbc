// SPDX-License-Identifier: Apache-2.0
// `node test/run.mjs unit|browser [NAME...]`: bundles the tests and runs them with node's own runner, or runs
// those in the browser, which need HELIO and HELIO_TEST_EXPERIMENTS (tests/system/test_web.py sets both).
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [kind = 'unit', ...names] = process.argv.slice(2);
const folder = join(here, kind);
const chosen = readdirSync(folder).filter((n) => n.includes('.test.') && (!names.length || names.some((w) => n.includes(w)))).sort();
let files = chosen.map((n) => join(folder, n));
if (kind === 'unit') {
	const { build } = await import('esbuild');
	const out = join(here, '../node_modules/.cache/test');
	rmSync(out, { recursive: true, force: true });
	mkdirSync(out, { recursive: true });
	await build({ entryPoints: files, bundle: true, platform: 'node', format: 'esm', target: 'node18', jsx: 'automatic', jsxImportSource: 'preact', outdir: out, outExtension: { '.js': '.mjs' }, logLevel: 'warning' });
	files = readdirSync(out).map((n) => join(out, n));
}
process.exit(spawnSync(process.execPath, ['--test', '--test-reporter=spec', ...files], { stdio: 'inherit' }).status ?? 1);
