# SPDX-License-Identifier: Apache-2.0
"""Every request that `helio view` answers, as the table in src/serve/router.c has them, is attacked in the same ways: a new one fails here until it has its row."""
import concurrent.futures
import json
import os
import pathlib
import re
import socket
import struct
import threading

from harness import ROOT, Failure, test
from test_view import kinds
from view_server import JSON, wait_until

# Of each request: a body of right form (None: it has none), and what it is answered with.
ROUTES = {
    'login': ({'token': 'x'}, {401}), 'bootstrap': (None, {200}), 'print': ({'session': 1, 'settings': [], 'commands': [['functions']], 'id': 'p', 'format': 'json'}, {200}),
    'progress': (None, {404}), 'cancel': ({'id': 'nothing'}, {204}), 'names': (None, {200}), 'open': ({'experiments': ['kinds.1.er'], 'id': 'o'}, {200, 429}), 'refresh': ({'session': 1, 'id': 'r'}, {200, 429}),
    'close': ({'session': 99}, {204}), 'experiments': (None, {200}), 'doctor': (None, {200}), 'options': (None, {200}),
    'record': ({'command': 'collect', 'options': ['-n'], 'program': ['true'], 'pid': 1}, {200, 429}), 'recordings': (None, {200}), 'stop': ({'recording': 99}, {404}),
    'notes': ({'session': 1, 'experiment': 'kinds.1.er', 'text': 'a note'}, {204}), 'save': ({'settings': [['limit', '7']]}, {204}), 'quit': ({}, {204}),
}
REFUSED = {400, 401, 403, 404, 422, 429}
NESTED = b'[' * 200000
HUGE = ('x' * 1000000, ['x'] * 200000, [['x'] * 1000] * 100, [[['x']]] * 100000, {str(i): i for i in range(60000)}, 2 ** 62, -2 ** 62, 1e300)


def table():
    """{name: method} of the server's own table."""
    rows = re.findall(r'\{"(\w+)", API "([\w-]+)", \w+\},', (ROOT / 'src' / 'serve' / 'router.c').read_text())
    return {name: method for method, name in rows}


def method_of(name):
    return 'GET' if ROUTES[name][0] is None else 'POST'


def lasting(name):
    """What is left out where many are asked with the secret: it ends the server."""
    return name != 'quit'


def ask(server, name, query='', **more):
    return server.ask(method_of(name), f'/api/v1/{name}{query}', **{'body': ROUTES[name][0], **more})


def close_opened(server, name, reply):
    if name in ('open', 'refresh') and reply.status == 200:
        server.post('close', {'session': reply.json['session']})


def is_well(t, server, expected, what):
    t.equal(server.print(['functions']).json['results'], expected, f'functions after {what}')


@test
def each_has_its_row(t):
    """And its line in the documentation."""
    t.equal({name: method_of(name) for name in ROUTES}, table(), 'the rows of this test')
    page = (ROOT / 'docs' / 'internals' / 'serve.md').read_text()
    rows = re.findall(r'^\| `(GET|POST) ([\w-]+)', page, re.M)
    t.equal({name: method for method, name in rows}, table(), 'docs/internals/serve.md')
    with kinds(t) as server:
        for name in filter(lasting, ROUTES):
            reply = ask(server, name)
            t.check(reply.status in ROUTES[name][1], f'{name}: {reply.status} {reply.body[:300]}')
            close_opened(server, name, reply)
        t.equal(ask(server, 'quit').status, 204, 'quit')
        t.equal(server.process.wait(60), 0, 'its status')


@test
def none_without_the_secret(t):
    """Whatever the body is: it is not even read."""
    with kinds(t) as server:
        wrong = ({}, {'Authorization': 'Bearer ' + '0' * 64}, {'Authorization': f'Bearer {server.token}'}, {'Authorization': 'Bearer ' + 'x' * 12000},
                 {'Cookie': f'helio-{server.port}={server.key}'}, {'Cookie': f'helio-{server.port}='}, {'Cookie': 'a; ' * 100}, {'Authorization': f'Bearer {server.key[:-1]}'})
        for name in ROUTES:
            for headers in wrong:
                t.equal(ask(server, name, headers=headers, key=False).status, 401, f'{name} {str(headers)[:100]}')
            reply = server.ask(method_of(name), f'/api/v1/{name}', body=None if method_of(name) == 'GET' else b'{', headers=JSON, key=False)
            t.equal(reply.status, 400 if name == 'login' else 401, f'{name}, no JSON')
        t.check(server.process.poll() is None, 'it goes on')


