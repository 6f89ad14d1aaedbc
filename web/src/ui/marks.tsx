// SPDX-License-Identifier: Apache-2.0
// Find in views that are text and small tables: what fits is marked, and can be gone through. Tables that draw only
// the rows in sight, and pictures, find by themselves.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { signal } from '@preact/signals';
import { useKeys } from '../keys';
import { matcher } from '../search';
import { param, view } from '../store';

const PLACES = 'tr, li, p, h2, h3';
const MOST = 10000;
const marked = signal<HTMLElement[]>([]);
const at = signal(-1);

// An attribute that no view sets: a view that is drawn again leaves it.
function mark(): void {
	const fits = matcher(param('q'));
	const places = [...document.querySelectorAll<HTMLElement>(`.viewbox :is(${PLACES})`)].slice(0, MOST);
	const found = fits ? places.filter((e) => !e.closest('[role=treegrid], [role=grid]') && !e.querySelector(PLACES) && fits(e.textContent ?? '')) : [];
	const set = new Set(found);
	for (const e of places) e.toggleAttribute('data-found', set.has(e));
	if (found.length !== marked.value.length || found.some((e, i) => e !== marked.value[i])) marked.value = found;
}

function step(by: number): void {
	const { length } = marked.value;
	if (!length) return;
	at.value = at.value < 0 && by < 0 ? length - 1 : (at.value + by + length) % length;
	marked.value[at.value]!.scrollIntoView({ block: 'nearest' });
}

export function Marks(): JSX.Element | null {
	useEffect(() => {
		const box = document.querySelector('.viewbox');
		let waiting = 0;
		const again = (): void => { waiting ||= requestAnimationFrame(() => { waiting = 0; mark(); }); };
		at.value = -1;
		mark();
		step(1);
		const observer = new MutationObserver(again);
		if (box && param('q')) observer.observe(box, { childList: true, subtree: true, characterData: true });
		return () => { observer.disconnect(); cancelAnimationFrame(waiting); };
	}, [param('q'), view.value]);
	// Views that find by themselves have these keys, too.
	useKeys(marked.value.length ? [
		{ key: 'n', help: 'next that fits Find', group: 'Find', run: () => step(1) },
		{ key: 'N', help: 'previous that fits Find', group: 'Find', run: () => step(-1) },
	] : []);
	return marked.value.length ? <span class="hint" role="status">{marked.value.length} found</span> : null;
}
