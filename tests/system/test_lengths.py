# SPDX-License-Identifier: Apache-2.0
"""Names and lines as long as the kernel allows: nothing of them is lost without a word."""
import os
import pathlib
import shutil

from harness import test
from test_attach import Program

PATH_MAX = 4095  # the kernel's, without the NUL
OPENER = '''
import os, sys
os.chdir(sys.argv[1])
with open('name') as file:
    file.read()
'''


def deep(t, length, letter):
    """A directory whose path has nearly `length` bytes, as absolute paths may."""
    path = str(t.directory)
    while length - len(path) > 2:
        path += '/' + letter * min(200, length - len(path) - 1)
    os.makedirs(path)
    return pathlib.Path(path)


@test(engines=True)
def long_paths_of_programs_and_libraries(t, engine):
    """
    A program and a library of its own in paths of 4,090 bytes, most of which XML writes in five: map.xml names both, their functions
    have names, the log and that of a child that executes the same program are whole.
    """
    place = deep(t, PATH_MAX - 12, '&')
    program, library = place / 'prog', place / 'lib.so'
    (t.directory / 'lib.c').write_text('''
static volatile unsigned long sum;
__attribute__((noinline)) void in_library(void) { for (unsigned long i = 0; i < 50000000; i++) sum += i; }
''')
    (t.directory / 'prog.c').write_text('''
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	void (*work)(void) = library ? dlsym(library, "in_library") : 0;
	if (!work)
		return 3;
	if (argc == 2 && !fork())
		execl(argv[0], argv[0], argv[1], "child", (char *)0);
	work();
	int status = 0;
	return argc == 2 && (wait(&status) < 0 || status) ? 4 : 0;
}
''')
    t.equal(t.run('gcc', '-g', '-O1', '-Wl,--build-id', '-fPIC', '-shared', '-o', 'lib.so', 'lib.c').status, 0, 'gcc')
    t.equal(t.run('gcc', '-g', '-O1', '-Wl,--build-id', '-o', 'prog', 'prog.c').status, 0, 'gcc')
    shutil.copy(t.directory / 'lib.so', library)
    shutil.copy(t.directory / 'prog', program)
    t.equal(t.run(program, library).status, 0, 'the program as it is')
    experiment = t.collect(program, library, engine=engine, options=['-p', '1']).experiment
    family = t.read(experiment)
    t.equal(set(family), {'', '_f1', '_f1_x1'}, 'processes')
    for lineage in '', '_f1_x1':
        names = {entry.get('name') for entry in family[lineage]['maps']}
        t.check({str(program), str(library)} <= names, f'{lineage}: {[name[-20:] for name in names if name]}')
    became = [event for event in family['_f1']['log_events'] if event['kind'] == 'exec']
    t.equal([event['lineage'] for event in became], ['_f1_x1'], 'exec in the log')
    t.check(became[0]['name'].startswith(str(place)[:200]) and became[0]['name'].endswith('...'), f'its name: {became[0]["name"][-40:]}')
    t.check('in_library' in t.functions(experiment), 'the function of the library')
    result = t.run(t.helio, 'check', experiment)
    t.equal(result.status, 0, f'status of check ({result.out[-300:]})')


@test
def long_names_of_files(t):
    """A file that is opened by a short name below a long directory: its whole path is recorded."""
    place = deep(t, PATH_MAX - 12, 'd')
    (place / 'name').write_text('x')
    experiment = t.collect('/usr/bin/python3', '-S', '-c', OPENER, place, options=['-i', 'on', '-p', 'off']).experiment
    names = {event['name'] for event in t.read(experiment)['']['traces']['iotrace']}
    t.check(str(place / 'name').encode() in names or str(place / 'name') in names, f'{sorted(len(name) for name in names if name)}')


@test
def many_groups(t):
    """The line of a process's groups in /proc is longer than a page: what is behind it is read all the same."""
    t.need_root('have many groups')
    code = 'import os, sys; os.setgroups(range(100000, 103000)); os.execv(sys.argv[1], sys.argv[1:])'
    with Program(t, '/usr/bin/python3', '-c', code, t.target('late')) as program:
        status = pathlib.Path(f'/proc/{program.pid}/status').read_text()
        t.check(status.index('VmSize') > 4096, 'the groups of the process')
        experiment = t.directory / 'groups.er'
        result = t.run(t.helio, 'attach', '--for', '100ms', '-o', experiment, program.pid)
        t.equal(result.status, 0, f'status of helio attach ({result.err.strip()})')
        t.read(experiment)
