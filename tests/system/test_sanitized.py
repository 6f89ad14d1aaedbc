# SPDX-License-Identifier: Apache-2.0
"""
All that runs outside of programs, built with AddressSanitizer and UBSan: its
units, and whatever reads experiments, good, damaged and failing ones.
"""
import sys

from harness import ROOT, Failure, test

PATTERNS = ('unit/', 'system/golden', 'system/reader', 'system/print', 'system/manage', 'system/index/own_sums_are_lost', 'system/index/one_fails')
OPTIONS = ('-Db_sanitize=address,undefined', '-Db_lundef=false', '-Dwerror=false')
# the order: a library of tests/elsewhere.py may be loaded first
CHECKS = {'ASAN_OPTIONS': 'detect_leaks=1:verify_asan_link_order=0', 'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1'}


def succeeds(t, *words, **more):
    result = t.run(*words, timeout=1200, **more)
    if result.status:
        said = (result.out + result.err).rpartition('\nFailed:')[2]  # of tests: those that failed
        raise Failure(f'{words[0]}: status {result.status}: {said[-3000:]}')


@test
def outside_of_programs(t):
    build = t.build_beside('sanitized', OPTIONS, [], env=CHECKS)  # it runs what it has built
    succeeds(t, sys.executable, ROOT / 'tests' / 'run.py', '--build', build, *PATTERNS, env=CHECKS)
