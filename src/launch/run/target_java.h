/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_LAUNCH_TARGET_JAVA_H
#define HELIO_LAUNCH_TARGET_JAVA_H

#include "launch/run/target.h"

/* Whether java runs the file: an archive or a class that is not executable. */
bool target_java_is_file(const char *name);
/*
 * Where the program is Java, sets the words and, where PATH is not to be asked, the path.  `java`
 * may be NULL.  On failure exit_code is set and an error says why.
 */
enum status target_java_find(struct target *target, const struct target_java *java,
			     struct diag_list *diags);

#endif
