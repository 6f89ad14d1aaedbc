# SPDX-License-Identifier: Apache-2.0
"""Requests to the commands of helio print: many at once have the answers that each has alone; what is refused; messages."""
import pathlib
import sys

from harness import ROOT, Failure, test

sys.path.insert(0, str(ROOT / 'tests' / 'golden'))
import make_kinds  # noqa: E402

THREADS, REQUESTS = 8, 300
TSAN = {'TSAN_OPTIONS': 'halt_on_error=1:exitcode=66'}


def must(t, *words):
    result = t.run(*words, timeout=1200)
    if result.status:
        raise Failure(f'{words[0]}: status {result.status}: {(result.out + result.err)[-1000:]}')


def ask(t, build, count, env=None):
    make_kinds.make(str(t.directory))
    result = t.run(build / 'tests' / 'unit' / 'answers', THREADS, count, 'kinds.1.er', 'kinds.2.er', env=env, timeout=600)
    if result.status:
        raise Failure(f'status {result.status}: {(result.out + result.err)[:3000]}')
    t.remark = result.out.splitlines()[-1]


@test
def at_once_as_alone(t):
    ask(t, t.build, REQUESTS)


@test
def from_kept_sums(t):
    """The same, where most requests have no events."""
    env = {'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': str(t.directory)}
    ask(t, t.build, REQUESTS, env=env)
    t.check(any((t.directory / 'heliometer').iterdir()), 'sums were kept')


@test
def without_data_races(t):
    """The same under ThreadSanitizer."""
    build = pathlib.Path(f'{t.build}-threads')
    if not (build / 'build.ninja').exists():
        must(t, 'meson', 'setup', build, ROOT, '-Db_sanitize=thread', '-Db_lundef=false', '-Dwerror=false')
    must(t, 'ninja', '-C', build, 'tests/unit/answers')
    ask(t, build, REQUESTS // 3, env=TSAN)
