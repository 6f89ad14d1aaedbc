/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as the start-up file of the current directory: its settings are made, and views shown.
 */
#include "print_golden.h"

#include <stdbool.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;

	if (!begun)
		golden_begin();
	begun = true;
	golden_write(".er.rc", data, size);
	golden_print();
	return 0;
}
