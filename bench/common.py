# SPDX-License-Identifier: Apache-2.0
"""
What the benchmarks share: running a program bare and under a profiler in one
run, with the kernel's account of what the program itself used, and tables.
"""
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tests' / 'reader'))
import helio_reader  # noqa: E402


class Bench:
    """One invocation of ./dev bench."""

    def __init__(self, build, quick, rounds=None):
        self.rounds = rounds  # how often each variant runs, where the user has said it
        self.build = pathlib.Path(build).resolve()
        self.quick = quick
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix='helio-bench-'))
        self.helio = self.build / 'helio'
        self.serial = 0

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def target(self, name):
        return str(self.build / 'tests' / 'targets' / name)

    def fresh(self, suffix):
        self.serial += 1
        return self.scratch / f'{self.serial}{suffix}'

    def profiler(self, variant, engine=None):
        """(the words that go before the program, where the result goes) of a variant such as "helio 1m" or "perf 997"."""
        tool, _, how = variant.partition(' ')
        if tool == 'bare':
            return [], None
        if tool == 'helio':
            out = self.fresh('.er')
            words = [str(self.helio), 'collect', '-p', how or 'on', '-o', str(out)]
            return words + (['--engine', engine] if engine else []), out
        if tool == 'with': # the options themselves
            out = self.fresh('.er')
            return [str(self.helio), 'collect', '-q', '-A', 'off', *how.split(), '-o', str(out)], out
        if tool == 'counter':
            out = self.fresh('.er')
            return [str(self.helio), 'collect', '-p', 'off', '-h', how, '-o', str(out)], out
        if tool == 'perfcount':
            out = self.fresh('.data')
            return ['perf', 'record', '-q', '-e', how, '-c', '1', '-d', '--call-graph', 'fp', '-o', str(out)], out
        if tool == 'perf':
            out = self.fresh('.data')
            return ['perf', 'record', '-q', '-F', how, '--call-graph', 'fp', '-o', str(out)], out
        if tool == 'gprofng':
            out = self.fresh('.er')
            return ['gprofng', 'collect', 'app', '-p', how or 'on', '-O', str(out)], out
        if tool == 'sigtrap':
            return ['env', f'LD_PRELOAD={self.build}/bench/sigtrap.so', f'HELIO_SIGTRAP_NS={how}'], None
        raise ValueError(variant)

    def run(self, variant, program, engine=None, keep=False):
        """Runs it; the account of the program alone, by wait4 in the wrapper `timed`, and the result's path."""
        before, out = self.profiler(variant, engine)
        account = self.fresh('.account')
        with open(program.stdin or os.devnull, 'rb') as stdin:
            done = subprocess.run(before + [self.target('timed'), str(account)] + program.words, stdin=stdin,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.scratch, text=True, errors='replace')
        if not account.exists():
            raise RuntimeError(f'{variant}: {program.name}: {done.stderr[-300:]}')
        values = read_account(account)
        if not keep and out is not None:
            remove(out)
            out = None
        return values, out

    def works(self, variant):
        """Whether this machine lets the variant record at all."""
        try:
            return available(variant) and bool(self.run(variant, Program('empty', [self.target('empty')])))
        except RuntimeError:
            return False


class Program:
    def __init__(self, name, words, stdin=None):
        self.name = name
        self.words = [str(word) for word in words]
        self.stdin = stdin


def read_account(path):
    with open(path, encoding='utf-8') as file:
        return {line.split()[0]: float(line.split()[1]) for line in file}


def remove(path):
    shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else path.unlink(missing_ok=True)


def available(variant):
    tool = variant.split()[0]
    if tool in ('perf', 'perfcount'):
        return shutil.which('perf') is not None and subprocess.run(
            ['perf', 'record', '-q', '-o', os.devnull, 'true'], capture_output=True).returncode == 0
    return tool != 'gprofng' or shutil.which('gprofng') is not None


def family_cpu(path):
    """(CPU, wall of the programs' main threads, events) by the independent reader, without the wrapper itself."""
    family = helio_reader.read_family(str(path))
    programs = [image for lineage, image in family.items() if lineage]
    return (sum(image['cpu'] for image in programs), sum(image['events'] for image in programs),
            sum(image['bytes'] for image in programs), programs)


