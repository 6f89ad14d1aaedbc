/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment_writer.h"

#include "base/memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void bytes_put(struct bytes *bytes, const void *data, size_t size)
{
	if (bytes->size + size > bytes->capacity) {
		bytes->capacity = (bytes->size + size) * 2;
		bytes->data = xrealloc(bytes->data, bytes->capacity);
	}
	if (size)
		memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

void bytes_u8(struct bytes *bytes, unsigned value)
{
	uint8_t byte = (uint8_t)value;

	bytes_put(bytes, &byte, 1);
}

void bytes_varint(struct bytes *bytes, uint64_t value)
{
	for (; value > 127; value /= 128)
		bytes_u8(bytes, 128 + value % 128);
	bytes_u8(bytes, (unsigned)value);
}

void bytes_signed(struct bytes *bytes, int64_t value)
{
	bytes_varint(bytes, value < 0 ? (uint64_t)(-(value + 1)) * 2 + 1 : (uint64_t)value * 2);
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){0};
}

char *make_experiment(const char *name)
{
	char parent[] = "/tmp/helio-unit-XXXXXX";

	if (!mkdtemp(parent))
		abort();

	char *path = xasprintf("%s/%s", parent, name);

	if (mkdir(path, 0777))
		abort();
	return path;
}

static void remove_tree(const char *path)
{
	DIR *directory = opendir(path);

	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;

		char *child = xasprintf("%s/%s", path, entry->d_name);

		if (unlink(child))
			remove_tree(child);
		free(child);
	}
	if (directory)
		closedir(directory);
	rmdir(path);
}

void remove_experiment(const char *path)
{
	char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	remove_tree(parent);
	free(parent);
}

char *make_descendant(const char *path, const char *lineage)
{
	char *child = xasprintf("%s/%s.er", path, lineage);

	if (mkdir(child, 0777))
		abort();
	return child;
}

int root_folder(void)
{
	static int root;

	if (!root)
		root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return root;
}

void write_file(const char *directory, const char *name, const void *data, size_t size)
{
	char *path = xasprintf("%s/%s", directory, name);
	FILE *file;

	unlink(path); /* a file that is cut to nothing may be written to the disk on closing */
	file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		abort();
	free(path);
}

void write_text(const char *directory, const char *name, const char *text)
{
	write_file(directory, name, text, strlen(text));
}

struct bytes read_whole(const char *directory, const char *name)
{
	struct bytes result = {0};
	char *path = xasprintf("%s/%s", directory, name), buffer[4096];
	FILE *file = fopen(path, "r");

	if (!file)
		abort();
	for (size_t got; (got = fread(buffer, 1, sizeof(buffer), file));)
		bytes_put(&result, buffer, got);
	fclose(file);
	free(path);
	return result;
}

void put_file_header(struct bytes *file, const char *kind)
{
	struct format_file_header header = {.version = 1, .header_size = 64};
	char text[32] = "for a test";

	memcpy(header.magic, "HELIO\r\n\032", 8);
	memcpy(header.kind, kind, strlen(kind));
	bytes_put(file, &header, sizeof(header));
	bytes_put(file, text, sizeof(text));
}

void put_block(struct bytes *file, struct format_block_header header, const struct bytes *payload)
{
	static const char zeros[8];

	header.magic = 0x4b4c4248;
	header.used = (uint32_t)payload->size;
	header.size = (uint32_t)((sizeof(header) + payload->size + 7) / 8 * 8);
	bytes_put(file, &header, sizeof(header));
	bytes_put(file, payload->data, payload->size);
	bytes_put(file, zeros, header.size - sizeof(header) - payload->size);
}

void put_thread(struct bytes *payload, uint64_t number, uint64_t tid, uint64_t time)
{
	bytes_u8(payload, 0x80);
	bytes_varint(payload, number);
	bytes_varint(payload, tid);
	bytes_varint(payload, time);
}

