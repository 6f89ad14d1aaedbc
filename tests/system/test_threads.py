# SPDX-License-Identifier: Apache-2.0
"""Every thread's states add up to its life: to its own end, or to that of its process."""
import re

from harness import monitor_cpu, test
from real import start_cost


def adds_up(t, result):
    for lineage, process in t.read(result.experiment).items():
        ends = [int(e['tstamp']) / 1e9 for e in process['log_events'] if e['kind'] in ('exit', 'exec')]
        tids = [thread['tid'] for thread in process['threads']]
        t.equal(len(set(tids)), len(tids), f'{lineage or "founder"}: threads that have one record')
        for thread in process['threads']:
            what = f'{lineage or "founder"} thread {thread["number"]}'
            t.check(thread['begin'] is not None, f'{what} has no beginning')
            life = thread['life'] if thread['ended'] else ends[0] - thread['begin']
            t.near(thread['sum'], life, what, 0.01, 0.001)


@test(engines=True)
def of_a_pool(t, engine):
    adds_up(t, t.collect(t.target('threads8'), '0.2s', engine=engine))


@test(engines=True)
def of_short_ones(t, engine):
    result = t.collect(t.target('shortthreads'), '400', engine=engine)
    adds_up(t, result)
    t.equal(len(t.read(result.experiment)['']['threads']), 401, 'threads')


@test(engines=True)
def that_do_nothing(t, engine):
    """All that the process uses is for the beginnings and ends of its threads: none of it is lost."""
    result = t.collect(t.target('shortthreads'), '4000', '0', engine=engine)
    process = t.read(result.experiment)['']
    used = result.truth()['cpu'] - monitor_cpu(process)
    # the program's start is not recorded
    t.ratio(process['cpu'], used, 0.97 - 6 * start_cost(t) / used, 1.01, 'cpu')
    t.within(process['ends'] > 0.01 * process['cpu'], f'{process["ends"]} s for ends of threads')
    total = t.functions(result.experiment)['<Total>']['i.totalcpu']
    t.near(total, process['cpu'], 'by helio print', absolute=0.001)


@test(engines=True)
def of_c11(t, engine):
    """thrd_create, thrd_exit and thrd_join: what they return, and each thread with its CPU time."""
    source = t.directory / 'c11.c'
    source.write_text('#include <stdio.h>\n#include <threads.h>\n#include <time.h>\nstatic int work(void *argument) {\n'
                      '  struct timespec used;\n  do\n    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);\n'
                      '  while (used.tv_sec == 0 && used.tv_nsec < 100000000);\n'
                      '  if (*(int *)argument % 2)\n    thrd_exit(-*(int *)argument);\n  return -*(int *)argument;\n}\n'
                      'int main(void) {\n  thrd_t threads[4];\n  int numbers[] = {1, 2, 3, 4}, result;\n'
                      '  for (int i = 0; i < 4; i++)\n    if (thrd_create(&threads[i], work, &numbers[i]) != thrd_success)\n      return 1;\n'
                      '  for (int i = 0; i < 4; i++)\n    if (thrd_join(threads[i], &result) == thrd_success)\n      printf("%d\\n", result);\n'
                      '  return 0;\n}\n')
    t.equal(t.run(t.need('gcc'), '-O1', '-o', t.directory / 'c11', source).status, 0, 'gcc')
    result = t.collect(t.directory / 'c11', options=('-s', 'all'), engine=engine)
    t.equal(result.out, '-1\n-2\n-3\n-4\n', 'results')
    process = t.read(result.experiment)['']
    t.equal(len(process['threads']), 5, 'threads')
    t.near(t.functions(result.experiment)['work']['i.totalcpu'], 0.4, 'CPU of the threads', 0.03)
    t.equal([event['type'] for event in process['traces']['synctrace']].count('join'), 4, 'joins')


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
    t.equal(listing['rows'][0]['total'], 9, 'threads by thread_list')


@test(engines=True)
def made_by_clone_alone(t, engine):
    result = t.collect(t.target('rawclone'), '700000', engine=engine)
    rows = {row['name']: row for row in t.print(result.experiment, '-metrics', 'e.totalcpu:name', '-functions')[-1]['rows']}
    t.near(rows['burn']['e.totalcpu'], result.truth()['raw.cpu'], 'CPU of the raw thread', 0.05, 0.02)


@test
def nothing_looked_up_that_goes_with_them(t):
    """
    What was opened in a thread's directory below that of its process is discarded when the thread ends; who reaps the process just then
    spins in the kernel meanwhile, as a look at the parent's CPU time on a busy machine shows.
    """
    trace = t.directory / 'strace'
    result = t.run(t.need('strace'), '-f', '-qq', '-o', trace, '-e', 'trace=openat,clone,clone3', t.helio, 'collect', '--engine', 'monitor', '-p', '1',
                   '-o', 'a.er', t.target('phases'), '0.02')
    t.equal(result.status, 0, f'status ({result.err[-300:]})')
    text = trace.read_text()
    threads = set(re.findall(r'parent_tid=\[(\d+)\]', text))
    t.check(threads, 'no raw thread')
    t.check(re.search(r'"/proc/\d+/schedstat"', text), 'no run-queue delay was read')
    launcher = text.split()[0]  # which looks on once a second
    opened = re.findall(r'^(\d+) .*"(/proc/thread-self/\w+|(?:/proc/\w+/task/)?(\d+)/\w+)"', text, re.M)
    t.equal([path for who, path, number in opened if who != launcher and (not number or number in threads)], [], 'files of threads below the process')
