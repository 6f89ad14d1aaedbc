# SPDX-License-Identifier: Apache-2.0
"""
Real programs that do what profilers do not expect: sandboxes, runtimes with compilers, collectors and signals of their own,
tools that change user, namespace or terminal. Each must end as bare, with the same output, at the default interval and at
1 ms, and leave an experiment that holds something.
"""
import hashlib
import os
import pathlib
import shutil

from harness import Skip, is_root, test

REAL = pathlib.Path(__file__).resolve().parent / 'real'
PAGE = '''<html><body><p id=p></p><canvas id=c width=99 height=99></canvas><script>
let s = 0; for (let i = 0; i < 3e6; i++) s = (s * 31 + i) % 1000003; document.getElementById('p').textContent = s;
document.getElementById('c').getContext('2d').fillRect(9, 9, 50, 40);</script></body></html>'''


def as_bare(t, engine, *words, cpu=0.002, **more):
    for result, family in t.like_bare(engine, *words, intervals=('on', '1'), **more):
        recorded = sum(image['cpu'] for image in family.values())
        t.within(recorded >= cpu, f'{recorded} s of CPU time recorded in {len(family)} processes')
        yield result, family


def run(t, engine, *words, **more):
    for _ in as_bare(t, engine, *words, **more):
        pass


def script(t, engine, text, **more):
    run(t, engine, 'sh', '-c', text, **more)


# ---- browsers ----

def browse(t, engine, command):
    """The picture that it makes of a page, to the bit."""
    page = t.directory / 'page.html'
    page.write_text(PAGE)
    text = f'd=$(mktemp -d); export HOME=$d; {command.format(page=f"file://{page}")} >$d/log 2>&1; s=$?; sha256sum <$d/s.png; rm -rf $d; exit $s'
    for result, _ in as_bare(t, engine, 'sh', '-c', text, timeout=110):
        t.check(hashlib.sha256(b'').hexdigest() not in result.out and result.status == 0, f'{result.status} {result.out}')


@test(engines=True)
def chromium(t, engine):
    browse(t, engine, t.need('chromium') + ' --headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking '
           '--disable-component-update --disable-sync --user-data-dir=$d --screenshot=$d/s.png {page}')


@test(engines=True)
def firefox(t, engine):
    browse(t, engine, t.need('firefox-esr') + ' --headless --no-remote --profile $d --window-size=400,300 --screenshot $d/s.png {page}')


# ---- runtimes ----

@test(engines=True)
def node_workers(t, engine):
    program = t.directory / 'work.js'
    program.write_text('''const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
function work(n) { let s = n; for (let i = 0; i < 2e6; i++) s = (s * 31 + i) % 1000003; return s; }
if (!isMainThread) parentPort.postMessage(work(workerData));
else { const all = []; for (let n = 0; n < 4; n++) new Worker(__filename, { workerData: n }).on('message', s => { all[n] = s;
  if (all.filter(x => x !== undefined).length == 4) console.log(all.join(' ')); }); }
''')
    run(t, engine, t.need('node'), program)


@test(engines=True)
def java_collectors(t, engine):
    built = t.run(t.need('javac'), '-d', t.directory, REAL / 'Work.java')
    t.equal(built.status, 0, built.err)
    for collector in ('Serial', 'Parallel', 'G1', 'Z', 'Shenandoah'):
        words = (t.need('java'), f'-XX:+Use{collector}GC', '-Xmx128m', '-cp', t.directory, 'Work', 'from', 'Java')
        if t.run(words[0], words[1], '-version').status:
            continue  # this build of Java lacks it
        run(t, engine, *words)


@test(engines=True)
def mono(t, engine):
    source = t.directory / 'work.cs'
    source.write_text('''using System; using System.Threading; class Work { static void Main() { var all = new long[3]; var threads = new Thread[3];
for (int n = 0; n < 3; n++) { int k = n; threads[n] = new Thread(() => { long s = k; for (int i = 0; i < 3000000; i++) s = (s * 31 + i) % 1000003;
for (int i = 0; i < 20000; i++) new byte[1000].ToString(); all[k] = s; }); threads[n].Start(); } foreach (var t in threads) t.Join();
try { throw new Exception("caught"); } catch (Exception e) { Console.WriteLine(string.Join(" ", all) + e.Message); } Environment.Exit(3); } }
''')
    t.equal(t.run(t.need('mcs'), f'-out:{t.directory}/work.exe', source).status, 0, 'mcs')
    run(t, engine, t.need('mono'), t.directory / 'work.exe')


