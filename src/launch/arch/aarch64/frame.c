/* SPDX-License-Identifier: Apache-2.0 */
/* Missing: rt_sigframe with its vector state, and an interrupted call's first argument (x0). */
#error "AArch64: the kernel's signal frame is not written yet"
