/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer: typed parts in order, in no format.  src/present renders it in each.
 *
 * A value has a key for programs (the member's name in JSON), a label for people, or both: what has
 * no key is in no JSON, and what is FOR_PROGRAMS is in nothing that people read.  Widths and the
 * words between values are hints of layout for fixed-width text.
 */
#ifndef HELIO_ANALYSIS_RESULT_H
#define HELIO_ANALYSIS_RESULT_H

#include "analysis/metric/metric.h"
#include "analysis/views/table.h"
#include "analysis/views/timeline.h"
#include "analysis/views/view_stacks.h"
#include "base/arena.h"

struct session;

enum value_kind {
	VALUE_NONE, /* not known */
	VALUE_TEXT,
	VALUE_INTEGER,
	VALUE_COUNT, /* never negative */
	VALUE_REAL,
	VALUE_FLAG,
	VALUE_MEASURE, /* of a metric's unit */
	VALUE_PART,    /* the same as a part of a whole */
	VALUE_SHARE,   /* … in percent only */
	VALUE_LIST,
	VALUE_RECORD,
	VALUE_MADE, /* a list whose values are made when it is rendered */
};

struct result;

/* Long, and for programs only: where people read, nothing is made of it. */
struct made_list {
	struct value (*make)(struct result *into, size_t index, const void *data);
	const void *data; /* the caller's, until the result is rendered */
	size_t count;
};

struct value {
	enum value_kind kind;
	enum metric_unit unit; /* of a measure */
	unsigned decimals;     /* of a real number, for people */
	union {
		const char *text;
		int64_t integer;
		uint64_t count;
		bool flag;
		struct {
			double number, whole;
		};
		struct value_list *list;
		struct record *record;
		struct made_list *made;
	};
};

struct value_list {
	struct value *items;
	size_t count, capacity;
};

enum audience {
	FOR_ALL,
	FOR_PEOPLE,
	FOR_PROGRAMS,
	FOR_TERMINALS, /* people at a terminal with colours */
};

struct fact {
	const char *key;   /* or NULL: for people */
	const char *label; /* or NULL: the value says what it is */
	struct value value;
	enum audience audience;
	int width;	    /* of the value: at least; negative: left-aligned */
	const char *suffix; /* " (secs.)"; or NULL */
};

struct record {
	struct fact *items;
	size_t count, capacity;
};

enum part_kind {
	PART_HEADING,
	PART_NOTE,
	PART_FACTS,
	PART_LIST,
	PART_FRAMES,
	PART_TABLE,
	PART_STACKS,
	PART_TIMELINE,
	PART_EVENTS,
	PART_SERIES
};

/* How the facts of a part stand in a text. */
struct facts_layout {
	bool in_line;	     /* all on one line */
	const char *before;  /* at the beginning of the line */
	const char *assign;  /* between label and value */
	const char *between; /* between facts of a line */
	int label_width;     /* at least; negative: left-aligned */
	bool wraps;	     /* a label that nearly fills its width has a line of its own */
};

struct list_column {
	const char *key;   /* or NULL: for people */
	const char *title; /* or NULL; a list whose columns all have none has no header */
	enum audience audience;
	bool right;   /* aligned right */
	size_t width; /* 0: that of the widest cell */
};

enum table_shape {
	SHAPE_LIST,    /* one header, one row per line, a blank line */
	SHAPE_BLOCKS,  /* callers-callees: a header before each block */
	SHAPE_SINGLE,  /* one block in three parts: callers, the function, callees */
	SHAPE_TREE,    /* names drawn as a tree */
	SHAPE_LISTING, /* lines of code: "## " before hot ones, values only where there is code */
};

struct result;

struct part {
	struct part *next;
	enum part_kind kind;
	enum audience audience;
	union {
		struct {
			const char *text;
			bool is_title; /* stands out on a terminal */
			bool ruled;    /* a line of `-' below */
		} heading;
		const char *note; /* a line; "": a blank one */
		struct {
			struct record record;
			struct facts_layout layout;
			bool of_all; /* members of the JSON object itself, not of a row */
		} facts;
		struct {
			struct list_column *columns;
			size_t column_count;
			struct value *cells;
			size_t cell_count, capacity;
			char rule;  /* what underlines each title; 0: nothing does */
			bool ruled; /* a line of `-' below the header */
		} list;
		struct {
			const char **names; /* innermost first */
			size_t count;
			const char *indent;
		} frames;
		struct {
			struct table table;
			enum table_shape shape;
			const char *heading; /* lines; without the last end of line */
		} table;
		struct stack_list stacks;
		struct timeline timeline;
		struct timeline_page events;
		struct {
			/* Adds the parts of one element, which are rendered and forgotten. */
			void (*make)(struct result *into, size_t index, const void *data);
			const void *data; /* the caller's, until the result is rendered */
			size_t count;
		} series;
	};
};

struct result {
	const char *view;	       /* what was asked for: "functions" */
	const struct session *session; /* of which, or NULL */
	enum audience audience;	       /* of a setting: programs need none */
	struct metric_list metrics;    /* whose values the facts are */
	struct part *first, *last;
	struct arena arena; /* owns all but tables */
};

void result_init(struct result *result, const char *view, const struct session *session);
void result_fini(struct result *result);

/* A line above what follows. */
struct part *result_heading(struct result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A line for people. */
struct part *result_note(struct result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A blank one. */
struct part *result_gap(struct result *result);
/* One fact a line: "label: value". */
struct part *result_facts(struct result *result, int label_width);
/* The facts of one line, with `before` in front and `between` between them. */
struct part *result_line(struct result *result, const char *before, const char *between);
struct part *result_list(struct result *result, const struct list_column *columns, size_t count);
struct part *result_frames(struct result *result, const char *const *names, size_t count);
/* Takes over the table and the heading. */
struct part *result_table(struct result *result, struct table *table, enum table_shape shape,
			  char *heading);
/* These take over what they are given. */
struct part *result_stacks(struct result *result, struct stack_list *list);
struct part *result_timeline(struct result *result, struct timeline *timeline);
struct part *result_events(struct result *result, struct timeline_page *page);
struct part *result_series(struct result *result, size_t count,
			   void (*make)(struct result *into, size_t index, const void *data),
			   const void *data);

/* The fact is valid until the next one of its part. */
struct fact *part_add(struct result *result, struct part *facts, const char *key, const char *label,
		      struct value value);
/* For programs only. */
void part_set(struct result *result, struct part *facts, const char *key, struct value value);
/* The cells of a list, row by row. */
void part_cell(struct result *result, struct part *list, struct value value);

/* Values of several values, for programs. */
struct record *result_record(struct result *result);
/* The same with room for so many facts: where there are many records of few. */
struct record *result_record_of(struct result *result, size_t count);
void record_set(struct result *result, struct record *record, const char *key, struct value value);
struct value_list *result_values(struct result *result);
void values_add(struct result *result, struct value_list *list, struct value value);

/* A copy; NULL is not known. */
struct value value_text(struct result *result, const char *text);
struct value value_printf(struct result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Each of them a text. */
struct value value_texts(struct result *result, const char *const *texts, size_t count);
struct value value_integer(int64_t integer);
struct value value_count(uint64_t count);
struct value value_real(double number, unsigned decimals);
struct value value_flag(bool flag);
struct value value_measure(enum metric_unit unit, double number);
struct value value_part(enum metric_unit unit, double number, double whole);
struct value value_share(double number, double whole);
struct value value_record(struct record *record);
struct value value_list(struct value_list *list);
struct value value_made(struct result *result, size_t count,
			struct value (*make)(struct result *into, size_t index, const void *data),
			const void *data);

/* "e.totalcpu", the key of a metric's values: no visibility. The caller's to free. */
char *metric_key(const struct metric *metric, enum metric_flavor flavor);

#endif
