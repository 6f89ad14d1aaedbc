# SPDX-License-Identifier: Apache-2.0
"""`helio view`: answers equal to those of helio print, and who gets none."""
import concurrent.futures
import contextlib
import gzip
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time

from harness import ROOT, Skip, test
from view_server import JSON, Server, wait_until

GOLDEN = ROOT / 'tests' / 'golden'
sys.path.insert(0, str(GOLDEN))
import make_kinds  # noqa: E402
import make_openmp  # noqa: E402

EXPERIMENTS = ('kinds.1.er', 'kinds.2.er')


def kinds(t, *words, **more):
    if not (t.directory / 'kinds.1.er').exists():
        make_kinds.make(str(t.directory))
    return Server(t, *(words or EXPERIMENTS[:1]), **more)


# ---- who is answered ----

@test
def hosts(t):
    """Names of others that lead here are not ours: a page could make its own name do so."""
    with kinds(t) as server:
        port = server.port
        for host in (f'127.0.0.1:{port}', f'localhost:{port}', f'LOCALHOST:{port}', f'[::1]:{port}'):
            t.equal(server.request(f'Host: {host}', host=False).status, 200, host)
        for host in ('127.0.0.1', 'localhost', f'127.0.0.1:{port + 1}', f'evil.example:{port}', f'127.0.0.1.evil.example:{port}', f'127.0.0.2:{port}',
                     f'localhost.:{port}', f'localhost:{port}.evil.example', f'localhost:0{port}0', f'127.0.0.1:{port}@evil', f'0.0.0.0:{port}', ''):
            for line in ('GET /api/v1/bootstrap HTTP/1.1', 'GET / HTTP/1.1'):
                t.equal(server.request(f'Host: {host}', host=False, line=line).status, 421, host)
        t.equal(server.request(f'Host: evil.example:{port}').status, 400, 'two hosts')
        t.equal(server.request(host=False).status, 421, 'none, as HTTP/1.1 forbids')
        t.equal(server.request(host=False, line='GET / HTTP/1.0').status, 421, 'none')


@test
def origins(t):
    with kinds(t) as server:
        own = f'http://127.0.0.1:{server.port}'
        t.equal(server.request(f'Origin: {own}').status, 200, 'our own')
        for origin in ('null', 'http://evil.example', f'https://127.0.0.1:{server.port}', f'http://127.0.0.1:{server.port + 1}', f'http://localhost:{server.port}',
                       own + '.evil.example', own + '/', ''):
            for line in ('GET /api/v1/bootstrap HTTP/1.1', 'GET / HTTP/1.1', 'POST /api/v1/login HTTP/1.1'):
                t.equal(server.request(f'Origin: {origin}', line=line).status, 403, origin)
        for site, status in (('same-origin', 200), ('none', 200), ('same-site', 403), ('cross-site', 403), ('nonsense', 403), ('', 403)):
            t.equal(server.request(f'Sec-Fetch-Site: {site}').status, status, site)


@test
def visits_from_elsewhere(t):
    """The file that the browser is told to open leads to the page, which holds no data; nothing else may be had so."""
    visit = ('Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document')
    with kinds(t) as server:
        t.equal(server.request(*visit, line='GET / HTTP/1.1', key=False).status, 200, 'the page')
        t.equal(server.request(*visit).status, 403, 'data')
        t.equal(server.request(*visit[:2], 'Sec-Fetch-Dest: iframe', line='GET / HTTP/1.1').status, 403, 'in a frame')
        t.equal(server.request(visit[0], 'Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Dest: script', line='GET / HTTP/1.1').status, 403, 'as a script')


@test
def methods_and_types(t):
    with kinds(t) as server:
        for method in ('PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND', 'get'):
            t.equal(server.request(line=f'{method} /api/v1/bootstrap HTTP/1.1').status, 405, method)
        for method, path in (('POST', 'bootstrap'), ('GET', 'print'), ('GET', 'quit'), ('HEAD', 'login')):
            reply = server.request('Content-Type: application/json', line=f'{method} /api/v1/{path} HTTP/1.1')
            t.equal((reply.status, 'Allow' in reply.headers), (405, True), path)
        body = b'{"session": 1, "commands": [["functions"]]}'
        for kind in ('text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/jsonp', 'text/json', ''):
            t.equal(server.ask('POST', '/api/v1/print', body=body, headers={'Content-Type': kind}).status, 415, kind)
        for kind in ('application/json', 'Application/JSON', 'application/json; charset=utf-8'):
            t.equal(server.ask('POST', '/api/v1/print', body=body, headers={'Content-Type': kind}).status, 200, kind)
        head = server.ask('HEAD', '/api/v1/bootstrap')
        t.equal((head.status, head.body), (200, b''), 'HEAD')


@test
def secrets(t):
    with kinds(t) as server:
        t.equal(len({server.token, server.key}), 2, 'two secrets')
        t.check(len(server.token) == 64 and len(server.key) == 64, 'of 32 bytes')
        for method, name in (('GET', 'bootstrap'), ('POST', 'print'), ('GET', 'experiments'), ('POST', 'record'), ('POST', 'quit'), ('GET', 'nothing')):
            body = {} if method == 'POST' else None
            for headers in ({}, {'Authorization': 'Bearer ' + '0' * 64}, {'Authorization': 'Bearer '}, {'Authorization': f'Basic {server.key}'},
                            {'Authorization': f'Bearer {server.token}'}, {'Authorization': f'Bearer {server.key}0'}, {'Cookie': f'helio-{server.port}={server.key}'}):
                t.equal(server.ask(method, f'/api/v1/{name}', body=body, headers=headers, key=False).status, 401, f'{name} {headers}')
        for wrong in ('', server.token[:-1], server.token + '0', '0' * 64, None, 7):
            t.equal(server.post('login', {'token': wrong}, key=False).status, 401, wrong)
        reply = server.post('login', {'token': server.token}, key=False)
        t.equal((reply.status, reply.body), (204, b''), 'login')
        cookie = reply.headers['Set-Cookie']
        name, value = re.fullmatch(r'([\w-]+)=(\w+); HttpOnly; SameSite=Strict; Path=/', cookie).groups()
        t.equal(name, f'helio-{server.port}', 'a name for each port')
        t.check(value not in (server.token, server.key), 'a secret of its own')
        t.equal(server.post('login', {'token': server.token}, key=False).status, 401, 'once only')
        for cookies, status in ((f'{name}={value}', 200), (f'a=b; {name}=0; {name}={value}; c', 200), (f'{name}x={value}', 401), (f'{name}={value}0', 401),
                                (f'x{name}={value}', 401), (f'{name}=', 401)):
            t.equal(server.get('bootstrap', headers={'Cookie': cookies}, key=False).status, status, cookies)
        t.equal(server.post('login', {'token': server.key}, key=False).status, 204, 'with the key, for another browser')


