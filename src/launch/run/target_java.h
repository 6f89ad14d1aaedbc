/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_LAUNCH_TARGET_JAVA_H
#define HELIO_LAUNCH_TARGET_JAVA_H

#include "launch/run/target.h"

/* What is asked for of a Java program; NULL: nothing. */
struct target_java {
	const char *jdk;       /* the directory of the JDK that runs it */
	const char *arguments; /* for java itself, blanks between them */
};

/*
 * As target_find(), for programs that may be Java: X.jar and X.class that are not executable are
 * run by java.  The arena must outlive the target.
 */
enum status target_java_find(struct target *target, char **words, const struct target_java *java,
			     struct arena *arena, struct diag_list *diags);

#endif
