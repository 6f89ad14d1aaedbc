// SPDX-License-Identifier: Apache-2.0
// What is typed in Find: regular expressions without regard to case; with commas all of them must fit; a
// dash in front excludes. What is no regular expression is taken literally.

function expression(text: string): RegExp {
	try {
		return new RegExp(text, 'i');
	} catch {
		return new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'i');
	}
}

export function matcher(query: string): ((text: string) => boolean) | null {
	const parts = query.split(',').map((part) => part.trim()).filter((part) => part && part !== '-');
	if (!parts.length) return null;
	const tests = parts.map((part) => {
		const not = part.startsWith('-') && part.length > 1;
		const regex = expression(not ? part.slice(1) : part);
		return (text: string): boolean => regex.test(text) !== not;
	});
	return (text) => tests.every((test) => test(text));
}
