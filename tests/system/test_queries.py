# SPDX-License-Identifier: Apache-2.0
"""Queries are values: many at once, of one session, have the answers that each has alone of a session of its own."""
import re
import shutil
import sys

from harness import ROOT, THREAD_SANITIZER, Failure, test

sys.path.insert(0, str(ROOT / 'tests' / 'golden'))
import make_kinds  # noqa: E402
import make_openmp  # noqa: E402

THREADS, QUESTIONS = 8, 1000
TSAN = {'TSAN_OPTIONS': 'halt_on_error=1:exitcode=66'}


def must(t, *words):
    result = t.run(*words, timeout=1200)
    if result.status:
        raise Failure(f'{words[0]}: status {result.status}: {(result.out + result.err)[-1000:]}')


def ask(t, build, count, *experiments, env=None):
    result = t.run(build / 'tests' / 'unit' / 'queries', THREADS, count, *experiments, env=env, timeout=600)
    if result.status:
        raise Failure(f'status {result.status}: {(result.out + result.err)[:3000]}')
    t.remark = result.out.splitlines()[-1]


def experiments(t):
    """All kinds of data; ranks of one machine and of two."""
    make_kinds.make(str(t.directory))
    make_openmp.make(str(t.directory))
    shutil.copytree(t.directory / 'ranks.1.er', t.directory / 'machines.1.er')
    for number, log in enumerate(sorted((t.directory / 'machines.1.er').glob('_r*.er/log.xml'))):
        text = log.read_text()
        t.check('clock="' not in text, 'the clock is not named twice')
        log.write_text(text.replace(' wall_ns=', f' clock="machine{number}" wall_ns=', 1))
    return (t.directory / f'{name}.er' for name in ('kinds.1', 'kinds.2', 'openmp.1', 'ranks.1', 'machines.1'))


@test
def every_view_is_asked(t):
    """What the headers of the engine offer, its own private ones aside."""
    headers = [path.read_text() for path in (ROOT / 'src' / 'analysis').rglob('*.h')]
    views = {name for text in headers if 'Private to' not in text for name in re.findall(r'\b(view_\w+)\(struct session \*', text)}
    asked = (ROOT / 'tests' / 'unit' / 'queries.c').read_text()
    t.check(len(views) > 30, f'{len(views)} views')
    t.equal(sorted(name for name in views if not re.search(rf'\b{name}\b', asked)), [], 'views that queries.c does not ask')


@test
def at_once_as_alone(t):
    ask(t, t.build, QUESTIONS, *experiments(t))


INLINED = """
#include <algorithm>
#include <vector>
int main()
{
	std::vector<unsigned> numbers(200000);
	for (unsigned round = 1; round <= 12; round++) {
		for (unsigned i = 0; i < numbers.size(); i++)
			numbers[i] = i * 2654435761u * round;
		std::sort(numbers.begin(), numbers.end());
	}
	return numbers[7] == 1;
}
"""


@test
def at_once_as_alone_with_inlined_calls(t):
    (t.directory / 'inlined.cc').write_text(INLINED)
    must(t, t.need('g++'), '-O2', '-g', '-o', 'inlined', 'inlined.cc')
    first, second = (t.collect(t.directory / 'inlined', options=('-p', 'hi', '-H', 'on')).experiment for _ in range(2))
    ask(t, t.build, QUESTIONS // 10, first, second)


@test
def without_data_races(t):
    """The same under ThreadSanitizer."""
    build = t.build_beside('threads', THREAD_SANITIZER, ['tests/unit/queries'])
    ask(t, build, QUESTIONS, *experiments(t), env=TSAN)
