/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes experiments of any size with known content, for benchmarks and tests
 * of the analyzer.  Random, but the same seed gives the same bytes.  The load
 * objects are real ones of this machine, so that addresses have names.  What is
 * written is added up on the way: the truth that --totals writes does not come
 * from any reader.
 */
#include "base/memory.h"
#include "base/strbuf.h"
#include "format/checksum.h"
#include "format/format.h"
#include "format/varint.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BLOCK_BYTES = 64 * 1024,
	RECORD_ROOM = 4 * VARINT_MAX,
	PCS = 20000,	 /* distinct addresses of a process, if nothing else is said */
	DEPTH_MAX = 120, /* frames of a stack */
	OBJECTS_MAX = 4,
	THREADS_MAX = 100000,
};

struct options {
	uint64_t events, stacks, addresses, threads, descendants, seed;
	const char *out, *totals, *object;
};

/* A load object whose executable segment gives addresses. */
struct image {
	char *path;
	uint64_t vaddr, size, offset, bias, mtime, file_size;
	char build_id[65];
};

struct generator {
	struct options options;
	uint64_t random;
	struct image images[OBJECTS_MAX];
	size_t image_count;
	FILE *totals;
};

/* A thread while its events are made. */
struct thread {
	uint64_t number, tid;
	uint64_t left; /* events to come */
	uint64_t begin, time;
	unsigned cpu;
	bool started;
	uint64_t state_us[FORMAT_STATE_COUNT];
};

/* One process while it is written. */
struct process {
	struct generator *generator;
	char *directory, *lineage;
	uint64_t pid, events, node_count;
	struct thread *threads;
	uint64_t end_us;
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "helio-generate: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* splitmix64 */
static uint64_t next_random(struct generator *generator)
{
	uint64_t z = generator->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint64_t random_below(struct generator *generator, uint64_t limit)
{
	return limit ? (next_random(generator) >> 11) % limit : 0;
}

/* Below limit, small numbers far more often. */
static uint64_t random_skewed(struct generator *generator, uint64_t limit)
{
	double u = (double)(next_random(generator) >> 11) / 9007199254740992.0;

	return (uint64_t)(u * u * u * (double)limit);
}

/* ---- load objects ---- */

static void read_build_id(struct image *image, const uint8_t *note, size_t size)
{
	while (size >= sizeof(Elf64_Nhdr)) {
		const Elf64_Nhdr *header = (const Elf64_Nhdr *)note;
		size_t name = (header->n_namesz + 3u) & ~3u, data = (header->n_descsz + 3u) & ~3u;

		if (sizeof(*header) + name + data > size)
			return;
		if (header->n_type == NT_GNU_BUILD_ID && header->n_descsz <= 32)
			for (uint32_t i = 0; i < header->n_descsz; i++)
				snprintf(image->build_id + i * 2, 3, "%02x",
					 note[sizeof(*header) + name + i]);
		note += sizeof(*header) + name + data;
		size -= sizeof(*header) + name + data;
	}
}

static bool read_segments(struct image *image, const uint8_t *file)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
	const Elf64_Phdr *segments = (const Elf64_Phdr *)(file + header->e_phoff);

	if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_NOTE && !image->build_id[0])
			read_build_id(image, file + segments[i].p_offset, segments[i].p_filesz);
		if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X) {
			image->vaddr = segments[i].p_vaddr;
			image->size = segments[i].p_filesz;
			image->offset = segments[i].p_offset;
		}
	}
	return image->size > 0;
}

static void add_image(struct generator *generator, const char *path)
{
	struct image *image = &generator->images[generator->image_count];
	char *real = realpath(path, NULL);
	int fd = real ? open(real, O_RDONLY | O_CLOEXEC) : -1;
	struct stat info;

	if (fd < 0 || generator->image_count == OBJECTS_MAX || fstat(fd, &info)) {
		free(real);
		if (fd >= 0)
			close(fd);
		return;
	}

	void *file = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	*image = (struct image){.path = real,
				.mtime = (uint64_t)info.st_mtime,
				.file_size = (uint64_t)info.st_size};
	image->bias = 0x7f0000000000u + generator->image_count * 0x1000000000u;
	if (file != MAP_FAILED && read_segments(image, file))
		generator->image_count++;
	else
		free(real);
	if (file != MAP_FAILED)
		munmap(file, (size_t)info.st_size);
	close(fd);
}

