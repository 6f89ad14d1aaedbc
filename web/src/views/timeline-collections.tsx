// SPDX-License-Identifier: Apache-2.0
// Garbage collections of Java on the timeline: a strip of how long each took, and a shade over the rows of its process, whose threads
// stood still.

import type { JSX } from 'preact';
import { kindColour } from '../colour';
import { formatAlone, formatTime } from '../format';
import { collectionCause, type Collection, type Lane } from '../timeline';
import { addFilter } from '../store';
import type { Pen } from '../ui/canvas';
import type { Menu } from '../ui/menu';

const SHADE = 'rgba(197,27,125,0.20)';

// Of a row from y on; narrower ones than a pixel would hide what lies under them.
export function paintCollections(pen: Pen, collections: Collection[], lane: Lane, y: number, height: number, left: number, x: (t: number) => number): void {
	for (const c of collections) {
		const a = Math.max(left, x(c.begin));
		const b = Math.min(pen.width, x(c.end));
		if (c.count === 1 && b - a >= 1 && (lane.experiment === 0 || lane.experiment === c.experiment)) pen.rect(a, y, b - a, height, SHADE);
	}
}

// The one at a moment, or the nearest within some time.
export function collectionAt(collections: Collection[], time: number, within: number): Collection | null {
	let best: Collection | null = null;
	let least = within;
	for (const c of collections) {
		const distance = Math.max(0, c.begin - time, time - c.end);
		if (distance <= least) [best, least] = [c, distance];
	}
	return best;
}

export const collectionTitle = (c: Collection): string =>
	(c.count === 1 ? `Garbage collection ${c.number}` : `Garbage collections ${c.number} to ${c.number + c.count - 1}`);

export const collectionFacts = (c: Collection): [string, string][] => [
	['Process', String(c.experiment)], ['Thread', String(c.thread)], ['Begin', formatTime(c.begin, (c.end - c.begin) / 100)],
	['Stopped for', formatAlone(c.took, 's')], ...(c.count > 1 ? [['Longest', formatAlone(c.longest, 's')] as [string, string]] : []),
	...collectionCause(c),
];

export function collectionMenu(c: Collection): Menu {
	const during = c.count === 1 ? `GCEVENT == ${c.number}` : `GCEVENT >= ${c.number} && GCEVENT < ${c.number + c.count}`;
	return [
		{ text: `Only during ${c.count === 1 ? 'this collection' : 'these collections'}`, run: () => addFilter(`EXPID == ${c.experiment} && ${during}`) },
		{ text: 'Only during collections', run: () => addFilter('GCEVENT > 0') },
		{ text: 'Without the time of collections', run: () => addFilter('GCEVENT == 0') },
		null,
	];
}

export function CollectionTip({ collection }: { collection: Collection }): JSX.Element {
	return <><b><i class="swatch" style={{ background: kindColour.gc! }} />{collectionTitle(collection)}</b>
		{collectionFacts(collection).map(([name, value]) => <div>{name}: {value}</div>)}</>;
}
