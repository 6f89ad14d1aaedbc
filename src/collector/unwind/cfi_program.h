/* SPDX-License-Identifier: Apache-2.0 */
/* Running the CFA programs of a CIE and one of its FDEs. */
#ifndef HELIO_COLLECTOR_UNWIND_CFI_PROGRAM_H
#define HELIO_COLLECTOR_UNWIND_CFI_PROGRAM_H

#include "collector/unwind/cfi.h"

struct cfi_cie {
	const uint8_t *program, *end;
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_column;
	uint8_t encoding; /* of the FDE's addresses */
	bool signal;
	bool has_data; /* the FDE has augmentation data */
};

struct cfi_program {
	const struct unwind_module *module;
	const struct cfi_cie *cie;
	uint64_t pc;	   /* run up to here */
	uint64_t location; /* at first: where the FDE's code begins */
	/* [0] the CIE's row, [1] the current one and the result, then the remembered ones */
	struct cfi_row *states;
	uint32_t remembered;
};

/* Runs the CIE's program and then the FDE's, [at, end); false: it makes no sense. */
bool cfi_program_run(struct cfi_program *program, const uint8_t *at, const uint8_t *end);

#endif
