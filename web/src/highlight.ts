// SPDX-License-Identifier: Apache-2.0
// Source text cut into pieces with a class each: comments, strings, numbers, words of the language. A few
// regular expressions for each family of languages, line by line; a comment over several lines is carried on.

export interface Piece { text: string; kind: '' | 'com' | 'str' | 'num' | 'kw' | 'pre' | 'reg' | 'op' }
export type Language = 'c' | 'fortran' | 'python' | 'java' | 'rust' | 'go' | 'asm' | 'text';

const words = (list: string): Set<string> => new Set(list.split(' '));
const cWords = words('alignas auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false final float for friend goto if inline int long mutable namespace new noexcept nullptr operator override private protected public register restrict return short signed sizeof static static_assert struct switch template this throw true try typedef typename union unsigned using virtual void volatile wchar_t while _Atomic _Bool _Static_assert size_t');
const keywords: Record<Language, Set<string>> = {
	c: cWords,
	java: words('abstract boolean break byte case catch char class continue default do double else enum extends final finally float for if implements import instanceof int interface long native new null package private protected public return short static super switch synchronized this throw throws true false try var void volatile while record'),
	python: words('False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'),
	rust: words('as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while'),
	go: words('break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false'),
	fortran: words('program end subroutine function module use implicit none integer real double precision complex logical character dimension allocatable intent in out inout do while if then else elseif endif enddo call return contains parameter where select case stop print write read'),
	asm: new Set(),
	text: new Set(),
};

export function languageOf(file: string): Language {
	const ext = /\.([A-Za-z0-9+]+)$/.exec(file)?.[1]?.toLowerCase() ?? '';
	if (/^(c|h|cc|cpp|cxx|c\+\+|hh|hpp|hxx|inl|ipp|tcc|cu|m|mm|def)$/.test(ext)) return 'c';
	if (/^(f|f90|f95|f03|f08|for)$/.test(ext)) return 'fortran';
	if (/^py$/.test(ext)) return 'python';
	if (/^(java|kt|scala|cs|js|ts)$/.test(ext)) return 'java';
	if (ext === 'rs') return 'rust';
	if (ext === 'go') return 'go';
	if (/^(s|asm)$/.test(ext)) return 'asm';
	return ext === '' ? 'c' : 'text';
}

const common = String.raw`(?<str>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(?<num>\b(?:0[xX][0-9a-fA-F']+|\d[\d'_]*\.?\d*(?:[eE][+-]?\d+)?)[uUlLfF]*\b)|(?<word>[A-Za-z_]\w*)`;
const patterns: Record<Language, RegExp> = {
	c: new RegExp(String.raw`(?<com>//.*|/\*.*?(?:\*/|$))|(?<pre>^\s*#\s*\w+)|${common}`, 'gs'),
	java: new RegExp(String.raw`(?<com>//.*|/\*.*?(?:\*/|$))|(?<pre>@\w+)|${common}`, 'gs'),
	rust: new RegExp(String.raw`(?<com>//.*|/\*.*?(?:\*/|$))|(?<pre>#!?\[.*?\]|\b\w+!)|(?<str>"(?:[^"\\]|\\.)*"?)|(?<num>\b\d[\w.]*\b)|(?<word>[A-Za-z_]\w*)`, 'gs'),
	go: new RegExp(String.raw`(?<com>//.*|/\*.*?(?:\*/|$))|${common}`, 'gs'),
	python: new RegExp(String.raw`(?<com>#.*)|(?<pre>^\s*@[\w.]+)|${common}`, 'gs'),
	fortran: new RegExp(String.raw`(?<com>!.*|^[cC*].*)|${common}`, 'gs'),
	asm: /(?<com>[#;].*)|(?<reg>%\w+)|(?<num>\$?-?0x[0-9a-fA-F]+|\$-?\d+)|(?<word>[A-Za-z_.][\w.]*)/g,
	text: /(?!)/g,
};

export interface Carry { comment: boolean }

export function highlight(line: string, language: Language, carry: Carry): Piece[] {
	const pieces: Piece[] = [];
	let at = 0;
	if (carry.comment) {
		const end = line.indexOf('*/');
		if (end < 0) return [{ text: line, kind: 'com' }];
		pieces.push({ text: line.slice(0, end + 2), kind: 'com' });
		at = end + 2;
		carry.comment = false;
	}
	const block = language !== 'python' && language !== 'fortran' && language !== 'asm' && language !== 'text';
	const regex = patterns[language];
	regex.lastIndex = at;
	for (let m = regex.exec(line); m; m = regex.exec(line)) {
		if (m.index > at) pieces.push({ text: line.slice(at, m.index), kind: '' });
		const g = m.groups!;
		const kind = g.com !== undefined ? 'com' : g.pre !== undefined ? 'pre' : g.str !== undefined ? 'str' : g.reg !== undefined ? 'reg' : g.num !== undefined ? 'num'
			: keywords[language].has(language === 'fortran' ? g.word!.toLowerCase() : g.word!) ? 'kw' : '';
		pieces.push({ text: m[0], kind });
		at = m.index + m[0].length;
		if (kind === 'com' && block && m[0].startsWith('/*') && !m[0].endsWith('*/')) carry.comment = true;
		if (m[0].length === 0) break;
	}
	if (at < line.length) pieces.push({ text: line.slice(at), kind: '' });
	return pieces;
}

// `[13]  138b:  call 0x1360 <insert>`: the operation in one class, what it works on in others.
export function highlightInstruction(text: string): Piece[] {
	const match = /^(\s*\[\s*[\d?]+\]\s*)([0-9a-f]+:)(\s+)([^<]*?)(<.*>)?$/s.exec(text);
	if (!match) return [{ text, kind: '' }];
	const body = match[4]!;
	const op = /^(\S+)(.*)$/s.exec(body);
	const pieces: Piece[] = [{ text: match[1]!, kind: 'com' }, { text: match[2]!, kind: 'num' }, { text: match[3]!, kind: '' }];
	if (op) pieces.push({ text: op[1]!, kind: 'op' }, ...highlight(op[2]!, 'asm', { comment: false }));
	if (match[5]) pieces.push({ text: match[5], kind: 'str' });
	return pieces;
}

export const jumpTarget = (text: string): number | null => {
	const match = /:\s+(?:j\w+|b(?:\.\w+)?|cbn?z|tbn?z|loop\w*)\s+(?:[^<]*?,\s*)?0x([0-9a-f]+)(?:\s|$)/.exec(text);
	return match ? parseInt(match[1]!, 16) : null;
};
