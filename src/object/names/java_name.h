/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_OBJECT_JAVA_NAME_H
#define HELIO_OBJECT_JAVA_NAME_H

#include "object/object.h"

/*
 * "Lpkg/Class;.method(ILjava/lang/String;)V" as people write it, to be freed:
 *	long	pkg.Class.method(int, java.lang.String)
 *	short	Class.method
 * What the machine numbers anew in each run (hidden classes: lambdas) has no number.
 * NULL: it is no such name.
 */
char *java_method_name(const char *text, enum name_style style);

#endif
