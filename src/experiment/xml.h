/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.xml and map.xml, line by line.
 *
 * Their writers append whole lines, one element each, and may die at any
 * moment.  So every line is parsed as a document of its own: a damaged line
 * costs that line only, and a missing closing tag costs nothing.
 */
#ifndef HELIO_EXPERIMENT_XML_H
#define HELIO_EXPERIMENT_XML_H

#include "experiment/block.h"

/* attributes: name, value, name, value, …, NULL; valid during the call. */
typedef void xml_element_fn(void *data, const char *element, const char **attributes);

/* What stands between an element's tags, on one line; valid during the call. */
typedef void xml_text_fn(void *data, const char *element, const char *text);

struct xml_result {
	bool present; /* the file exists and is not empty */
	bool closed;  /* the root's closing tag is there */
	size_t damaged_lines;
	size_t first_damaged; /* line number from 1 */
	bool too_large;	      /* only the beginning was read */
	size_t size;	      /* bytes, known from the first element on */
};

/* Calls `element` for each element, the root included. */
void xml_read(const struct read_context *context, const char *file_name, xml_element_fn *element,
	      void *data, struct xml_result *result);

/* The same of a file whose elements may have texts. */
void xml_read_texts(const struct read_context *context, const char *file_name,
		    xml_element_fn *element, xml_text_fn *text, void *data,
		    struct xml_result *result);

/* The value of an attribute, or NULL. */
const char *xml_attribute(const char **attributes, const char *name);
/* A number, decimal or 0x…; false (and *value untouched) where it is missing or malformed. */
bool xml_number(const char **attributes, const char *name, uint64_t *value);

#endif
