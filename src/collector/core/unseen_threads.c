/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/unseen_threads.h"

#include "collector/core/log.h"
#include "collector/core/thread.h"
#include "collector/storage/recording.h"
#include "collector/storage/recording_clock.h"
#include "collector/storage/text.h"
#include "format/attach.h"

/* So much CPU time in no event tells that threads came and went. */
enum { LOST_WORTH_PERCENT = 5 };

void unseen_threads_log(uint64_t cpu_ns, uint64_t recorded_ns)
{
	uint32_t met = atomic_exchange(&collector.met, 0);
	uint64_t lost_ns = cpu_ns > recorded_ns ? cpu_ns - recorded_ns : 0;
	char room[384];
	struct text line = TEXT_ON(room);

	if (!collector.late || !collector_records_all() || thread_create_goes_on.go_on ||
	    !(met || lost_ns * 100 > cpu_ns * LOST_WORTH_PERCENT))
		return;
	text_puts(&line,
		  "the C library's pthread_create is not known: threads that began meanwhile (");
	text_decimal(&line, met);
	text_puts(&line, " were met) had their first event after a whole interval, so what they do "
			 "first counts too little, and shorter ones had none; ");
	text_decimal(&line, cpu_ns ? (int64_t)(lost_ns * 100 / cpu_ns) : 0);
	text_puts(&line, " % of the CPU time is in no event: start the program with helio collect");
	log_warning(room, 0);
}
