// SPDX-License-Identifier: Apache-2.0
// Messages of MPI on the timeline: lines from the row of who sends to that of who receives.

import type { JSX } from 'preact';
import { formatAlone, formatTime } from '../format';
import { dark } from '../store';
import { nearestLine, type Message, type Point } from '../timeline';
import type { Pen } from '../ui/canvas';

export const FEW_MESSAGES = 1500; // lines: where there are more messages, a line is the sum of several

// Where rows are: of a lane the middle of its bar, or nothing where it is not shown.
export interface Places { x(t: number): number; y(lane: number): number | undefined; left: number; right: number }

// The part of a line that lies between the borders.
function clipped(a: Point, b: Point, left: number, right: number): [Point, Point] | null {
	if (b.x < left || a.x > right) return null;
	const at = (x: number): Point => ({ x, y: a.y + ((b.y - a.y) * (x - a.x)) / (b.x - a.x) });
	return [a.x < left ? at(left) : a, b.x > right ? at(right) : b];
}

export interface Line { message: Message; ends: [Point, Point]; arrives: boolean }

export function linesOf(messages: Message[], places: Places): Line[] {
	return messages.flatMap((message) => {
		const from = places.y(message.from);
		const to = places.y(message.to);
		if (from === undefined || to === undefined) return [];
		const end = { x: places.x(message.end), y: to };
		const ends = clipped({ x: places.x(message.begin), y: from }, end, places.left, places.right);
		return ends ? [{ message, ends, arrives: end.x <= places.right }] : [];
	});
}

export function paintMessages(pen: Pen, lines: Line[], chosen: Message | null): void {
	const colour = dark.value ? '#f0f0f0' : '#16181c';
	for (const { message, ends: [a, b], arrives } of lines) {
		const width = Math.min(4, 1 + Math.log10(message.count)) + (message === chosen ? 1.5 : 0);
		pen.line(a.x, a.y, b.x, b.y, colour, width);
		if (arrives) pen.rect(b.x - 2, b.y - 2, 4, 4, colour);
	}
}

export function messageAt(lines: Line[], at: Point): Message | null {
	return lines[nearestLine(lines.map((l) => l.ends), at, 4)]?.message ?? null;
}

export const messageTitle = (m: Message): string =>
	`${m.count === 1 ? 'Message' : `${m.count.toLocaleString('en-US')} messages`} from rank ${m.ranks[0]} to rank ${m.ranks[1]}`;

export function messageFacts(m: Message): [string, string][] {
	const span = m.end - m.begin;
	const several = m.count > 1;
	return [['Bytes', formatAlone(m.bytes, 'bytes')], [several ? 'First send begins' : 'Send begins', formatTime(m.begin, span)],
		[several ? 'Last receive ends' : 'Receive ends', formatTime(m.end, span)], ['Between them', formatAlone(span, 's')]];
}

export function MessageTip({ message, x, y }: { message: Message; x: number; y: number }): JSX.Element {
	return (
		<div class="tip" role="tooltip" style={{ left: `${Math.min(x + 14, innerWidth - 320)}px`, top: `${Math.min(y + 16, innerHeight - 150)}px` }}>
			<b>{messageTitle(message)}</b>
			{messageFacts(message).map(([name, value]) => <div>{name}: {value}</div>)}
		</div>
	);
}
