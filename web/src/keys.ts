// SPDX-License-Identifier: Apache-2.0
// Keys. Each view adds its own while it is shown; `?` lists them all.

import { useEffect } from 'preact/hooks';

export interface Key {
	key: string; // as KeyboardEvent.key, with Ctrl+ and Shift+ in front where they matter
	help: string;
	group?: string;
	run(event: KeyboardEvent): void;
}

const stack: Key[][] = [];
export const allKeys = (): Key[] => stack.flat();

function nameOf(event: KeyboardEvent): string {
	const key = event.key;
	let name = key;
	if (event.shiftKey && (key.length > 1 || event.ctrlKey || event.metaKey)) name = `Shift+${key}`;
	if (event.ctrlKey || event.metaKey) name = `Ctrl+${name}`;
	if (event.altKey) name = `Alt+${name}`;
	return name;
}

export function startKeys(): void {
	addEventListener('keydown', (event) => {
		const target = event.target as HTMLElement | null;
		const typing = target?.closest('input, textarea, select, [contenteditable]');
		if (event.defaultPrevented || (typing && event.key !== 'Escape')) return;
		const name = nameOf(event);
		for (let i = stack.length - 1; i >= 0; i--)
			for (const key of stack[i]!)
				if (key.key.split(' ').includes(name)) {
					event.preventDefault();
					key.run(event);
					return;
				}
	});
}

export function useKeys(keys: Key[]): void {
	// The list is made anew at each rendering; what it refers to is what is shown.
	useEffect(() => {
		stack.push(keys);
		return () => {
			stack.splice(stack.indexOf(keys), 1);
		};
	});
}
