# SPDX-License-Identifier: Apache-2.0
"""`printmode html`: the page is parsed; its cells hold what the golden experiment was made of."""
import collections
import html.parser
import re

import test_print
from harness import test


class Page(html.parser.HTMLParser):
    """tables: lists of groups of rows of (class, cells); texts: what stands in <pre>; headings."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tables, self.headers, self.texts, self.headings, self.row = [], [], [], [], [], None
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        if tag == 'meta':
            return
        self.open.append(tag)
        if tag == 'table':
            self.tables.append([])
            self.headers.append([])
        elif tag == 'tbody':
            self.tables[-1].append([])
        elif tag == 'tr' and 'tbody' in self.open:
            self.tables[-1][-1].append((dict(attributes).get('class'), []))
        elif tag == 'td':
            self.tables[-1][-1][-1][1].append('')
        elif tag == 'th':
            self.headers[-1] += [''] + (int(dict(attributes)['colspan']) - 1) * [None]
        elif tag in ('pre', 'h2'):
            {'pre': self.texts, 'h2': self.headings}[tag].append('')

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        place = self.open[-1] if self.open else ''
        if place == 'td':
            self.tables[-1][-1][-1][1][-1] += data
        elif place == 'th':
            self.headers[-1][-1 if self.headers[-1][-1] is not None else -2] += data
        elif place == 'pre':
            self.texts[-1] += data
        elif place == 'h2':
            self.headings[-1] += data


def page_of(t, *words, status=0):
    text = test_print.printed(t, '-printmode', 'html', *words, status=status).out
    t.equal((text.count('<!DOCTYPE'), text.count('</html>'), text.endswith('</html>\n')), (1, 1, True), 'one page')
    t.check(not re.search(r'src=|href=|url\(|https?:', text), 'it needs nothing else')
    return Page(text)


@test
def tables(t):
    experiment = test_print.golden(t)
    page = page_of(t, '-metrics', 'e.user:i.%user:name', '-sort', 'e.user', '-functions', '-callers-callees', '-csingle', 'C',
                   '-calltree', experiment)
    t.equal(len(page.tables), 4, 'tables')
    t.equal([heading.split('\n')[0].split(':')[0] for heading in page.headings],
            ['Functions sorted by metric', 'Functions sorted by metric', 'Callers and callees sorted by metric', 'Functions Call Tree. Metric'],
            'headings')
    exclusive, inclusive = collections.Counter(), collections.Counter()
    for stack, state, seconds in test_print.events():
        if state == 'user':
            exclusive[stack[-1].rstrip('2')] += seconds
            exclusive['<Total>'] += seconds
            for name in {name.rstrip('2') for name in stack} | {'<Total>'}:
                inclusive[name] += seconds
    rows = page.tables[0][0]
    t.equal(len(page.headers[0]), 4, f'columns: {page.headers[0]}')
    for _, (own, whole, percent, name) in rows:
        if name != 'helper':  # of which there are two
            t.near(float(own), exclusive[name], name, absolute=6e-4)
            t.near(float(whole), inclusive[name], name, absolute=6e-4)
            t.near(float(percent), 100 * inclusive[name] / inclusive['<Total>'], name, absolute=6e-3)
    t.equal(len(rows), 1 + len({name for stack, *_ in test_print.events() for name in stack}), 'rows')
    blocks = page.tables[1]
    t.equal((len(blocks), [sum(kind == 'center' for kind, _ in block) for block in blocks]), (len(rows), len(rows) * [1]), 'blocks')
    t.equal([len([row for row in group]) for group in page.tables[2]], [2, 1, 2], 'callers, C, callees')
    t.equal([cells[-1] for _, cells in page.tables[3][0]][:3], ['+-<Total>', '  +-_start', '  |  +-main'], 'the tree')


@test
def texts(t):
    """What a command prints as text is in the page, and nothing of it twice."""
    experiment = test_print.golden(t)
    words = ('-header', '-functions', '-statistics', '-experiment_list', '-fsingle', 'main')
    page = page_of(t, *words, experiment)
    for command, text in zip(('-header', '-statistics', '-experiment_list'), page.texts):
        t.equal(text.strip('\n'), test_print.printed(t, command, experiment).out.strip('\n'), command)
    t.equal((len(page.tables), len(page.texts)), (1, 4), 'parts')
    t.check('<' not in ''.join(page.headings), 'headings')
    # an error is no part of it
    page = page_of(t, '-fsingle', 'nobody', '-functions', experiment, status=1)
    t.equal((len(page.tables), page.texts), (1, []), 'after an error')


@test
def files_and_modes(t):
    """A page ends where the output or the mode changes."""
    experiment = test_print.golden(t)
    result = test_print.printed(t, '-printmode', 'html', '-outfile', 'a.html', '-functions', '-outfile', 'b.html', '-calltree', '-printmode',
                                'text', '-outfile', '-', '-functions', experiment)
    for name in ('a.html', 'b.html'):
        text = (t.directory / name).read_text()
        t.equal((len(Page(text).tables), text.endswith('</html>\n')), (1, True), name)
    t.check(result.out.startswith('Functions sorted by metric'), 'text again')
    script = t.directory / 'script'
    script.write_text('functions\nheader\ncalltree\nseconds\n')
    page = page_of(t, '-script', script, experiment)
    t.equal((len(page.tables), len(page.texts)), (3, 1), 'a script; the name of an index object is a command')
