/* SPDX-License-Identifier: Apache-2.0 */
/* The load objects of the process. */
#ifndef HELIO_COLLECTOR_MODULES_H
#define HELIO_COLLECTOR_MODULES_H

#include "collector/core/map_line.h"
#include "collector/unwind/unwind.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Looks at the loaded objects and records what is new or gone. Not in a handler. False: it cannot.
 */
bool modules_update(void);
/* Tells the unwinder, at the next update, which of them are never unmapped. Not in a handler. */
void modules_note_staying(void);
/* In the child of a fork; alone: there was no other thread; in_use: a recording goes on (see
 * thread_forget_all). */
void modules_after_fork(bool alone, bool in_use);
/* In a handler: the loader's word on an object (see struct unwind_stack). */
enum unwind_object modules_at(uint64_t pc, const struct unwind_module *known);
/* In a handler: the object that holds a pc which no snapshot knows. True: it is known now.  The
 * caller holds the lock of a thread, whose unwinding is over.  patient: may give way to who
 * changes the list, which a handler must not. */
bool modules_learn(uint64_t pc, bool patient);
/* The calling thread was in there, in a recording that was left by a jump. */
void modules_left(void);
/* Writes all of them into a new experiment's map.xml. */
int modules_open(void);
/* What modules_open and the first look at the objects had to say is written now, at once. */
void modules_write_begin(void);
/* The program's path as it was at the start: another root may have no /proc. */
const char *modules_program(void);
/* Whether an object's code is or ever was within [start, end). */
bool modules_were_at(uint64_t start, uint64_t end);
/* The path of the object whose code is at this address; "": none. Not in a handler. */
const char *modules_path_at(uint64_t pc);
/* Other code is at known addresses from now on. Not in a handler. */
void modules_next_epoch(void);
/* Logs a mapping of a known object's file as code of it. False: no such file is known. */
bool modules_log_copy(const struct map_line *line, uint32_t epoch);
/* … what it has of a segment of any object's file, which has these notes. */
void modules_log_mapped(const struct map_line *line, uint32_t epoch, const ElfW(Phdr) * load,
			const uint8_t *notes, size_t size);
/* Keeps a copy of the vDSO at `address` (0: none) in the experiment. Not in a handler. */
void modules_archive_vdso(uint64_t address);

#endif
