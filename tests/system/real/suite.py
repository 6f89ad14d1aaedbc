# SPDX-License-Identifier: Apache-2.0
"""
suite.py MODULE [NAME...] [-NAME...]: runs the tests of a module of Python's own test suite whose name contains
one of the names (default: all) and none of the -names, and prints the verdict on each: nothing that is different in
every run.
"""
import io
import os
import sys
import unittest


class Verdicts(unittest.TestResult):
    def __init__(self, *_):
        super().__init__()
        self.lines = {}

    def startTest(self, test):
        super().startTest(test)
        self.lines[test.id()] = 'ok'

    def note(self, test, verdict, detail=''):
        self.lines[test.id()] = verdict
        sys.stderr.write(f'{verdict} {test.id()} {detail}\n')

    def addSkip(self, test, reason):
        self.lines[test.id()] = 'skipped'

    def addFailure(self, test, error):
        self.note(test, 'FAILED', self._exc_info_to_string(error, test))

    def addError(self, test, error):
        self.note(test, 'ERROR', self._exc_info_to_string(error, test))

    def addSubTest(self, test, subtest, error):
        if error:
            self.note(test, 'FAILED', self._exc_info_to_string(error, test))


def chosen(suite, names):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from chosen(test, names)
        elif any(name in test.id() for name in names if name[0] != '-') and not any(
                name[1:] in test.id() for name in names if name[0] == '-'):
            yield test


def main():
    module, *names = sys.argv[1:]
    if all(name[0] == '-' for name in names):
        names.append('test')
    suite = unittest.TestSuite(chosen(unittest.defaultTestLoader.loadTestsFromName('test.' + module), names))
    kept = os.dup(1)
    with open(os.devnull, 'w', encoding='utf-8') as null:
        os.dup2(null.fileno(), 1)  # what the tests print is theirs
    verdicts = unittest.TextTestRunner(stream=io.StringIO(), resultclass=Verdicts).run(suite).lines
    sys.stdout.flush()
    os.dup2(kept, 1)
    for name in sorted(verdicts):
        print(name, verdicts[name])
    print('tests', len(verdicts))


if __name__ == '__main__':
    main()
