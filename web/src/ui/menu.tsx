// SPDX-License-Identifier: Apache-2.0
// Menus at a place of the page, and dialogs.

import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';

export interface Item {
	text: string;
	hint?: string;
	run?(): void;
	off?: boolean;
}
export type Menu = (Item | null)[]; // null: a line

const shown = signal<{ items: Menu; x: number; y: number; back: HTMLElement | null } | null>(null);

export function openMenu(items: Menu, x: number, y: number): void {
	if (items.length) shown.value = { items, x, y, back: document.activeElement as HTMLElement | null };
}
export function closeMenu(): void {
	const back = shown.value?.back;
	shown.value = null;
	back?.focus({ preventScroll: true });
}

export function MenuHost(): JSX.Element | null {
	const box = useRef<HTMLDivElement>(null);
	const menu = shown.value;
	useLayoutEffect(() => {
		const element = box.current;
		if (!element || !menu) return;
		element.style.left = `${Math.max(0, Math.min(menu.x, innerWidth - element.offsetWidth - 4))}px`;
		element.style.top = `${Math.max(0, Math.min(menu.y, innerHeight - element.offsetHeight - 4))}px`;
		element.querySelector('button')?.focus();
	}, [menu]);
	if (!menu) return null;
	const step = (by: number): void => {
		const list = [...(box.current?.querySelectorAll('button:not([disabled])') ?? [])] as HTMLElement[];
		const at = list.indexOf(document.activeElement as HTMLElement);
		list[(at + by + list.length) % list.length]?.focus();
	};
	return (
		<div class="shade clear" onMouseDown={closeMenu} onContextMenu={(e) => { e.preventDefault(); closeMenu(); }}>
			<div ref={box} class="menu" role="menu" onMouseDown={(e) => e.stopPropagation()} onKeyDown={(e) => {
				if (e.key === 'ArrowDown') step(1);
				else if (e.key === 'ArrowUp') step(-1);
				else if (e.key === 'Escape') closeMenu();
				else return;
				e.preventDefault();
				e.stopPropagation();
			}}>
				{menu.items.map((item) => item === null
					? <hr />
					: <button role="menuitem" disabled={item.off || !item.run} onClick={() => { closeMenu(); item.run?.(); }}>
						<span>{item.text}</span>{item.hint && <kbd>{item.hint}</kbd>}
					</button>)}
			</div>
		</div>
	);
}

const dialog = signal<{ title: string; body: () => ComponentChildren; wide: boolean } | null>(null);
export function openDialog(title: string, body: () => ComponentChildren, wide = false): void {
	dialog.value = { title, body, wide };
}
export const closeDialog = (): void => void (dialog.value = null);

export function DialogHost(): JSX.Element | null {
	const box = useRef<HTMLDivElement>(null);
	const now = dialog.value;
	// At once, not after the next frame: a key may come before that.
	useLayoutEffect(() => {
		if (!now) return;
		const back = document.activeElement as HTMLElement | null;
		(box.current?.querySelector('input, textarea, select') as HTMLElement | null ?? box.current)?.focus();
		// Of the page: what had the focus may have been switched off.
		const key = (e: KeyboardEvent): void => { if (e.key === 'Escape' && !e.defaultPrevented) closeDialog(); };
		document.addEventListener('keydown', key);
		return () => {
			document.removeEventListener('keydown', key);
			back?.focus({ preventScroll: true });
		};
	}, [now]);
	if (!now) return null;
	return (
		<div class="shade" onMouseDown={closeDialog}>
			<div ref={box} class={`dialog ${now.wide ? 'wide' : ''}`} role="dialog" aria-modal="true" aria-label={now.title} tabIndex={-1}
				onMouseDown={(e) => e.stopPropagation()}>
				<header><h2>{now.title}</h2><button class="flat" aria-label="Close" onClick={closeDialog}>✕</button></header>
				<div class="body"><now.body /></div>
			</div>
		</div>
	);
}

// Text to the clipboard; where the browser forbids that, in a dialog to be copied by hand.
export async function copyText(text: string, what: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
		toast(`Copied: ${what}`);
	} catch {
		openDialog(`Copy ${what}`, () => <textarea class="copy" readOnly rows={16}>{text}</textarea>, true);
	}
}
export const toasted = signal('');
let toastTimer = 0;
export function toast(text: string): void {
	toasted.value = text;
	clearTimeout(toastTimer);
	toastTimer = window.setTimeout(() => (toasted.value = ''), 2500);
}
