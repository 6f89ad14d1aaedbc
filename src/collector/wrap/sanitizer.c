/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with libasan refuses to run when another library comes before it, as a preloaded
 * one does.  What we wrap we hand on to the next definition, which is libasan's, so that the
 * order is right for both.  libasan asks this function for its options; those in ASAN_OPTIONS
 * come after it, and a program that defines it itself comes before us.
 */
#include "collector/storage/recording.h"

COLLECTOR_EXPORT const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}
