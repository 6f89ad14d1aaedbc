/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/java_classes.h"

#include <stdlib.h>

static uint32_t *number_texts(struct string_table *names, const struct experiment_trace *trace)
{
	uint32_t *numbers = xcalloc(trace->texts.count + 1, sizeof(*numbers));

	for (size_t i = 0; i < trace->texts.count; i++)
		if (trace->texts.items[i])
			numbers[i] = string_table_add(names, trace->texts.items[i]);
	return numbers;
}

const struct java_classes *java_classes_of(struct session *session)
{
	struct java_classes *classes = session->java_classes;

	if (classes)
		return classes;
	session->java_classes = classes = xcalloc(1, sizeof(*classes));
	string_table_add(&classes->names, ""); /* number 0 */
	classes->processes = session->scanned.count;
	classes->of_text = xcalloc(classes->processes + 1, sizeof(*classes->of_text));
	for (size_t i = 0; i < classes->processes; i++)
		classes->of_text[i] = number_texts(
			&classes->names, &session->scanned.items[i].process->traces[TRACE_JHEAP]);
	return classes;
}

uint32_t java_class_number(const struct java_classes *classes,
			   const struct session_process *process, uint64_t text)
{
	return text < process->process->traces[TRACE_JHEAP].texts.count
		       ? classes->of_text[process->id - 1][text]
		       : 0;
}

void java_classes_free(struct java_classes *classes)
{
	if (!classes)
		return;
	for (size_t i = 0; i < classes->processes; i++)
		free(classes->of_text[i]);
	free(classes->of_text);
	string_table_fini(&classes->names);
	free(classes);
}