@test(engines=True)
def php(t, engine):
    run(t, engine, t.need('php'), '-r', '$s = 0; for ($i = 0; $i < 2000000; $i++) $s = ($s * 31 + $i) % 1000003; echo "$s\\n"; '
        'echo shell_exec("echo below"); usleep(20000); exit(4);')


@test(engines=True)
def ruby(t, engine):
    run(t, engine, t.need('ruby'), '-e', 's = 0; t = (0..2).map { |n| Thread.new { x = n; 300000.times { |i| x = (x * 31 + i) % 1000003 }; x } }; '
        'puts t.map(&:value).join(" "); r, w = IO.pipe; fork { w.puts "child"; exit! 0 }; puts r.gets; Process.wait; '
        'trap("USR1") { puts "usr1" }; Process.kill("USR1", $$); sleep 0.02; puts `echo below`; exit 5')


@test(engines=True)
def erlang(t, engine):
    text = ('P = self(), [spawn(fun() -> P ! {N, lists:foldl(fun(I, S) -> (S * 31 + I) rem 1000003 end, N, lists:seq(1, 300000))} end) || N <- [1, 2, 3]], '
            'io:format("~p~n", [[receive {N, S} -> S end || N <- [1, 2, 3]]]), io:format("~s", [os:cmd("echo below")]), halt(6).')
    run(t, engine, t.need('erl'), '-noshell', '-eval', text)


@test(engines=True)
def r_language(t, engine):
    run(t, engine, t.need('Rscript'), '--vanilla', '-e', 's <- 0; for (i in 1:300000) s <- (s * 31 + i) %% 1000003; print(s); '
        'print(sum(solve(diag(100) + 1))); cat(system("echo below", intern = TRUE), "\\n"); quit(status = 7)')


@test(engines=True)
def octave(t, engine):
    """A hundred libraries, C++ exceptions, and millions of small blocks."""
    run(t, engine, t.need('octave-cli'), '-q', '--no-window-system', '--norc', '--eval', 's = 0; for i = 1:100000, s = mod(s * 31 + i, 1000003); end, disp(s), '
        'disp(sum(sum(inv(eye(100) + 1)))); [~, o] = system("echo below"); disp(o); try, error("caught"), catch e, disp(e.message), end, exit(8)')


@test(engines=True)
def qemu_user(t, engine):
    """Code made at run time; the library is loaded into the guest, too."""
    run(t, engine, t.need('qemu-x86_64'), t.target('exitcode'), 9)


@test(engines=True)
def qemu_user_commands(t, engine):
    """A guest's exec is an instruction of qemu's own, on which no signal of ours may be pending."""
    text = 'i=0; while [ $i -lt 5 ]; do i=$((i + 1)); /bin/echo below $i; done; (exit 3); echo $?; exec /bin/sh -c "exit 8"'
    run(t, engine, t.need('qemu-x86_64'), '/bin/sh', '-c', text)


@test(engines=True)
def qemu_user_signals(t, engine):
    """Its helper thread has all signals blocked, and would fall over one of the guest's that came to it."""
    run(t, engine, t.need('qemu-x86_64'), t.target('ownsignals'), same=lambda result: '')


@test(engines=True)
def gdb(t, engine):
    """The debugger itself, and below it what it debugs, at a break point."""
    for _ in as_bare(t, engine, t.need('gdb'), '-nx', '-q', '-batch', '-ex', 'set debuginfod enabled off', '-ex', 'break main', '-ex', 'run',
                     '-ex', 'p argc', '-ex', 'handle SIG63 SIGTRAP nostop noprint pass', '-ex', 'kill', t.target('exitcode'),
                     same=lambda result: [line for line in result.out.splitlines() if line.startswith('$')]):
        pass


# ---- tools ----

