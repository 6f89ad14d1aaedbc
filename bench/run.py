#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./dev bench [--quick] [BENCHMARK...] [PROGRAM...]: see bench/README.md."""
import argparse
import os
import platform
import sys

sys.dont_write_bytecode = True
import analysis  # noqa: E402
import common  # noqa: E402
import lines  # noqa: E402
import cost  # noqa: E402
import counter  # noqa: E402
import forks  # noqa: E402
import heap  # noqa: E402
import index  # noqa: E402
import interval  # noqa: E402
import iotrace  # noqa: E402
import mpi  # noqa: E402
import openmp  # noqa: E402
import java  # noqa: E402
import overhead  # noqa: E402
import page  # noqa: E402
import profiles  # noqa: E402
import servers  # noqa: E402
import sync  # noqa: E402
import view  # noqa: E402

BENCHMARKS = {
    'cost': cost.cost,
    'completeness': profiles.completeness,
    'accuracy': profiles.accuracy,
    'overhead': overhead.overhead,
    'interval': interval.interval,
    'young': interval.young,
    'switches': overhead.switches,
    'bounded': overhead.bounded,
    'startup': overhead.startup,
    'forks': forks.forks,
    'servers': servers.servers,
    'heap': heap.heap,
    'calls': heap.calls,
    'leaks': heap.leaks,
    'sync': sync.sync,
    'io': iotrace.io,
    'mpi': mpi.mpi,
    'openmp': openmp.openmp,
    'index': index.index,
    'java': java.java,
    'counter': counter.counter,
    'size': profiles.size,
    'unwind': analysis.unwind,
    'event': analysis.event,
    'analysis': analysis.analysis,
    'shapes': analysis.shapes,
    'filters': analysis.filters,
    'small': analysis.small,
    'view': view.view,
    'page': page.page,
    'lines': lines.lines,
    'listings': lines.listings,
    'inlined': lines.inlined_calls,
}


def main():
    parser = argparse.ArgumentParser(prog='./dev bench')
    parser.add_argument('--build', default='build', help=argparse.SUPPRESS)
    parser.add_argument('--quick', action='store_true', help='shorter runs, fewer of them: to see whether it works')
    parser.add_argument('--rounds', type=int, help='how often each variant runs in overhead, forks and cost: the standard error goes with its square root')
    parser.add_argument('names', nargs='*', help='benchmarks (' + ', '.join(BENCHMARKS) + ') and programs; default: all')
    options = parser.parse_args()
    chosen = [name for name in options.names if name in BENCHMARKS] or list(BENCHMARKS)
    narrowed = [name for name in options.names if name not in BENCHMARKS]
    bench = common.Bench(options.build, options.quick, options.rounds)
    print(f'Linux {platform.release()}, {os.cpu_count()} processors{", quick" if options.quick else ""}')
    try:
        for name in chosen:
            BENCHMARKS[name](bench, narrowed)
    finally:
        bench.close()
    return 0


sys.exit(main())
