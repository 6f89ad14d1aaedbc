# SPDX-License-Identifier: Apache-2.0
"""
The project's own command, `dev`, in a small project of its own: what is configured is what is installed. The stand-in for
dpkg-query says what the test says.
"""
import json
import shutil

from harness import ROOT, test

DEPENDENCIES = '''\
| package | for | reason |
|---|---|---|
| `tools` | build | always there |
| `extra` | test | comes and goes |
'''

MESON = '''\
project('small', 'c', version: '1')
main = executable('main', 'main.c')
alias_target('products', main)
test('always', main)
extra = dependency('extra', required: false)
library = meson.get_compiler('c').find_library('extra', has_headers: 'extra.h', required: false)
if library.found()
  test('with_library', main)
endif
if extra.found()
  test('with_extra', main)
endif
'''

QUERY = '''\
#!/bin/sh
case $* in
*Version*) cat {state} ;;
*) printf 'ii ' ;;
esac
'''


class Project:
    def __init__(self, t):
        self.t = t
        self.root = t.directory / 'small'
        self.state = t.directory / 'installed'
        self.packages = t.directory / 'pkgconfig'
        for folder in (self.root / 'docs', self.packages, t.directory / 'bin'):
            folder.mkdir(parents=True)
        shutil.copy(ROOT / 'dev', self.root)
        (self.root / 'docs' / 'dependencies.md').write_text(DEPENDENCIES)
        (self.root / 'meson.build').write_text(MESON)
        (self.root / 'main.c').write_text('int main(void) { return 0; }\n')
        query = t.directory / 'bin' / 'dpkg-query'
        query.write_text(QUERY.format(state=self.state))
        query.chmod(0o755)
        self.install('tools 1')

    def install(self, *packages):
        self.state.write_text(''.join(f'ii {package}\n' for package in packages))
        extra = self.packages / 'extra.pc'
        for file in (extra, self.packages / 'extra.h', self.packages / 'libextra.a'):
            file.unlink(missing_ok=True)
        if any(package.startswith('extra') for package in packages):
            (self.packages / 'extra.h').touch()
            (self.packages / 'libextra.a').write_bytes(b'!<arch>\n')
            extra.write_text('Name: extra\nDescription: extra\nVersion: 1\nLibs:\n')

    def build(self):
        """The tests that are known after `dev build`, when `main` was compiled, and when it was configured."""
        path = f'{self.t.directory}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'
        result = self.t.run(self.root / 'dev', 'build', cwd=self.root, env={
            'PATH': path, 'PKG_CONFIG_PATH': str(self.packages), 'CPATH': str(self.packages), 'LIBRARY_PATH': str(self.packages)})
        self.t.equal(result.status, 0, f'dev build: {result.err[-600:]}')
        build = self.root / 'build'
        tests = json.loads((build / 'meson-info' / 'intro-tests.json').read_text())
        return ({entry['name'] for entry in tests}, (build / 'main').stat().st_mtime_ns,
                (build / 'meson-info' / 'meson-info.json').stat().st_mtime_ns)


@test
def packages_that_come_and_go(t):
    """What was missing when the build folder was made is used once it is there: found by pkg-config, or by the compiler."""
    project = Project(t)
    first, compiled, configured = project.build()
    t.equal(first, {'always'}, 'without the package')
    t.equal(project.build(), (first, compiled, configured), 'a second time: nothing is done')
    project.install('tools 1', 'extra 1')
    t.equal(project.build()[0], {'always', 'with_extra', 'with_library'}, 'with the package')
    project.install('tools 1')
    t.equal(project.build()[0], {'always'}, 'the package is gone')
    configured = project.build()[2]
    project.install('tools 2')
    t.check(project.build()[2] > configured, 'another version of a tool')


@test
def a_build_that_cannot_be_configured(t):
    """Says what meson says, and is configured once the fault is mended, though no package changed."""
    project = Project(t)
    (project.root / 'meson.build').write_text(MESON.replace('required: false', 'required: true'))
    path = {'PATH': f'{t.directory}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'}
    result = t.run(project.root / 'dev', 'build', cwd=project.root, env=path)
    t.check(result.status != 0 and 'extra' in result.err, f'status {result.status}: {result.err[-300:]}')
    (project.root / 'meson.build').write_text(MESON)
    t.equal(project.build()[0], {'always'}, 'tests')
