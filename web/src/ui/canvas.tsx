// SPDX-License-Identifier: Apache-2.0
// A canvas that follows its box and the screen's pixels, painted once per frame at most; and the painter of
// rows of rectangles. What is to be drawn is told to an interface that a real canvas and a writer of SVG have.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { effect } from '@preact/signals';
import { dark, textSize } from '../store';

export interface Pen {
	width: number;
	height: number;
	rect(x: number, y: number, w: number, h: number, fill: string): void;
	text(x: number, y: number, text: string, fill: string, maxWidth: number): void;
	line(x0: number, y0: number, x1: number, y1: number, stroke: string, width?: number): void;
	frame(x: number, y: number, w: number, h: number, stroke: string, width?: number): void;
	measure(text: string): number;
}

const font = (): string => `${Number(textSize.value) - 1}px system-ui, sans-serif`;

// Text cut to what fits, by the mean width of its letters: exact enough, and no search.
function fitted(text: string, width: number, measure: (t: string) => number): string {
	const whole = measure(text);
	if (whole <= width) return text;
	const letters = Math.floor((text.length * width) / whole) - 1;
	return letters < 2 ? '' : `${text.slice(0, letters)}…`;
}

export class CanvasPen implements Pen {
	private readonly widths = new Map<string, number>();
	constructor(readonly context: CanvasRenderingContext2D, readonly width: number, readonly height: number) {
		context.font = font();
		context.textBaseline = 'middle';
	}
	rect(x: number, y: number, w: number, h: number, fill: string): void {
		this.context.fillStyle = fill;
		this.context.fillRect(x, y, w, h);
	}
	measure(text: string): number {
		let width = this.widths.get(text);
		if (width === undefined) this.widths.set(text, (width = this.context.measureText(text).width));
		return width;
	}
	text(x: number, y: number, text: string, fill: string, maxWidth: number): void {
		const shown = fitted(text, maxWidth, (t) => this.measure(t));
		if (!shown) return;
		this.context.fillStyle = fill;
		this.context.fillText(shown, x, y);
	}
	line(x0: number, y0: number, x1: number, y1: number, stroke: string, width = 1): void {
		this.context.strokeStyle = stroke;
		this.context.lineWidth = width;
		this.context.beginPath();
		this.context.moveTo(x0, y0);
		this.context.lineTo(x1, y1);
		this.context.stroke();
	}
	frame(x: number, y: number, w: number, h: number, stroke: string, width = 1): void {
		this.context.strokeStyle = stroke;
		this.context.lineWidth = width;
		this.context.strokeRect(x, y, w, h);
	}
}

const escapeXml = (text: string): string =>
	text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '\ufffd');

export class SvgPen implements Pen {
	private readonly parts: string[] = [];
	private readonly context = document.createElement('canvas').getContext('2d')!;
	constructor(readonly width: number, readonly height: number) {
		this.context.font = font();
	}
	rect(x: number, y: number, w: number, h: number, fill: string): void {
		this.parts.push(`<rect x="${x.toFixed(2)}" y="${y.toFixed(2)}" width="${w.toFixed(2)}" height="${h.toFixed(2)}" fill="${fill}"/>`);
	}
	measure(text: string): number {
		return this.context.measureText(text).width;
	}
	text(x: number, y: number, text: string, fill: string, maxWidth: number): void {
		const shown = fitted(text, maxWidth, (t) => this.measure(t));
		if (shown) this.parts.push(`<text x="${x.toFixed(2)}" y="${y.toFixed(2)}" fill="${fill}">${escapeXml(shown)}</text>`);
	}
	line(x0: number, y0: number, x1: number, y1: number, stroke: string, width = 1): void {
		this.parts.push(`<path d="M${x0.toFixed(2)} ${y0.toFixed(2)}L${x1.toFixed(2)} ${y1.toFixed(2)}" stroke="${stroke}" stroke-width="${width}"/>`);
	}
	frame(x: number, y: number, w: number, h: number, stroke: string, width = 1): void {
		this.parts.push(`<rect x="${x.toFixed(2)}" y="${y.toFixed(2)}" width="${w.toFixed(2)}" height="${h.toFixed(2)}" fill="none" stroke="${stroke}" stroke-width="${width}"/>`);
	}
	finish(): string {
		return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" font-family="system-ui, sans-serif" font-size="${Number(textSize.value) - 1}" dominant-baseline="central">${this.parts.join('')}</svg>\n`;
	}
}

