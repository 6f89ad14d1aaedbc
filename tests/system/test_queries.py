# SPDX-License-Identifier: Apache-2.0
"""Queries are values: many at once, of one session, have the answers that each has alone of a session of its own."""
import pathlib
import sys

from harness import ROOT, Failure, test

sys.path.insert(0, str(ROOT / 'tests' / 'golden'))
import make_kinds  # noqa: E402

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


@test
def at_once_as_alone(t):
    """All kinds of data, two experiments."""
    make_kinds.make(str(t.directory))
    ask(t, t.build, QUESTIONS, t.directory / 'kinds.1.er', t.directory / 'kinds.2.er')


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
    build = pathlib.Path(f'{t.build}-threads')
    if not (build / 'build.ninja').exists():
        must(t, 'meson', 'setup', build, ROOT, '-Db_sanitize=thread', '-Db_lundef=false', '-Dwerror=false')
    must(t, 'ninja', '-C', build, 'tests/unit/queries')
    make_kinds.make(str(t.directory))
    ask(t, build, QUESTIONS, t.directory / 'kinds.1.er', t.directory / 'kinds.2.er', env=TSAN)
