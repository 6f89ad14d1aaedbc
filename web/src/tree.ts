// SPDX-License-Identifier: Apache-2.0
// Trees of calls: from the rows of `calltree`, or put together from call stacks.

import type { Frame, Row } from './types';
import { num } from './types';

export interface Tree {
	// One entry for each node; the root is 0, a parent stands before its children.
	name: string[];
	object: (string | null)[];
	file: (string | null)[];
	parent: Int32Array;
	depth: Int32Array;
	value: Float64Array;
	other: Float64Array | null; // of the base that it is compared with
	children: number[][];
	total: number;
}

export function treeFromRows(rows: Row[], key: string, baseKey?: string): Tree {
	const n = rows.length;
	const at = new Map<unknown, number>();
	const tree: Tree = {
		name: new Array<string>(n), object: new Array<string | null>(n), file: new Array<string | null>(n).fill(null),
		parent: new Int32Array(n), depth: new Int32Array(n), value: new Float64Array(n),
		other: baseKey ? new Float64Array(n) : null, children: new Array<number[]>(n), total: 0,
	};
	rows.forEach((row, i) => {
		at.set(row.id, i);
		const parent = row.parent === null || row.parent === undefined ? -1 : at.get(row.parent) ?? -1;
		tree.name[i] = row.name ?? '';
		tree.object[i] = row.object ?? null;
		tree.parent[i] = parent;
		tree.depth[i] = parent < 0 ? 0 : tree.depth[parent]! + 1;
		tree.value[i] = num(row, key);
		if (baseKey) tree.other![i] = num(row, baseKey);
		tree.children[i] = [];
		if (parent >= 0) tree.children[parent]!.push(i);
	});
	tree.total = tree.value[0] ?? 0;
	return tree;
}

export interface StackRow {
	stack: number[]; // innermost first
	value: number;
}

// The tree of what the stacks have in common, from their outermost frames; or, below one function, what it
// calls, or, from there up, what calls it (the innermost place of a recursion counts for callers, the
// outermost for callees, so that nothing counts twice).
export function treeFromStacks(frames: Frame[], stacks: StackRow[], mode: 'all' | 'callees' | 'callers', fits: (f: Frame) => boolean = () => true): Tree {
	const name: string[] = ['<Total>'];
	const object: (string | null)[] = [null];
	const file: (string | null)[] = [null];
	const parent: number[] = [-1];
	const depth: number[] = [0];
	const value: number[] = [0];
	const children: number[][] = [[]];
	const index = new Map<string, number>();
	for (const { stack, value: v } of stacks) {
		if (!v) continue;
		let path = mode === 'callers' ? stack : [...stack].reverse();
		if (mode !== 'all') {
			const from = path.findIndex((f) => fits(frames[f]!));
			if (from < 0) continue;
			path = path.slice(from);
		}
		let node = 0;
		value[0]! += v;
		for (const f of path) {
			const frame = frames[f]!;
			const key = `${node}\t${frame.name}\t${frame.object ?? ''}`;
			let next = index.get(key);
			if (next === undefined) {
				next = name.length;
				index.set(key, next);
				name.push(frame.name);
				object.push(frame.object);
				file.push(frame.file);
				parent.push(node);
				depth.push(depth[node]! + 1);
				value.push(0);
				children.push([]);
				children[node]!.push(next);
			}
			value[next]! += v;
			node = next;
		}
	}
	for (const list of children) list.sort((a, b) => value[b]! - value[a]! || (name[a]! < name[b]! ? -1 : 1));
	return {
		name, object, file, parent: Int32Array.from(parent), depth: Int32Array.from(depth), value: Float64Array.from(value),
		other: null, children, total: value[0]!,
	};
}

// Rectangles of a flame graph: rows by depth, each sorted from left to right; x from 0 to 1.
export interface Layout {
	rows: { node: Int32Array; x0: Float64Array; x1: Float64Array }[];
	x0: Float64Array; // by node
	x1: Float64Array;
}

export function layoutTree(tree: Tree): Layout {
	const n = tree.name.length;
	const x0 = new Float64Array(n);
	const x1 = new Float64Array(n);
	const lists: number[][] = [];
	if (n && tree.total > 0) {
		x1[0] = 1;
		const queue = [0];
		for (let q = 0; q < queue.length; q++) {
			const node = queue[q]!;
			const d = tree.depth[node]!;
			(lists[d] ??= []).push(node);
			let x = x0[node]!;
			for (const child of tree.children[node]!) {
				const width = Math.max(0, tree.value[child]!) / tree.total;
				if (width <= 0) continue;
				x0[child] = x;
				x = Math.min(x + width, x1[node]!);
				x1[child] = x;
				queue.push(child);
			}
		}
	}
	return {
		x0, x1,
		rows: lists.map((nodes) => ({
			node: Int32Array.from(nodes),
			x0: Float64Array.from(nodes, (i) => x0[i]!),
			x1: Float64Array.from(nodes, (i) => x1[i]!),
		})),
	};
}

// The index of the last rectangle of a row that begins at or before x, or -1.
export function findAt(starts: Float64Array, x: number): number {
	let low = 0;
	let high = starts.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (starts[middle]! <= x) low = middle + 1;
		else high = middle;
	}
	return low - 1;
}

// What fits, counted once on each path: frames below a frame that fits are part of it.
export function matched(tree: Tree, fits: (name: string, i: number) => boolean): { nodes: Uint8Array; value: number } {
	const n = tree.name.length;
	const nodes = new Uint8Array(n);
	const inside = new Uint8Array(n);
	let value = 0;
	for (let i = 0; i < n; i++) {
		const up = tree.parent[i]!;
		const within = up >= 0 && (inside[up] === 1 || nodes[up] === 1);
		nodes[i] = fits(tree.name[i]!, i) ? 1 : 0;
		inside[i] = within ? 1 : 0;
		if (nodes[i] && !within) value += tree.value[i]!;
	}
	return { nodes, value };
}
