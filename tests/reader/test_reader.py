#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The second reader against experiments whose totals are known by construction."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import helio_reader  # noqa: E402
import make_golden  # noqa: E402


class Golden(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = make_golden.make(cls.folder.name)
        cls.family = helio_reader.read_family(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_totals(self):
        for lineage, expected in make_golden.EXPECTED.items():
            process = self.family[lineage]
            for state, seconds in process['states'].items():
                self.assertAlmostEqual(seconds, expected['states'].get(state, 0), 9, f'{lineage} {state}')
            for key in ('dropped', 'events', 'deepest', 'nodes', 'unrecorded'):
                self.assertEqual(process[key], expected[key], f'{lineage} {key}')
            self.assertEqual(process['warnings'], [])

    def test_threads_add_up(self):
        for lineage, expected in make_golden.EXPECTED.items():
            threads = self.family[lineage]['threads']
            for thread, life in zip(threads, expected['lives'], strict=True):
                self.assertAlmostEqual(thread['life'], life, 9)
                self.assertAlmostEqual(thread['sum'], life, 9)

    def test_epochs(self):
        maps = self.family['']['maps']
        self.assertEqual(helio_reader.find_object(maps, 0, 0x700100)['name'], '/lib/first.so')
        self.assertEqual(helio_reader.find_object(maps, 1, 0x700100)['name'], '/lib/second.so')
        self.assertEqual(helio_reader.find_object(maps, 1, 0x401100)['name'], '/tmp/golden')
        self.assertIsNone(helio_reader.find_object(maps, 1, 0x900000))

    def test_functions(self):
        maps = self.family['']['maps']
        self.assertEqual([helio_reader.find_object(maps, epoch, 0x600001)['name'] for epoch in (0, 1, 2)],
                         ['made', 'remade', 'remade'])
        self.assertIsNone(helio_reader.find_object(maps, 3, 0x600001))
        found = [tuple(f[key] for key in ('name', 'alias', 'source', 'address', 'epoch', 'code', 'lines'))
                 for f in self.family['']['functions']]
        self.assertEqual(found, list(make_golden.FUNCTIONS))

    def test_log(self):
        self.assertEqual(self.family['']['arguments'], ['./golden', 'a & b'])
        self.assertEqual(self.family['']['log_events'][0]['lineage'], '_f1')
        self.assertEqual(self.family['_f1']['process']['pid'], '13')

    def test_damage_is_noticed(self):
        """A byte changed in a packed block does not pass for data."""
        path = os.path.join(self.path, 'profile')
        with open(path, 'rb') as file:
            data = bytearray(file.read())
        data[96 + 40 + 9] ^= 4
        self.assertTrue(any('checksum' in warning for warning in helio_reader.read_profile(bytes(data)).warnings))

    def test_blank_files(self):
        """A process that was killed before it wrote a header left files of zeros: it recorded nothing, and nothing is damaged."""
        with tempfile.TemporaryDirectory() as folder:
            path = make_golden.make(folder)
            for name in ('profile', 'stacks'):
                with open(os.path.join(path, '_f1.er', name), 'wb') as file:
                    file.write(bytes(8192))
            child = helio_reader.read_family(path)['_f1']
            self.assertEqual((child['events'], child['nodes'], child['warnings']), (0, 0, []))

    def test_cut_anywhere(self):
        """Whatever is left of a file is read as far as it goes."""
        for name in ('profile', 'stacks'):
            path = os.path.join(self.path, name)
            with open(path, 'rb') as file:
                data = file.read()
            read = helio_reader.read_profile if name == 'profile' else helio_reader.read_stacks
            for length in range(128, len(data)):
                read(data[:length])


if __name__ == '__main__':
    unittest.main()