def perf_cpu(path):
    """CPU seconds that perf counted: its default event in a virtual machine is cpu-clock, in ns."""
    out = subprocess.run(['perf', 'report', '-i', str(path), '--stdio', '-g', 'none', '--sort', 'comm'],
                         capture_output=True, text=True, errors='replace').stdout
    counts = re.findall(r'^# Samples: .*event \'([^\']*)\'\n# Event count \(approx\.\): (\d+)', out, re.M)
    return sum(int(count) for event, count in counts if 'clock' in event) / 1e9 or math.nan


def gprofng_cpu(path):
    out = subprocess.run(['gprofng', 'display', 'text', '-metrics', 'e.totalcpu:name', '-functions', str(path)],
                         capture_output=True, text=True, errors='replace').stdout
    found = re.search(r'^ *([0-9.]+) +<Total>', out, re.M)
    return float(found.group(1)) if found else math.nan


def median(values):
    values = [value for value in values if not math.isnan(value)]
    return statistics.median(values) if values else math.nan


def geometric_mean(values):
    values = [value for value in values if value > 0 and not math.isnan(value)]
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else math.nan


def spread(values):
    """Half the distance between the quartiles: how far to trust the median."""
    if len(values) < 4:
        return (max(values) - min(values)) / 2
    quartiles = statistics.quantiles(values, n=4)
    return (quartiles[2] - quartiles[0]) / 2


TRIMMED = 5  # one of so many values at each end


def estimate(values):
    """
    (mean, its standard error).  Of five values or more a fifth is left out at each end, for on a busy machine single runs take
    much longer; the standard error is the one that belongs to such a mean (Yuen's, by what the outer values are replaced with).
    """
    values = sorted(value for value in values if not math.isnan(value))
    cut = len(values) // TRIMMED
    kept = values[cut:len(values) - cut]
    if len(values) < 2:
        return (values[0] if values else math.nan), math.nan
    drawn_in = [kept[0]] * cut + kept + [kept[-1]] * cut
    return statistics.mean(kept), statistics.stdev(drawn_in) * math.sqrt(len(values)) / len(kept)


def mean_of_estimates(estimates):
    """The geometric mean of independent ratios, with its standard error."""
    mean = geometric_mean([value for value, _ in estimates])
    return mean, mean * math.sqrt(sum((error / value) ** 2 for value, error in estimates)) / len(estimates)


def shown(estimated, digits=4):
    return f'{estimated[0]:.{digits}f} ±{estimated[1]:.{digits}f}'


def difference(one, other):
    """Of two variants' ratios from the same rounds, (mean, standard error) and whether it is one."""
    value, error = estimate([a - b for a, b in zip(one, other)])
    return f'{value:+.4f} ±{error:.4f}{"" if abs(value) > STANDARD_ERRORS * error else " none"}'


STANDARD_ERRORS = 2
LEGEND = f'± is the standard error: a difference of less than {STANDARD_ERRORS} of them is none.'


def table(title, header, rows):
    """First column text, others as they come: floats with four digits."""
    def text(cell):
        return cell if isinstance(cell, str) else '-' if cell is None or math.isnan(cell) else f'{cell:.4f}'
    lines = [header] + [[text(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    print(f'\n## {title}\n')
    for number, line in enumerate(lines):
        print('| ' + ' | '.join(cell.ljust(w) if i == 0 else cell.rjust(w)
                                for i, (cell, w) in enumerate(zip(line, widths))) + ' |')
        if number == 0:
            print('|' + '|'.join('-' * (w + 1) + (':' if i else '-') for i, w in enumerate(widths)) + '|')
    sys.stdout.flush()


def interleaved(bench, program, variants, repeats):
    """
    {variant: ([cpu ratios], [wall ratios])}: every run of a variant lies
    between two bare runs, and is divided by their mean.  The order is another
    one each time.
    """
    ratios = {variant: ([], []) for variant in variants}
    for turn in range(repeats):
        bare, _ = bench.run('bare', program)
        for variant in variants[turn % len(variants):] + variants[:turn % len(variants)]:
            used, _ = bench.run(variant, program)
            after, _ = bench.run('bare', program)
            for which, key in enumerate(('cpu', 'wall')):
                ratios[variant][which].append(used[key] / ((bare[key] + after[key]) / 2))
            bare = after
    return ratios
