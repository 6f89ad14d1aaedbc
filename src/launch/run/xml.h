/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of log.xml: written whole, and looked through without a parser (one element a line). */
#ifndef HELIO_LAUNCH_XML_H
#define HELIO_LAUNCH_XML_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Appends ` name="value"`, escaped.  Bytes that XML 1.0 cannot hold (control
 * characters, what is not UTF-8) are written as format/escape.h says.
 */
void xml_add_attribute(struct strbuf *out, const char *name, const char *value);
void xml_add_number(struct strbuf *out, const char *name, uint64_t value);

/*
 * Reads a number from an attribute of the element that begins at `element`
 * (its '<'); false if the element ends without it.
 */
bool xml_read_number(const char *element, const char *name, uint64_t *value);

#endif