/* Programs whose names are interesting, and the C library as this process has it. */
static void find_images(struct generator *generator)
{
	static const char *const programs[] = {"/usr/bin/python3", "/usr/bin/sqlite3", "/bin/sh"};
	const char *object = generator->options.object;
	FILE *maps = object ? NULL : fopen("/proc/self/maps", "r");
	char line[4096], path[4096];

	if (object)
		add_image(generator, object);
	for (size_t i = 0; !object && i < 3 && generator->image_count < 1; i++)
		add_image(generator, programs[i]);
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%*s r-xp %*s %*s %*s %4095s", path) == 1 &&
		    strstr(path, "/libc.so")) {
			add_image(generator, path);
			break;
		}
	}
	if (maps)
		fclose(maps);
	if (!generator->image_count)
		die("no ELF file to take addresses from");
}

static uint64_t random_pc(struct generator *generator)
{
	struct image *image = &generator->images[random_below(generator, generator->image_count)];

	return image->bias + image->vaddr + random_below(generator, image->size);
}

/* ---- files ---- */

static FILE *create(const struct process *process, const char *name)
{
	char *path = xasprintf("%s/%s", process->directory, name);
	FILE *file = fopen(path, "we");

	if (!file)
		die(path);
	free(path);
	return file;
}

static void finish(FILE *file)
{
	if (ferror(file) | fclose(file))
		die("writing");
}

static FILE *create_binary(const struct process *process, const char *kind)
{
	struct {
		struct format_file_header header;
		char text[96];
	} start = {.header = {.version = FORMAT_VERSION, .header_size = sizeof(start)}};
	FILE *file = create(process, kind);

	memcpy(start.header.magic, FORMAT_FILE_MAGIC, sizeof(start.header.magic));
	snprintf(start.header.kind, sizeof(start.header.kind), "%s", kind);
	snprintf(start.text, sizeof(start.text), "made by helio-generate; see docs/format.md\n");
	fwrite(&start, sizeof(start), 1, file);
	return file;
}

static void write_block(FILE *file, struct format_block_header *header, const uint8_t *data)
{
	static const uint8_t zeros[8];
	uint32_t padding = -header->used & 7;

	header->magic = FORMAT_BLOCK_MAGIC;
	header->size = (uint32_t)sizeof(*header) + header->used + padding;
	header->checksum = format_checksum(header, data);
	fwrite(header, sizeof(*header), 1, file);
	fwrite(data, header->used, 1, file);
	fwrite(zeros, padding, 1, file);
}

/* ---- stacks ---- */

struct node_writer {
	FILE *file;
	struct format_block_header header;
	uint8_t data[BLOCK_BYTES];
	uint8_t *out;
	uint64_t
		*recent; /* per pool entry: its number among the block's new pcs, from 1; 0: none */
	uint64_t new_count, last_pc;
};

static void begin_nodes(struct node_writer *writer, uint64_t first, size_t pool)
{
	writer->header = (struct format_block_header){.first = (uint32_t)first,
						      .encoding = FORMAT_NODES_PACKED};
	writer->out = writer->data;
	writer->new_count = writer->last_pc = 0;
	memset(writer->recent, 0, pool * sizeof(*writer->recent));
}

static void end_nodes(struct node_writer *writer)
{
	writer->header.used = (uint32_t)(writer->out - writer->data);
	if (writer->header.used)
		write_block(writer->file, &writer->header, writer->data);
}

static void put_node(struct node_writer *writer, uint64_t back, size_t entry, uint64_t pc)
{
	writer->out = varint_put(writer->out, back);
	if (writer->recent[entry]) {
		writer->out =
			varint_put(writer->out, writer->new_count - writer->recent[entry] + 1);
	} else {
		writer->out = varint_put(writer->out, 0);
		writer->out =
			varint_put(writer->out, zigzag_encode((int64_t)(pc - writer->last_pc)));
		writer->last_pc = pc;
		writer->recent[entry] = ++writer->new_count;
	}
	writer->header.count++;
}

