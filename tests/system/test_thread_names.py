# SPDX-License-Identifier: Apache-2.0
"""Names of threads: as the program has given them, in all lists of threads, in filters, and for other readers."""
import re

from harness import test
from test_attach import Attached, Program

# of targets/named.c, in the order of their making; the first one has none; a byte that is no text is U+FFFD
NAMES = ['ended', 'at last', '<b> & "c"', '', '\ufffd\x1b[1m']

JAVA = '''
public class Named {
    static volatile double sink;
    static void work() { for (int i = 0; i < 8000000; i++) sink += Math.sin(i); }
    public static void main(String[] arguments) throws Exception {
        Thread[] threads = {
            new Thread(Named::work, "a pool of threads - number 17"),
            new Thread(Named::work, "x".repeat(60) + "äöü"),
            new Thread(() -> { work(); Thread.currentThread().setName("renamed, and longer than what the kernel keeps"); }, "before"),
        };
        for (Thread thread : threads) { thread.start(); thread.join(); }
        work();
    }
}
'''

GROUPS = '''
public class Groups {
    static volatile double sink;
    static void work() { for (int i = 0; i < 8000000; i++) sink += Math.sin(i); }
    public static void main(String[] arguments) throws Exception {
        ThreadGroup outer = new ThreadGroup("outer"), inner = new ThreadGroup(outer, "inner");
        Thread[] threads = {
            new Thread(outer, Groups::work, "first"), new Thread(inner, Groups::work, "second"), new Thread(inner, Groups::work, "third"),
            new Thread(Groups::work, "fourth"),
        };
        for (Thread thread : threads) { thread.start(); thread.join(); }
        work();
    }
}
'''


def compiled(t, name, text):
    """The experiment of a Java program."""
    (t.directory / f'{name}.java').write_text(text)
    t.equal(t.run(t.need('javac'), '-d', t.directory, t.directory / f'{name}.java', timeout=300).status, 0, 'javac')
    return t.collect(t.need('java'), '-cp', t.directory, name, timeout=300).experiment


def names_of(t, experiment):
    """By number of the thread."""
    found = {}
    for row in t.print(experiment, '-threads')[0]['rows'][1:]:
        number, name = re.fullmatch(r'Process 1, Thread (\d+) \((?:(.*), )?tid \d+\)', row['name'], re.S).groups()
        found[int(number)] = name or ''
    return [found[number] for number in sorted(found)]


@test(engines=True)
def names(t, engine):
    """Of threads that have ended, that wait at the end, that were named by others, and again; none of those that have the program's."""
    experiment = t.collect(t.target('named'), engine=engine).experiment
    t.equal(names_of(t, experiment)[1:], NAMES, 'names')
    t.equal(names_of(t, experiment)[0], '', 'the first thread')
    second = [thread['name'] for thread in t.read(experiment)['']['threads']]
    t.equal(second, [b'', b'ended', b'at last', b'<b> & "c"', b'', b'\xff\x1b[1m'], 'for the second reader')
    t.check('\x1b' not in t.run(t.helio, 'print', '-threads', experiment).out, 'an escape sequence reaches the terminal')


@test(engines=True)
def attached(t, engine):
    """The names of threads that begin while the program is recorded, and of those that are there when the recording ends."""
    with Program(t, t.target('named'), 'attach') as program:
        with Attached(t, program, engine=engine) as attached:
            program.process.stdin.write('\n')
            program.process.stdin.flush()
            t.equal(program.process.stdout.readline().strip(), 'done', 'what it says')
            attached.end()
            t.equal(names_of(t, attached.experiment)[1:], NAMES, 'names')
        program.process.stdin.close()
        program.process.wait()


@test
def filters(t):
    """TNAME chooses by name, and says where nothing has it."""
    experiment = t.collect(t.target('named')).experiment
    answer = t.print(experiment, '-filters', 'THREAD IN TNAME("(ended|at last)")', '-threads')[-1]
    shown = [row['name'] for row in answer['rows'][1:] if row['e.totalcpu'] > 0]
    t.equal(sorted(re.search(r'\((.*), tid', name).group(1) for name in shown), ['at last', 'ended'], 'threads')
    said = t.run(t.helio, 'print', '-filters', 'THREAD IN TNAME("nobody")', '-threads', experiment).err
    t.check('TNAME("nobody"): no thread' in said, said)


@test
def java(t):
    """Java's names are whole where the kernel's have 15 bytes; characters are not cut."""
    found = names_of(t, compiled(t, 'Named', JAVA))
    for name in 'main', 'a pool of threads - number 17', 'x' * 60 + 'ä', 'renamed, and longer than what the kernel keeps':
        t.check(name in found, f'{name}: {found}')


@test
def java_groups(t):
    """Threads of Java by their group and the group around it; a list of them; none of other threads."""
    experiment = compiled(t, 'Groups', GROUPS)
    mine = {'main', 'first', 'second', 'third', 'fourth'}

    def chosen(expression):
        rows = t.print(experiment, '-filters', expression, '-threads')[-1]['rows'][1:]
        return {name for row in rows if row['e.totalcpu'] > 0 for name in mine & set(re.findall(r'\((.*), tid', row['name']))}

    for expression, names in (('JTHREAD IN JGROUP("inner")', {'second', 'third'}), ('JTHREAD IN JGROUP("inner|outer")', {'first', 'second', 'third'}),
                              ('JTHREAD IN JPARENT("main")', {'first'}), ('JTHREAD IN JPARENT("outer")', {'second', 'third'}),
                              ('JTHREAD IN JGROUP("main")', {'main', 'fourth'}), ('JTHREAD IN TNAME("first")', {'first'}),
                              ('JTHREAD', mine), ('!JTHREAD', set())):
        t.equal(chosen(expression), names, expression)
    listed = [row['name'] for row in t.print(experiment, '-jthreads')[0]['rows'][1:]]
    for name, group in (('first', 'outer in main'), ('second', 'inner in outer'), ('fourth', 'main in system')):
        t.check(any(re.fullmatch(rf'Process 1, Thread \d+ \({name}, tid \d+\), group {group}', row) for row in listed), f'{name}: {listed}')
    t.check('(none)' in listed, f"the machine's own threads: {listed}")
    second = {thread['name']: thread['groups'] for thread in t.read(experiment)['']['threads']}
    t.equal(second[b'third'], [b'inner', b'outer'], 'for the second reader')
    said = t.run(t.helio, 'print', '-filters', 'JTHREAD IN JGROUP("nobody")', '-threads', experiment).err
    t.check('JGROUP("nobody"): no group' in said, said)