@test
def none_by_another_name_or_for_another_site(t):
    """Even with the secret."""
    with kinds(t) as server:
        port, other = server.port, 'evil.example'
        attacks = [(421, {'Host': host}) for host in (f'{other}:{port}', '127.0.0.1', f'127.0.0.1:{port + 1}', f'127.0.0.1:{port}.{other}', '')]
        attacks += [(403, {'Origin': origin}) for origin in ('null', f'http://{other}', f'https://127.0.0.1:{port}', f'http://localhost:{port}', f'http://127.0.0.1:{port}/')]
        attacks += [(403, {'Sec-Fetch-Site': site}) for site in ('cross-site', 'same-site', '')]
        attacks += [(403, {'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document'})]
        for name in ROUTES:
            for status, headers in attacks:
                reply = ask(server, name, headers=headers)
                t.equal(reply.status, status, f'{name} {headers}')
                t.check(not any(header.lower().startswith('access-control') for header in reply.headers), f'{name}: no other site reads it')
            t.equal(server.request('Origin: null', 'Origin: null', line=f'{method_of(name)} /api/v1/{name} HTTP/1.1').status, 400, f'{name}: twice')


@test
def none_in_another_form(t):
    """Another method, another type of body, another spelling of the name."""
    with kinds(t) as server:
        for name in ROUTES:
            for method in ({'GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'} - {method_of(name)}) - ({'HEAD'} if method_of(name) == 'GET' else set()):
                t.equal(server.ask(method, f'/api/v1/{name}', body=b'{}' if method in ('POST', 'PUT') else None).status, 405, f'{method} {name}')
            for kind in ('text/plain', 'application/x-www-form-urlencoded', '') if method_of(name) == 'POST' else ():
                t.equal(ask(server, name, headers={'Content-Type': kind}).status, 415, f'{name} {kind}')
            for path in (f'/api/v1/{name}/', f'/api/v1/{name}%00', f'/api/v1/./{name}', f'/api/v1//{name}', f'/api/v1/{name.upper()}', f'/api/v2/{name}'):
                t.equal(server.ask(method_of(name), path, body=ROUTES[name][0]).status, 404, path)


def memory_of(server):
    return int(re.search(r'VmHWM:\s*(\d+)', pathlib.Path(f'/proc/{server.process.pid}/status').read_text()).group(1)) << 10


@test
def huge_parameters(t):
    """Texts of 1 MB, lists of 200,000, what is nested 200,000 deep: each in place of each parameter, and as one that nobody knows. Bodies that are larger are refused."""
    with kinds(t) as server:
        expected = server.print(['functions']).json['results']
        for name in filter(lasting, ROUTES):
            body, fine = ROUTES[name]
            t.equal(ask(server, name, f'?id={"a" * 9000}').status, 414, f'{name}: a long line')
            t.check(ask(server, name, f'?{"id=a&" * 100}').status in fine, f'{name}: many arguments')
            if body is None:
                continue
            for parameter in [*body, 'unknown']:
                for value in HUGE:
                    text = json.dumps({**body, parameter: value}, separators=(',', ':')).encode()
                    if (name, parameter) == ('record', 'options') and isinstance(value, list):
                        continue  # a command line that the kernel takes, or not
                    if len(text) > 1 << 20:  # it is answered at once: who goes on to send may not see it
                        line = f'POST /api/v1/{name} HTTP/1.1'
                        t.equal(server.request('Content-Type: application/json', f'Content-Length: {len(text)}', line=line).status, 413, f'{name}, {parameter}')
                        continue
                    reply = ask(server, name, body=text, headers=JSON)
                    t.check(reply.status in fine | REFUSED, f'{name}, {parameter} of {len(text)} bytes: {reply.status} {reply.body[:200]}')
                    close_opened(server, name, reply)
                nested = b'{"%s": %s}' % (parameter.encode(), NESTED)
                t.equal(ask(server, name, body=nested, headers=JSON).status, 400, f'{name}, {parameter}: nested')
        is_well(t, server, expected, 'huge parameters')


@test
def what_strangers_may_send(t):
    """What is parsed for who has no secret is small: each of 350,000 objects in a body of 1 MB has 300 bytes in memory, and 16 such bodies may be there at once."""
    body = b'{"token": [%s{}]}' % (b'{},' * 340000)
    with kinds(t) as server:
        before, together = memory_of(server), threading.Barrier(12)

        def log_in(_):
            together.wait()
            return server.ask('POST', '/api/v1/login', body=body, headers=JSON, key=False).status

        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            t.equal(set(pool.map(log_in, range(12))), {413}, 'login')
        t.check(memory_of(server) - before < 8 * 12 * len(body), f'{(memory_of(server) - before) >> 20} MB more')
        t.equal(server.post('login', {'token': server.token}, key=False).status, 204, 'who knows it')


