/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and ends: what start-up and exit cost. */
int main(void)
{
	return 0;
}
