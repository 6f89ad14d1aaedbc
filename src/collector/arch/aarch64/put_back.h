/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Missing: a call's result takes the place of its first argument (x0), which the context does not
 * have anywhere else, and the kernel leaves no register free where word could be left.
 */
#error "AArch64: putting a thread back onto its system call is not written yet"
