#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
`helio collect` from outside, with a stand-in for the collector beside it:
what it refuses and how it says so, what the program finds around it, what
the experiment holds afterwards. Usage: collect_options.py DRIVER
"""
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

DRIVER = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
TRUE = pathlib.Path(shutil.which('true')).resolve()
PYTHON = sys.executable
INTERPRETER = b'/lib64/ld-linux-x86-64.so.2\0'
NOBODY = 65534


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix='helio-collect-'))
        self.dir.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def collect(self, *words, driver=None, env=None, **more):
        environment = {k: v for k, v in os.environ.items() if k != 'LD_PRELOAD'}
        return subprocess.run([driver or DRIVER, *words], cwd=self.dir, capture_output=True, text=True, errors='replace',
                              env={**environment, **(env or {})}, timeout=60, **more)

    def good(self, *words, status=0, **more):
        result = self.collect(*words, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def refused(self, status, text, *words, **more):
        before = sorted(os.listdir(self.dir))
        result = self.collect(*words, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, '')
        self.assertIn(text, result.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), before, 'something was created')
        return result

    def write(self, name, content, mode=0o755):
        path = self.dir / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        return path

    def patched(self, name, offset, data):
        """A copy of true(1) with other bytes at an offset."""
        image = bytearray(TRUE.read_bytes())
        image[offset:offset + len(data)] = data
        return self.write(name, bytes(image))

    def log(self, name='test.1.er'):
        return ElementTree.parse(self.dir / name / 'log.xml').getroot()

    def settings(self, name='test.1.er'):
        return {e.get('name'): e.get('value') for e in self.log(name).iter('setting')}


class Texts(Case):
    def test_nothing_shows_usage_and_clock_range(self):
        result = self.good()
        self.assertIn('Usage: helio collect', result.stdout)
        self.assertIn('from 0.010 to 1000 millisec.', result.stdout)
        self.assertEqual(result.stderr, '')

    def test_version(self):
        self.assertRegex(self.good('-V').stdout, r'^helio collect \(Heliometer\) \d+\.\d+\.\d+\n$')

    def test_wrong_option(self):
        result = self.refused(1, "collect: unrecognized argument '-pon'", '-pon', 'true')
        self.assertIn('helio collect --help', result.stderr)

    def test_warning_goes_to_stderr_and_the_program_runs(self):
        result = self.good('-p', '5u', 'echo', 'ran')
        self.assertEqual(result.stdout, 'ran\n')
        self.assertIn('Warning: Clock profiling at 0.005 millisec. interval is not supported on this system; '
                      'minimum 0.010 millisec. used', result.stderr)
        self.assertEqual(self.settings()['clock'], '10')

    def test_no_data(self):
        self.assertIn('No function level data requested; only statistics will be collected',
                      self.good('-p', 'off', 'true').stderr)

    def test_dry_run(self):
        result = self.good('-n', '-p', '0.5', '-o', 'x.er', 'true', 'a b')
        shape = [
            r'Collection parameters:', r'    experiment enabled', r'\ttarget = true', r'\texpt_name = x.er',
            r'\tclock profiling enabled, 0\.500 millisec\.', r'\tengine: (perf|monitor \(no perf events: .*\))',
            r'\tdescendant processes will be followed', r'\tperiodic sampling, 1 secs\.',
            r'\tno experiment size limit set', r'\texperiment archiving: -A on',
            r'\tdata descriptor: "p:500;e:(perf|monitor);F:on;"',
            r"\t\thost: `%s', ncpus = \d+, clock frequency \d+ MHz\." % re.escape(os.uname().nodename),
            r'\t\tmemory:  %d pages @ %d bytes = \d+ MB\.' % (os.sysconf('SC_PHYS_PAGES'), os.sysconf('SC_PAGESIZE')),
            r'Creating experiment directory x\.er \(Process ID: \d+\) \.\.\.', r"Exec argv\[\] = true 'a b'"]
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), len(shape), result.stdout)
        for line, pattern in zip(lines, shape):
            self.assertRegex(line, f'^{pattern}$')
        self.assertEqual(os.listdir(self.dir), [])

    def test_dry_run_says_what_is_off(self):
        out = self.good('-n', '-p', 'off', '-S', 'off', '-F', 'off', '-t', '2-3', 'true').stdout
        for line in ('clock profiling disabled', 'no periodic sampling', 'descendant processes will not be followed',
                     'recording from 2.000 to 3.000 secs.'):
            self.assertIn(f'\t{line}\n', out)
        self.assertIn("descendant processes that match pattern '=a|b'", self.good('-n', '-F', '=a|b', 'true').stdout)

    def test_messages_keep_away_from_the_program(self):
        result = self.good('sh', '-c', 'echo out; echo err >&2')
        self.assertEqual(result.stdout, 'out\n')
        lines = result.stderr.splitlines()
        self.assertRegex(lines[0], r'^helio collect: test\.1\.er: recording sh \(pid \d+\), engine (perf|monitor), 0\.997 ms at first, then 10\.007 ms$')
        self.assertEqual(lines[1], 'err')
        self.assertRegex(lines[2], r'^helio collect: test\.1\.er: [\d.]+ s, 21 events, [\d.]+ (bytes|KB); '
                                   r'next: helio print -functions -calltree test\.1\.er$')
        self.assertEqual(len(lines), 3)

    def test_next_command_fits_what_was_recorded(self):
        for options, commands in ((['-p', 'off'], '-statistics'), ([], '-functions -calltree')):
            said = self.good('-O', 'next.1.er', *options, 'sh', '-c', 'echo').stderr
            self.assertRegex(said, f'; next: helio print {commands} next\\.1\\.er\n$')

    def test_old_name(self):
        lines = self.good('true', env={'DRIVER_OLD_NAME': '1'}).stderr.splitlines()
        self.assertRegex(lines[0], r'^Creating experiment directory test\.1\.er \(Process ID: \d+\) \.\.\.$')
        self.assertEqual(len(lines), 2)

    def test_quiet(self):
        result = self.good('-q', 'sh', '-c', 'echo err >&2')
        self.assertEqual(result.stderr, 'err\n')

    def test_verbose(self):
        result = self.good('-v', 'echo', 'x')
        self.assertEqual(result.stdout, 'x\n')
        self.assertIn('Collection parameters:\n', result.stderr)
        self.assertIn('helio collect (Heliometer)', result.stderr)


class Targets(Case):
    def test_not_found(self):
        self.refused(127, "Target 'nosuch' not found", 'nosuch')
        self.refused(127, "Target './nosuch' not found", './nosuch')
        self.refused(127, "Target '/nosuch/x' not found", '/nosuch/x')
        self.refused(127, "Target '' not found", '')

    def test_program_in_this_folder_needs_its_path(self):
        self.write('here', TRUE.read_bytes())
        self.refused(127, 'for the file in this folder say ./here', 'here')
        self.good('here', env={'PATH': ''})  # an empty entry of PATH is this folder

    def test_directory(self):
        self.refused(126, 'is a directory', '/tmp')

    def test_not_executable(self):
        self.write('data', 'x', mode=0o644)
        self.refused(126, "Target './data' is not executable", './data')
        self.refused(126, "Target 'data' is not executable", 'data', env={'PATH': str(self.dir)})

    def test_path_goes_on_after_what_cannot_be_run(self):
        (self.dir / 'a').mkdir()
        self.write('a/true', 'x', mode=0o644)
        self.good('true', env={'PATH': f'{self.dir}/a:{TRUE.parent}'})

    def test_path_is_searched_in_order(self):
        for name in 'ab':
            (self.dir / name).mkdir()
            self.write(f'{name}/which-one', f'#!/bin/sh\necho {name}\n')
        self.assertEqual(self.good('which-one', env={'PATH': f'{self.dir}/b:{self.dir}/a:/bin'}).stdout, 'b\n')

    def test_statically_linked(self):
        image = TRUE.read_bytes()
        phoff, = struct.unpack_from('<Q', image, 32)
        phnum, = struct.unpack_from('<H', image, 56)
        index = [i for i in range(phnum) if struct.unpack_from('<I', image, phoff + 56 * i)[0] == 3][0]
        self.patched('static', phoff + 56 * index, b'\0\0\0\0')
        result = self.refused(126, 'is statically linked', './static')
        self.assertIn('without -static', result.stderr)

    def test_really_statically_linked(self):
        self.write('a.c', 'int main(void) { return 0; }\n')
        for flag in ('-static', '-static-pie'):
            if subprocess.run(['cc', flag, '-o', 'a', 'a.c'], cwd=self.dir, capture_output=True).returncode:
                self.skipTest(f'cc {flag} does not work here')
            self.refused(126, 'is statically linked', './a')

    def test_other_machine(self):
        self.patched('arm', 18, struct.pack('<H', 183))
        self.refused(126, 'for another machine (ELF machine 183', './arm')
        self.patched('big', 5, b'\2')
        self.refused(126, 'for another machine', './big')

    def test_32_bit(self):
        self.patched('narrow', 4, b'\1')
        self.refused(126, 'is a 32-bit program', './narrow')

    def test_object_file(self):
        self.patched('object', 16, b'\1\0')
        self.refused(126, 'is an object file or a core dump', './object')

    def test_other_data(self):
        self.write('image', b'\x89PNG\r\n\x1a\n\0\0\0\rIHDR')
        self.refused(126, 'is not a program for this machine', './image')

    def interpreter(self, name):
        return self.patched('other', TRUE.read_bytes().index(INTERPRETER), name.ljust(len(INTERPRETER), b'\0'))

    def test_musl(self):
        self.interpreter(b'/lib/ld-musl-x86_64.so.1')
        self.refused(126, 'musl, which is not supported', './other')

    def test_missing_dynamic_linker(self):
        self.interpreter(b'/lib64/nosuch.so.2')
        self.refused(127, "needs the dynamic linker '/lib64/nosuch.so.2', which does not exist", './other')

    def test_scripts(self):
        self.write('a', '#!/bin/sh\necho "$0 $1"\n')
        self.assertEqual(self.good('./a', 'x').stdout, './a x\n')
        self.write('b', f'#!/usr/bin/env {pathlib.Path(PYTHON).name}\nprint(7)\n')
        self.assertEqual(self.good('./b').stdout, '7\n')
        self.write('c', f'#! {self.dir}/a -c\n')  # a script as interpreter
        self.assertEqual(self.good('./c').stdout, f'{self.dir}/a -c\n')
        self.write('d', 'echo "$1"\n')  # no interpreter named: sh, as execvp does
        self.assertEqual(self.good('./d', 'y').stdout, 'y\n')
        self.assertEqual([e.get('text') for e in self.log('test.4.er').iter('argument')], ['/bin/sh', './d', 'y'])

    def test_script_without_interpreter(self):
        self.write('a', '#!/no/such/thing -x\n')
        self.refused(127, "is a script whose interpreter '/no/such/thing' does not exist", './a')
        self.write('b', '#!\n')
        self.refused(127, "is a script whose interpreter '' does not exist", './b')
        self.write('c', 'x', mode=0o644)
        self.write('d', f'#!{self.dir}/c\n')
        self.refused(126, 'is not executable', './d')

    def test_script_of_a_static_interpreter(self):
        image = TRUE.read_bytes()
        self.patched('interp', 4, b'\1')
        self.write('s', f'#!{self.dir}/interp\n')
        self.refused(126, f"Target '{self.dir}/interp' is a 32-bit program", './s')
        self.assertTrue(image)

    def test_script_in_a_circle(self):
        self.write('s', f'#!{self.dir}/s\n')
        self.refused(126, 'is not a program for this machine', './s')

    def test_java(self):
        self.write('x.jar', b'PK', mode=0o644)
        self.write('Main.class', b'\xca\xfe', mode=0o644)
        self.refused(127, 'there is no java in PATH', 'x.jar', env={'PATH': ''})
        (self.dir / 'bin').mkdir()
        self.write('bin/java', '#!/bin/sh\necho java "$@"\n')
        env = {'PATH': f'{self.dir}/bin:{os.environ["PATH"]}'}
        self.assertEqual(self.good('x.jar', '1', env=env).stdout, 'java -jar x.jar 1\n')
        self.assertEqual(self.good('Main.class', env=env).stdout, 'java -cp . Main\n')
        self.assertEqual(self.good(f'{self.dir}/Main.class', env=env).stdout, f'java -cp {self.dir}/ Main\n')

    def rights(self, name, mode=0o755, uid=0, gid=0):
        if os.getuid():
            self.skipTest('only root can make such files')
        if os.statvfs(self.dir).f_flag & os.ST_NOSUID:
            self.skipTest('this file system knows no setuid')
        path = self.write(name, TRUE.read_bytes())
        os.chown(path, uid, gid)
        path.chmod(mode)
        return path

    def test_setuid(self):
        self.rights('a', 0o4755, uid=NOBODY)
        self.refused(126, "Target './a' is setuid", './a')
        self.rights('b', 0o4755)  # root's own: no change of user
        self.good('./b')

    def test_setgid(self):
        self.rights('a', 0o2755, gid=NOBODY)
        self.refused(126, "Target './a' is setgid", './a')
        self.rights('b', 0o2745, gid=NOBODY)  # without the group's x bit it means mandatory locking
        self.good('./b')

    def test_capabilities(self):
        path = self.rights('a')
        os.setxattr(path, 'security.capability', struct.pack('<IIIII', 0x02000001, 1 << 13, 0, 0, 0))
        self.good('./a')  # root has them anyway
        os.chmod(self.dir, 0o777)
        self.refused(126, "Target './a' is given file capabilities", './a', user=NOBODY, group=NOBODY)

    def test_unreadable(self):
        path = self.rights('a')
        path.chmod(0o711)
        self.refused(126, 'cannot be read (Permission denied)', './a', user=NOBODY, group=NOBODY)

    def test_exec_that_fails_leaves_nothing(self):
        # 2000 program headers are more than the kernel takes, and nothing that we look at
        self.patched('many', 56, struct.pack('<H', 2000))
        result = self.refused(126, 'exec of ./many failed: Exec format error', './many')
        self.assertIn('test.1.er: recording many', result.stderr)


class Names(Case):
    def made(self, *options):
        before = set(os.listdir(self.dir))
        result = self.good(*options, 'true')
        new = set(os.listdir(self.dir)) - before
        self.assertEqual(len(new), 1)
        return new.pop(), result.stderr

    def test_default_counts_up(self):
        self.assertEqual(self.made()[0], 'test.1.er')
        self.assertEqual(self.made()[0], 'test.2.er')
        (self.dir / 'test.41.er').mkdir()
        for other in ('test.er', 'test.x.er', 'xtest.99.er', 'test.50.err', 'test.1.2.er'):
            (self.dir / other).mkdir()
        self.assertEqual(self.made()[0], 'test.42.er')
        self.assertEqual((self.dir / 'test.42.er').stat().st_mode & 0o777, 0o755)

    def test_name_with_number_is_changed(self):
        self.assertEqual(self.made('-o', 'a.3.er')[0], 'a.3.er')
        name, text = self.made('-o', 'a.3.er')
        self.assertEqual(name, 'a.4.er')
        self.assertIn('name a.3.er is in use; changed to a.4.er', text)

    def test_name_without_number_is_refused(self):
        for name in ('xyz.er', 'xyz123.er', '123.er'):
            self.made('-o', name)
            self.refused(1, f'name {name} is in use and cannot be updated', '-o', name, 'true')

    def test_folder(self):
        (self.dir / 'd').mkdir()
        self.good('-o', 'd/a.1.er', 'true')
        self.good('-o', 'd/a.1.er/', 'true')
        self.assertEqual(sorted(os.listdir(self.dir / 'd')), ['a.1.er', 'a.2.er'])
        self.refused(125, 'Cannot create experiment nosuch/a.er: No such file or directory', '-o', 'nosuch/a.er', 'true')

    def test_overwrite(self):
        self.made('-o', 'a.er')
        (self.dir / 'a.er' / '_f1.er').mkdir()
        (self.dir / 'a.er' / '_f1.er' / 'log.xml').write_text('old')
        self.good('-O', 'a.er', 'true')
        self.assertEqual(sorted(os.listdir(self.dir)), ['a.er'])
        self.assertFalse((self.dir / 'a.er' / '_f1.er').exists())

    def test_overwrite_spares_what_is_no_experiment(self):
        (self.dir / 'home.er').mkdir()
        self.write('home.er/letter', 'x')
        self.write('file.er', 'x')
        (self.dir / 'link.er').symlink_to('home.er')
        for name in ('home.er', 'file.er', 'link.er'):
            self.refused(125, f'Cannot remove experiment {name}', '-O', name, 'true')
        self.assertTrue((self.dir / 'home.er' / 'letter').exists())

    def test_overwrite_waits_for_the_checks(self):
        self.made('-o', 'a.er')
        self.refused(127, 'not found', '-O', 'a.er', 'nosuch')
        self.assertTrue((self.dir / 'a.er' / 'log.xml').exists())

    def test_notes(self):
        self.made('-C', 'first line', '-C', 'über <2>')
        self.assertEqual((self.dir / 'test.1.er' / 'notes').read_text(), 'first line\nüber <2>\n')
        self.made()
        self.assertFalse((self.dir / 'test.2.er' / 'notes').exists())


class Log(Case):
    def test_head(self):
        before = time.clock_gettime_ns(time.CLOCK_REALTIME), time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.good('-p', 'hi', '-S', '7', '-F', '=ab', '-t', '0-9m', '--engine', 'monitor', '--depth', '50', 'true')
        after = time.clock_gettime_ns(time.CLOCK_REALTIME), time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        log = self.log()
        self.assertEqual((log.tag, log.get('version')), ('experiment', '1.0'))
        self.assertRegex(log.get('producer'), r'^heliometer \d')
        self.assertTrue(before[0] <= int(log.get('wall_ns')) <= after[0])
        self.assertTrue(before[1] <= int(log.get('mono_ns')) <= after[1])
        self.assertEqual(self.settings(), {
            'clock': '997', 'sample': '7', 'follow': '=ab', 'window': '0-540000', 'engine': 'monitor', 'depth': '50',
            'archive': 'on', 'command': 'helio collect -p hi -S 7 -F =ab -t 0-9m --engine monitor --depth 50 true'})
        system = log.find('system')
        name = os.uname()
        self.assertEqual([system.get(k) for k in ('hostname', 'os', 'arch', 'pagesize', 'pages', 'cpus')],
                         [name.nodename, f'{name.sysname} {name.release}', name.machine, str(os.sysconf('SC_PAGESIZE')),
                          str(os.sysconf('SC_PHYS_PAGES')), str(os.sysconf('SC_NPROCESSORS_ONLN'))])

    def test_any_argument(self):
        odd = ['', 'a b', '<&>"\'', 'tab\tline\nreturn\r', 'über €𝄞 \uee01', b'\x01\xff\xed\xa0\x80\xc0\x80end', '/>']
        self.good('printf', '%s', *odd)
        words = [e.get('text') for e in self.log().iter('argument')]
        odd[5] = '\uee01\ueeff\ueeed\ueea0\uee80\ueec0\uee80end'
        odd[4] = 'über €𝄞 \uee00\uee01'
        self.assertEqual(words, ['printf', '%s', *odd])

    def exit_event(self, name='test.1.er'):
        events = [e for e in self.log(name).iter('event') if e.get('kind') == 'exit']
        self.assertEqual(len(events), 1)
        return events[0].get('status'), events[0].get('signal')

    def test_exit_status(self):
        self.good('sh', '-c', 'exit 7', status=7)
        self.assertEqual(self.exit_event(), ('7', '0'))

    def test_killed(self):
        self.good('sh', '-c', 'kill -9 $$', status=137)
        self.assertEqual(self.exit_event(), ('0', '9'))

    def test_line_cut_off(self):
        self.good('sh', '-c', 'printf "<event" >> test.1.er/log.xml')
        text = (self.dir / 'test.1.er' / 'log.xml').read_text()
        self.assertRegex(text, r'\n<event\n<event kind="exit" [^\n]*/>\n<event kind="sums"/>\n</experiment>\n$')

    def test_already_closed(self):
        self.good('sh', '-c', 'echo "</experiment>" >> test.1.er/log.xml')
        self.assertEqual((self.dir / 'test.1.er' / 'log.xml').read_text().count('</experiment>'), 1)

    def test_program_removes_the_experiment(self):
        result = self.good('sh', '-c', 'rm -r test.1.er; exit 3', status=3)
        self.assertIn('Experiment test.1.er is not there any more', result.stderr)


class Surroundings(Case):
    def bare(self, *words, **more):
        return subprocess.run(words, cwd=self.dir, capture_output=True, text=True, **more).stdout

    def same(self, *words, **more):
        self.assertEqual(self.good(*words, **more).stdout, self.bare(*words, **more))

    def test_environment(self):
        self.write('collector-test', '')
        out = self.good('-p', 'lo', '-F', '=x', 'env', 
                        env={'LD_PRELOAD': 'libm.so.6', 'KEEP': 'this', 'ASAN_OPTIONS': 'verify_asan_link_order=0'}).stdout
        env = dict(line.split('=', 1) for line in out.splitlines() if '=' in line)
        library = str(DRIVER.parent / 'libhelio-collector.so')
        self.assertEqual(env['LD_PRELOAD'], f'{library}:libm.so.6')
        self.assertEqual(env['KEEP'], 'this')
        self.assertEqual(env['HELIO_COLLECTOR_EXPERIMENT'], str(self.dir.resolve() / 'test.1.er'))
        self.assertEqual(env['HELIO_COLLECTOR_LINEAGE'].strip(), '')
        self.assertEqual(env['HELIO_COLLECTOR_LIBRARY'], library)
        self.assertEqual(env['HELIO_COLLECTOR_FOLLOW'], '^(x)$')
        params = dict(p.split(':', 1) for p in env['HELIO_COLLECTOR_PARAMS'].rstrip(';').split(';'))
        self.assertEqual((params['p'], params['F'], params['s']), ('100003', 'on', self.log().get('mono_ns')))
        self.assertIn(params['e'], ('perf', 'monitor'))

    def test_traced(self):
        out = self.good('-p', 'off', '-H', 'sample=512k', 'env').stdout
        env = dict(line.split('=', 1) for line in out.splitlines() if '=' in line)
        self.assertEqual(env['LD_PRELOAD'].split(':')[0], str(DRIVER.parent / 'libhelio-collector-trace.so'))
        self.assertIn(';H:524288;', env['HELIO_COLLECTOR_PARAMS'])
        self.assertEqual(self.settings()['heap'], '524288')

    def test_descriptors(self):
        self.same(PYTHON, '-c', 'import os; print(sorted(os.listdir("/proc/self/fd")))')

    def test_signals(self):
        def ignore_some():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGTERM})
        self.same('grep', '^Sig[BIC]', '/proc/self/status', preexec_fn=ignore_some)
        self.same('grep', '^Sig[BIC]', '/proc/self/status')

    def test_limits_group_and_stdin(self):
        script = 'import os,sys; print(os.getpgrp() - %d, os.nice(0), os.umask(0), sys.stdin.read())' % os.getpgrp()

        def some():
            os.nice(3)
            os.umask(0o27)
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))
        self.same(PYTHON, '-c', script, input='typed', preexec_fn=some)
        self.same('cat', '/proc/self/limits', preexec_fn=some)

    def test_library_places(self):
        for folder in ('bin', 'lib/heliometer', 'a b'):
            (self.dir / folder).mkdir(parents=True)
        driver = shutil.copy(DRIVER, self.dir / 'bin')
        self.refused(125, 'The collector library libhelio-collector.so is neither in', 'true', driver=driver)
        library = shutil.copy(DRIVER.parent / 'libhelio-collector.so', self.dir / 'lib/heliometer')
        out = self.good('env', driver=driver).stdout
        self.assertIn(f'LD_PRELOAD={pathlib.Path(library).resolve()}', out)
        shutil.copy(library, self.dir / 'a b')
        self.refused(125, 'as a space or colon separates names', 'true', driver=shutil.copy(driver, self.dir / 'a b'))

    def test_collector_that_does_not_start(self):
        (self.dir / 'bin').mkdir()
        driver = shutil.copy(DRIVER, self.dir / 'bin')
        self.write('bin/libhelio-collector.so', 'not a library')
        result = self.good('sh', '-c', 'exit 5', driver=driver, status=5)
        self.assertIn('The collector did not start inside the program', result.stderr)
        self.assertIn('take LD_PRELOAD out of its environment?', result.stderr)
        result = self.good('true', driver=driver, env={'HELIO_COLLECTOR_EXPERIMENT': '/tmp/test.1.er'})
        self.assertIn('this command is being collected itself', result.stderr)


class Engines(Case):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o777)

    def as_nobody(self):
        level = int(pathlib.Path('/proc/sys/kernel/perf_event_paranoid').read_text())
        if os.getuid() or level < 2:
            self.skipTest('needs root to become nobody, and perf_event_paranoid >= 2')
        return {'user': NOBODY, 'group': NOBODY, 'extra_groups': []}, f'perf_event_paranoid is {level}'

    def test_auto_says_why_not_perf(self):
        nobody, reason = self.as_nobody()
        self.assertIn(f'engine: monitor (no perf events: {reason}', self.good('-v', 'true', **nobody).stderr)
        self.assertIn(reason, self.settings()['engine_reason'])
        self.assertEqual(self.settings()['engine'], 'auto')

    def test_perf_that_cannot_be(self):
        nobody, reason = self.as_nobody()
        result = self.refused(125, f'The perf engine cannot be used: {reason}', '--engine', 'perf', 'true', **nobody)
        self.assertIn('CAP_PERFMON', result.stderr)
        self.assertIn('kernel.perf_event_paranoid=1', result.stderr)
        self.assertIn('--engine monitor', result.stderr)

    def test_forced(self):
        out = self.good('--engine', 'monitor', 'env').stdout
        self.assertIn(';e:monitor;', out)
        self.assertNotIn('engine_reason', self.settings())


class Signals(Case):
    PROGRAM = '''
import os, signal, sys, time
def handler(number, frame):
    print(signal.Signals(number).name, flush=True)
    if number != signal.SIGCONT:
        sys.exit(9)
for name in ('INT', 'TERM', 'HUP', 'USR1', 'CONT'):
    signal.signal(getattr(signal, 'SIG' + name), handler)
print(os.getpid(), flush=True)
while True:
    time.sleep(10)
'''

    def start(self):
        def own_group():
            os.setpgid(0, 0)
        process = subprocess.Popen([DRIVER, '-q', PYTHON, '-c', self.PROGRAM], cwd=self.dir, stdout=subprocess.PIPE,
                                   text=True, preexec_fn=own_group)
        program = int(process.stdout.readline())
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(self.kill, program)
        return process, program

    @staticmethod
    def kill(pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def test_passed_on(self):
        for name in ('SIGTERM', 'SIGHUP', 'SIGUSR1'):
            process, _ = self.start()
            process.send_signal(getattr(signal, name))
            self.assertEqual(process.stdout.readline().strip(), name)
            self.assertEqual(process.wait(), 9)

    def test_interrupt_of_the_group_ends_the_program_only(self):
        process, _ = self.start()
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.stdout.readline().strip(), 'SIGINT')
        self.assertEqual(process.wait(), 9)
        self.assertTrue((self.dir / 'test.1.er' / 'log.xml').read_text().endswith('</experiment>\n'))

    def test_stop_and_continue(self):
        process, program = self.start()
        os.kill(program, signal.SIGTSTP)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status), 'the launcher stops with its program')
        os.kill(process.pid, signal.SIGCONT)
        self.assertEqual(process.stdout.readline().strip(), 'SIGCONT')
        os.kill(program, signal.SIGTERM)
        self.assertEqual(process.wait(), 9)

    def test_stop_of_the_launcher_reaches_the_program(self):
        process, program = self.start()
        os.kill(process.pid, signal.SIGTSTP)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        state = pathlib.Path(f'/proc/{program}/stat').read_text().rpartition(')')[2].split()[0]
        self.assertEqual(state, 'T')
        os.kill(process.pid, signal.SIGCONT)
        self.assertEqual(process.stdout.readline().strip(), 'SIGCONT')

    def test_sigstop_is_the_programs_own(self):
        process, program = self.start()
        os.kill(program, signal.SIGSTOP)
        while pathlib.Path(f'/proc/{program}/stat').read_text().rpartition(')')[2].split()[0] != 'T':
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGCONT)  # the launcher is not stopped, and hands it on
        self.assertEqual(process.stdout.readline().strip(), 'SIGCONT')


FIELDS = ('user_ns system_ns minor_faults major_faults voluntary_switches involuntary_switches input_blocks '
          'output_blocks read_bytes write_bytes read_calls write_calls rss_bytes max_rss_bytes threads run_delay_ns').split()


def read_overview(path):
    """[(time, kind, {field: value})], from docs/format.md."""
    data = path.read_bytes()
    assert data[:8] == b'HELIO\r\n\x1a'
    header_size, = struct.unpack_from('<I', data, 12)
    assert (len(data) - header_size) % 176 == 0
    records = []
    for at in range(header_size, len(data), 176):
        time_ns, kind = struct.unpack_from('<QI', data, at)
        records.append((time_ns, kind, dict(zip(FIELDS, struct.unpack_from('<16Q', data, at + 48)))))
    return records


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def read_packed(path):
    """[(header fields, payload)] of a file without gaps."""
    data = path.read_bytes()
    at, = struct.unpack_from('<I', data, 12)
    blocks = []
    while at < len(data):
        header = struct.unpack_from('<4sIIIQIHHII', data, at)
        assert header[0] == b'HBLK' and header[1] == 40 + (header[2] + 7) // 8 * 8, header
        blocks.append((header, data[at + 40:at + 40 + header[2]]))
        at += header[1]
    assert at == len(data)
    return blocks


class Data(Case):
    PROGRAM = '''
import os, resource, sys, time
data = bytearray(30 << 20)
while time.process_time() < 0.7 or time.monotonic_ns() < int(os.environ["START"]) + 2300000000:
    os.write(3, b"x" * 1000) if os.path.exists("/proc/self/fd/3") else sum(range(20000))
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, usage.ru_minflt, usage.ru_maxrss * 1024)
'''

    def test_periodic_samples(self):
        result = self.good('-S', '1', PYTHON, '-c', self.PROGRAM, env={'START': str(time.monotonic_ns())})
        cpu, faults, rss = map(float, result.stdout.split())
        records = read_overview(self.dir / 'test.1.er' / 'overview')
        self.assertEqual(records[0][1], 0)
        self.assertGreaterEqual(len(records), 2)
        for before, after in zip(records, records[1:]):
            self.assertEqual(after[1], 1)
            self.assertGreater(after[0], before[0])
            for field in FIELDS:
                if field not in ('rss_bytes', 'threads'):
                    self.assertGreaterEqual(after[2][field], before[2][field], field)
        last = records[-1][2]
        self.assertTrue(0 < last['user_ns'] + last['system_ns'] <= cpu * 1e9)
        self.assertTrue(7000 < last['minor_faults'] <= faults)
        self.assertTrue(30 << 20 < last['rss_bytes'] <= last['max_rss_bytes'] <= rss * 1.05)
        self.assertEqual(last['threads'], 1)
        self.assertGreater(last['read_calls'], 0)
        self.assertGreater(last['read_bytes'], 0)

    def test_no_samples(self):
        for options in (('-S', 'off'), ('-S', '1', '-t', '5m-6m')):
            self.good(*options, '-o', 'a.1.er', 'sleep', '1.3')
        for name in ('a.1.er', 'a.2.er'):
            self.assertEqual([r[1] for r in read_overview(self.dir / name / 'overview')], [0])

    def test_sampling_goes_on_in_descendants_and_stops_at_the_end(self):
        # exec in the founder keeps its process id: the new image's experiment gets the samples from then on
        self.good('sh', '-c', 'HELIO_COLLECTOR_LINEAGE=_f1_x1 sleep 2.4 & '
                              'HELIO_COLLECTOR_LINEAGE=_x1 exec sleep 2.4')
        kinds = [[r[1] for r in read_overview(self.dir / 'test.1.er' / sub / 'overview')]
                 for sub in ('.', '_f1_x1.er', '_x1.er')]
        self.assertEqual(kinds[0], [0])
        for child in kinds[1:]:
            self.assertEqual(set(child[1:]), {1})

    def test_nothing_after_the_end_sample(self):
        end = '''
import struct, time
record = struct.pack('<QI', time.monotonic_ns(), 2).ljust(176, b'\\0')
open('test.1.er/overview', 'ab').write(record)
time.sleep(1.3)
'''
        self.good(PYTHON, '-c', end)
        self.assertEqual([r[1] for r in read_overview(self.dir / 'test.1.er' / 'overview')], [0, 2])

    def check_packed(self, folder):
        (header, records), = read_packed(folder / 'profile')
        self.assertEqual(header[3], 1)
        self.assertEqual(records, bytes([0x80, 1, 77, 0, 0x40, 0xf4, 0x03, 14]))
        nodes = {}
        for header, data in read_packed(folder / 'stacks'):
            self.assertEqual((header[6], header[7]), (3, 0))
            at, pc, new = 0, 0, []
            for number in range(header[3], header[3] + header[8]):
                up, at = read_varint(data, at)
                back, at = read_varint(data, at)
                if back:
                    nodes[number] = number - up, new[-back]
                else:
                    value, at = read_varint(data, at)
                    pc += (value >> 1) ^ -(value & 1)
                    new.append(pc)
                    nodes[number] = number - up, pc
            self.assertEqual(at, len(data))
        self.assertEqual(nodes, {i + 1: (i // 2, 0x400000 + i % 50 * 16) for i in range(1000)})
        self.assertFalse(list(folder.glob('*.tmp')))

    def test_packed(self):
        self.good('sh', '-c', f'HELIO_COLLECTOR_LINEAGE=_c1 {TRUE}; HELIO_COLLECTOR_LINEAGE=_c2 {TRUE}; :')
        for sub in ('.', '_c1.er', '_c2.er'):
            self.check_packed(self.dir / 'test.1.er' / sub)

    def test_what_still_runs_is_left_alone(self):
        result = self.good('sh', '-c', 'HELIO_COLLECTOR_LINEAGE=_f1_x1 sleep 60 </dev/null >/dev/null 2>&1 & '
                                       'while ! test -s test.1.er/_f1_x1.er/log.xml; do sleep 0.05; done; '
                                       'sleep 0.1; echo $!')
        self.addCleanup(os.kill, int(result.stdout), signal.SIGKILL)
        self.assertIn('1 still running', result.stderr)
        self.assertEqual((self.dir / 'test.1.er' / '_f1_x1.er' / 'profile').stat().st_size, 4096 + 3 * 65536)
        self.check_packed(self.dir / 'test.1.er')

    def test_damaged_file_stays(self):
        result = self.good('sh', '-c', 'printf damage | dd of=test.1.er/stacks bs=1 seek=4096 conv=notrunc 2>/dev/null')
        self.assertIn('stacks is damaged and was left as it is', result.stderr)
        self.assertEqual((self.dir / 'test.1.er' / 'stacks').stat().st_size, 4096 + 2 * 65536)

    def test_file_of_a_process_killed_when_it_made_it_is_no_damage(self):
        result = self.good('sh', '-c', f'HELIO_COLLECTOR_LINEAGE=_c1 {TRUE}; : >test.1.er/_c1.er/profile; '
                                       'truncate -s 65536 test.1.er/_c1.er/profile')
        self.assertNotIn('damaged', result.stderr)


if __name__ == '__main__':
    unittest.main()
