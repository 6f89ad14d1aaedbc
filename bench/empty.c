/* SPDX-License-Identifier: Apache-2.0 */
/* To be preloaded: what the dynamic linker itself takes for one library more in each process. */
extern int helio_bench_nothing;
int helio_bench_nothing;