/* A random tree: nodes mostly hang on recent ones, a fifth of them recurses. */
static void write_stacks(struct process *process)
{
	struct generator *generator = process->generator;
	uint64_t most = process->generator->options.addresses;
	size_t pool_size = process->node_count < most ? process->node_count : most;
	uint64_t *pool = xcalloc(pool_size, sizeof(*pool));
	uint32_t *entry = xcalloc(process->node_count + 1, sizeof(*entry));
	uint8_t *depth = xcalloc(process->node_count + 1, 1);
	struct node_writer *writer = xcalloc(1, sizeof(*writer));

	writer->file = create_binary(process, FORMAT_FILE_STACKS);
	writer->recent = xcalloc(pool_size, sizeof(*writer->recent));
	for (size_t i = 0; i < pool_size; i++)
		pool[i] = random_pc(generator);
	begin_nodes(writer, 1, pool_size);
	for (uint64_t id = 1; id <= process->node_count; id++) {
		uint64_t back = 1 + random_skewed(generator, id < 2000 ? id : 2000);

		if (back > id || depth[id - back] >= DEPTH_MAX)
			back = id;
		depth[id] = (uint8_t)(depth[id - back] + 1);
		entry[id] = random_below(generator, 5) || back == id
				    ? (uint32_t)random_skewed(generator, pool_size)
				    : entry[id - back];
		if (writer->out - writer->data > BLOCK_BYTES - RECORD_ROOM) {
			end_nodes(writer);
			begin_nodes(writer, id, pool_size);
		}
		put_node(writer, back, entry[id], pool[entry[id]]);
	}
	end_nodes(writer);
	finish(writer->file);
	free(writer->recent);
	free(writer);
	free(depth);
	free(entry);
	free(pool);
}

/* ---- events ---- */

static unsigned random_state(struct generator *generator)
{
	static const uint8_t states[32] = {
		FORMAT_STATE_SYSTEM,	 FORMAT_STATE_SYSTEM,	  FORMAT_STATE_SYSTEM,
		FORMAT_STATE_SLEEP,	 FORMAT_STATE_SLEEP,	  FORMAT_STATE_USER_LOCK,
		FORMAT_STATE_WAIT_CPU,	 FORMAT_STATE_DATA_FAULT, FORMAT_STATE_STOPPED,
		FORMAT_STATE_TEXT_FAULT,
	};

	return states[random_below(generator, sizeof(states))];
}

static uint8_t *put_event(struct process *process, struct thread *thread, uint8_t *out,
			  uint64_t *stack)
{
	struct generator *generator = process->generator;
	unsigned state = random_state(generator);
	uint64_t dt = 500 + random_below(generator, 1000);
	uint64_t next = random_below(generator, 2)
				? *stack
				: 1 + random_skewed(generator, process->node_count);
	uint8_t *tag;

	if (!random_below(generator, 100)) {
		thread->cpu = (unsigned)random_below(generator, 16);
		*out++ = FORMAT_TAG_CPU;
		out = varint_put(out, thread->cpu);
	}
	tag = out++;
	*tag = (uint8_t)(state | FORMAT_TAG_WEIGHT_IS_DT);
	thread->time += dt;
	thread->state_us[state] += dt;
	out = varint_put(out, dt);
	if (next == *stack)
		*tag |= FORMAT_TAG_SAME_STACK;
	else
		out = varint_put(out, zigzag_encode((int64_t)(next - *stack)));
	*stack = next;
	return out;
}

/* One block of a thread's events; false when it has none left. */
static bool write_events(struct process *process, struct thread *thread, FILE *file)
{
	static uint8_t data[BLOCK_BYTES];
	struct format_block_header header = {.first = (uint32_t)thread->number,
					     .base_time = thread->time,
					     .encoding = FORMAT_EVENTS};
	uint8_t *out = data;
	uint64_t stack = 0;

	if (!thread->left && thread->started)
		return false;
	if (!thread->started) {
		*out++ = FORMAT_TAG_THREAD;
		out = varint_put(out, thread->number);
		out = varint_put(out, thread->tid);
		out = varint_put(out, thread->time);
		thread->started = true;
	}
	for (; thread->left && out - data < BLOCK_BYTES - RECORD_ROOM; thread->left--)
		out = put_event(process, thread, out, &stack);
	if (!thread->left) {
		*out++ = FORMAT_TAG_THREAD_END;
		out = varint_put(out, 0);
		if (thread->time > process->end_us)
			process->end_us = thread->time;
	}
	header.used = (uint32_t)(out - data);
	write_block(file, &header, data);
	return thread->left > 0;
}

static void write_profile(struct process *process)
{
	uint64_t count = process->generator->options.threads;
	FILE *file = create_binary(process, FORMAT_FILE_PROFILE);

	process->threads = xcalloc(count, sizeof(*process->threads));
	for (uint64_t i = 0; i < count; i++) {
		struct thread *thread = &process->threads[i];

		thread->number = i + 1;
		thread->tid = process->pid + i;
		thread->left = process->events / count + (i < process->events % count);
		thread->begin = thread->time = 1000 + i * 10;
	}
	for (bool more = true; more;) {
		more = false;
		for (uint64_t i = 0; i < count; i++)
			more |= write_events(process, &process->threads[i], file);
	}
	finish(file);
}

