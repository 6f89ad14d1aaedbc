# SPDX-License-Identifier: Apache-2.0
"""Servers of debug information (debuginfod) that do not answer, or without end."""
import ctypes.util
import http.server
import shutil
import threading

from harness import Skip, test


class Server:
    """A debuginfod that never answers, or never ends to; what it was asked for."""

    def __init__(self, answer):
        self.asked, self.over = [], threading.Event()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                owner.asked.append(self.path)
                try:
                    answer(owner, self)
                except OSError:  # the client has gone
                    pass

            def log_message(self, *words):
                pass

        self.http = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.http.daemon_threads = True
        self.url = f'http://127.0.0.1:{self.http.server_port}/'

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *unused):
        self.over.set()
        self.http.shutdown()
        self.http.server_close()


def says_nothing(server, request):
    server.over.wait()


def never_ends(server, request, *headers):
    request.send_response(200)
    for header in headers:
        request.send_header(*header)
    request.end_headers()
    while not server.over.is_set():
        request.wfile.write(bytes(1 << 20))


def says_that_it_is_large(server, request):
    never_ends(server, request, ('Content-Length', str(1 << 32)))


def two_stripped_programs(t):
    """An experiment with two load objects that only a server could name the functions of."""
    gcc = t.need('gcc')
    (t.directory / 'l.c').write_text('static __attribute__((noinline)) void hidden_l(void) { for (volatile long i = 0; i < 60000000; i++); }\nvoid work(void) { hidden_l(); }\n')
    (t.directory / 'p.c').write_text('void work(void);\nstatic __attribute__((noinline)) void hidden_p(void) { for (volatile long i = 0; i < 60000000; i++); }\nint main(void) { hidden_p(); work(); }\n')
    for words in (['-fPIC', '-shared', '-o', 'libl.so', 'l.c'], ['-o', 'p', 'p.c', 'libl.so', '-Wl,-rpath,' + str(t.directory)]):
        result = t.run(gcc, '-g', '-O1', '-s', '-Wl,--build-id=sha1', *words)
        t.equal(result.status, 0, f'status of gcc ({result.err})')
    return t.collect(t.directory / 'p', options=['-A', 'off']).experiment


def ask(t, server, experiment, **limits):
    """helio print, and how large what came into the cache is."""
    cache = t.directory / 'cache'
    shutil.rmtree(cache, ignore_errors=True)
    result = t.run(t.helio, 'print', '-functions', experiment,
                   env={'DEBUGINFOD_URLS': server.url, 'DEBUGINFOD_CACHE_PATH': str(cache), 'XDG_CACHE_HOME': str(t.directory / 'columns'), **limits})
    t.equal(result.status, 0, f'status of print ({result.err})')
    t.check('<Total>' in result.out, result.out)
    return result, sum(path.stat().st_size for path in cache.rglob('*') if path.is_file())


@test
def debuginfod_that_does_not_answer(t):
    """Who waits is told so; nobody is asked again who did not answer in time."""
    if not ctypes.util.find_library('debuginfod'):
        raise Skip('libdebuginfod is not installed')
    experiment = two_stripped_programs(t)
    with Server(says_nothing) as server:
        result, _ = ask(t, server, experiment, DEBUGINFOD_TIMEOUT='4', DEBUGINFOD_RETRY_LIMIT='1')
        t.equal(len(set(server.asked)), 1, f'questions ({server.asked})')
        t.equal(result.err.count(f'Asking debuginfod at {server.url} for '), 1, f'messages ({result.err})')
        t.equal(result.err.count('did not come in time'), 1, f'messages ({result.err})')


@test
def debuginfod_that_does_not_end(t):
    """An answer is given up beyond the limit, and what came of it removed; one that says its size is not begun."""
    if not ctypes.util.find_library('debuginfod'):
        raise Skip('libdebuginfod is not installed')
    experiment = two_stripped_programs(t)
    with Server(never_ends) as server:
        result, kept = ask(t, server, experiment, DEBUGINFOD_MAXSIZE='4000000', DEBUGINFOD_MAXTIME='20')
        t.check(kept < 1000 and result.err.count('was larger than DEBUGINFOD_MAXSIZE') == 1, f'{kept} bytes are kept; {result.err}')
        t.equal(len(server.asked), 1, f'questions ({server.asked})')
    with Server(says_that_it_is_large) as server:
        result, kept = ask(t, server, experiment)
        t.check(kept < 1000 and 'would be larger than DEBUGINFOD_MAXSIZE' in result.err, f'{kept} bytes are kept; {result.err}')
        t.check(len(set(server.asked)) > 1, f'others are not asked for: {server.asked}')


@test
def debuginfod_has_nothing(t):
    """What the library prints for nobody goes nowhere: to a descriptor that is none it costs 8 KB at each question, which the C library never gives back."""
    if not ctypes.util.find_library('debuginfod'):
        raise Skip('libdebuginfod is not installed')
    strace, experiment = t.need('strace'), two_stripped_programs(t)
    with Server(lambda server, request: request.send_error(404)) as server:
        result = t.run(strace, '-f', '-e', 'trace=lseek,write', '-o', t.directory / 'calls', t.helio, 'print', '-functions', experiment,
                       env={'DEBUGINFOD_URLS': server.url, 'DEBUGINFOD_CACHE_PATH': str(t.directory / 'cache'), 'HELIO_CACHE': 'off'})
        t.equal(result.status, 0, f'status of print ({result.err})')
        t.check(server.asked, 'nothing was asked')
    calls = (t.directory / 'calls').read_text()
    t.check('(-1, ' not in calls, calls[-2000:])
    t.check('hidden_l' not in result.out and 'curl' not in result.err.lower(), f'{result.out}{result.err}')
