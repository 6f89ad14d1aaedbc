# SPDX-License-Identifier: Apache-2.0
"""Requests to the commands of helio print: many at once have the answers that each has alone; what is refused; messages."""
import sys

from harness import ROOT, THREAD_SANITIZER, Failure, test

sys.path.insert(0, str(ROOT / 'tests' / 'golden'))
import make_kinds  # noqa: E402
import make_openmp  # noqa: E402

THREADS, REQUESTS = 8, 1000
EXPERIMENTS = 'kinds.1.er', 'kinds.2.er', 'openmp.1.er', 'ranks.1.er'
TSAN = {'TSAN_OPTIONS': 'halt_on_error=1:exitcode=66'}


def ask(t, build, count, env=None):
    """Of experiments with every kind of data, those of OpenMP and MPI too."""
    make_kinds.make(str(t.directory))
    make_openmp.make(str(t.directory))
    result = t.run(build / 'tests' / 'unit' / 'answers', THREADS, count, *EXPERIMENTS, env=env, timeout=600)
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
    build = t.build_beside('threads', THREAD_SANITIZER, ['tests/unit/answers'])
    ask(t, build, REQUESTS // 3, env=TSAN)
