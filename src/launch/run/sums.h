/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and checksums of all that a recording has left: format/sums.h. */
#ifndef HELIO_LAUNCH_SUMS_H
#define HELIO_LAUNCH_SUMS_H

#include "base/status.h"
#include "base/strbuf.h"
#include "launch/run/family.h"

/* Before the log says that there are sums: there will be. */
void sums_begin(const struct family *family);
/* Adds the line of a file, to which nobody writes any more, in a member's directory. */
void sums_add(struct strbuf *text, int folder, const struct member *member, const char *file);
/* Writes the file; the text is empty afterwards. */
void sums_write(struct strbuf *text, const struct family *family, struct diag_list *diags);

#endif
