# SPDX-License-Identifier: Apache-2.0
"""A server of `helio view`, and clients that say exactly what goes over the wire."""
import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import time

from harness import Failure

JSON = {'Content-Type': 'application/json'}


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json['error']['text']


class Server:
    """helio view WORDS, running; ended at the end of the with statement. before: the words of who starts it."""

    def __init__(self, t, *words, env=None, key=True, before=()):
        self.t = t
        environment = {name: value for name, value in os.environ.items() if name not in ('BROWSER', 'DISPLAY', 'SSH_CONNECTION')}
        environment.update(env or {})
        command = [*before, str(t.helio), 'view', *(['--no-open'] if key else []), *map(str, words)]
        self.process = subprocess.Popen(command, cwd=t.directory, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.out = ''
        while 'Ctrl-C' not in self.out:
            if not select.select([self.process.stdout], [], [], 120)[0]:
                raise Failure('it does not say where it is')
            got = os.read(self.process.stdout.fileno(), 4096).decode()
            if not got:
                raise Failure(f'it has ended: {self.process.stderr.read().decode()}')
            self.out += got
        self.port = int(re.search(r'http://127\.0\.0\.1:(\d+)/#t=', self.out).group(1))
        self.token = re.search(r'#t=(\w+)', self.out).group(1)
        found = re.search(r'Bearer (\w+)', self.out)
        self.key = found and found.group(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise Failure('Ctrl-C does not end it')
        self.process.stdout.close()
        self.process.stderr.close()

    def connect(self):
        return http.client.HTTPConnection('127.0.0.1', self.port, timeout=120)

    def ask(self, method, path, body=None, headers=None, key=True):
        """One request over a connection of its own."""
        connection = self.connect()
        all_headers = {**({'Authorization': f'Bearer {self.key}'} if key else {}), **(JSON if body is not None else {}), **(headers or {})}
        connection.request(method, path, body=json.dumps(body) if isinstance(body, (dict, list)) else body, headers=all_headers)
        answer = connection.getresponse()
        reply = Reply(answer.status, answer.headers, answer.read())
        connection.close()
        return reply

    def get(self, name, **more):
        return self.ask('GET', f'/api/v1/{name}', **more)

    def post(self, name, body, **more):
        return self.ask('POST', f'/api/v1/{name}', body=body, **more)

    def print(self, *commands, settings=(), session=1, **more):
        return self.post('print', {'session': session, 'settings': [list(s) for s in settings], 'commands': [list(c) for c in commands], **more})

    def raw(self, data, wait=60):
        """What comes back for these bytes, until the server closes the connection or is silent."""
        with socket.create_connection(('127.0.0.1', self.port), timeout=wait) as line:
            line.sendall(data)
            got = b''
            try:
                while piece := line.recv(65536):
                    got += piece
            except (TimeoutError, ConnectionError):
                pass
            return got

    def request(self, *headers, line='GET /api/v1/bootstrap HTTP/1.1', body=b'', host=True, key=True):
        """The same, of a request put together from lines."""
        lines = [line, *([f'Host: 127.0.0.1:{self.port}'] if host else []), *([f'Authorization: Bearer {self.key}'] if key else []), *headers,
                 'Connection: close']
        got = self.raw('\r\n'.join(lines).encode() + b'\r\n\r\n' + body)
        head, _, rest = got.partition(b'\r\n\r\n')
        words = head.split(b' ', 2)
        return Reply(int(words[1]) if len(words) > 1 else 0, dict(re.findall(r'^([\w-]+): (.*?)\r?$', head.decode('latin1'), re.M)), rest)


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failure(f'not so after {seconds} s: {what}')
        time.sleep(0.05)
