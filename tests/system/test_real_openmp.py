# SPDX-License-Identifier: Apache-2.0
"""Programs of Debian's that use OpenMP, in every way in which a runtime gets into a program: the same output, and their regions."""
import pathlib

from harness import Skip, test
from real import same_run

OPENBLAS = pathlib.Path('/usr/lib/x86_64-linux-gnu/openblas-openmp')
THREADS = {'OMP_NUM_THREADS': '3', 'OMP_WAIT_POLICY': 'passive'}


def check_regions(t, family, experiment, what):
    """Some teams of three, and the time of the program's threads is that of their states."""
    rows = t.print(experiment, '-regions')[-1]['rows'][1:]
    t.check(rows and max(row['threads'] for row in rows) == 3, f'{what}: {rows[:5]}')
    pid, = (process['process']['pid'] for process in family.values() if 'omptrace' in process['traces'])
    answer = t.print(experiment, '-metrics', 'e.total:e.ompwork:e.ompwait:e.ompovhd:name', '-filters', f'PID == {pid}', '-functions')[-1]
    whole = next(row for row in answer['rows'] if row['name'] == '<Total>')
    t.near(whole['e.ompwork'] + whole['e.ompwait'] + whole['e.ompovhd'], whole['e.total'], f'{what}: all time', 0.01, 0.02)  # the child before its exec has none


@test(engines=True)
def graphicsmagick(t, engine):
    """Filters of images, whose rows are loops of libgomp's; the image must be the same to the bit."""
    filters = '-swirl 90 -blur 0x4 -unsharp 0x2 -rotate 7 -resize 512x512 -modulate 110,90 -charcoal 2 -despeckle -resize 48x48'
    _, family, experiment = same_run(t, engine, t.need('gm'), 'convert', '-size', '640x480', 'gradient:red-blue', *filters.split(), 'txt:-', env=THREADS)
    check_regions(t, family, experiment, 'gm')


@test(engines=True)
def octave_with_openblas(t, engine):
    """A runtime that comes with a library of a library's: products of matrices of whole numbers, which are exact in any order."""
    if not (OPENBLAS / 'libblas.so.3').exists():
        raise Skip('libopenblas0-openmp is not installed')
    code = ('a = reshape(mod(1:160000, 97), 400, 400); b = a; for i = 1:12 b = mod(a * b, 1013); end; '
            'printf("%d %d\\n", sum(b(:)), b(17, 300)); x = (a + 5000 * eye(400)) \\ ones(400, 1); printf("%d\\n", norm((a + 5000 * eye(400)) * x - 1) < 1e-9)')
    words = t.need('octave-cli'), '--norc', '--no-history', '--eval', code
    _, family, experiment = same_run(t, engine, *words, env={**THREADS, 'LD_LIBRARY_PATH': str(OPENBLAS)})
    check_regions(t, family, experiment, 'octave')