/* ---- the other files ---- */

static uint64_t state_sum(const struct process *process, unsigned state)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < process->generator->options.threads; i++)
		sum += process->threads[i].state_us[state];
	return sum;
}

static void write_log(const struct process *process)
{
	const struct options *options = &process->generator->options;
	FILE *file = create(process, FORMAT_FILE_LOG);
	uint64_t cpu = state_sum(process, FORMAT_STATE_USER) +
		       state_sum(process, FORMAT_STATE_SYSTEM) +
		       state_sum(process, FORMAT_STATE_TRAP);
	uint64_t end = process->end_us * 1000;

	fprintf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<experiment version=\"1.0\" producer=\"helio-generate\" "
		      "mono_ns=\"1000000000\" wall_ns=\"1790000000000000000\">\n");
	if (!process->lineage[0])
		fprintf(file,
			"<system hostname=\"generated\" os=\"Linux\" arch=\"x86_64\" "
			"pagesize=\"4096\" pages=\"1000000\" cpus=\"16\" clock_mhz=\"3000\"/>\n"
			"<setting name=\"clock\" value=\"1000\"/>\n<setting name=\"follow\" "
			"value=\"on\"/>\n"
			"<argument text=\"generated\"/>\n");
	fprintf(file,
		"<process pid=\"%" PRIu64
		"\" ppid=\"1\" pgrp=\"1\" sid=\"1\" uid=\"0\" cwd=\"/\" exe=\"%s\" wordsize=\"64\" "
		"lineage=\"%s\" tstamp=\"1000\"/>\n"
		"<collector engine=\"perf\" reason=\"\" library=\"\"/>\n",
		process->pid, process->generator->images[0].path, process->lineage);
	for (uint64_t i = 1; !process->lineage[0] && i <= options->descendants; i++)
		fprintf(file,
			"<event kind=\"fork\" tstamp=\"%" PRIu64 "\" pid=\"%" PRIu64
			"\" lineage=\"_f%" PRIu64 "\"/>\n",
			1000 + i, process->pid + i * THREADS_MAX, i);
	fprintf(file,
		"<event kind=\"counters\" tstamp=\"%" PRIu64 "\" events=\"%" PRIu64
		"\" dropped=\"0\" unwind_failed=\"0\" truncated=\"0\" cpu_ns=\"%" PRIu64
		"\" cpu_recorded_ns=\"%" PRIu64 "\"/>\n"
		"<event kind=\"exit\" tstamp=\"%" PRIu64
		"\" status=\"0\" signal=\"0\"/>\n</experiment>\n",
		end, process->events, cpu * 1000, cpu * 1000, end);
	finish(file);
}

static void write_map(const struct process *process)
{
	FILE *file = create(process, FORMAT_FILE_MAP);

	fprintf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<maps>\n");
	for (size_t i = 0; i < process->generator->image_count; i++) {
		const struct image *image = &process->generator->images[i];

		fprintf(file,
			"<event kind=\"map\" tstamp=\"0\" epoch=\"0\" vaddr=\"0x%" PRIx64
			"\" size=\"0x%" PRIx64 "\" foffset=\"0x%" PRIx64 "\" bias=\"0x%" PRIx64
			"\" modes=\"r-x\" name=\"%s\" buildid=\"%s\" mtime=\"%" PRIu64
			"\" filesize=\"%" PRIu64 "\"/>\n",
			image->bias + image->vaddr, image->size, image->offset, image->bias,
			image->path, image->build_id, image->mtime, image->file_size);
	}
	fprintf(file, "</maps>\n");
	finish(file);
}

static void write_overview(const struct process *process)
{
	FILE *file = create_binary(process, FORMAT_FILE_OVERVIEW);
	struct format_sample start = {.time_ns = 1000, .kind = FORMAT_SAMPLE_START};
	struct format_sample end = {.time_ns = process->end_us * 1000, .kind = FORMAT_SAMPLE_END};

	end.user_ns = state_sum(process, FORMAT_STATE_USER) * 1000;
	end.system_ns = state_sum(process, FORMAT_STATE_SYSTEM) * 1000;
	start.threads = end.threads = process->generator->options.threads;
	fwrite(&start, sizeof(start), 1, file);
	fwrite(&end, sizeof(end), 1, file);
	finish(file);
}

