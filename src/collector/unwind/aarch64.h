/* SPDX-License-Identifier: Apache-2.0 */
/* What the unwinder knows of AArch64: register numbers (DWARF for the Arm 64-bit architecture). */
#ifndef HELIO_COLLECTOR_UNWIND_AARCH64_H
#define HELIO_COLLECTOR_UNWIND_AARCH64_H

#error "AArch64: the unwinder is not written yet"

#endif
