// SPDX-License-Identifier: Apache-2.0
// The engine's compiler threads, worker threads, promises, timers, a server on a socket, children, crypto, signals.
const { execFileSync, spawn } = require('child_process');
const crypto = require('crypto');
const net = require('net');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');

function work(from, to) {
	let sum = 0;
	for (let i = from; i < to; i++)
		sum = (Math.imul(sum, 31) + String(i).length * (i % 17)) | 0;
	return sum;
}

function inWorker(n) {
	return new Promise((done, failed) => {
		const worker = new Worker(__filename, { workerData: n });
		worker.on('message', done);
		worker.on('error', failed);
	});
}

async function main() {
	console.log(await Promise.all([0, 1, 2].map(inWorker)), work(0, 3000000));
	console.log(crypto.createHash('sha256').update(Buffer.alloc(20000000)).digest('hex'));
	console.log(await new Promise((done) => crypto.pbkdf2('a', 'b', 100000, 16, 'sha512', (_, key) => done(key.toString('hex')))));
	process.on('SIGUSR2', () => console.log('usr2'));
	process.kill(process.pid, 'SIGUSR2');
	await new Promise((done) => setTimeout(done, 50));
	const server = net.createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
	await new Promise((done) => server.on('listening', done));
	const echoed = await new Promise((done) => {
		const chunks = [];
		const socket = net.connect(server.address().port, '127.0.0.1', () => socket.end(Buffer.alloc(3000000, 'x')));
		socket.on('data', (chunk) => chunks.push(chunk));
		socket.on('end', () => done(Buffer.concat(chunks).length));
	});
	server.close();
	console.log('echoed', echoed, execFileSync('echo', ['child']).toString().trim());
	const child = spawn('sh', ['-c', 'kill -TERM $$']);
	console.log(await new Promise((done) => child.on('exit', (code, signal) => done([code, signal]))));
	process.exitCode = 8;
}

if (isMainThread) main();
else parentPort.postMessage(work(workerData * 1000000, (workerData + 1) * 1000000));
