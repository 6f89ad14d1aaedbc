/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file `mounts`: what file systems are mounted where, as the kernel lists it for the launcher,
 * so that readers can tell the type of a traced file's file system by its name.  Processes in other
 * mount namespaces keep lists of their own.
 */
#ifndef HELIO_LAUNCH_MOUNTS_H
#define HELIO_LAUNCH_MOUNTS_H

#include "base/strbuf.h"
#include "launch/run/family.h"

#include <stdint.h>

/* The number of the launcher's mount namespace; 0: not known. */
uint64_t mounts_namespace(void);
/* Adds the list, or nothing. */
void mounts_read(struct strbuf *text);
/* At the end: appends it to the founder's file, if there is one and the list has changed. */
void mounts_finish(const struct family *family);

#endif
