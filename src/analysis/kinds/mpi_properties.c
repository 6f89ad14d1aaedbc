/* SPDX-License-Identifier: Apache-2.0 */
/* MPI tracing: the properties of its events. */
#include "analysis/filter/filter_property.h"

static void load_sent(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, MPI_SENT);
}

static const struct filter_property properties[] = {
	FILTER_PROPERTY("MPISENT", "bytes sent", "mpi", FILTER_MPI, load_sent),
};

const struct filter_properties mpi_properties = FILTER_PROPERTIES(properties);