@test(engines=True)
def systemd_tools(t, engine):
    t.need('systemd-analyze')
    script(t, engine, 'systemd-analyze calendar --base-time=2024-01-01 daily | head -1; systemd-analyze timespan 90min; systemd-escape --path /a/b-c; '
           'systemd-analyze --no-pager syscall-filter @clock; systemd-analyze --no-pager unit-paths; systemd-tmpfiles --cat-config | sha256sum; '
           'systemd-id128 show root -u')


@test(engines=True)
def terminals(t, engine):
    """A server of its own, terminals, and the shells in them."""
    t.need('tmux')
    script(t, engine, f'S="tmux -L helio$$ -f /dev/null"; export TMUX_TMPDIR={t.directory} TERM=screen; $S new-session -d "sleep 60"; '
           '$S new-window "echo in a window; sleep 60"; sleep 0.5; $S capture-pane -p | head -1; $S list-windows -F "#{window_index}"; $S kill-server; echo $?')


@test(engines=True)
def other_users(t, engine):
    t.need_root('change its user without a password')
    t.need('sudo')
    script(t, engine, 'sudo -n -u nobody id -un; sudo -n true; echo $?; setpriv --reuid=nobody --clear-groups --no-new-privs id -un; '
           'setpriv --reuid=nobody --regid=nogroup --clear-groups --inh-caps=-all --bounding-set=-all sh -c "id -g; exit 3"; echo $?; runuser -u nobody -- id -un')


@test(engines=True)
def namespaces(t, engine):
    """unshare and bwrap: users, mounts, processes, another root."""
    root = t.directory / 'root'
    for place in ('proc', 'tmp', 'usr', 'bin', 'lib', 'lib64'):
        (root / place).mkdir(parents=True, exist_ok=True)
    words = ('unshare -Urmpf --mount-proc sh -c "echo \\$\\$; id -u; exit 4"', 'unshare -Un true',
             f'unshare -m sh -c "cd {root}; for i in usr bin lib lib64; do mount --rbind /\\$i \\$i; done; mount -t proc p proc; chroot . /bin/sh -c \'ls -d /work /proc/self; sort --version | head -1\'"',
             'bwrap --ro-bind / / --proc /proc --dev /dev --unshare-all --die-with-parent sh -c "id -u; exit 5"')
    tried = t.run('sh', '-c', '; '.join(words[:1] + words[-1:]))
    if 'denied' in tried.err or 'not permitted' in tried.err:
        raise Skip(f'no user namespaces here: {tried.err.strip()[-200:]}')
    t.need('bwrap')
    script(t, engine, '; '.join(f'{word}; echo $?' for word in words))


# ---- the sandbox of a browser, for which one must not be root ----

@test(engines=True)
def chromium_sandboxed(t, engine):
    """User, process and network namespaces, a root that is moved away, and filters."""
    page = t.directory / 'page.html'
    page.write_text(PAGE)
    as_user = []
    if is_root():
        as_user = [t.need('setpriv'), '--reuid=nobody', '--regid=nogroup', '--clear-groups']
        if engine == 'perf':
            as_user += ['--inh-caps=+perfmon', '--ambient-caps=+perfmon']
    for path in (t.build / 'helio', *t.build.glob('libhelio-collector*.so')):
        shutil.copy(path, t.directory)
    os.chmod(t.directory, 0o777)
    text = (f'd=$(mktemp -d); export HOME=$d; {t.need("chromium")} --headless=new --disable-gpu --no-first-run --disable-background-networking '
            f'--disable-component-update --disable-sync --user-data-dir=$d --dump-dom file://{page} 2>$d/log; s=$?; cat $d/log >&2; rm -rf $d; exit $s')
    bare = t.run(*as_user, 'sh', '-c', text)
    if bare.status and ('sandbox' in bare.err or 'namespace' in bare.err):
        raise Skip(f'its sandbox does not work here: {bare.err.strip()[-200:]}')
    for interval in ('on', '1'):
        experiment = t.directory / f'user.{interval}.er'
        result = t.run(*as_user, t.directory / 'helio', 'collect', '--engine', engine, '-p', interval, '-o', experiment, 'sh', '-c', text)
        t.equal((result.status, result.out), (bare.status, bare.out), f'{interval}: status and page: {result.err[-600:]}')
        t.within(sum(image['cpu'] for image in t.read(experiment).values()) > 0.1, 'hardly any CPU time recorded')
