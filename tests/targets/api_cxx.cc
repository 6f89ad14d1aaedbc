// SPDX-License-Identifier: Apache-2.0
// Speaks to the collector in C++.
#include <heliometer/collectorAPI.h>

int main()
{
	collector_sample("from C++");
	return 0;
}
