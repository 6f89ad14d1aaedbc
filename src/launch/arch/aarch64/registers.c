/* SPDX-License-Identifier: Apache-2.0 */
/* Missing: which call a thread is in (NT_ARM_SYSTEM_CALL), and its thread pointer (NT_ARM_TLS). */
#error "AArch64: the registers of a stopped thread are not written yet"