@test
def unknown_parameters(t):
    """They change nothing: neither in the body nor behind the name."""
    more = {'x': 1, '': '', 'path': '/etc/passwd', 'experiment ': ['x'], '__proto__': {'a': 1}, '\u202e': '\x1b[2J', 'SESSION': 7}
    with kinds(t) as server:
        for name in filter(lasting, ROUTES):
            body, fine = ROUTES[name]
            for query in ('', '?x=1', '?', '?&&&===', '?id', '?session=99&session=1', '?%', '?id=%', '?id=%0', '?id=%zz%00%ff'):
                reply = ask(server, name, query, body=None if body is None else {**more, **body})
                t.check(reply.status in fine, f'{name}{query}: {reply.status} {reply.body[:200]}')
                close_opened(server, name, reply)
            if body is not None:
                twice = json.dumps(body)[:-1] + (', ' if body else '') + '"x": 1, "x": 2}'
                t.equal(ask(server, name, body=twice.encode(), headers=JSON).status, 400, f'{name}: one parameter twice')


@test
def many_at_once(t):
    """All of them by 20 clients, many times: each is answered as it is alone. In the end all say that it is to end."""
    names = [name for name in ROUTES if lasting(name)] * 8
    with kinds(t) as server:
        expected = server.print(['functions']).json['results']

        def one(name):
            reply = ask(server, name)
            close_opened(server, name, reply)
            return name, reply

        # of 32 connections each client may hold one more than it uses
        with concurrent.futures.ThreadPoolExecutor(15) as pool:
            for name, reply in pool.map(one, names):
                t.check(reply.status in ROUTES[name][1], f'{name}: {reply.status} {reply.body[:200]}')
        is_well(t, server, expected, 'many at once')

        def end(_):
            try:
                return ask(server, 'quit').status
            except OSError:
                return 0  # it has ended

        with concurrent.futures.ThreadPoolExecutor(15) as pool:
            t.check(set(pool.map(end, range(30))) <= {204, 0}, 'quit')
        t.equal(server.process.wait(60), 0, 'its status')


@test
def what_is_written_at_once(t):
    """Settings and notes that several pages write in the same moment: none fails, none is lost, and no file is half one and half another."""
    settings = [['limit', '7'], ['name', 'mangled'], ['viewmode', 'expert'], ['dthresh', '3'], ['scc', 'all'], ['setpath', '/src'], ['en_desc', 'on']]
    with kinds(t) as server:
        for _ in range(6):
            (t.directory / '.er.rc').unlink(missing_ok=True)
            together = threading.Barrier(2 * len(settings))

            def write(number):
                together.wait()
                if number % 2:
                    return server.post('notes', {'session': 1, 'experiment': 'kinds.1.er', 'text': f'{number}\n' * 5000})
                return server.post('save', {'settings': [settings[number // 2]]})

            with concurrent.futures.ThreadPoolExecutor(2 * len(settings)) as pool:
                for reply in pool.map(write, range(2 * len(settings))):
                    t.equal(reply.status, 204, reply.body)
            t.equal(sorted((t.directory / '.er.rc').read_text().splitlines()), sorted(f'{name} "{value}"' for name, value in settings), '.er.rc')
            lines = (t.directory / 'kinds.1.er' / 'notes').read_text().splitlines()
            t.equal((len(lines), len(set(lines))), (5000, 1), 'the notes')


def bytes_of(server, name):
    body = b'' if ROUTES[name][0] is None else json.dumps(ROUTES[name][0]).encode()
    return (f'{method_of(name)} /api/v1/{name} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.key}\r\n'
            f'Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n').encode() + body


def leave(server, data, reset):
    """Sends this and goes: with a word of it, or without."""
    with socket.create_connection(('127.0.0.1', server.port)) as line:
        line.sendall(data)
        if reset:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))


def open_files(server):
    return len(os.listdir(f'/proc/{server.process.pid}/fd'))



@test
def clients_that_go(t):
    """In the middle of a request, and before its answer: nothing of it is left, the server goes on, and the next one is answered."""
    with kinds(t) as server:
        expected = server.print(['functions']).json['results']
        names = [name for name in ROUTES if lasting(name) and name != 'record']  # a recording goes on
        for name in names:
            ask(server, name)
        for session in server.get('bootstrap').json['sessions'][1:]:
            server.post('close', {'session': session['id']})
        before = open_files(server)
        for name in names:
            whole = bytes_of(server, name)
            for data in (whole, whole[:-1], whole[:len(whole) // 2], whole[:3], whole * 3):
                for reset in (False, True):
                    leave(server, data, reset)
            for session in server.get('bootstrap').json['sessions'][1:]:
                server.post('close', {'session': session['id']})
        t.check(server.process.poll() is None, 'it goes on')

        def is_as_before():
            for session in server.get('bootstrap').json['sessions'][1:]:
                server.post('close', {'session': session['id']})
            return open_files(server) <= before + 1  # of this question

        wait_until(is_as_before, 'what they had is given back')
        is_well(t, server, expected, 'clients that go')
        for name in names:
            reply = ask(server, name)
            if reply.status not in ROUTES[name][1]:
                raise Failure(f'{name}: {reply.status} {reply.body[:200]}')
            close_opened(server, name, reply)
