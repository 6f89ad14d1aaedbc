/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for libFuzzer in ordinary builds: runs a fuzz target over the
 * files and folders named, over every beginning of the smaller ones, and over
 * each with single bytes changed, so that the corpus is a regression test.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CUTS = 64, CHANGES = 256 };

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

int main(int argc, char **argv)
{
	int failed = argc < 2;

	for (int i = 1; i < argc; i++)
		failed |= run_folder(argv[i]);
	return failed;
}
