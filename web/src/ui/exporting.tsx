// SPDX-License-Identifier: Apache-2.0
// The view as text, CSV, JSON, the command line that gives the same; pictures as PNG and SVG.

import * as api from '../api';
import { commandLine } from '../request';
import { experiments, fail, session } from '../store';
import { copyText, type Menu } from './menu';
import { published } from './view';

function save(name: string, blob: Blob): void {
	const link = document.createElement('a');
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function textOf(format: 'text' | 'csv' | 'json'): Promise<string> {
	const request = published.value.request;
	if (!request) return '';
	if (format === 'json') {
		const answer = await api.print(session.value, request).answer;
		return answer.results.map((r) => JSON.stringify(r)).join('\n') + '\n';
	}
	return api.printText(session.value, request, format).answer;
}

export function exportMenu(): Menu {
	const { request, picture } = published.value;
	if (!request) return [{ text: 'This view has nothing to copy', off: true }];
	const copy = (format: 'text' | 'csv' | 'json') => () => {
		textOf(format).then((text) => copyText(text, `the view as ${format}`)).catch(fail);
	};
	const items: Menu = [
		{ text: 'Copy as text', hint: 'y', run: copy('text') },
		{ text: 'Copy as CSV', run: copy('csv') },
		{ text: 'Copy as JSON', run: copy('json') },
		{ text: 'Save as CSV …', run: () => textOf('csv').then((t) => save('view.csv', new Blob([t], { type: 'text/csv' }))).catch(fail) },
		null,
		{ text: 'Copy the command line of this view', hint: 'Y', run: copyCommand },
		{ text: 'Copy link', run: () => void copyText(location.href, 'the link') },
	];
	if (picture) items.push(null,
		{ text: 'Save picture as SVG …', run: () => save('view.svg', new Blob([picture().svg], { type: 'image/svg+xml' })) },
		{ text: 'Save picture as PNG …', run: () => picture().canvas?.toBlob((blob) => blob && save('view.png', blob)) });
	return items;
}

export const commandOfView = (): string =>
	published.value.request ? commandLine(published.value.request, experiments.value) : '';
export const copyCommand = (): void => void copyText(commandOfView(), 'the command line');
export const copyView = (): void => {
	textOf('text').then((text) => copyText(text, 'the view as text')).catch(fail);
};
