// SPDX-License-Identifier: Apache-2.0
// The views, in the order of the list at the left.

import type { ComponentType } from 'preact';
import { CallTree } from './calltree';
import { CallersCallees } from './callers';
import { Functions, Instructions, Lines } from './code-lists';
import { DataLayout, DataObjects } from './data';
import { Flame } from './flame';
import { IndexObject, MemoryObjects, OtherObjects } from './objects';
import { Overview } from './overview';
import { Mpi, OpenMP } from './parallel';
import { Both, SourceOrDisassembly } from './source';
import { Start } from './start';
import { Experiments, Statistics } from './statistics';
import { Timeline } from './timeline';
import { hasJavaHeap, Heap, InputOutput, Locks } from './traced';

export interface ViewInfo {
	id: string;
	title: string;
	group: string;
	about: string;
	component: ComponentType;
	command?: string; // says whether there is anything to show …
	of?: string; // … with this word
	unless?(): boolean; // … where this is not known to be so
	calls?: boolean; // called-by and calls below
	details?: boolean;
	wide?: boolean; // in a narrow window it has no room for details beside it
	free?: boolean; // needs no experiment
	hidden?: boolean;
}

export const views: ViewInfo[] = [
	{ id: 'start', title: 'Open or record', group: '', about: 'Experiments of this directory, and recording', component: Start, free: true },
	{ id: 'overview', title: 'Overview', group: 'Program', about: 'Where the time goes, what was lost, what to look at', component: Overview, details: false },
	{ id: 'functions', title: 'Functions', group: 'Program', about: 'All metrics of all functions', component: Functions, command: 'functions', calls: true },
	{ id: 'timeline', title: 'Timeline', group: 'Program', about: 'What threads did over time', component: Timeline, command: 'timeline' },
	{ id: 'flame', title: 'Flame Graph', group: 'Program', about: 'The tree of calls as a picture', component: Flame, command: 'calltree' },
	{ id: 'calltree', title: 'Call Tree', group: 'Program', about: 'The tree of calls, opened branch by branch', component: CallTree, command: 'calltree' },
	{ id: 'callers', title: 'Callers-Callees', group: 'Program', about: 'Who calls a function, and what it calls', component: CallersCallees, command: 'csingle' },
	{ id: 'source', title: 'Source', group: 'Code', about: 'Metrics of each line', component: () => <SourceOrDisassembly what="source" />, command: 'source' },
	{ id: 'disassembly', title: 'Disassembly', group: 'Code', about: 'Metrics of each instruction', component: () => <SourceOrDisassembly what="disasm" />, command: 'disasm' },
	{ id: 'both', title: 'Source/Disassembly', group: 'Code', about: 'Both, side by side and linked', component: Both, command: 'disasm', wide: true },
	{ id: 'lines', title: 'Lines', group: 'Code', about: 'All source lines', component: Lines, command: 'lines' },
	{ id: 'pcs', title: 'PCs', group: 'Code', about: 'All instructions', component: Instructions, command: 'pcs' },
	{ id: 'threads', title: 'Threads', group: 'By', about: 'Events by thread, and how evenly they are spread', component: () => <IndexObject key="threads" name="Threads" title="Threads" />, command: 'indxobj', of: 'Threads' },
	{ id: 'processes', title: 'Processes', group: 'By', about: 'Events by process', component: () => <IndexObject key="processes" name="Processes" title="Processes" />, command: 'indxobj', of: 'Processes' },
	{ id: 'cpus', title: 'CPUs', group: 'By', about: 'Events by processor', component: () => <IndexObject key="cpus" name="CPUs" title="CPUs" />, command: 'indxobj', of: 'CPUs' },
	{ id: 'samples', title: 'Samples', group: 'By', about: 'Events between sample points', component: () => <IndexObject key="samples" name="Samples" title="Samples" />, command: 'indxobj', of: 'Samples' },
	{ id: 'seconds', title: 'Seconds', group: 'By', about: 'Events by second', component: () => <IndexObject key="seconds" name="Seconds" title="Seconds" />, command: 'indxobj', of: 'Seconds' },
	{ id: 'expids', title: 'Experiment IDs', group: 'By', about: 'Events by experiment', component: () => <IndexObject key="expids" name="Experiment_IDs" title="Experiment IDs" />, command: 'indxobj', of: 'Experiment_IDs' },
	{ id: 'objects', title: 'Sizes, durations …', group: 'By', about: 'Events by size of I/O and blocks, by duration, by an expression of your own', component: OtherObjects, command: 'indxobj', of: 'Datasize' },
	{ id: 'heap', title: 'Heap', group: 'Data', about: 'Live memory, peak, leaks', component: Heap, command: 'heapstat', unless: hasJavaHeap },
	{ id: 'locks', title: 'Locks', group: 'Data', about: 'What was waited for, and who held it', component: Locks, command: 'locks' },
	{ id: 'io', title: 'I/O', group: 'Data', about: 'Files, descriptors, sizes and times', component: InputOutput, command: 'ioactivity' },
	{ id: 'data', title: 'Data Objects', group: 'Data', about: 'Variables and types by the addresses that counters saw', component: DataObjects, command: 'data_objects' },
	{ id: 'layout', title: 'Data Layout', group: 'Data', about: 'Structures as they lie in memory', component: DataLayout, command: 'data_layout' },
	{ id: 'memory', title: 'Memory Objects', group: 'Data', about: 'Pages, lines of the cache, nodes', component: MemoryObjects, command: 'memobj' },
	{ id: 'openmp', title: 'OpenMP', group: 'Parallel', about: 'Regions and tasks: work, and what was lost by whom', component: OpenMP, command: 'regions' },
	{ id: 'mpi', title: 'MPI', group: 'Parallel', about: 'Calls, ranks, who sends to whom, who waits for whom', component: Mpi, command: 'mpistat' },
	{ id: 'statistics', title: 'Statistics', group: 'Recording', about: 'What processes used as a whole', component: Statistics },
	{ id: 'experiments', title: 'Experiments', group: 'Recording', about: 'What was recorded, where and how; notes', component: Experiments, details: false },
];
