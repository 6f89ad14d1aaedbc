/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries, and what of them is checked against a session.  A selection by numbers is turned into
 * an expression: there is one way to choose events.
 */
#include "analysis/filter/filter_program.h"
#include "analysis/session/query.h"

#include "analysis/filter/filter.h"
#include "analysis/session/session_state.h"
#include "analysis/tree/tree.h"
#include "base/strbuf.h"
#include "base/suggest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void query_set_default_metrics(struct query *query, const struct session *session)
{
	vec_fini(&query->metrics);
	session_default_metrics(session, query->default_metrics, &query->metrics);
	query->sort = query->metrics.items[0];
	query->sort_reverse = false;
}

void query_init(struct query *query, const struct session *session)
{
	*query = (struct query){0};
	query_set_default_metrics(query, session);
}

void query_fini(struct query *query)
{
	vec_fini(&query->metrics);
	for (size_t i = 0; i < QUERY_FILTERS; i++) {
		free(query->filters[i]);
		free(query->expressions[i]);
	}
	free(query->showing);
	*query = (struct query){0};
}

/* ---- what events count ---- */

/* Takes the place of what was chosen by; the texts become the query's. */
static void replace(struct query *query, size_t which, char *text, char *expression)
{
	free(query->filters[which]);
	free(query->expressions[which]);
	query->filters[which] = text;
	query->expressions[which] = expression;
}

static bool is_right(struct session *session, const struct query *query, const char *expression,
		     struct diag_list *diags)
{
	struct filter_program *program = NULL;
	enum status status;

	session_enter(session);
	status = filter_compile(session, session_tree(session, query->mode, query->inlines),
				expression, &program, diags);
	filter_program_free(program);
	session_leave(session);
	return status == STATUS_OK;
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

enum status query_filter(struct query *query, struct session *session, const char *expression,
			 struct diag_list *diags)
{
	if (is_true(expression)) {
		replace(query, 0, NULL, NULL);
		return STATUS_OK;
	}
	if (!is_right(session, query, expression, diags))
		return STATUS_INVALID;
	replace(query, 0, xstrdup(expression), xstrdup(expression));
	return STATUS_OK;
}

const char *query_filter_text(const struct query *query)
{
	return query->filters[0];
}

const char *query_filter_expression(const struct query *query, size_t index)
{
	return query->expressions[index];
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

bool query_process_selected(const struct query *query, uint32_t id)
{
	const char *at = query_selected(query, SELECT_PROCESSES);
	uint64_t first, last;

	while (take_number(&at, &first)) {
		last = first;
		if (take(&at, '-'))
			take_number(&at, &last);
		if (id >= first && id <= last)
			return true;
		take(&at, ',');
	}
	return !strcmp(query_selected(query, SELECT_PROCESSES), "all");
}

enum status query_select(struct query *query, struct session *session, enum selection selection,
			 const char *list, struct diag_list *diags)
{
	char *expression;

	if (!strcasecmp(list, "all")) {
		replace(query, 1 + selection, NULL, NULL);
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
	if (!is_right(session, query, expression, diags)) {
		free(expression);
		return STATUS_INVALID;
	}
	replace(query, 1 + selection, xstrdup(list), expression);
	return STATUS_OK;
}

const char *query_selected(const struct query *query, enum selection selection)
{
	const char *text = query->filters[1 + selection];

	return text ? text : "all";
}

void query_carry(struct query *query, struct session *session, struct diag_list *diags)
{
	query->showing_count = 0;
	for (size_t i = 0; i < QUERY_FILTERS; i++) {
		char *text = query->filters[i] ? xstrdup(query->filters[i]) : NULL;

		replace(query, i, NULL, NULL);
		if (text && !i)
			query_filter(query, session, text, diags);
		else if (text)
			query_select(query, session, (enum selection)(i - 1), text, diags);
		free(text);
	}
}

/* ---- how functions are shown ---- */

static bool is_called(const struct load_object *object, const char *name)
{
	return !strcmp(object->name, name) || !strcmp(object->path, name);
}

enum object_showing query_object_showing(const struct query *query, uint32_t object)
{
	return object < query->showing_count ? (enum object_showing)query->showing[object]
					     : OBJECT_SHOWN;
}

static void set_showing(struct query *query, uint32_t object, enum object_showing showing)
{
	if (object >= query->showing_count) {
		query->showing = xrealloc(query->showing, object + 1);
		memset(query->showing + query->showing_count, OBJECT_SHOWN,
		       object + 1 - query->showing_count);
		query->showing_count = object + 1;
	}
	query->showing[object] = (uint8_t)showing;
}

/* <Unknown> is no object. False: no other has the name. */
static bool show_named(struct query *query, const struct session *session, const char *name,
		       enum object_showing showing)
{
	bool found = !strcmp(name, "all");

	for (uint32_t i = 1; i < session->objects.count; i++) {
		if (strcmp(name, "all") != 0 && !is_called(&session->objects.items[i], name))
			continue;
		set_showing(query, i, showing);
		found = true;
	}
	return found;
}

static void complain_object(const struct session *session, const char *name,
			    struct diag_list *diags)
{
	VEC(const char *) names = {0};
	const char *closest;

	for (size_t i = 1; i < session->objects.count; i++)
		*vec_push(&names) = session->objects.items[i].name;
	closest = suggest_closest(name, names.items, names.count);
	if (closest)
		diag_add(diags, DIAG_ERROR, "No load object is called %s: did you mean %s?", name,
			 closest);
	else
		diag_add(diags, DIAG_ERROR, "No load object is called %s: `objects' lists them",
			 name);
	vec_fini(&names);
}

enum status query_show_objects(struct query *query, struct session *session, const char *list,
			       enum object_showing showing, struct diag_list *diags)
{
	char *names = xstrdup(list), *rest = names, *name;
	enum status status = STATUS_OK;

	session_enter(session);
	while ((name = strsep(&rest, ","))) {
		if (show_named(query, session, name, showing))
			continue;
		complain_object(session, name, diags);
		status = STATUS_NOTFOUND;
	}
	session_leave(session);
	free(names);
	return status;
}

/* Of functions that the call tree in force does not have a filter says nothing any more. */
static void check_filter(struct query *query, struct session *session, struct diag_list *diags)
{
	char *text = query->filters[0] ? xstrdup(query->filters[0]) : NULL;

	if (!text)
		return;
	query_filter(query, session, "", diags);
	query_filter(query, session, text, diags);
	free(text);
}

void query_show_inlines(struct query *query, struct session *session, bool shown,
			struct diag_list *diags)
{
	if (query->inlines == shown)
		return;
	query->inlines = shown;
	check_filter(query, session, diags);
}

void query_show_mode(struct query *query, struct session *session, enum view_mode mode,
		     struct diag_list *diags)
{
	if (query->mode == mode)
		return;
	query->mode = mode;
	check_filter(query, session, diags);
}
