/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/loss.h"

#include "collector/core/log.h"
#include "collector/core/trace.h"
#include "collector/storage/blockfile.h"
#include "collector/storage/family.h"
#include "collector/storage/recording.h"

enum { FILES = 2 + TRACE_KINDS };

/* The data files of this process; NULL: there is none of that kind. */
static struct blockfile *file_at(int index)
{
	switch (index) {
	case 0:
		return &collector.profile;
	case 1:
		return &collector.stacks;
	default:
		return trace_file((enum trace_kind)(index - 2));
	}
}

bool loss_mend(uint64_t address)
{
	bool mended = family_mend(address);

	for (int i = 0; i < FILES && !mended; i++) {
		struct blockfile *file = file_at(i);

		mended = file && blockfile_mend(file, address);
	}
	return mended;
}

void loss_look(void)
{
	for (int i = 0; i < FILES; i++) {
		struct blockfile *file = file_at(i);

		if (file)
			blockfile_look(file);
	}
}

void loss_log(void)
{
	bool cut = false;
	int failed = 0;

	for (int i = 0; i < FILES; i++) {
		struct blockfile *file = file_at(i);

		if (!file)
			continue;
		if (atomic_load(&file->cut))
			cut = true;
		else if (!failed)
			failed = (int)atomic_load(&file->failed);
	}
	if (failed)
		log_warning("the experiment could not grow: events or their call stacks were lost",
			    failed);
	if (cut)
		log_error("a file of the experiment was cut while it was recorded: events or their "
			  "call stacks were lost",
			  0);
}
