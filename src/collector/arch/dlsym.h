/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ARCH_DEFINE_DLSYM(before, next) defines dlsym: it calls before(handle, name), and goes on by a
 * jump, with dlsym's own arguments and return address, to the function that gives, or else to the
 * one that next() gives.  dlsym looks at its return address.
 */
#ifndef HELIO_COLLECTOR_ARCH_DLSYM_H
#define HELIO_COLLECTOR_ARCH_DLSYM_H

#if defined(__x86_64__)
#include "collector/arch/x86_64/dlsym.h"
#endif

#endif