@test
def headers(t):
    """On every answer, be it an error."""
    expected = {'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer', 'Cross-Origin-Opener-Policy': 'same-origin',
                'Cross-Origin-Resource-Policy': 'same-origin', 'X-Frame-Options': 'DENY', 'Cache-Control': 'no-store'}
    with kinds(t) as server:
        for line, status in (('GET / HTTP/1.1', 200), ('GET /api/v1/bootstrap HTTP/1.1', 200), ('GET /nothing HTTP/1.1', 404), ('PUT / HTTP/1.1', 405)):
            reply = server.request(line=line)
            t.equal(reply.status, status, line)
            t.equal({name: reply.headers.get(name) for name in expected}, expected, line)
            t.check(not any(name.lower().startswith('access-control') for name in reply.headers), 'no CORS')
            t.check('Server' not in reply.headers, 'no name of a server')
            policy = dict(part.strip().partition(' ')[::2] for part in reply.headers['Content-Security-Policy'].split(';'))
            t.equal(policy, {'default-src': "'none'", 'script-src': "'self'", 'style-src': "'self'", 'img-src': "'self' data:", 'connect-src': "'self'",
                             'font-src': "'self'", 'base-uri': "'none'", 'form-action': "'none'", 'frame-ancestors': "'none'",
                             'require-trusted-types-for': "'script'", 'trusted-types': "'none'"}, 'policy')
        t.check('Access-Control' not in str(server.request('Origin: http://evil.example', 'Access-Control-Request-Method: POST',
                                                           line='OPTIONS /api/v1/print HTTP/1.1').headers), 'no answer to a preflight')


@test
def limits(t):
    with kinds(t) as server:
        t.equal(server.request(line=f'GET /api/v1/progress?id={"a" * 8000} HTTP/1.1').status, 404, 'a long line')
        t.equal(server.request(line=f'GET /api/v1/progress?id={"a" * 9000} HTTP/1.1').status, 414, 'too long a line')
        t.equal(server.request('X: ' + 'a' * 15000).status, 200, 'large headers')
        t.equal(server.request('X: ' + 'a' * 17000).status, 431, 'too large headers')
        t.equal(server.request(*[f'X{i}: {"a" * 900}' for i in range(20)]).status, 431, 'many headers')
        t.check(server.request('X: ' + 'a' * 200000).status in (0, 413, 431), 'huge headers')
        most = b'{"commands": [], "session": 1, "x": "' + b'a' * ((1 << 20) - 39) + b'"}'
        t.equal(len(most), 1 << 20, 'the body')
        t.equal(server.ask('POST', '/api/v1/print', body=most, headers=JSON).status, 200, 'a body of 1 MB')
        length = server.request('Content-Type: application/json', f'Content-Length: {(1 << 20) + 1}', line='POST /api/v1/print HTTP/1.1')
        t.equal(length.status, 413, 'an announced larger body')
        pieces = b'10000\r\n' + b'a' * 65536 + b'\r\n'
        reply = server.request('Content-Type: application/json', 'Transfer-Encoding: chunked', line='POST /api/v1/print HTTP/1.1', body=pieces * 17 + b'0\r\n\r\n')
        t.equal(reply.status, 413, 'a larger body in pieces')
        for body, status in ((b'', 400), (b'[]', 400), (b'{', 400), (b'{"a":1,"a":2}', 400), (b'\xff', 400), (b'[' * 100000, 400), (b'{"session":1}', 200)):
            t.equal(server.ask('POST', '/api/v1/print', body=body, headers=JSON).status, status, body[:20])


@test
def connections(t):
    """32 at once; more are not served, and hold nobody up for long."""
    with kinds(t) as server:
        lines = [socket.create_connection(('127.0.0.1', server.port)) for _ in range(40)]
        time.sleep(0.5)
        closed = 0
        for line in lines:
            line.setblocking(False)
            try:
                closed += line.recv(1) == b''
            except BlockingIOError:
                pass
            except ConnectionError:
                closed += 1
        t.check(closed >= 8, f'{closed} of 40 are closed')
        # who says nothing is given up
        wait_until(lambda: server.request().status == 200, 'silent connections end')
        for line in lines:
            line.close()


@test
def connections_of_strangers(t):
    """Who opens as many connections as there may be does not keep out who has the secret, even while all of them are there."""
    with kinds(t) as server:
        lines = [socket.create_connection(('127.0.0.1', server.port)) for _ in range(40)]

        def is_answered():
            try:
                return server.ask('GET', '/api/v1/bootstrap').status == 200
            except OSError:
                return False
        wait_until(is_answered, 'with the secret')
        t.check(8 <= sum(is_open(line) for line in lines) <= 16, 'the last ones of the others are there still')
        for line in lines:
            line.close()