export interface CanvasProps {
	label: string; // what it shows, for those who do not see it
	role?: string;
	height?: number; // else that of its box
	paint(pen: Pen): void;
	redraw: unknown[]; // what the picture depends on
	onKeyDown?(event: KeyboardEvent): void;
	onPointerDown?(event: PointerEvent): void;
	onPointerMove?(event: PointerEvent): void;
	onPointerUp?(event: PointerEvent): void;
	onPointerLeave?(): void;
	onDblClick?(event: MouseEvent): void;
	onWheel?(event: WheelEvent): void;
	onContextMenu?(event: MouseEvent): void;
	canvasRef?: { current: HTMLCanvasElement | null };
	onSize?(width: number, height: number): void;
	cursor?: string;
}

export function Canvas(props: CanvasProps): JSX.Element {
	const element = useRef<HTMLCanvasElement>(null);
	const latest = useRef(props);
	const frame = useRef(0);
	latest.current = props;
	const draw = (): void => {
		cancelAnimationFrame(frame.current);
		frame.current = requestAnimationFrame(() => {
			const canvas = element.current;
			if (!canvas) return;
			const ratio = devicePixelRatio || 1;
			const { clientWidth: width, clientHeight: height } = canvas;
			if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
			if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
			const context = canvas.getContext('2d')!;
			context.setTransform(ratio, 0, 0, ratio, 0, 0);
			context.clearRect(0, 0, width, height);
			latest.current.paint(new CanvasPen(context, width, height));
		});
	};
	useLayoutEffect(() => {
		const canvas = element.current!;
		if (props.canvasRef) props.canvasRef.current = canvas;
		const observer = new ResizeObserver(() => {
			latest.current.onSize?.(canvas.clientWidth, canvas.clientHeight);
			draw();
		});
		observer.observe(canvas);
		const wheel = (event: WheelEvent): void => latest.current.onWheel?.(event);
		canvas.addEventListener('wheel', wheel, { passive: false });
		const stop = effect(() => {
			void dark.value; // another theme is another picture
			draw();
		});
		return () => {
			observer.disconnect();
			canvas.removeEventListener('wheel', wheel);
			stop();
			cancelAnimationFrame(frame.current);
		};
	}, []);
	useEffect(draw, props.redraw);
	const style: Record<string, string> = {};
	if (props.height !== undefined) style.height = `${props.height}px`;
	if (props.cursor) style.cursor = props.cursor;
	return <canvas ref={element} class="canvas" tabIndex={0} role={(props.role ?? 'img') as 'img'} aria-label={props.label} style={style}
		onKeyDown={(e) => latest.current.onKeyDown?.(e)} onPointerDown={(e) => latest.current.onPointerDown?.(e)}
		onPointerMove={(e) => latest.current.onPointerMove?.(e)} onPointerUp={(e) => latest.current.onPointerUp?.(e)}
		onPointerLeave={() => latest.current.onPointerLeave?.()} onDblClick={(e) => latest.current.onDblClick?.(e)}
		onContextMenu={(e) => { if (latest.current.onContextMenu) { e.preventDefault(); latest.current.onContextMenu(e); } }} />;
}

export const ink = (): string => (dark.value ? '#e8e8e8' : '#16181c');
export const dim = (): string => (dark.value ? '#9aa0a8' : '#5b626b');
export const rule = (): string => (dark.value ? '#383c42' : '#d7dade');
export const paper = (): string => (dark.value ? '#1b1d20' : '#ffffff');
export const accent = (): string => (dark.value ? '#6cb2ff' : '#0a5fbf');
