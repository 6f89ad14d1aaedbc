/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes small experiments byte by byte for the tests of the reader and of the
 * engine: nothing here comes from the code under test.
 */
#ifndef HELIO_TESTS_EXPERIMENT_WRITER_H
#define HELIO_TESTS_EXPERIMENT_WRITER_H

#include "format/format.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes under construction. Zero-initialised is empty. */
struct bytes {
	uint8_t *data;
	size_t size, capacity;
};

void bytes_put(struct bytes *bytes, const void *data, size_t size);
void bytes_u8(struct bytes *bytes, unsigned value);
void bytes_varint(struct bytes *bytes, uint64_t value);
void bytes_signed(struct bytes *bytes, int64_t value); /* zigzag */
void bytes_free(struct bytes *bytes);

/* A new directory DIR.er below a temporary directory; the caller frees the path. */
char *make_experiment(const char *name);
/* Removes what make_experiment made, parent directory included. */
void remove_experiment(const char *path);
/* PATH/NAME.er, made. */
char *make_descendant(const char *path, const char *lineage);

/* The root as a folder (base/folder.h), below which paths that begin with "/" are. */
int root_folder(void);

void write_file(const char *directory, const char *name, const void *data, size_t size);
void write_text(const char *directory, const char *name, const char *text);
/* Reads a whole file; the caller frees the bytes. */
struct bytes read_whole(const char *directory, const char *name);

/* Begins the bytes of a binary file. */
void put_file_header(struct bytes *file, const char *kind);
/* Appends a block of exactly the size that it needs; magic, size and used are filled in. */
void put_block(struct bytes *file, struct format_block_header header, const struct bytes *payload);

/* Events of the payload: dt and weight in µs, previous and next stack id. */
void put_thread(struct bytes *payload, uint64_t number, uint64_t tid, uint64_t time);
void put_event(struct bytes *payload, unsigned state, uint64_t dt, uint64_t weight,
	       uint32_t *previous, uint32_t stack);
void put_control(struct bytes *payload, unsigned tag, uint64_t value);
/* A raw node. */
void put_raw_node(struct bytes *payload, uint32_t parent, uint32_t epoch, uint64_t pc);

struct written_node {
	uint32_t parent; /* its number, from 1; 0: none */
	uint64_t pc;
};
/*
 * With the state: the event ends when the one before did, which then ends later by what it took, or
 * takes no time.  ON_CPU * n: it and those that follow are on processor n - 1.
 */
enum { AT_ONCE = 0x100, TIMELESS = 0x200, ON_CPU = 0x1000 };
struct written_event {
	unsigned thread; /* from 1; one's events follow each other */
	uint32_t stack;	 /* the number of a node */
	unsigned state;
	uint64_t us;		   /* from the event before, or the time 1 us; all of it spent so */
	unsigned more_of_the_same; /* so many events more, each as this one */
};
/* An experiment of a process with a clock profile: threads all begin at 1 us, and end. */
void write_clock_experiment(const char *path, const char *map, const struct written_node *nodes,
			    size_t count, const struct written_event *events, size_t event_count);

#define LOG_START                                                                                  \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                             \
	"<experiment version=\"1.0\" producer=\"heliometer test\" mono_ns=\"5\" "                  \
	"wall_ns=\"1790000000000000000\">\n"
#define LOG_SYSTEM                                                                                 \
	"<system hostname=\"h\" os=\"Linux 6.1\" arch=\"x86_64\" pagesize=\"4096\" pages=\"100\" " \
	"cpus=\"2\" clock_mhz=\"3000\"/>\n"                                                        \
	"<setting name=\"clock\" value=\"1000\"/>\n<argument text=\"./prog\"/>\n<argument "        \
	"text=\"a &lt; b\"/>\n"
#define LOG_PROCESS                                                                                \
	"<process pid=\"100\" ppid=\"99\" pgrp=\"98\" sid=\"97\" uid=\"0\" cwd=\"/tmp\" "          \
	"exe=\"/tmp/prog\" wordsize=\"64\" lineage=\"\" tstamp=\"1000\"/>\n"                       \
	"<collector engine=\"perf\" reason=\"\" library=\"/l.so\"/>\n"
#define LOG_END                                                                                    \
	"<event kind=\"exit\" tstamp=\"9000000\" status=\"3\" signal=\"0\"/>\n</experiment>\n"
#define MAP_START "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<maps>\n"
#define MAP_END	  "</maps>\n"

/* An overview of a start and an end sample. */
void write_overview(const char *directory);

#endif
