// SPDX-License-Identifier: Apache-2.0
// Locks that threads held while others waited for them: rows of the timeline, below those of waits.

import { formatAlone, formatTime } from '../format';
import { show } from '../store';
import type { Event } from '../timeline';
import { num } from '../types';
import { lockMenu } from '../ui/actions';
import type { Menu } from '../ui/menu';

export const FEW_HOLDS = 3000; // bands: where there are more holds, a band is the sum of several

const MOST_NAMES = 4; // as many as an answer has
const waitersOf = (hold: Event): string => {
	const names = (hold.row.waiters as string[] | undefined) ?? [];
	return names.join('; ') + (names.length === MOST_NAMES ? ' …' : '');
};

export const holdTitle = (hold: Event): string => `Holds ${hold.type}`;

export function holdFacts(hold: Event): [string, string][] {
	const span = hold.end - hold.begin;
	const several = num(hold.row, 'holds') > 1;
	return [['Thread', String(hold.row.holder)], ['Waited for by', waitersOf(hold)], [several ? 'First wait begins' : 'Wait begins', formatTime(hold.begin, span)],
		['Length', formatAlone(span, 's')], ...(several ? [['Times', num(hold.row, 'holds').toLocaleString('en-US')] as [string, string]] : []),
		['Waits', num(hold.row, 'waits').toLocaleString('en-US')], ['Waited in all', formatAlone(num(hold.row, 'waited_s'), 's')]];
}

export const holdMenu = (hold: Event): Menu =>
	[{ text: 'Who waited for whom', run: () => show('locks', { lock: hold.type }) }, ...lockMenu(hold.type), null];
