/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A little of everything that can be recorded, for the views of it: four threads that insert into
 * a tree under a lock and add it up, write and read a file, allocate and lose memory, and fault
 * pages of a structure in.  What it does takes about a second.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 6, INSERTS = 2000, LOST = 1000, CELLS = 64 };

struct node {
	struct node *left, *right;
	int key;
	char tag[12];
	double weight;
};

struct cell {
	long count;
	char name[4080];
	long last;
};

static pthread_mutex_t tree_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *root;
static int log_file;
static void *volatile lost;

static __attribute__((noinline)) struct node *insert(struct node *node, int key)
{
	if (!node) {
		node = calloc(1, sizeof(*node));
		node->key = key;
		node->weight = key * 0.5;
	} else if (key < node->key) {
		node->left = insert(node->left, key);
	} else if (key > node->key) {
		node->right = insert(node->right, key);
	}
	return node;
}

static __attribute__((noinline)) double add_up(const struct node *node)
{
	return node ? node->weight + add_up(node->left) + add_up(node->right) : 0;
}

static __attribute__((noinline)) double crunch(int seed)
{
	double sum = seed;

	for (int i = 0; i < 12000000; i++)
		sum += sum * 1e-9 + i;
	return sum;
}

static __attribute__((noinline)) void scribble(int number)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "line %d\n", number);

	pthread_mutex_lock(&log_lock);
	if (write(log_file, line, (size_t)length) != length)
		exit(2);
	usleep(300);
	pthread_mutex_unlock(&log_lock);
}

static __attribute__((noinline)) void touch(struct cell *cells)
{
	for (int i = 0; i < CELLS; i++)
		cells[i].count += i;
}

static void *work(void *argument)
{
	unsigned int seed = (unsigned int)(size_t)argument;
	double sum = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct cell *cells = mmap(NULL, CELLS * sizeof(*cells), PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		touch(cells);
		munmap(cells, CELLS * sizeof(*cells));
		for (int i = 0; i < INSERTS; i++) {
			pthread_mutex_lock(&tree_lock);
			root = insert(root, rand_r(&seed) % 100000);
			pthread_mutex_unlock(&tree_lock);
		}
		pthread_mutex_lock(&tree_lock);
		sum += add_up(root);
		pthread_mutex_unlock(&tree_lock);
		sum += crunch(round);
		for (int i = 0; i < 10; i++)
			scribble(i);
		lost = malloc(LOST);
	}
	return sum > 0 ? NULL : argument;
}

int main(void)
{
	pthread_t threads[THREADS];
	char buffer[4096];

	log_file = open("everything.log", O_CREAT | O_TRUNC | O_RDWR, 0644);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	lseek(log_file, 0, SEEK_SET);
	while (read(log_file, buffer, sizeof(buffer)) > 0)
		;
	close(log_file);
	return 0;
}
