/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for libFuzzer in ordinary builds: runs a fuzz target over the
 * files and folders named, over every beginning of the smaller ones, and over
 * each with single bytes changed, so that the corpus is a regression test.
 * With HELIO_FUZZ_SECONDS it goes on for so long, over files with some bytes changed, moved or
 * cut off: what that finds is found again with HELIO_FUZZ_SEED as it is printed.
 */
#include "base/memory.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CUTS = 64, CHANGES = 256, MUTATIONS = 8, SIZE_LIMIT = 1 << 18 };

struct input {
	uint8_t *data;
	size_t size;
};

static VEC(struct input) inputs;
static uint64_t random_state = 1;

/* A copy of exactly that size, so that a sanitizer sees reads beyond it. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void run_variants(uint8_t *data, size_t size)
{
	size_t step = size / CUTS + 1;
	uint32_t seed = 1;

	run(data, size);
	for (size_t cut = 0; cut < size; cut += step)
		run(data, cut);
	for (int i = 0; i < CHANGES && size; i++) {
		seed = seed * 1664525 + 1013904223;
		size_t at = (seed >> 4) % size;
		uint8_t kept = data[at];

		data[at] = (uint8_t)(seed >> 24);
		run(data, size);
		data[at] = kept;
	}
}

static int run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat status;
	uint8_t *data;
	size_t size;

	if (!file || fstat(fileno(file), &status)) {
		perror(path);
		return 1;
	}
	data = malloc((size_t)status.st_size + 1);
	size = fread(data, 1, (size_t)status.st_size, file);
	fclose(file);
	run_variants(data, size);
	if (size && size < SIZE_LIMIT)
		*vec_push(&inputs) = (struct input){data, size};
	else
		free(data);
	return 0;
}

static int run_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	char name[4096];
	int failed = 0;

	if (!folder)
		return run_file(path);
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		failed |= run_file(name);
	}
	closedir(folder);
	return failed;
}

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1d >> 16;
}

static void mutate(struct input *input)
{
	static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff, 0x20, '\n', '"'};
	size_t at = next_random() % input->size, from = next_random() % input->size;
	size_t rest = input->size - (at > from ? at : from);

	switch (next_random() % 5) {
	case 0:
		input->data[at] ^= (uint8_t)(1 << next_random() % 8);
		break;
	case 1:
		input->data[at] = odd[next_random() % sizeof(odd)];
		break;
	case 2:
		input->data[at] = (uint8_t)next_random();
		break;
	case 3:
		memmove(input->data + at, input->data + from, next_random() % (rest + 1));
		break;
	default:
		if (next_random() % 4 == 0)
			input->size = at + 1;
	}
}

static void go_on(unsigned seconds)
{
	time_t end = time(NULL) + seconds;
	unsigned long runs = 0;

	for (; inputs.count && time(NULL) < end; runs++) {
		const struct input *of = &inputs.items[next_random() % inputs.count];
		struct input input = {xmalloc(of->size), of->size};

		memcpy(input.data, of->data, of->size);
		for (uint64_t i = next_random() % MUTATIONS + 1; i; i--)
			mutate(&input);
		run(input.data, input.size);
		free(input.data);
	}
	printf("%lu runs in %u seconds\n", runs, seconds);
}

int main(int argc, char **argv)
{
	const char *seconds = getenv("HELIO_FUZZ_SECONDS");
	int failed = argc < 2;

	for (int i = 1; i < argc; i++)
		failed |= run_folder(argv[i]);
	if (seconds && !failed) {
		random_state = (uint64_t)time(NULL) << 20 | 1;
		if (getenv("HELIO_FUZZ_SEED"))
			random_state = strtoull(getenv("HELIO_FUZZ_SEED"), NULL, 0) | 1;
		fprintf(stderr, "HELIO_FUZZ_SEED=%llu\n", (unsigned long long)random_state);
		go_on((unsigned)strtoul(seconds, NULL, 10));
	}
	for (size_t i = 0; i < inputs.count; i++)
		free(inputs.items[i].data);
	vec_fini(&inputs);
	return failed;
}
