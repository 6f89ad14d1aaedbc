/* SPDX-License-Identifier: Apache-2.0 */
/* C++'s ways to allocate, 100 blocks each, in functions of their own; one fails by an exception. */
#include <cstdint>
#include <cstdio>
#include <new>

static const int rounds = 100;

struct item {
	char room[100];
};

struct alignas(128) wide {
	char room[256];
};

static void *volatile kept;

extern "C" {
__attribute__((noinline)) void single()
{
	for (int i = 0; i < rounds; i++) {
		kept = new item;
		delete static_cast<item *>(kept);
	}
}

__attribute__((noinline)) void array()
{
	for (int i = 0; i < rounds; i++) {
		kept = new item[7];
		delete[] static_cast<item *>(kept);
	}
}

__attribute__((noinline)) void nothrow()
{
	for (int i = 0; i < rounds; i++) {
		kept = new (std::nothrow) item;
		delete static_cast<item *>(kept);
	}
}

__attribute__((noinline)) void aligned()
{
	for (int i = 0; i < rounds; i++) {
		kept = new wide;
		delete static_cast<wide *>(kept);
	}
}

__attribute__((noinline)) void left()
{
	for (int i = 0; i < rounds; i++)
		kept = new item;
}

__attribute__((noinline)) int failing()
{
	volatile size_t huge = SIZE_MAX / 4;
	int caught = 0;

	for (int i = 0; i < rounds; i++) {
		try {
			kept = operator new(huge);
		} catch (const std::bad_alloc &) {
			caught++;
		}
	}
	return caught;
}
}

int main()
{
	single();
	array();
	nothrow();
	aligned();
	left();
	printf("caught %d\n", failing());
	return 0;
}