@test
def answers_that_strangers_leave_unread(t):
    """Nor does who asks for the page again and again, and reads nothing of it: the server does not wait until they have been silent for too long."""
    with kinds(t) as server:
        name = re.search(rb'src="(/app-\w+\.js)"', gzip.decompress(server.ask('GET', '/').body)).group(1).decode()
        known = server.connect()  # its silence begins before theirs
        known.request('GET', '/api/v1/bootstrap', headers={'Authorization': f'Bearer {server.key}'})
        known.getresponse().read()
        lines = []
        for _ in range(36):
            line = socket.socket()
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            line.settimeout(1)
            line.connect(('127.0.0.1', server.port))
            with contextlib.suppress(OSError):  # there are too many
                line.sendall(f'GET {name} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n'.encode() * 100)
                line.recv(1)  # the first answer is being sent
            lines.append(line)
        wait_until(lambda: len(sockets_of(server.process.pid)) <= 20, 'of strangers go')
        t.equal(server.ask('GET', '/api/v1/bootstrap').status, 200, 'with the secret')
        t.within(is_open(known.sock), 'before anybody has been silent for too long')
        for line in (known, *lines):
            line.close()


def sockets_of(pid):
    """Of a process: who leaves an answer unread doesn't see that the connection has ended."""
    files = pathlib.Path(f'/proc/{pid}/fd')
    return [file for file in files.iterdir() if os.readlink(file).startswith('socket:')]


def is_open(line):
    line.setblocking(False)
    try:
        return line.recv(1) != b''
    except BlockingIOError:
        return True
    except OSError:
        return False


@test
def slow_requests(t):
    """A byte a second keeps no connection for ever."""
    with kinds(t) as server, socket.create_connection(('127.0.0.1', server.port)) as line:
        line.sendall(f'GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX: '.encode())
        begin, ended = time.monotonic(), False
        while not ended and time.monotonic() - begin < 120:
            try:
                line.sendall(b'a')
                line.settimeout(1)
                ended = line.recv(1) == b''
            except TimeoutError:
                pass
            except ConnectionError:
                ended = True
        t.check(ended, 'it was ended')


@test
def files_of_the_page(t):
    """Names are looked up in a list: no path leads out of it."""
    with kinds(t) as server:
        page = server.ask('GET', '/', key=False)
        t.equal((page.status, page.headers['Content-Type']), (200, 'text/html; charset=utf-8'), 'the page')
        for path in ('/../../../../etc/passwd', '/..%2f..%2fetc%2fpasswd', '/%2e%2e/%2e%2e/etc/passwd', '//etc/passwd', '/./index.html', '/index.html/', '/index.html%00.js',
                     '/kinds.1.er/log.xml', '/.er.rc', '/app.js/../index.html', '/' + 'a' * 4000, '/manifest.json%20'):
            t.equal(server.request(line=f'GET {path} HTTP/1.1').status, 404, path)
        if page.headers.get('Content-Encoding') != 'gzip':
            t.check(b'apt install nodejs npm' in page.body, 'it says how to build it')
            return
        html = gzip.decompress(page.body).decode()
        names = re.findall(r'(?:src|href)="/?([^":]+)"', html)
        t.check(names, 'it has scripts')
        for name in names:
            file = server.ask('GET', f'/{name}', key=False)
            t.equal((file.status, file.headers['Cache-Control']), (200, 'public, max-age=31536000, immutable'), name)
            gzip.decompress(file.body)


@test
def another_user(t):
    """The file that the browser opens and the socket are this user's; the token is in no command line."""
    make_kinds.make(str(t.directory))
    (t.directory / 'browser').write_text('#!/bin/sh\necho "$1" > opened\nstat -c %a "$1" > mode\ncp "$1" page\nsleep 3\n')
    (t.directory / 'browser').chmod(0o755)
    (t.directory / 'run').mkdir()
    with Server(t, 'kinds.1.er', key=False, env={'BROWSER': str(t.directory / 'browser'), 'XDG_RUNTIME_DIR': str(t.directory / 'run')}) as server:
        wait_until((t.directory / 'page').exists, 'a browser was started')
        t.check(server.key is None, 'no key unless it is asked for')
        opened = pathlib.Path((t.directory / 'opened').read_text().strip())
        wait_until(lambda: (t.directory / 'mode').read_text().strip(), 'its mode')
        t.equal((t.directory / 'mode').read_text().strip(), '600', 'the mode of the file')
        t.check(f'http://127.0.0.1:{server.port}/#t={server.token}' in (t.directory / 'page').read_text(), 'it leads to the page')
        lines = subprocess.run(['ps', '-eo', 'args'], capture_output=True, text=True).stdout
        t.check(server.token not in lines, 'the token is in no command line')
        t.equal(server.post('login', {'token': server.token}, key=False).status, 204, 'login')
        wait_until(lambda: not opened.exists(), 'the file goes when it has been used')


@test
def socket_of_this_user(t):
    make_kinds.make(str(t.directory))
    path = t.directory / 'view.sock'
    with Server(t, '--unix', path, 'kinds.1.er') as server:
        mode = os.stat(path)
        t.equal((stat.S_ISSOCK(mode.st_mode), stat.S_IMODE(mode.st_mode)), (True, 0o600), 'the socket')
        t.check(f'ssh -N -L 8080:{path}' in server.out, server.out)
        for host, status in (('localhost:8080', 200), ('127.0.0.1:9', 200), ('evil.example:8080', 421)):
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(str(path))
                line.sendall(f'GET /api/v1/bootstrap HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {server.key}\r\nConnection: close\r\n\r\n'.encode())
                t.equal(int(line.recv(100).split()[1]), status, host)
        ports = subprocess.run(['ss', '-ltnp'], capture_output=True, text=True).stdout if shutil.which('ss') else ''
        t.check(f'pid={server.process.pid},' not in ports, 'no port')
    t.check(not path.exists(), 'it goes at the end')


@test
def loopback_only(t):
    """No address of this machine's but the loopback ones answers."""
    with kinds(t) as server:
        inodes = {os.readlink(f'/proc/{server.process.pid}/fd/{fd}') for fd in os.listdir(f'/proc/{server.process.pid}/fd')}
        found = set()
        for table in ('tcp', 'tcp6'):
            for row in pathlib.Path(f'/proc/net/{table}').read_text().splitlines()[1:]:
                cells = row.split()
                if cells[3] == '0A' and f'socket:[{cells[9]}]' in inodes:
                    found.add(cells[1].partition(':')[0])
        t.check('0100007F' in found and found <= {'0100007F', '00000000000000000000000001000000'}, found)


