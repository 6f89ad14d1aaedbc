/* SPDX-License-Identifier: Apache-2.0 */
/* Which call stacks are shown, where a runtime is part of them: see analysis/modes/modes.h. */
#ifndef HELIO_ANALYSIS_VIEW_MODE_H
#define HELIO_ANALYSIS_VIEW_MODE_H

enum view_mode {
	VIEW_USER,    /* as the program is written */
	VIEW_EXPERT,  /* the same, with more of the runtime */
	VIEW_MACHINE, /* as they were recorded */
	VIEW_MODES,
};

#endif
