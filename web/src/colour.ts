// SPDX-License-Identifier: Apache-2.0
// Colours. Those of names are a hash of the name: the same everywhere and every time; lightness and chroma
// are fixed, so that text on them can be read. Those of states can be told apart by colour-blind people
// (after Okabe and Ito) and differ in lightness too.

export function hash(text: string): number {
	let h = 0x811c9dc5;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
	h ^= h >>> 15;
	h = Math.imul(h, 0x2c1b3c6d);
	return (h ^ (h >>> 13)) >>> 0;
}

// Load objects get a hue of their own each, as far as there are enough: the hash says where to begin.
const hues = new Map<string, number>();
export const JAVA = 'JAVA_CLASSES'; // the load object of Java's methods
export function reserveHues(names: string[]): void {
	// Methods of Java first, and further from all others: native code is told from them at a glance.
	for (const name of [...names].sort((a, b) => Number(b === JAVA) - Number(a === JAVA))) {
		if (hues.has(name)) continue;
		const distance = (h: number, x: number): number => Math.abs(((((h - x) % 360) + 540) % 360) - 180);
		const free = (h: number, gap: number): boolean => [...hues].every(([other, x]) => distance(h, x) >= (other === JAVA ? 32 : gap));
		let hue = hash(name) % 360;
		for (const gap of hues.size < 64 ? [32, 12, 4, 0] : [0]) {
			let tries = 0;
			while (tries < 360 && !free(hue, gap)) {
				hue = (hue + 37) % 360;
				tries++;
			}
			if (tries < 360) break;
		}
		hues.set(name, hue);
	}
}

// What threads do for OpenMP's run time that is no code of the program: told by the colours of states that are alike.
const ompPseudo: [RegExp, string][] = [
	[/^<OMP-idle>/, 'sleep'], [/^<OMP-(implicit|explicit)_barrier>/, 'wait'], [/^<OMP-.*wait>/, 'lock'], [/^<OMP-overhead>/, 'datapfault'], [/^<OMP-reduction>/, 'other'],
];
// The states of OpenMP, by the colour of each; all that has no function of its own is work while it is on a processor, as `ompwork` counts it.
export const ompStateName: Record<string, string> = {
	user: 'work', other: 'reduction', datapfault: 'overhead of OpenMP', lock: 'waits for a lock, a section or tasks', wait: 'waits at a barrier', sleep: 'idle', stop: 'off the processor otherwise',
};
const ompPseudoState = (name: string): string | undefined => (name.startsWith('<') ? ompPseudo.find(([what]) => what.test(name))?.[1] : undefined);
const onProcessor = ['user', 'system', 'trap'];
// What a thread did for OpenMP, by the function that took most of a time and the clock's states in it: shares of 1.
export function ompShares(name: string, states: [string, number][]): [string, number][] {
	const known = ompPseudoState(name);
	const whole = states.reduce((sum, [, v]) => sum + v, 0);
	if (known || !whole) return [[known ?? 'user', 1]];
	const work = states.reduce((sum, [s, v]) => sum + (onProcessor.includes(s) ? v : 0), 0) / whole;
	return ([['user', work], ['stop', 1 - work]] as [string, number][]).filter(([, v]) => v > 0);
}

export const nameColour = (name: string, dark: boolean): string => {
	const state = ompPseudoState(name);
	if (state) return stateColour(state, dark);
	const h = hash(name);
	const hue = hues.get(name) ?? h % 360;
	const shade = ((h >>> 9) % 5) * 0.012;
	return dark ? `oklch(${0.43 + shade} 0.075 ${hue})` : `oklch(${0.83 + shade} 0.085 ${hue})`;
};

export const grey = (dark: boolean): string => (dark ? 'oklch(0.40 0 0)' : 'oklch(0.86 0 0)');

// Less is blue, more is red; x from -1 to 1.
export function differenceColour(x: number, dark: boolean): string {
	const strength = Math.min(1, Math.sqrt(Math.abs(x)));
	const hue = x < 0 ? 250 : 28;
	return dark
		? `oklch(${0.40 + 0.08 * strength} ${0.17 * strength} ${hue})`
		: `oklch(${0.92 - 0.16 * strength} ${0.15 * strength} ${hue})`;
}

const light: Record<string, string> = {
	user: '#0072b2', system: '#56b4e9', trap: '#56b4e9', wait: '#e69f00', lock: '#d55e00', datapfault: '#cc79a7',
	textpfault: '#b55f90', kernelpfault: '#9c4a79', sleep: '#c9ccd1', stop: '#7a7f87', other: '#009e73',
};
const darker: Record<string, string> = {
	...light, user: '#2b8fd0', sleep: '#4a4e55', stop: '#8b9098',
};
export const stateOrder = ['user', 'system', 'trap', 'lock', 'wait', 'datapfault', 'textpfault', 'kernelpfault', 'stop', 'sleep'];
export const stateName: Record<string, string> = {
	user: 'user code', system: 'kernel', trap: 'trap', wait: 'ready, no processor', lock: 'waits for a lock',
	datapfault: 'page fault', textpfault: 'page fault (code)', kernelpfault: 'page fault (kernel)', sleep: 'sleeps',
	stop: 'stopped',
};
export const stateColour = (name: string, dark: boolean): string =>
	(dark ? darker : light)[name] ?? (dark ? '#8b9098' : '#7a7f87');

export const kindColour: Record<string, string> = {
	clock: '#0072b2', heap: '#009e73', jheap: '#66a61e', sync: '#d55e00', held: '#b07d00', io: '#8c564b', counter: '#cc79a7', omp: '#6a51a3', mpi: '#1b7f79', gc: '#c51b7d', other: '#7a7f87',
};

// What a load object is, as far as its name tells: the program, the C library and its kin, the kernel.
export type Kind = 'program' | 'java' | 'runtime' | 'library' | 'system' | 'kernel' | 'pseudo';
export function kindOf(object: string | null | undefined, programs: Set<string>): Kind {
	if (!object) return 'pseudo';
	if (object.startsWith('[')) return 'kernel';
	if (object === JAVA) return 'java';
	if (object === 'DYNAMIC_FUNCTIONS') return 'runtime';
	if (programs.has(object)) return 'program';
	return /\/(ld-linux[^/]*|libc|libm|libpthread|libdl|librt|libstdc\+\+|libgcc_s)[.-][^/]*$/.test(object) ? 'system' : 'library';
}
export const kindFill: Record<Kind, [string, string]> = {
	program: ['oklch(0.83 0.10 150)', 'oklch(0.43 0.09 150)'],
	java: ['oklch(0.85 0.10 55)', 'oklch(0.45 0.09 55)'],
	runtime: ['oklch(0.86 0.10 110)', 'oklch(0.44 0.08 110)'],
	library: ['oklch(0.84 0.08 240)', 'oklch(0.43 0.08 240)'],
	system: ['oklch(0.87 0.07 80)', 'oklch(0.43 0.06 80)'],
	kernel: ['oklch(0.82 0.09 25)', 'oklch(0.43 0.09 25)'],
	pseudo: ['oklch(0.88 0 0)', 'oklch(0.38 0 0)'],
};
export const kindText: Record<Kind, string> = {
	program: 'the program', java: 'methods of Java', runtime: 'made at run time', library: 'libraries', system: 'C and C++ run time', kernel: 'kernel, vdso', pseudo: 'no code',
};