# ---- answers ----

def requests_of(line, options):
    """The commands of a command line of helio print and its experiments."""
    words = shlex.split(line)
    experiments = [word for word in words if word.endswith('.er')] or ['kinds.1.er']
    commands = []
    for word in words:
        name = word.lstrip('-')
        if word.endswith('.er'):
            continue
        if word.startswith('-') and not (commands and (commands[-1] == ['sort'] or name in options.get(commands[-1][0], ()))):
            commands.append([name])
        else:
            commands[-1].append(word)
    return [command for command in commands if command != ['printmode', 'json']], experiments


def flat(results):
    for result in results:
        if isinstance(result, list):
            yield from result
        elif isinstance(result, dict):
            yield result


@test
def as_helio_print(t):
    """Every command, over every kind of data: the same objects but for warnings, of which there may be more."""
    lines = sorted({line for path in (GOLDEN / 'every').glob('*.json') for line in re.findall(r'^\$ (.*)', path.read_text(), re.M)})
    compared = 0
    make_openmp.make(str(t.directory))
    with kinds(t) as server:
        commands = server.get('bootstrap').json['commands']
        options = {command['name']: [word.rstrip('=') for word in command['options'].split()] for command in commands}
        refused = {command['name'] for command in commands if command['refused']} | {'procstats'}
        for line in lines:
            asked, experiments = requests_of(line, options)
            if any(command[0] in refused for command in asked):
                continue
            printed = t.run(t.helio, 'print', *shlex.split(line), *([] if line.endswith('.er') else ['kinds.1.er']), env={'TZ': 'UTC'})
            expected = [json.loads(text) for text in printed.out.splitlines() if text.startswith('{')]
            session = server.post('open', {'experiments': experiments}).json['session']
            reply = server.print(*asked, session=session)
            got = list(flat(reply.json['results']))
            t.equal(len(got), len(expected), f'{line}: {reply.json["messages"]}')
            for ours, theirs in zip(got, expected):
                t.check(set(theirs.pop('warnings', [])) <= set(ours.pop('warnings', [])), f'{line}: warnings')
                t.check(ours == theirs, f'{line}: {str(ours)[:500]}, not {str(theirs)[:500]}')
                compared += 1
            text = server.print(*asked, session=session, format='text')
            t.equal(text.status, 422 if any(m['level'] == 'error' for m in reply.json['messages']) else 200, line)
            server.post('close', {'session': session})
    t.check(compared > 100, compared)
    t.remark = f'{compared} objects'


@test
def text_and_csv(t):
    with kinds(t) as server:
        for form, mode in (('text', 'text'), ('csv', ',')):
            printed = t.run(t.helio, 'print', '-printmode', mode, '-limit', '5', '-functions', '-objects', 'kinds.1.er')
            reply = server.print(['functions'], ['objects'], settings=[['limit', '5']], format=form)
            t.equal((reply.status, reply.body.decode()), (200, printed.out), form)
            t.equal(reply.headers['Content-Type'].partition(';')[0], {'text': 'text/plain', 'csv': 'text/csv'}[form], 'its type')
        t.equal(server.print(['functions'], format='html').status, 400, 'no such format')
        t.check('did you mean' in server.print(['functoins'], format='text').error, 'an error is a sentence')


@test
def messages(t):
    with kinds(t) as server:
        answer = server.print(['functions'], ['nonsense'], ['fsingle', 'no_such_function'], ['objects']).json
        t.equal([result is None for result in answer['results']], [False, True, True, False], 'each by itself')
        t.equal([m['command'] for m in answer['messages'] if m['level'] == 'error'], [1, 2], answer['messages'])
        answer = server.print(['functions'], settings=[['limit', '3'], ['filters', 'TSTAMP <']]).json
        t.equal(answer['results'], [None], 'a wrong filter shows nothing')
        t.equal([m['command'] for m in answer['messages'] if m['level'] == 'error'], [None], answer['messages'])
        for words in (['outfile', 'x'], ['script', 'x'], ['add_exp', 'kinds.2.er'], ['flamegraph', 'x'], ['quit'], ['printmode', 'text']):
            answer = server.print(words).json
            t.check(answer['results'] == [None] and 'is not answered here' in answer['messages'][0]['text'], words)
        t.check(not (t.directory / 'x').exists(), 'nothing was written')
        for wrong in ({'commands': 'functions'}, {'commands': ['functions']}, {'commands': [[1]]}, {'commands': [[]]}, {'settings': {}}, {'commands': [['a\0b']]}):
            t.equal(server.post('print', {'session': 1, **wrong}).status, 400, wrong)
        t.equal(server.print(['functions'], session=77).status, 404, 'no such session')


@test
def sessions(t):
    make_kinds.make(str(t.directory))
    shutil.copytree(t.directory / 'kinds.1.er', t.directory.parent / f'{t.directory.name}-other.er')
    try:
        with Server(t, 'kinds.1.er') as server:
            second = server.post('open', {'experiments': ['kinds.1.er', 'kinds.2.er']}).json['session']
            third = server.post('refresh', {'session': second}).json['session']
            t.equal(len({1, second, third}), 3, 'numbers')
            t.equal([s['id'] for s in server.get('bootstrap').json['sessions']], [1, second, third], 'all are there')
            one, two, again = (server.print(['functions'], session=n).json['results'][0]['rows'][0]['e.totalcpu'] for n in (1, second, third))
            t.check(two > one and two == again, (one, two, again))
            t.equal(server.post('close', {'session': second}).status, 204, 'close')
            t.equal(server.print(['functions'], session=second).status, 404, 'it is gone')
            t.equal(server.print(['functions'], session=third).status, 200, 'others are not')
            for path in (f'../{t.directory.name}-other.er', f'{t.directory}-other.er', '/etc', 'x/../../y.er', ''):
                t.equal(server.post('open', {'experiments': [path]}).status, 403, path)
            reply = server.post('open', {'experiments': ['none.er']})
            t.check(reply.status == 422 and 'none.er' in reply.error, reply.body)
            opened = [server.post('open', {'experiments': ['kinds.1.er']}).status for _ in range(30)]
            t.equal(set(opened), {200, 429}, 'not too many')
    finally:
        shutil.rmtree(t.directory.parent / f'{t.directory.name}-other.er')


