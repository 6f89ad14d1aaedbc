/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter and the selections of a session.  A selection by numbers is turned into an
 * expression: there is one way to choose events.
 */
#include "analysis/filter.h"

#include "analysis/filter_program.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Takes the place of what was chosen by; text and program become the session's. */
static void replace(struct session *session, size_t which, char *text,
		    struct filter_program *program)
{
	struct session_filter *filter = &session->filters[which];

	free(filter->text);
	filter_program_free(filter->program);
	filter->text = text;
	filter->program = program;
	session_count(session);
}

static bool is_true(const char *expression)
{
	size_t blank = strspn(expression, " \t\r\n");
	size_t length = strlen(expression);

	while (length > blank && isspace((unsigned char)expression[length - 1]))
		length--;
	return length == blank ||
	       (length - blank == 4 && !strncasecmp(expression + blank, "true", 4));
}

enum status session_filter(struct session *session, const char *expression, struct diag_list *diags)
{
	struct filter_program *program;

	if (is_true(expression)) {
		replace(session, 0, NULL, NULL);
		return STATUS_OK;
	}
	if (filter_compile(session, expression, &program, diags) != STATUS_OK)
		return STATUS_INVALID;
	replace(session, 0, xstrdup(expression), program);
	return STATUS_OK;
}

const char *session_filter_text(const struct session *session)
{
	return session->filters[0].text;
}

bool session_chooses_any(const struct session *session)
{
	for (size_t k = 0; k < MEASURE_COUNT; k++) {
		const uint64_t *weights = session->weights.of[k];

		for (size_t i = 0; weights && i < session->weights.nodes; i++)
			if (weights[i])
				return true;
	}
	return false;
}

/* ---- lists of numbers ---- */

static const struct {
	const char *property;
	const char *what;
} selections[SELECTIONS] = {
	[SELECT_SAMPLES] = {"SAMPLE", "samples"},    [SELECT_THREADS] = {"THRID", "threads"},
	[SELECT_LWPS] = {"LWPID", "LWPs"},	     [SELECT_CPUS] = {"CPUID", "processors"},
	[SELECT_PROCESSES] = {"EXPID", "processes"},
};

static bool take_number(const char **at, uint64_t *number)
{
	*number = 0;
	if (!isdigit((unsigned char)**at))
		return false;
	for (; isdigit((unsigned char)**at); ++*at)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(**at - '0'), number))
			return false;
	return true;
}

static bool take(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

/* "1,3-5" as a condition on a property. False: it is no such list. */
static bool add_list(struct strbuf *out, const char *property, const char **at)
{
	uint64_t first, last;

	strbuf_putc(out, '(');
	do {
		if (!take_number(at, &first))
			return false;
		last = first;
		if (take(at, '-') && !take_number(at, &last))
			return false;
		strbuf_printf(out, "(%s >= %llu && %s <= %llu)", property,
			      (unsigned long long)first, property, (unsigned long long)last);
		if (**at == ',')
			strbuf_puts(out, " || ");
	} while (take(at, ','));
	strbuf_putc(out, ')');
	return true;
}

/* One part between '+': "1-2:1,3-5" or "1,3-5". */
static bool add_part(struct strbuf *out, const char *property, const char **at)
{
	size_t length = strcspn(*at, "+");
	bool by_experiment = memchr(*at, ':', length) != NULL;

	strbuf_putc(out, '(');
	if (by_experiment) {
		if (!add_list(out, "EXPID", at) || !take(at, ':'))
			return false;
		strbuf_puts(out, " && ");
	}
	if (!strncasecmp(*at, "all", 3)) {
		strbuf_puts(out, "TRUE");
		*at += 3;
	} else if (!add_list(out, property, at)) {
		return false;
	}
	strbuf_putc(out, ')');
	if (**at == '+')
		strbuf_puts(out, " || ");
	return true;
}

/* The list as an expression, or NULL; the caller's to free. */
static char *list_expression(const char *property, const char *list)
{
	struct strbuf out = {0};
	const char *at = list;
	bool right;

	do
		right = add_part(&out, property, &at);
	while (right && take(&at, '+'));
	if (right && !*at)
		return strbuf_steal(&out);
	strbuf_fini(&out);
	return NULL;
}

bool session_process_selected(const struct session *session, uint32_t id)
{
	const char *at = session_selected(session, SELECT_PROCESSES);
	uint64_t first, last;

	while (take_number(&at, &first)) {
		last = first;
		if (take(&at, '-'))
			take_number(&at, &last);
		if (id >= first && id <= last)
			return true;
		take(&at, ',');
	}
	return !strcmp(session_selected(session, SELECT_PROCESSES), "all");
}

enum status session_select(struct session *session, enum selection selection, const char *list,
			   struct diag_list *diags)
{
	struct filter_program *program = NULL;
	enum status status;
	char *expression;

	if (!strcasecmp(list, "all")) {
		replace(session, 1 + selection, NULL, NULL);
		return STATUS_OK;
	}
	expression = list_expression(selections[selection].property, list);
	if (!expression) {
		diag_add(diags, DIAG_ERROR,
			 "Invalid list of %s: %s (a list is like 1,3-5, or 2:1,3 for experiment 2 "
			 "only, or all)",
			 selections[selection].what, list);
		return STATUS_INVALID;
	}
	status = filter_compile(session, expression, &program, diags);
	free(expression);
	if (status == STATUS_OK)
		replace(session, 1 + selection, xstrdup(list), program);
	return status;
}

const char *session_selected(const struct session *session, enum selection selection)
{
	const char *text = session->filters[1 + selection].text;

	return text ? text : "all";
}

struct cpu_set {
	bool seen[PROFILE_NO_CPU];
	size_t count;
};

static void add_cpus(const struct event_run *run, void *arg)
{
	struct cpu_set *set = arg;

	const uint64_t *cpus = event_column(run, ROW_CPU);

	for (size_t i = 0; i < run->count; i++) {
		uint64_t cpu = cpus[i];

		if (cpu == PROFILE_NO_CPU || set->seen[cpu])
			continue;
		set->seen[cpu] = true;
		set->count++;
	}
}

size_t session_cpu_count(const struct session *session, size_t process)
{
	struct cpu_set set = {0};

	for (int kind = 0; kind < EVENTS_KINDS; kind++)
		events_for_each_piece(session->scanned.items[process].process,
				      (enum event_kind)kind, add_cpus, &set);
	return set.count;
}

void filters_fini(struct session *session)
{
	for (size_t i = 0; i < SESSION_FILTERS; i++) {
		free(session->filters[i].text);
		filter_program_free(session->filters[i].program);
	}
}
