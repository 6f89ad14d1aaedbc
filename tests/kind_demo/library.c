/* SPDX-License-Identifier: Apache-2.0 */
/* The function that is traced: another object than the program, so that a wrapper comes first. */
void demo_call(unsigned long amount);

static volatile unsigned long sum;

void demo_call(unsigned long amount)
{
	sum += amount;
}
