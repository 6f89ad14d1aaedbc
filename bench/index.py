# SPDX-License-Identifier: Apache-2.0
"""What the sums of many ranks cost: what each process of `helio index` has to do by itself, its share, a merge, and what is printed from them."""
import os
import subprocess
import sys

import common

sys.path.insert(0, str(common.ROOT / 'tests' / 'golden'))
import make_kinds  # noqa: E402

MANY = 1 << 20  # more processes than ranks: the share of number 1 is empty


def cpu(words, environment):
    """CPU time of a command, s."""
    before = os.times()
    subprocess.run([*map(str, words)], stdout=subprocess.DEVNULL, env={**os.environ, **environment}, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def index(bench, _names):
    """CPU time by number of ranks, of four events of the clock and three calls each."""
    make_kinds.make(str(bench.scratch))
    rows = []
    for ranks in (100, 400) if bench.quick else (1000, 4000):
        experiment = bench.fresh('.er')
        make_kinds.make_ranks(str(experiment), str(bench.scratch / 'app'), tuple(make_kinds.pairs(ranks)))
        environment = {'XDG_CACHE_HOME': str(bench.fresh('.cache'))}
        share = [bench.helio, 'index', '--share']
        show = [bench.helio, 'print', '-functions', '-calltree', experiment]
        alone = min(cpu([*share, f'1/{MANY}', experiment], environment) for _ in range(2))
        half = cpu([*share, '1/2', experiment], environment)
        both = cpu([*share, '0/2', experiment], environment)
        without = cpu(show, {**environment, 'HELIO_CACHE': 'off'})
        with_index = min(cpu(show, environment) for _ in range(2))
        rows.append([str(ranks), *(f'{value:.2f}' for value in (alone, half - alone, both - half, without, with_index))])
        common.remove(experiment)
    common.table('helio index: CPU time, s', ['ranks', 'each process by itself', 'half of the ranks', 'a merge', 'print from all events', 'print from the index'], rows)
