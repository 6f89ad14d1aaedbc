/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the reader ask of damaged experiments.  After cmocka.h. */
#ifndef HELIO_TESTS_EXPERIMENT_SUPPORT_H
#define HELIO_TESTS_EXPERIMENT_SUPPORT_H

#include "experiment/experiment.h"

#include <string.h>

/* It can be read, and a warning contains the text. */
static inline void assert_warned(const char *path, const char *text)
{
	struct diag_list errors = {0}, warnings = {0};
	struct experiment *experiment;
	bool found = false;

	assert_int_equal(experiment_open(path, &experiment, &errors, &warnings), STATUS_OK);
	for (size_t i = 0; i < warnings.count; i++)
		found |= strstr(warnings.items[i].text, text) != NULL;
	if (!found)
		fail_msg("no warning says: %s", text);
	experiment_free(experiment);
	diag_fini(&errors);
	diag_fini(&warnings);
}

#endif
