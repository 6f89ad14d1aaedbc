# SPDX-License-Identifier: Apache-2.0
"""
What other tools say of the same addresses: lines and inlined calls of libraries with their debug packages, instructions of whole
sections.  `symbolizers.py` and `disassemblers.py` ask of any file, about as many addresses as wanted.
"""
import disassemblers
import symbolizers

from harness import Skip, test

LIBRARIES = {'libc': '/lib/x86_64-linux-gnu/libc.so.6', 'libpython': '/usr/lib/x86_64-linux-gnu/libpython3.11d.so.1.0',
             'libstdcxx': '/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6'}  # a C++ program of 50 MB of debug information


def lines_of(t, name):
    with open('/etc/os-release', encoding='utf-8') as system:
        if 'VERSION_ID="12"' not in system.read():
            raise Skip("the files of the debug packages are Debian 12's")
    addresses = symbolizers.sample(LIBRARIES[name], 800)
    found, examples = symbolizers.compare(t.build / 'bench' / 'lines', LIBRARIES[name], addresses)
    t.check(not found[None], f'{found[None]} not explained: {examples.get(None)}')
    t.check(found['equal'] > 0.8 * len(addresses), f'{found}')


@test
def lines_of_libc(t):
    lines_of(t, 'libc')


@test
def lines_of_libpython(t):
    lines_of(t, 'libpython')


@test
def lines_of_libstdcxx(t):
    lines_of(t, 'libstdcxx')


@test
def instructions_of_libm(t):
    for normal in (disassemblers.x86, disassemblers.intel):
        same, count, found = disassemblers.differences(t.helio, '/lib/x86_64-linux-gnu/libm.so.6', normal=normal)
        t.equal(found[:5], [], f'differences: {normal.__name__}')
        t.check(same > 0.97 * count > 50000, f'{same} of {count}: more than padding between functions is not there')


ARM = '''\
typedef unsigned long size;
typedef float vector __attribute__((vector_size(16)));
struct pair { double x; float y; short s; signed char c; int i; };

int choose(int a) { switch (a) { case 0: return 7; case 1: return -3; case 2: return 70000; case 3: return 0x12345678; case 4: return -70000;
	case 5: return a * 11; case 6: return a / 13; default: return a % 29; } }
long wide(long a, unsigned long b) { return a < 0 ? a * 0x123456789abcdefL + (long)(b >> 17) : (long)(b % 1000003) ^ 0x00ff00ff00ff00ffL; }
size length(const char *s) { size n = 0; while (s[n]) n++; return n; }
void copy(char *to, const char *from, size n) { for (size i = 0; i < n; i++) to[i] = from[i]; }
double sum(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * 1.5 - 2.0; return s; }
void scale(float *x, int n, float f) { for (int i = 0; i < n; i++) x[i] = x[i] * f + 0.25f; }
int sad(const unsigned char *a, const unsigned char *b, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]; return s; }
vector mix(vector a, vector b) { return a * b + __builtin_shufflevector(a, b, 3, 1, 4, 0); }
int convert(struct pair *p) { p->x = p->i; p->y = (float)p->x; p->s = (short)p->y; p->c = (signed char)p->s; return p->c < p->s ? p->i : (int)p->x; }
unsigned bits(unsigned a, unsigned b) { return __builtin_clz(a) + __builtin_ctz(b) + (a << 7 | a >> 25) + ((a >> 3 & 0x1f) << 9) + __builtin_bswap32(b); }
int count(int *p) { return __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST) + __atomic_exchange_n(p, 2, __ATOMIC_ACQUIRE); }
int same(long *p, long a, long b) { return __atomic_compare_exchange_n(p, &a, b, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED); }
int call(int (*f)(int), int n) { return n > 1 ? call(f, n - 1) + f(n) : f(n) + choose(n); }
__int128 big(__int128 a, long b) { return a * b + (a >> 3); }
int flags(int a, int b, double x, double y) { return (a > b ? 1 : b & 8 ? 2 : 3) + (x < y) + (x != x ? 4 : 0) + (int)__builtin_fabs(y); }
'''


@test
def instructions_of_aarch64(t):
    (t.directory / 'arm.c').write_text(ARM)
    for options in (('-O0',), ('-O2',), ('-O3', '-funroll-loops'), ('-O2', '-mbranch-protection=standard', '-march=armv8.5-a')):
        for words in (('clang', '--target=aarch64-linux-gnu', '-g', '-fPIC', *options, '-c', 'arm.c'),
                      ('aarch64-linux-gnu-ld', '-shared', '-o', 'arm.so', 'arm.o')):
            made = t.run(t.need(words[0]), *words[1:])
            t.equal(made.status, 0, made.err[-300:])
        same, count, found = disassemblers.differences(t.helio, t.directory / 'arm.so', 'aarch64-linux-gnu-objdump', disassemblers.aarch64)
        t.equal(found[:5], [], f'differences of {options}')
        t.check(same > 0.97 * count > 200, f'{same} of {count}')