void put_control(struct bytes *payload, unsigned tag, uint64_t value)
{
	bytes_u8(payload, tag);
	bytes_varint(payload, value);
}

void put_event(struct bytes *payload, unsigned state, uint64_t dt, uint64_t weight,
	       uint32_t *previous, uint32_t stack)
{
	bytes_u8(payload, state | (stack == *previous ? 0x10 : 0) | (dt ? 0 : 0x20) |
				  (weight == dt ? 0x40 : 0));
	if (dt)
		bytes_varint(payload, dt);
	if (weight != dt)
		bytes_varint(payload, weight);
	if (stack != *previous)
		bytes_signed(payload, (int64_t)stack - (int64_t)*previous);
	*previous = stack;
}

void put_raw_node(struct bytes *payload, uint32_t parent, uint32_t epoch, uint64_t pc)
{
	bytes_put(payload, &parent, 4);
	bytes_put(payload, &epoch, 4);
	bytes_put(payload, &pc, 8);
}

void write_overview(const char *directory)
{
	struct format_sample samples[2] = {{.time_ns = 1000, .kind = 0, .label = "start"},
					   {.time_ns = 8000000,
					    .kind = 2,
					    .label = "end",
					    .user_ns = 4000000,
					    .rss_bytes = 7}};
	struct bytes file = {0};

	put_file_header(&file, "overview");
	bytes_put(&file, samples, sizeof(samples));
	write_file(directory, "overview", file.data, file.size);
	bytes_free(&file);
}

static void put_profile_block(struct bytes *file, struct bytes *payload, unsigned thread)
{
	if (!payload->size)
		return;
	put_control(payload, 0x81, 0);
	put_block(file,
		  (struct format_block_header){.first = thread, .base_time = 1, .encoding = 1},
		  payload);
	payload->size = 0;
}

/* From the event before until one ends. */
static uint64_t time_until(const struct written_event *event, const struct written_event *end)
{
	uint64_t us = event->us;

	if (event->state & AT_ONCE)
		return 0;
	while (++event < end && event->state & AT_ONCE)
		us += event->state & TIMELESS ? 0 : event->us;
	return us;
}

static void write_profile(const char *path, const struct written_event *events, size_t count)
{
	struct bytes file = {0}, payload = {0};
	uint32_t previous = 0;
	unsigned thread = 0;

	put_file_header(&file, "profile");
	for (size_t i = 0; i < count; i++) {
		if (events[i].thread != thread) {
			put_profile_block(&file, &payload, thread);
			thread = events[i].thread;
			previous = 0;
			put_thread(&payload, thread, 99 + thread, 1);
		}
		if (events[i].state / ON_CPU)
			put_control(&payload, FORMAT_TAG_CPU, events[i].state / ON_CPU - 1);
		for (unsigned k = 0; k <= events[i].more_of_the_same; k++)
			put_event(&payload, events[i].state & 0xf,
				  time_until(events + i, events + count), events[i].us, &previous,
				  events[i].stack);
	}
	put_profile_block(&file, &payload, thread);
	write_file(path, "profile", file.data, file.size);
	bytes_free(&file);
	bytes_free(&payload);
}

void write_clock_experiment(const char *path, const char *map, const struct written_node *nodes,
			    size_t count, const struct written_event *events, size_t event_count)
{
	struct bytes file = {0}, payload = {0};

	write_text(path, "log.xml", LOG_START LOG_SYSTEM LOG_PROCESS LOG_END);
	write_text(path, "map.xml", map);
	write_overview(path);
	put_file_header(&file, "stacks");
	for (size_t i = 0; i < count; i++)
		put_raw_node(&payload, nodes[i].parent, 0, nodes[i].pc);
	put_block(&file, (struct format_block_header){.first = 1, .encoding = 2}, &payload);
	write_file(path, "stacks", file.data, file.size);
	bytes_free(&file);
	bytes_free(&payload);
	write_profile(path, events, event_count);
}
