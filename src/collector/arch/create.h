/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pthread_create of a C library that was there before us (format/attach.h): one instruction near
 * its begin has become a jump.
 *
 *   ARCH_DEFINE_CREATE(entered, original, instead, data)
 *     defines entered(), where that jump leads, which goes on in instead() with the caller's
 *     arguments and return address; and original(), which does what pthread_create did before;
 *     `data` is a struct format_attach_create
 */
#ifndef HELIO_COLLECTOR_ARCH_CREATE_H
#define HELIO_COLLECTOR_ARCH_CREATE_H

#if defined(__x86_64__)
#include "collector/arch/x86_64/create.h"
#elif defined(__aarch64__)
#include "collector/arch/aarch64/create.h"
#else
#error "no directory of src/collector/arch is this processor's"
#endif

#endif
