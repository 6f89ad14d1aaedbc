# SPDX-License-Identifier: Apache-2.0
"""`flamegraph`: the page is parsed, and its frames are held against the construction of the golden experiment."""
import html.parser
import re

import test_print
from harness import test


class Page(html.parser.HTMLParser):
    """Frames as (level, begin and width in percent, lines of the tooltip, text), in the order of the page."""

    def __init__(self, text):
        super().__init__()
        self.frames, self.attributes, self.open, self.within = [], [], [], False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.attributes += attributes
        if tag == 'svg' and values.get('id') == 'graph':
            self.within = True
        elif tag == 'svg' and self.within:
            self.frames.append({'level': int(values['data-level']), 'begin': float(values['x'].rstrip('%')),
                                'width': float(values['width'].rstrip('%')), 'title': '', 'text': ''})
        if tag not in ('meta', 'input', 'rect'):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.within and self.open and self.open[-1] in ('title', 'text') and self.frames:
            self.frames[-1][self.open[-1]] += data


def page_of(t, *words, experiment):
    result = t.run(t.helio, 'print', *words, experiment)
    t.equal(result.status, 0, result.err)
    page = Page(result.out)
    t.equal(page.open, [], 'tags left open')
    return result.out, page


def check_frames(t, page, expected):
    """expected: {path: seconds}; every frame has the width and the number of its value and lies within its parent."""
    total, path, places, seen = expected[()], [], {}, {}
    for frame in page.frames:
        name, *_, value = frame['title'].split('\n')
        path = path[:frame['level']] + [name]
        key = tuple(path[1:])
        seen[key] = seen.get(key, 0) + frame['width'] / 100 * total
        t.equal(frame['text'], name, 'text')
        t.near(float(value.split()[0]), frame['width'] / 100 * total, f'tooltip of {key}', absolute=6e-4)
        if frame['level']:
            above = places[frame['level'] - 1]
            t.check(above[0] - 1e-3 <= frame['begin'] and frame['begin'] + frame['width'] <= above[1] + 1e-3, f'{key} in its parent')
        places[frame['level']] = (frame['begin'], frame['begin'] + frame['width'])
    test_print.same(t, {key: round(value, 4) for key, value in seen.items()},
                    {key: round(value, 4) for key, value in expected.items() if value}, 'frames')


@test
def frames_of_golden(t):
    experiment = test_print.golden(t)
    for words, inverted in ((('-flamegraph',), False), (('-flamegraph', '-inverted'), True)):
        text, page = page_of(t, '-sort', 'e.user', *words, experiment=experiment)
        check_frames(t, page, test_print.expected_tree('user', inverted))
        t.check('app 1.800 s (100.0 %)' in text or re.search(r'app [0-9.]+ s \(100.0 %\)', text), 'the load object')
    _, page = page_of(t, '-sort', 'e.user', '-flamegraph', '-depth', '1', experiment=experiment)
    t.equal({frame['level'] for frame in page.frames}, {0, 1}, '-depth')


@test
def page_stands_alone(t):
    """Nothing in the page refers to anything outside of it."""
    experiment = test_print.golden(t)
    result = t.run(t.helio, 'print', '-flamegraph', 'graph.html', experiment)
    t.equal((result.status, result.out), (0, ''), result.err)
    text = (t.directory / 'graph.html').read_text()
    page = Page(text)
    t.check(text.startswith('<!DOCTYPE html>') and text.endswith('</html>\n'), 'whole')
    t.equal([name for name, _ in page.attributes if name in ('src', 'href', 'xlink:href', 'action')], [], 'references')
    t.check(not re.search(r'@import|url\(|fetch\(|XMLHttp|https?:', text), 'references in styles and scripts')
    for words, problem in ((('-flamegraph', 'none/graph.html'), 'Unable to open file'), (('-sort', 'e.stop', '-flamegraph'), 'is 0 everywhere')):
        result = t.run(t.helio, 'print', *words, experiment)
        t.equal((result.status, problem in result.err), (1, True), result.err)


@test
def names_are_escaped(t):
    """A path may hold what would be markup."""
    test_print.golden(t)
    (t.directory / 'golden.1.er').rename(t.directory / '<b>&".1.er')
    text, page = page_of(t, '-flamegraph', experiment='<b>&".1.er')
    t.check('&lt;b&gt;&amp;&quot;.1.er' in text and '<b>' not in text, 'the experiment')
    t.equal(page.frames[0]['title'].split('\n')[0], '<Total>', 'names come back as they are')
