/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenMP: what the time of threads was spent on.  A clock event counts for the class of its
 * thread's state and call stack, which analysis/modes has found; the events of omptrace count
 * executions of regions.
 */
#include "analysis/kinds/kinds.h"
#include "base/array.h"

/* Work is done on a processor; who is off it waits, whatever for. */
static enum measure sum_of(enum omp_class class, uint64_t state)
{
	if (!(CLOCK_CPU_STATES >> state & 1))
		return MEASURE_OMP_WAIT;
	if (class <= OMP_CLASS_REDUCTION)
		return MEASURE_OMP_WORK;
	return class == OMP_CLASS_OVERHEAD ? MEASURE_OMP_OVERHEAD : MEASURE_OMP_WAIT;
}

_Static_assert((int)OMP_CLASSES == MEASURE_OMP_REGIONS - MEASURE_OMP_SERIAL, "one for each");

void omp_measure_clock(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *stacks = event_stacks(run), *places = measure_places(run, measuring);
	const uint64_t *states = event_column(run, ROW_TYPE);
	const uint64_t *weights = event_field(run, PROFILE_WEIGHT);

	for (size_t row = 0; row < run->count; row++) {
		enum omp_class class = (enum omp_class)measuring->omp_class[stacks[row]];
		uint64_t ns = weights[row] * 1000;

		if (!measure_is_chosen(measuring, row))
			continue;
		measure_add(measuring->sums, sum_of(class, states[row]), places[row], ns);
		measure_add(measuring->sums, (enum measure)(MEASURE_OMP_SERIAL + (int)class),
			    places[row], ns);
	}
}

static void measure_omp(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *nodes = measure_places(run, measuring);
	const uint64_t *types = event_column(run, ROW_TYPE), *calls = event_field(run, OMP_CALLS);

	for (size_t row = 0; row < run->count; row++)
		if (measure_is_chosen(measuring, row) && types[row] == OMP_REGION)
			measure_add(measuring->sums, MEASURE_OMP_REGIONS, nodes[row], calls[row]);
}

#define TIME(command_, title_, measure_, description_)                                             \
	{                                                                                          \
		.command = (command_), .title = (title_), .unit = UNIT_SECONDS,                    \
		.measure = MEASURE_OMP_##measure_, .description = (description_), .if_data = true  \
	}

static const struct metric metrics[] = {
	TIME("ompwork", "OpenMP Work Time", WORK,
	     "time on a processor in the program's own code, serial or in a region"),
	TIME("ompwait", "OpenMP Wait Time", WAIT,
	     "time in which a thread waited, spinning or asleep: for other threads, for work, or "
	     "off "
	     "its processor"),
	TIME("ompovhd", "OpenMP Overhead Time", OVERHEAD,
	     "time on a processor in the OpenMP runtime, but not waiting; Work, Wait and Overhead "
	     "are all time"),
	TIME("ompibar", "OpenMP Implicit Barrier Time", IMPLICIT_BARRIER,
	     "time at the barriers at the ends of regions, loops, sections and single"),
	TIME("ompebar", "OpenMP Explicit Barrier Time", EXPLICIT_BARRIER,
	     "time at barriers that the program asks for"),
	TIME("ompserl", "OpenMP Serial Time", SERIAL, "time outside of regions, but in no runtime"),
	TIME("omprduc", "OpenMP Reduction Time", REDUCTION,
	     "time in which reductions are computed"),
	TIME("omplkwt", "OpenMP Lock Wait Time", LOCK, "time in which threads waited for locks"),
	TIME("ompctwt", "OpenMP Critical Section Wait Time", CRITICAL,
	     "time in which threads waited to enter critical sections"),
	TIME("ompodwt", "OpenMP Ordered Section Wait Time", ORDERED,
	     "time in which threads waited for their turn in ordered sections"),
	TIME("ompatwt", "OpenMP Atomic Wait Time", ATOMIC,
	     "time in which threads waited at atomic constructs that the runtime carries out"),
	TIME("omptkwt", "OpenMP Task Wait Time", TASK,
	     "time in which threads waited for tasks to end (taskwait, taskgroup)"),
	TIME("ompidle", "OpenMP Idle Time", IDLE,
	     "time in which threads of the runtime had nothing to do, between regions"),
	{.command = "ompregn",
	 .title = "OpenMP Regions",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_OMP_REGIONS,
	 .description = "executions of parallel regions",
	 .if_data = true},
};

const struct kind omp_kind = {
	.measure = measure_omp, .metrics = metrics, .metric_count = COUNT(metrics)};
