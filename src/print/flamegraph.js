// Zoom, search and turning round. Without it the graph is whole, and its tooltips work.
'use strict';
(() => {
	const graph = document.getElementById('graph');
	const search = document.getElementById('search');
	const found = document.getElementById('found');
	const info = document.getElementById('frame');
	const height = graph.querySelector('svg').height.baseVal.value;
	const frames = Array.from(graph.querySelectorAll('svg'), (element) => ({
		element,
		begin: parseFloat(element.getAttribute('x')),
		width: parseFloat(element.getAttribute('width')),
		level: Number(element.dataset.level),
		title: element.querySelector('title').textContent,
	}));
	const levels = Math.max(...frames.map((frame) => frame.level)) + 1;
	const frameOf = new Map(frames.map((frame) => [frame.element, frame]));
	const slack = 1e-4;
	let upwards = false;
	let base = frames[0];

	function percent(part) {
		return part.toFixed(4) + '%';
	}

	function zoom(to) {
		base = to;
		for (const frame of frames) {
			const holds = frame.level <= base.level && frame.begin <= base.begin + slack &&
				frame.begin + frame.width >= base.begin + base.width - slack;
			const within = frame.level >= base.level && frame.begin >= base.begin - slack &&
				frame.begin + frame.width <= base.begin + base.width + slack;
			frame.element.classList.toggle('away', !holds && !within);
			frame.element.classList.toggle('above', holds && frame !== base);
			frame.element.setAttribute('x', holds ? '0%' : percent((frame.begin - base.begin) / base.width * 100));
			frame.element.setAttribute('width', holds ? '100%' : percent(frame.width / base.width * 100));
		}
	}

	function turn() {
		upwards = !upwards;
		for (const frame of frames)
			frame.element.setAttribute('y', (upwards ? levels - 1 - frame.level : frame.level) * height);
		graph.scrollIntoView(!upwards);
	}

	// A frame below one that matches is part of it already.
	function find() {
		const word = search.value.toLowerCase();
		let total = 0;
		let end = -1;
		for (const frame of frames) {
			const name = frame.title.slice(0, frame.title.indexOf('\n')).toLowerCase();
			const matched = word !== '' && frame.level > 0 && name.includes(word);
			frame.element.classList.toggle('matched', matched);
			if (matched && frame.begin >= end - slack) {
				total += frame.width;
				end = frame.begin + frame.width;
			}
		}
		found.textContent = word === '' ? '' : total.toFixed(2) + ' % found';
	}

	graph.addEventListener('click', (event) => {
		const frame = frameOf.get(event.target.closest('#graph svg'));
		if (frame)
			zoom(frame);
	});
	graph.addEventListener('mouseover', (event) => {
		const frame = frameOf.get(event.target.closest('#graph svg'));
		if (frame)
			info.textContent = frame.title.replaceAll('\n', ': ') +
				(base.level ? `, ${(frame.width / base.width * 100).toFixed(2)} % of what is shown` : '');
	});
	document.getElementById('whole').addEventListener('click', () => zoom(frames[0]));
	document.getElementById('turn').addEventListener('click', turn);
	search.addEventListener('input', find);
	document.addEventListener('keydown', (event) => {
		if (event.key === 'Escape') {
			search.value = '';
			find();
			zoom(frames[0]);
		} else if (event.key === '/' && event.target !== search) {
			event.preventDefault();
			search.focus();
		}
	});
	document.getElementById('tools').hidden = false;
})();
