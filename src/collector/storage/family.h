/* SPDX-License-Identifier: Apache-2.0 */
/* The page that all processes of a family share (format/family.h). */
#ifndef HELIO_COLLECTOR_FAMILY_H
#define HELIO_COLLECTOR_FAMILY_H

#include "format/family.h"

/* Maps it, once the file `profile` is there.  Where it cannot be had this process is a family. */
void family_open(void);
/* Before the process's files are unmapped, and in the child of a fork. */
void family_forget(void);

/* As blockfile_mend, for the page of another process. */
bool family_mend(uint64_t address);

/* Never NULL; may be used in a handler. */
struct format_family *family_page(void);
/* The founder's recording clock; 0 if it is not to be had. */
uint64_t family_control_word(void);

#endif