static void write_totals(const struct process *process, bool last)
{
	static const char *const names[] = {
#define X(number, name, text) [number] = text,
		FORMAT_STATES(X)
#undef X
	};
	FILE *file = process->generator->totals;

	fprintf(file,
		"{\"lineage\":\"%s\",\"pid\":%" PRIu64 ",\"events\":%" PRIu64 ",\"threads\":[",
		process->lineage, process->pid, process->events);
	for (uint64_t i = 0; i < process->generator->options.threads; i++) {
		const struct thread *thread = &process->threads[i];

		fprintf(file, "%s\n {\"number\":%" PRIu64 ",\"tid\":%" PRIu64, i ? "," : "",
			thread->number, thread->tid);
		for (size_t state = 0; state < FORMAT_STATE_COUNT; state++)
			fprintf(file, ",\"%s\":%" PRIu64, names[state], thread->state_us[state]);
		fputc('}', file);
	}
	fprintf(file, "]}%s\n", last ? "" : ",");
}

static void write_process(struct generator *generator, uint64_t index)
{
	const struct options *options = &generator->options;
	uint64_t processes = options->descendants + 1;
	struct process process = {
		.generator = generator,
		.pid = 1000 + index * THREADS_MAX,
		.events = options->events / processes + (index < options->events % processes),
		.node_count = options->stacks / processes ? options->stacks / processes : 1,
	};

	process.lineage = index ? xasprintf("_f%" PRIu64, index) : xstrdup("");
	process.directory = index ? xasprintf("%s/%s.er", options->out, process.lineage)
				  : xstrdup(options->out);
	if (mkdir(process.directory, 0777))
		die(process.directory);
	write_stacks(&process);
	write_profile(&process);
	write_log(&process);
	write_map(&process);
	write_overview(&process);
	if (generator->totals)
		write_totals(&process, index == options->descendants);
	free(process.threads);
	free(process.directory);
	free(process.lineage);
}

static _Noreturn void usage(int status)
{
	fprintf(status ? stderr : stdout,
		"usage: helio-generate [options] OUT.er\n"
		"  -e, --events N       profile events (1000000)\n"
		"  -s, --stacks N       call stack nodes (100000)\n"
		"  -a, --addresses N    distinct addresses of each process "
		"(20000)\n"
		"  -O, --object FILE    take them from this file only\n"
		"  -t, --threads N      threads of each process (4)\n"
		"  -d, --descendants N  forked processes (0)\n"
		"  -S, --seed S         other content (1)\n"
		"  -T, --totals FILE    write the truth: µs by process, "
		"thread and state, as JSON\n");
	exit(status);
}

static void read_options(int argc, char **argv, struct options *options)
{
	static const struct option words[] = {
		{"events", required_argument, NULL, 'e'},
		{"stacks", required_argument, NULL, 's'},
		{"addresses", required_argument, NULL, 'a'},
		{"object", required_argument, NULL, 'O'},
		{"threads", required_argument, NULL, 't'},
		{"descendants", required_argument, NULL, 'd'},
		{"seed", required_argument, NULL, 'S'},
		{"totals", required_argument, NULL, 'T'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};

	*options = (struct options){
		.events = 1000000, .stacks = 100000, .addresses = PCS, .threads = 4, .seed = 1};
	for (int word; (word = getopt_long(argc, argv, "e:s:a:O:t:d:S:T:h", words, NULL)) != -1;) {
		uint64_t number = optarg ? strtoull(optarg, NULL, 10) : 0;

		switch (word) {
		case 'e':
			options->events = number;
			break;
		case 's':
			options->stacks = number;
			break;
		case 'a':
			options->addresses = number;
			break;
		case 'O':
			options->object = optarg;
			break;
		case 't':
			options->threads = number;
			break;
		case 'd':
			options->descendants = number;
			break;
		case 'S':
			options->seed = number;
			break;
		case 'T':
			options->totals = optarg;
			break;
		case 'h':
			usage(0);
		default:
			usage(1);
		}
	}
	if (optind + 1 != argc || !options->threads || options->threads > THREADS_MAX)
		usage(1);
	options->out = argv[optind];
}

int main(int argc, char **argv)
{
	static struct generator generator;

	read_options(argc, argv, &generator.options);
	generator.random = generator.options.seed;
	find_images(&generator);
	if (generator.options.totals) {
		generator.totals = fopen(generator.options.totals, "we");
		if (!generator.totals)
			die(generator.options.totals);
		fprintf(generator.totals, "{\"processes\":[\n");
	}
	for (uint64_t i = 0; i <= generator.options.descendants; i++)
		write_process(&generator, i);
	if (generator.totals) {
		fprintf(generator.totals, "]}\n");
		finish(generator.totals);
	}
	for (size_t i = 0; i < generator.image_count; i++)
		free(generator.images[i].path);
	return 0;
}
