/* SPDX-License-Identifier: Apache-2.0 */
/* Calls demo_call from two functions, as often and with what they print. */
#include <stdio.h>

void demo_call(unsigned long amount);

static void say(const char *name, unsigned calls, unsigned long amount)
{
	printf("%s.calls %u\n%s.amount %lu\n", name, calls, name, calls * amount);
}

static __attribute__((noinline)) void few(void)
{
	for (int i = 0; i < 10; i++)
		demo_call(300);
	say("few", 10, 300);
}

static __attribute__((noinline)) void many(void)
{
	for (int i = 0; i < 200; i++)
		demo_call(5);
	say("many", 200, 5);
}

int main(void)
{
	few();
	many();
	return 0;
}