@test
def too_large(t):
    """What no browser could hold is refused, with what to ask for instead, and the server goes on. Each answer alone is small."""
    experiment = t.collect(t.target('everything')).experiment
    with Server(t, experiment) as server:
        one = len(server.print(['timeline', '400']).body)
        reply = server.print(*[['timeline', '400']] * min(1000, (140 << 20) // one + 1))
        t.equal(reply.status, 422, f'an answer of {one} bytes many times')
        for word in ('`timeline\'', '128 MB', 'limit', 'filters', 'cells'):
            t.check(word in reply.error, reply.error)
        t.equal(server.print(['timeline', '400']).status, 200, 'afterwards')


@test
def what_requests_define(t):
    """An index object is a command in the request that defines it and in those behind it, also where the first answers come from kept sums."""
    make_kinds.make(str(t.directory))
    kept = {'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': str(t.directory / 'cache')}
    define = ['indxobj_define', 'Tens', 'TSTAMP / 100000000']
    expected = json.loads(t.run(t.helio, 'print', '-printmode', 'json', '-indxobj_define', *define[1:], '-Tens', 'kinds.1.er', env=kept).out)['rows']
    t.run(t.helio, 'print', '-functions', 'kinds.1.er', env=kept)
    t.check(list((t.directory / 'cache').rglob('*.sums')), 'sums are kept')
    for env in {}, kept:
        for settings, commands in ([], [define, ['Tens']]), ([define], [['Tens']]):
            with kinds(t, env=env) as server:
                for words in commands, [['Tens']]:
                    answer = server.print(*words, settings=settings).json
                    t.check(answer['results'][-1], f'{env}, {settings}, {words}: {answer["messages"]}')
                    t.equal(answer['results'][-1]['rows'], expected, f'{env}, {settings}, {words}')
                    settings = []


@test
def at_once(t):
    """Many requests of different kinds, by many clients: each has the answer that it has alone."""
    asked = [([['limit', '5']], [['functions']]), ([], [['calltree']]), ([['filters', 'TSTAMP < 400000000']], [['functions'], ['threads']]), ([], [['header']]),
             ([['metrics', 'i.totalcpu:name']], [['functions']]), ([], [['disasm', 'hot_loop']]), ([], [['timeline']]), ([], [['leaks'], ['locks']])]

    def ask(number):
        settings, commands = asked[number % len(asked)]
        answer = server.print(*commands, settings=settings).json
        return [({**r, 'warnings': 0} if isinstance(r, dict) else r) for r in answer['results']] + [m for m in answer['messages'] if m['level'] == 'error']

    with kinds(t, *EXPERIMENTS) as server:
        alone = [ask(number) for number in range(len(asked))]
        # of 32 connections each client may hold two or three, as the server sees later that one was closed
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            for number, got in enumerate(pool.map(ask, range(160))):
                t.check(got == alone[number % len(asked)], f'{asked[number % len(asked)]}: {str(got)[:500]}')


@test
def damaged(t):
    """What is left of an experiment is shown, with the same warnings as by helio print."""
    make_kinds.make(str(t.directory))
    path = t.directory / 'kinds.1.er'
    victim = max((p for p in path.iterdir() if p.is_file()), key=lambda p: p.stat().st_size)
    victim.write_bytes(victim.read_bytes()[:-victim.stat().st_size // 3])
    expected = json.loads(t.run(t.helio, 'print', '-printmode', 'json', '-functions', 'kinds.1.er').out)
    with Server(t, 'kinds.1.er') as server:
        got = server.print(['functions']).json['results'][0]
        t.equal(got, expected, victim.name)
        t.check(server.get('bootstrap').json['sessions'][0]['messages'] or got['warnings'], 'the damage is told')


@test
def names_are_text(t):
    """Whatever a name holds is JSON text, never more."""
    with kinds(t) as server:
        evil = '<script>alert(1)</script>"\\\u202e' + 'x' * 4000
        for words in (['fsingle', evil], [evil], ['filters', evil], ['source', evil]):
            reply = server.print(words)
            t.equal(reply.status, 200, words[0])
            t.check(reply.json['messages'], 'it says so')
        reply = server.post('open', {'experiments': [evil + '.er']})
        t.check(reply.status == 422 and reply.headers['Content-Type'].startswith('application/json'), reply.status)


# ---- long work ----

@test
def cancelled(t):
    """A request ends when it is told to, and when its client goes; the next one is answered."""
    with kinds(t, *EXPERIMENTS) as server:
        t.equal(server.post('cancel', {'id': 'nothing'}).status, 204, 'nothing to cancel')
        t.equal(server.get('progress?id=nothing').status, 404, 'nothing at work')
        commands = [['fsummary'], ['callers-callees'], ['calltree']] * 300
        filters = [['filters', 'TSTAMP < 1234567']]
        done = []

        def ask():
            done.append(server.print(*commands, settings=filters, id='long'))

        worker = threading.Thread(target=ask)
        worker.start()
        seen = []
        while worker.is_alive() and not seen:
            reply = server.get('progress?id=long')
            if reply.status == 200:
                seen.append(reply.json['done'])
        server.post('cancel', {'id': 'long'})
        worker.join(120)
        t.check(done and done[0].status in (200, 409), done and done[0].status)
        t.check(all(0 <= value <= 1 for value in seen), seen)
        line = socket.create_connection(('127.0.0.1', server.port))
        body = json.dumps({'session': 1, 'commands': commands, 'id': 'left'}).encode()
        line.sendall(f'POST /api/v1/print HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.key}\r\n'
                     f'Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n'.encode() + body)
        line.close()
        wait_until(lambda: server.get('progress?id=left').status == 404, 'it ends')
        t.equal(server.print(['functions']).status, 200, 'the next one')


@test
def growing(t):
    """An experiment that is being recorded: each refresh shows more."""
    (t.directory / 'work.py').write_text('import time\nend = time.time() + 120\nwhile time.time() < end:\n    sum(range(20000))\n')
    recorder = subprocess.Popen([str(t.helio), 'collect', '-q', '-o', 'grow.1.er', sys.executable, 'work.py'], cwd=t.directory)

    def kill_program():
        os.kill(int(re.search(r'pid="(\d+)"', (t.directory / 'grow.1.er' / 'log.xml').read_text()).group(1)), signal.SIGKILL)

    try:
        wait_until(lambda: (t.directory / 'grow.1.er' / 'log.xml').exists(), 'it is being recorded')
        with Server(t, 'grow.1.er') as server:
            session, before = 1, None
            server.print(['functions'])  # it is open by then
            t.check(server.get('bootstrap').json['sessions'][0]['growing'], 'it grows')

            def cpu():
                rows = server.print(['functions'], session=session).json['results'][0]['rows']
                return rows[0].get('e.totalcpu', 0) if rows else 0

            before = cpu()
            for _ in range(600):
                time.sleep(0.1)
                fresh = server.post('refresh', {'session': session}).json['session']
                server.post('close', {'session': session})
                session = fresh
                if cpu() > before:
                    break
            t.check(cpu() > before, 'there is more')
            kill_program()
            recorder.wait()
            fresh = server.post('refresh', {'session': session}).json['session']
            t.check(not [s for s in server.get('bootstrap').json['sessions'] if s['id'] == fresh][0]['growing'], 'it has ended')
    finally:
        if recorder.poll() is None:
            kill_program()
            recorder.wait()


# ---- the rest of the page's requests ----

@test
def records(t):
    with kinds(t) as server:
        options = server.get('options').json
        t.check({(row['command'], row['option']) for row in options} >= {('collect', '-H'), ('collect', '-p'), ('attach', '--for')}, options[:3])
        t.check(all(row['help'] for row in options), 'each says what it is')
        t.check(server.get('doctor').json['checks'], 'doctor')
        t.equal({row['name'] for row in server.get('experiments').json}, {path.name for path in t.directory.glob('*.er')}, 'experiments')
        started = server.post('record', {'command': 'collect', 'options': ['-p', 'hi', '-o', 'new.1.er'], 'program': ['sh', '-c', 'echo said; exit 3']}).json
        t.equal(started['argv'], ['helio', 'collect', '-p', 'hi', '-o', 'new.1.er', '--', 'sh', '-c', 'echo said; exit 3'], 'the command line')

        def row():
            return server.get('recordings').json[started['recording'] - 1]

        wait_until(lambda: not row()['running'], 'it ends')
        t.equal((row()['status'], row()['experiment']), (3, 'new.1.er'), row())
        t.check('said\n' in row()['output'], row()['output'])
        opened = server.post('open', {'experiments': [row()['experiment']]})
        t.equal(opened.status, 200, opened.body)
        for wrong in ({}, {'command': 'rm'}, {'command': 'collect'}, {'command': 'collect', 'program': []}, {'command': 'attach', 'pid': 'x'},
                      {'command': 'attach', 'pid': -1}, {'command': 'print', 'program': ['x']}):
            t.equal(server.post('record', wrong).status, 400, wrong)
        t.equal(server.post('stop', {'recording': 99}).status, 404, 'no such recording')


@test
def stops(t):
    with kinds(t) as server:
        number = server.post('record', {'command': 'collect', 'options': ['-o', 'long.1.er'], 'program': ['sleep', '600']}).json['recording']
        sleeper = None
        try:
            wait_until(lambda: server.post('stop', {'recording': number}).status == 204, 'it can be stopped')
            log = t.directory / 'long.1.er' / 'log.xml'
            sleeper = int(re.search(r'pid="(\d+)"', log.read_text()).group(1))
            state = json.loads(t.run(t.helio, 'ls', '--json', 'long.1.er').out)['experiments'][0]['state']
            t.check(state in ('stopped', 'recording'), state)
        finally:
            if sleeper:
                os.kill(sleeper, signal.SIGKILL)
        wait_until(lambda: not server.get('recordings').json[number - 1]['running'], 'it ends with the program')


@test
def what_a_recorded_program_prints_without_end(t):
    """Of 32 MB the server keeps in memory what it can still be asked for."""
    def kept():
        files = (path for path in pathlib.Path(f'/proc/{server.process.pid}/fd').iterdir() if 'memfd:recording' in os.readlink(path))
        return sum(path.stat().st_blocks * 512 for path in files)

    with kinds(t) as server:
        number = server.post('record', {'command': 'collect', 'options': ['-p', 'off'], 'program': ['sh', '-c', 'yes | head -c 32M; echo end']}).json['recording']

        def row():
            return server.get('recordings').json[number - 1]

        wait_until(lambda: not row()['running'], 'it ends')
        t.check('\nend\n' in row()['output'] and len(row()['output']) == 64 << 10, 'the end of it')
        t.check(row()['experiment'], 'its experiment')
        wait_until(lambda: kept() < 1 << 20, 'memory is given back')


IGNORANT = 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])'


@test
def recordings_of_who_ignores_children(t):
    """Started with SIGCHLD ignored, as some launchers have it: that a recording has ended, and how, is known all the same."""
    with kinds(t, 'kinds.1.er', before=(sys.executable, '-c', IGNORANT)) as server:
        number = server.post('record', {'command': 'collect', 'options': ['-p', 'off'], 'program': ['sh', '-c', 'exit 3']}).json['recording']
        wait_until(lambda: not server.get('recordings').json[number - 1]['running'], 'it ends')
        t.equal(server.get('recordings').json[number - 1]['status'], 3, 'its status')


@test
def notes(t):
    with kinds(t) as server:
        text = 'a note\n<b>second</b> line'
        t.equal(server.post('notes', {'session': 1, 'experiment': 'kinds.1.er', 'text': text}).status, 204, 'notes')
        t.check('a note' in t.run(t.helio, 'print', '-header', 'kinds.1.er').out, 'they are in the header')
        for experiment, status in (('kinds.2.er', 404), ('/etc', 404), ('../x', 404)):
            t.equal(server.post('notes', {'session': 1, 'experiment': experiment, 'text': ''}).status, status, experiment)
        t.equal(t.run(t.helio, 'check', '-q', 'kinds.1.er').status, 0, 'the experiment is whole')


@test
def saves(t):
    (t.directory / '.er.rc').write_text('# mine\nlimit 3\nviewmode expert\n')
    with kinds(t) as server:
        before = server.print(['functions']).json['results'][0]
        t.equal(len(before['rows']), 3, 'the start-up file is in force')
        t.equal(server.post('save', {'settings': [['limit', '4'], ['metrics', 'i.totalcpu:name']]}).status, 204, 'save')
        t.equal((t.directory / '.er.rc').read_text(), '# mine\nviewmode expert\nlimit "4"\ndmetrics "i.totalcpu:name"\n', 'the file')
        printed = json.loads(t.run(t.helio, 'print', '-printmode', 'json', '-functions', 'kinds.1.er').out)
        t.equal((len(printed['rows']), [m['name'] for m in printed['metrics']][:1]), (4, ['i.totalcpu']), 'helio print follows it')
        for wrong in ([['outfile', 'x']], [['functions']], [['limit', '3\nscript x']], [['nonsense']], [[]]):
            t.equal(server.post('save', {'settings': wrong}).status, 422, wrong)
        t.equal((t.directory / '.er.rc').read_text().count('\n'), 4, 'nothing was added')
        # A link leads to lines that are kept elsewhere: neither they nor the link go.
        (t.directory / '.er.rc').rename(t.directory / 'dotfiles')
        (t.directory / '.er.rc').symlink_to('dotfiles')
        t.equal(server.post('save', {'settings': [['limit', '5']]}).status, 422, 'a link')
        t.equal((os.readlink(t.directory / '.er.rc'), (t.directory / 'dotfiles').read_text().count('\n')), ('dotfiles', 4), 'the link')
        (t.directory / '.er.rc').unlink()
        t.equal(server.post('save', {'settings': [['limit', '5']]}).status, 204, 'where there is none')
        t.equal((t.directory / '.er.rc').read_text(), 'limit "5"\n', 'the new file')


@test
def ends(t):
    with kinds(t) as server:
        t.equal(server.post('quit', {}).status, 204, 'quit')
        t.equal(server.process.wait(60), 0, 'its status')
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with kinds(t) as server:
            server.process.send_signal(number)
            t.equal(server.process.wait(60), 0, number)
    with kinds(t, '--idle', '1', 'kinds.1.er') as server:
        t.equal(server.process.wait(60), 0, 'idle')
    result = t.run(t.helio, 'view', '--no-open', 'none.er', timeout=60)
    t.check(result.status == 1 and 'none.er' in result.err, result.err)
    result = t.run(t.helio, 'view', '--port', '70000')
    t.equal(result.status, 2, 'a port')
    with kinds(t) as server:
        result = t.run(t.helio, 'view', '--port', server.port, 'kinds.1.er')
        t.check(result.status == 1 and 'is in use' in result.err, result.err)


@test
def names_of_the_program(t):
    """analyzer, and the command that forwards the port."""
    make_kinds.make(str(t.directory))
    (t.directory / 'analyzer').symlink_to(t.helio)
    result = t.run(t.directory / 'analyzer', '--help')
    t.check(result.status == 0 and 'helio view' in result.out, result.out)
    with Server(t, 'kinds.1.er', env={'SSH_CONNECTION': '192.0.2.1 50000 192.0.2.7 22'}) as server:
        t.check(re.search(rf'ssh -N -L {server.port}:127\.0\.0\.1:{server.port} \S*@?192\.0\.2\.7', server.out), server.out)


# ---- arrays ----

def decode_slab(data):
    """The results of a reply in arrays, by what present/slab.h says: [(header, {...with lists in place of arrays})]"""
    results = []
    while data:
        if data[:8] != b'HELIOSL1':
            raise ValueError(f'no slab: {data[:20]!r}')
        size = int.from_bytes(data[8:12], 'little')
        header = json.loads(data[12:12 + size])
        begin = (12 + size + 7) // 8 * 8
        if any(data[12 + size:begin]):
            raise ValueError('the padding is not zero')
        arrays, data = data[begin:begin + header['bytes']], data[begin + header['bytes']:]

        def fill(value, arrays=arrays):
            if isinstance(value, dict) and '$' in value:
                letter, width = {'f64': ('d', 8), 'u32': ('I', 4), 'u8': ('B', 1)}[value['$']]
                if value['at'] % 8:
                    raise ValueError('an array is not aligned')
                return list(struct.unpack_from(f'<{value["count"]}{letter}', arrays, value['at'])) if width * value['count'] <= len(arrays) else None
            return {name: fill(item) for name, item in value.items()} if isinstance(value, dict) else value
        results.append(fill(header))
    return results


NONE = 0xffffffff


def same(cell, number):
    """A value of JSON and one of an array: null and what is left out are no number."""
    return math.isnan(number) if cell is None else cell == number


@test
def tables_as_arrays(t):
    """Row for row and column for column as in JSON."""
    commands = [['functions'], ['calltree'], ['calltree', '-inverted'], ['callers-callees'], ['objects'], ['threads'], ['indxobj', 'Seconds'], ['disasm', 'hot_loop'], ['source', 'main']]
    roles = ('function', 'center', 'caller', 'callee')
    lines = ('row', 'source', 'index', 'instruction', 'remark')
    cells = 0
    with kinds(t, *EXPERIMENTS) as server:
        for command in commands:
            for settings in ([], [['compare', 'on']], [['metrics', 'e.user:i.%total:e.cycles:name']]):
                answer = server.print(command, settings=settings).json
                expected = answer['results'][0]
                reply = server.print(command, settings=settings, format='slab')
                if expected is None:
                    t.equal(reply.status, 422, command)
                    continue
                t.equal((reply.status, reply.headers['Content-Type']), (200, 'application/octet-stream'), command)
                got, = decode_slab(reply.body)
                rows = expected.pop('rows')
                columns = got.pop('columns', None)
                got.pop('bytes')
                t.equal(got.pop('warnings') and 0, expected.pop('warnings') and 0, 'warnings')
                if columns is None:  # no table: as in JSON
                    t.equal(got.pop('rows'), rows, command)
                    continue
                t.equal(got.pop('rows'), [], command)
                t.equal(got, expected, command)
                texts = columns.pop('texts')
                t.check(len(set(texts)) == len(texts), 'each text once')
                for number, row in enumerate(rows):
                    for name in ('name', 'object'):
                        index = columns[name][number]
                        t.equal(None if index == NONE else texts[index], row[name], f'{command} {number} {name}')
                    for name, column in columns.items():
                        if name in ('name', 'object'):
                            continue
                        value = row.get(name)
                        if name == 'role':
                            value = roles.index(value)
                        elif name == 'kind':
                            value = lines.index(value)
                        elif name == 'line':
                            value = value or 0
                        elif name == 'parent':
                            value = NONE if value is None else value
                        t.check(same(value, column[number]), f'{command} {number} {name}: {value} {column[number]}')
                        cells += 1
                t.equal(set().union(*rows) - {'name', 'object'}, set(columns) - {'name', 'object'} - (set() if 'disasm' in command else {'address'}), command)
    t.check(cells > 1000, cells)


@test
def timeline_as_arrays(t):
    with kinds(t, *EXPERIMENTS) as server:
        for words in (['timeline'], ['timeline', '-from', '0.1', '-to', '0.9', '37']):
            expected = server.print(words).json['results'][0]
            got, = decode_slab(server.print(words, format='slab').body)
            t.equal([got[name] for name in ('begin_s', 'end_s', 'cell_s', 'cells', 'lanes', 'functions')],
                    [expected[name] for name in ('begin_s', 'end_s', 'cell_s', 'cells', 'lanes', 'functions')], words)
            columns, count = got['columns'], got['cells'] * len(got['lanes'])
            found = {}
            for at in range(count):
                states = {name: column[at] / 1e6 for name, column in columns['states'].items() if column[at]}
                events = {name: column[at] for name, column in columns['events'].items() if column[at]}
                if states or events:
                    function = columns['function'][at]
                    found[divmod(at, got['cells'])] = (states, events, None if function == NONE else function)
            t.equal(found, {(row['lane'], row['cell']): (row['states'], row['events'], row['function']) for row in expected['rows']}, words)
        t.equal(len(decode_slab(server.print(['functions'], ['timeline'], format='slab').body)), 2, 'one behind the other')


# ---- a page in a file ----

@test
def page_in_a_file(t):
    """Its answers are those of helio print; whatever names hold, it stays one page that asks nobody."""
    make_kinds.make(str(t.directory))
    result = t.run(t.helio, 'html', 'kinds.1.er', '-o', 'page.html')
    if 'built without its page' in result.err:
        t.check(result.status == 1 and 'nodejs npm' in result.err, result.err)
        raise Skip('the page was not built')
    t.equal((result.status, result.out), (0, 'helio html: page.html\n'), result.err)
    page = (t.directory / 'page.html').read_text()
    t.check(len(page.encode()) <= 2 << 20, 'its size')
    t.equal(re.findall(r'(?:src|href)="(?!data:)[^"]*"', page.partition('<script type="module">')[0]), [], 'no file beside it')
    t.equal(len(re.findall('</script', page)), 2, 'data and script')
    data = json.loads(re.search(r'<script type="application/json" id="helio-data">(.*?)</script>', page, re.S).group(1))
    t.check('<' not in re.search(r'id="helio-data">(.*?)</script>', page, re.S).group(1), 'no markup in the data')
    t.equal(data['bootstrap']['readonly'], True, 'readonly')
    for words in (['functions'], ['overview'], ['calltree', '-percent', '0.2'], ['objects'], ['csingle', 'fib [app]'], ['fsingle', 'E [app]']):
        got = data['answers'][json.dumps(words, separators=(',', ':'))]
        printed = json.loads(t.run(t.helio, 'print', '-printmode', 'json', '-limit', '500', f'-{words[0]}', *words[1:], 'kinds.1.er').out)
        t.equal({**got, 'warnings': 0}, {**printed, 'warnings': 0}, words)
    hottest = [row for row in data['answers']['["functions"]']['rows'] if row['object']][:10]
    for row in hottest:
        name = row['name'] if re.search(r' \[[^\]]*\]$', row['name']) else f'{row["name"]} [{row["object"].rpartition("/")[2]}]'
        t.check(json.dumps(['fsingle', name], separators=(',', ':')) in data['answers'], f'{name}: not among the answers')
    for words in ('csingle', '<Total>'), ('indxobj', 'Threads'):
        t.check(json.dumps(words, separators=(',', ':')) in data['answers'], f'{words}: not among the answers')
    result = t.run(t.helio, 'html', 'kinds.1.er/')
    t.equal((result.status, result.out), (0, 'helio html: kinds.1.er.html\n'), 'beside the experiment, as a shell completes its name')
    result = t.run(t.helio, 'html', 'none.er', '-o', 'none.html')
    t.check(result.status == 1 and 'none.er' in result.err and not (t.directory / 'none.html').exists(), result.err)
