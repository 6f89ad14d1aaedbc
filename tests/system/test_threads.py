# SPDX-License-Identifier: Apache-2.0
"""Every thread's states add up to its life."""
from harness import test


def adds_up(t, result):
    for lineage, process in t.read(result.experiment).items():
        for thread in process['threads']:
            t.check(thread['ended'], f'{lineage} thread {thread["number"]} has no end')
            t.near(thread['sum'], thread['life'], f'{lineage} thread {thread["number"]}', 0.01, 0.0001)


@test(engines=True)
def of_a_pool(t, engine):
    adds_up(t, t.collect(t.target('threads8'), '0.2s', engine=engine))


@test(engines=True)
def of_short_ones(t, engine):
    result = t.collect(t.target('shortthreads'), '400', engine=engine)
    adds_up(t, result)
    t.equal(len(t.read(result.experiment)['']['threads']), 401, 'threads')


@test(engines=True)
def of_waiting_ones(t, engine):
    adds_up(t, t.collect(t.target('phases'), '0.1', engine=engine))


@test(engines=True)
def of_descendants(t, engine):
    adds_up(t, t.collect(t.target('forktree'), '0.1s', engine=engine))


@test(engines=True)
def listed_by_print(t, engine):
    result = t.collect(t.target('threads8'), '0.1s', engine=engine)
    listing = t.print(result.experiment, '-metrics', 'e.total:name', '-thread_list')[-1]
    t.equal(len([row for row in listing['rows'] if row.get('name') != '<Total>']), 9, 'rows of thread_list')
