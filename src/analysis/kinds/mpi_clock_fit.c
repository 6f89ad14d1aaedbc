/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For one drift, the bounds leave the offset a range, whose length is a concave function of the
 * drift; so is how far the range reaches at any time.  Their largest values and zeros are found by
 * halving.  Only bounds on the convex hulls matter, which are few.
 */
#include "analysis/kinds/mpi_clock_fit.h"

#include "base/compare.h"

#include <math.h>
#include <stdlib.h>

/* Quartz is 100 ppm off at most, and a clock is slewed by at most 500 ppm: of two, twice that. */
#define DRIFT_MOST 1.2e-3

enum { STEPS = 100 }; /* of halving: more than a double has bits */

/* ---- hulls ---- */

static int by_time(const void *a, const void *b)
{
	const struct clock_bound *x = a, *y = b;

	COMPARE(x->at_ns, y->at_ns);
	COMPARE(x->difference_ns, y->difference_ns);
	return 0;
}

/* Whether b lies on the line from a to c, or on the side where it does not matter. */
static bool is_inside(const struct clock_bound *a, const struct clock_bound *b,
		      const struct clock_bound *c, double side)
{
	double left = (b->difference_ns - a->difference_ns) * (c->at_ns - a->at_ns);
	double right = (c->difference_ns - a->difference_ns) * (b->at_ns - a->at_ns);

	return side * (left - right) <= 0;
}

/* Keeps the hull: side 1 its upper part, of bounds from below; side -1 its lower part. */
static size_t thin_out(struct clock_bound *bounds, size_t count, double side)
{
	size_t kept = 0;

	if (count)
		qsort(bounds, count, sizeof(*bounds), by_time);
	for (size_t i = 0; i < count; i++) {
		while (kept > 1 &&
		       is_inside(&bounds[kept - 2], &bounds[kept - 1], &bounds[i], side))
			kept--;
		bounds[kept++] = bounds[i];
	}
	return kept;
}

static void add(struct clock_bound_list *list, struct clock_bound bound, double side)
{
	enum { FEW = 1 << 12 };

	if (list->count == list->capacity && list->count >= FEW)
		list->count = thin_out(list->items, list->count, side);
	*vec_push(list) = bound;
}

void clock_bounds_add_least(struct clock_bounds *bounds, struct clock_bound bound)
{
	add(&bounds->least, bound, 1);
}

void clock_bounds_add_most(struct clock_bounds *bounds, struct clock_bound bound)
{
	add(&bounds->most, bound, -1);
}

/* ---- the corridor ---- */

/* Times count from the middle, so that offsets are differences there. */
struct corridor {
	const struct clock_bounds *bounds;
	double middle_ns;
	double at_ns; /* for reach */
	double side;
};

static double offset_least(const struct corridor *corridor, double drift)
{
	double least = -INFINITY;

	for (size_t i = 0; i < corridor->bounds->least.count; i++) {
		const struct clock_bound *bound = &corridor->bounds->least.items[i];

		least = fmax(least,
			     bound->difference_ns - drift * (bound->at_ns - corridor->middle_ns));
	}
	return least;
}

static double offset_most(const struct corridor *corridor, double drift)
{
	double most = INFINITY;

	for (size_t i = 0; i < corridor->bounds->most.count; i++) {
		const struct clock_bound *bound = &corridor->bounds->most.items[i];

		most = fmin(most,
			    bound->difference_ns - drift * (bound->at_ns - corridor->middle_ns));
	}
	return most;
}

static double width(const struct corridor *corridor, double drift)
{
	return offset_most(corridor, drift) - offset_least(corridor, drift);
}

/* How far lines of a drift go up (side 1) or down at a time. */
static double reach(const struct corridor *corridor, double drift)
{
	double offset =
		corridor->side > 0 ? offset_most(corridor, drift) : offset_least(corridor, drift);

	return corridor->side * (offset + drift * (corridor->at_ns - corridor->middle_ns));
}

/* The place of the largest value of a concave function. */
static double top(const struct corridor *corridor,
		  double (*value)(const struct corridor *corridor, double drift), double from,
		  double to)
{
	for (int i = 0; i < STEPS; i++) {
		double third = (to - from) / 3;

		if (value(corridor, from + third) < value(corridor, to - third))
			from += third;
		else
			to -= third;
	}
	return (from + to) / 2;
}

/* From a drift that some line has towards one that may have none: the last one that has. */
static double last_kept(const struct corridor *corridor, double kept, double beyond)
{
	if (width(corridor, beyond) >= 0)
		return beyond;
	for (int i = 0; i < STEPS; i++) {
		double between = (kept + beyond) / 2;

		if (width(corridor, between) >= 0)
			kept = between;
		else
			beyond = between;
	}
	return kept;
}

/* The corridor reaches furthest from a line at one end of the time. */
static double error_at(struct corridor *corridor, const struct clock_line *line, double from,
		       double to, double at_ns)
{
	double value = line->offset_ns + line->drift * at_ns, error = 0;

	corridor->at_ns = at_ns;
	for (corridor->side = -1; corridor->side <= 1; corridor->side += 2) {
		double furthest = reach(corridor, top(corridor, reach, from, to));

		error = fmax(error, furthest - corridor->side * value);
	}
	return error;
}

bool clock_line_fit(struct clock_bounds *bounds, double begin_ns, double end_ns,
		    struct clock_line *line)
{
	struct corridor corridor = {.bounds = bounds, .middle_ns = (begin_ns + end_ns) / 2};

	if (!bounds->least.count || !bounds->most.count)
		return false;
	bounds->least.count = thin_out(bounds->least.items, bounds->least.count, 1);
	bounds->most.count = thin_out(bounds->most.items, bounds->most.count, -1);

	double best = top(&corridor, width, -DRIFT_MOST, DRIFT_MOST), from = best, to = best;
	double too_narrow = -fmin(width(&corridor, best), 0) / 2;

	if (!too_narrow) {
		from = last_kept(&corridor, best, -DRIFT_MOST);
		to = last_kept(&corridor, best, DRIFT_MOST);
	}
	line->drift = (from + to) / 2;
	line->offset_ns =
		(offset_least(&corridor, line->drift) + offset_most(&corridor, line->drift)) / 2 -
		line->drift * corridor.middle_ns;
	line->error_ns = too_narrow ? too_narrow
				    : fmax(error_at(&corridor, line, from, to, begin_ns),
					   error_at(&corridor, line, from, to, end_ns));
	return true;
}

void clock_bounds_fini(struct clock_bounds *bounds)
{
	vec_fini(&bounds->least);
	vec_fini(&bounds->most);
}
