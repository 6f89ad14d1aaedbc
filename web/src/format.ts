// SPDX-License-Identifier: Apache-2.0
// Numbers as text. A column has one unit, chosen by its largest value; zero is blank, and what is too small
// for the column's decimals is "<0.001".

export interface Scale {
	unit: string; // as the header shows it
	factor: number;
	decimals: number;
}

const digitsFor = (max: number): number => (max >= 1000 ? 1 : max >= 100 ? 2 : 3);
const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

function step(max: number, base: number, names: string[]): [number, string] {
	let factor = 1;
	let i = 0;
	while (max / factor >= base && i < names.length - 1) {
		factor *= base;
		i++;
	}
	return [factor, names[i]!];
}

export function scaleFor(unit: string, max: number): Scale {
	max = Math.abs(max);
	if (unit === 's') {
		for (const [name, factor] of [['s', 1], ['ms', 1e-3], ['µs', 1e-6]] as const)
			if (max >= factor * 0.9999 || name === 'µs') {
				if (max === 0) break;
				return { unit: name, factor, decimals: digitsFor(max / factor) };
			}
		return { unit: 's', factor: 1, decimals: 3 };
	}
	if (unit === 'bytes') {
		const [factor, name] = step(max, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
		return { unit: name, factor, decimals: factor === 1 ? 0 : max / factor >= 100 ? 1 : 2 };
	}
	if (unit === 'count') {
		if (max < 1e7) return { unit: '', factor: 1, decimals: 0 };
		const [factor, name] = step(max, 1000, ['', 'k', 'M', 'G', 'T']);
		return { unit: name, factor, decimals: max / factor >= 100 ? 1 : 2 };
	}
	return { unit: unit === 'text' ? '' : unit, factor: 1, decimals: max >= 100 ? 1 : 3 };
}

export function formatValue(value: number, scale: Scale, signed = false): string {
	if (value === 0) return '';
	const scaled = value / scale.factor;
	const sign = signed && value > 0 ? '+' : '';
	if (scale.decimals === 0) return sign + grouped.format(scaled);
	const smallest = 10 ** -scale.decimals;
	if (Math.abs(scaled) < smallest / 2) return `${value < 0 ? '>−' : '<'}${smallest.toFixed(scale.decimals)}`;
	const text = scaled.toFixed(scale.decimals);
	return sign + (Math.abs(scaled) >= 10000 ? text.replace(/\B(?=(\d{3})+\.)/g, ',') : text);
}

// A value with a unit of its own, to three digits.
export function formatAlone(value: number, unit: string): string {
	if (value === 0) return unit === 's' ? '0 s' : unit === 'bytes' ? '0 B' : '0';
	const scale = scaleFor(unit, value);
	const scaled = Math.abs(value / scale.factor);
	const decimals = scale.decimals === 0 ? 0 : scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
	return `${formatValue(value, { ...scale, decimals })}${scale.unit ? ` ${scale.unit}` : ''}`;
}

export function percent(part: number, whole: number): string {
	if (!whole || !part) return '';
	const p = (100 * part) / whole;
	return p < 0.05 && p > 0 ? '<0.1%' : `${p.toFixed(p >= 99.95 ? 0 : 1)}%`;
}

export function exact(value: number, unit: string): string {
	const name = unit === 's' ? ' s' : unit === 'bytes' ? ' bytes' : unit === 'count' ? '' : ` ${unit}`;
	return `${Number.isInteger(value) ? grouped.format(value) : value.toPrecision(10).replace(/\.?0+$/, '')}${name}`;
}

// The largest value; there may be more than Math.max takes as arguments.
export const largest = (values: number[]): number => values.reduce((most, value) => (value > most ? value : most), -Infinity);

export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

// What a name may be shortened to where it has no room, the longest first: without arguments, then with its class alone, then without.
export function shorterNames(name: string): string[] {
	if (name.startsWith('<') || name.includes('operator')) return [];
	let plain = '';
	let depth = 0;
	for (const c of name) {
		if (c === '(' || c === '<') depth++;
		if (depth === 0) plain += c;
		if (c === ')' || c === '>') depth = Math.max(0, depth - 1);
	}
	plain = plain.trim();
	const separator = plain.includes('::') ? '::' : /^[\w$]+(\.[\w$]+)+\(/.test(name) ? '.' : '';
	const parts = separator ? plain.split(separator) : [plain];
	const list = [plain, parts.slice(-2).join(separator), parts[parts.length - 1]!];
	return list.filter((n, i) => n !== '' && n !== name && n !== list[i - 1]);
}

// The longest form of a name that has room; the shortest one where none has.
export function fitName(name: string, width: number, measure: (text: string) => number): string {
	if (measure(name) <= width) return name;
	const shorter = shorterNames(name);
	return shorter.find((n) => measure(n) <= width) ?? shorter[shorter.length - 1] ?? name;
}

const flavours: [RegExp, string][] = [
	[/^Exclusive /, 'Excl. '], [/^Inclusive /, 'Incl. '], [/^Attributed /, 'Attr. '],
];
export function shortTitle(title: string): string {
	for (const [from, to] of flavours) title = title.replace(from, to);
	return title;
}

// Ticks of an axis: round numbers, at most n of them.
export function ticks(from: number, to: number, n: number): number[] {
	const span = to - from;
	if (!(span > 0) || n < 1) return [];
	const raw = span / n;
	const power = 10 ** Math.floor(Math.log10(raw));
	const size = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= raw) ?? raw;
	const list = [];
	for (let k = Math.ceil(from / size); k * size <= to + size * 1e-9; k++) list.push(k * size);
	return list;
}

export function formatTime(seconds: number, span: number): string {
	const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(span || 1)) + 2));
	return `${seconds.toFixed(decimals)} s`;
}
