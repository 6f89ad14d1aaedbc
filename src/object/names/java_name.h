/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_OBJECT_JAVA_NAME_H
#define HELIO_OBJECT_JAVA_NAME_H

#include "base/strbuf.h"
#include "object/object.h"

/*
 * "Lpkg/Class;.method(ILjava/lang/String;)V" as people write it, to be freed:
 *	long	pkg.Class.method(int, java.lang.String)
 *	short	Class.method
 * What the machine numbers anew in each run (hidden classes: lambdas) has no number.
 * NULL: it is no such name.
 */
char *java_method_name(const char *text, enum name_style style);
/* Whether a name is of that form. */
bool java_is_method(const char *text);
/* Adds the type that a signature begins with, "[I": "int[]", and nothing where it is none. */
void java_type_put(struct strbuf *out, const char *signature);
/* The same of the parameters of a method, "(I)V": "(int)"; of a field's type nothing. */
void java_parameters_put(struct strbuf *out, const char *signature);

#endif
