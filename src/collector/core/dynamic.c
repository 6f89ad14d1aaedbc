/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the program made and announced: a line in map.xml and a copy
 * of their code in dyntext.
 *
 * Stacks are read by (address, epoch).  So with what is withdrawn the epoch ends, and with
 * what is withdrawn before the next stack is recorded only that one.  Every epoch makes
 * all stacks anew; so there is a bound, beyond which it ends only where other code comes
 * to a place that has been announced in it, or that ran in it without a name.  The table of places
 * knows.  Places do not overlap:
 * a new one takes the place of what it covers.  What is left of an old one needs
 * no memory, because after the first overlap its epoch is over.
 */
#include "collector/core/dynamic.h"

#include "collector/arch/sys.h"
#include "collector/core/log.h"
#include "collector/core/modules.h"
#include "collector/core/time.h"
#include "collector/storage/experiment.h"
#include "collector/storage/file.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"
#include "collector/storage/text.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LAST_EPOCH_OPEN = UINT32_MAX };

/* Epochs that withdrawals may begin: so many at once, and one more each time this has passed. */
enum { EPOCHS_AT_ONCE = 4096, EPOCH_EACH_NS = 50 * 1000 * 1000 };

struct place {
	uint64_t start, end;
	uint32_t last_epoch; /* LAST_EPOCH_OPEN while it is announced */
};

static struct place *places; /* sorted, mapped */
static size_t place_count, place_room;
static uint64_t events; /* in map.xml, the inherited ones included */

static uint64_t epochs_begun; /* by withdrawals */
static bool dyntext_failed;

static const char dyntext_description[] =
	"records: u32 magic 0x54584448, u32 lines, u64 size of the record, u64 address, u64 size "
	"of the code;\nthen per line u32 offset, u32 line; then the code, and zeros up to a "
	"multiple of 8\n";

/* ---- the table of places ---- */

/* The first place that ends beyond the address. */
static size_t find_place(uint64_t address)
{
	size_t low = 0, high = place_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_room(void)
{
	enum { ROOM_FIRST = 4096 / sizeof(struct place) };
	size_t room = place_room ? 2 * place_room : ROOM_FIRST;
	long larger;

	if (place_count < place_room)
		return true;
	if (places)
		larger = sys_call(SYS_mremap, places, place_room * sizeof(*places),
				  room * sizeof(*places), MREMAP_MAYMOVE);
	else
		larger = (long)sys_mmap(room * sizeof(*places), PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (larger <= 0)
		return false;
	places = (struct place *)larger;
	place_room = room;
	return true;
}

/* Puts a place where [from, to) of the table has been; there is room. */
static void put_place(size_t from, size_t to, const struct place *place)
{
	if (to == from) {
		for (size_t i = place_count++; i > from; i--)
			places[i] = places[i - 1];
	} else {
		for (size_t i = to; i < place_count; i++)
			places[from + 1 + i - to] = places[i];
		place_count -= to - from - 1;
	}
	places[from] = *place;
}

/* ---- code that ran without a name ---- */

enum { NAMELESS_MAX = 256 };

/* Where stacks of this epoch have been in code that was nobody's then. */
static struct {
	uint32_t epoch, next_id; /* up to where its stacks have been looked at */
	uint32_t count;
	bool more; /* than there is room for: it may have been anywhere */
	uint64_t pc[NAMELESS_MAX];
} nameless;

static bool is_announced(uint64_t pc)
{
	size_t at = find_place(pc);

	return at < place_count && places[at].start <= pc &&
	       places[at].last_epoch == LAST_EPOCH_OPEN;
}

static void note_nameless(uint64_t pc)
{
	if (pc < FORMAT_PC_LIMIT || pc >= FORMAT_PC_PAIR || is_announced(pc) ||
	    modules_were_at(pc, pc + 1))
		return;
	for (uint32_t i = 0; i < nameless.count; i++)
		if (nameless.pc[i] == pc)
			return;
	if (nameless.count == NAMELESS_MAX)
		nameless.more = true;
	else
		nameless.pc[nameless.count++] = pc;
}

static void forget_nameless(void)
{
	nameless.epoch = stacktable_epoch();
	nameless.next_id = nameless.count = 0;
	nameless.more = false;
}

/* Before anything is announced or withdrawn: each stack is looked at once. */
static void look_for_nameless(void)
{
	if (nameless.epoch != stacktable_epoch())
		forget_nameless();
	nameless.next_id = stacktable_visit(nameless.next_id, note_nameless);
}

static bool ran_nameless(const struct place *place)
{
	for (uint32_t i = 0; i < nameless.count; i++)
		if (nameless.pc[i] >= place->start && nameless.pc[i] < place->end)
			return true;
	return nameless.more && stacktable_last_epoch() == stacktable_epoch();
}

/* ---- map.xml ---- */

/* Names come from the program: no line is longer than three of this length, escaped. */
enum { NAME_MAX_HERE = 4095, LINE_ROOM = 3 * 6 * NAME_MAX_HERE + 1024 };

static void put_name(struct text *line, const char *attribute, const char *value)
{
	static char room[NAME_MAX_HERE + 1];
	struct text cut = TEXT_ON(room);

	if (!*value)
		return;
	text_puts(&cut, value);
	if (cut.full) {
		cut.length -= 3;
		text_end_cut(&cut);
	}
	text_attribute(line, attribute, room);
}

static void begin_event(struct text *line, const char *kind, uint32_t epoch)
{
	text_puts(line, "<event");
	text_attribute(line, "kind", kind);
	text_attribute_decimal(line, "tstamp", (int64_t)(clock_now_ns() - collector.start_ns));
	text_attribute_decimal(line, "epoch", epoch);
}

static void end_event(struct text *line)
{
	text_puts(line, "/>\n");
	experiment_append(FORMAT_FILE_MAP, line);
	events++;
}

static void log_load(const struct dynamic_function *function, uint32_t epoch, uint64_t text)
{
	static char room[LINE_ROOM];
	struct text line = TEXT_ON(room);

	begin_event(&line, "load", epoch);
	text_attribute_hex(&line, "vaddr", function->start);
	text_attribute_hex(&line, "size", function->size);
	put_name(&line, "name", function->name);
	put_name(&line, "alias", function->alias);
	put_name(&line, "source", function->source);
	if (text)
		text_attribute_decimal(&line, "text", (int64_t)text);
	if (function->constants)
		text_attribute_decimal(&line, "constants", (int64_t)function->constants);
	end_event(&line);
}

static void log_unload(uint64_t start, uint32_t epoch)
{
	char room[160];
	struct text line = TEXT_ON(room);

	begin_event(&line, "unload", epoch);
	text_attribute_hex(&line, "vaddr", start);
	end_event(&line);
}

void dynamic_inherit(void)
{
	char room[160];
	struct text line = TEXT_ON(room);
	uint64_t before = events;

	dyntext_failed = false;
	epochs_begun = 0;
	events = 0;
	forget_nameless();
	if (!place_count)
		return;
	begin_event(&line, "inherit", stacktable_epoch());
	text_attribute_decimal(&line, "events", (int64_t)before);
	end_event(&line);
}

/* ---- dyntext ---- */

static int open_dyntext(void)
{
	int fd = experiment_open_file(FORMAT_FILE_DYNTEXT, 0);

	if (fd != -ENOENT || experiment_create(FORMAT_FILE_DYNTEXT, dyntext_description))
		return fd;
	return experiment_open_file(FORMAT_FILE_DYNTEXT, 0);
}

/*
 * Appends the record; returns where it is, or 0.  The kernel reads the code, so
 * that an address which is none is an error code and not a fault.
 */
static uint64_t write_text(int fd, const struct dynamic_function *function)
{
	static const uint8_t zeros[8];
	size_t table_size = function->line_count * sizeof(struct format_line);
	size_t code_size = function->code ? function->code_size : function->size;
	size_t size = sizeof(struct format_text) + table_size + code_size;
	size_t padding = -size & 7;
	struct format_text header = {
		.magic = FORMAT_TEXT_MAGIC,
		.line_count = function->line_count,
		.size = size + padding,
		.address = function->start,
		.code_size = code_size,
	};
	const void *code = function->code ? function->code : (const void *)function->start;
	struct iovec parts[] = {
		{&header, sizeof(header)},
		{(void *)function->lines, table_size},
		{(void *)code, code_size},
		{(void *)zeros, padding},
	};
	long offset = sys_call(SYS_lseek, fd, 0, SEEK_END, 0);

	if (offset < EXPERIMENT_HEADER || !file_may_reach((uint64_t)offset + header.size))
		return 0;
	long written = sys_call(SYS_writev, fd, parts, 4, 0);
	sys_note_write(written);
	if (written == (long)header.size)
		return (uint64_t)offset;
	/* A part of a record would hide those that follow. */
	sys_call(SYS_ftruncate, fd, offset, 0, 0);
	return 0;
}

static uint64_t keep_text(const struct dynamic_function *function)
{
	int fd = open_dyntext();
	uint64_t offset = fd >= 0 ? write_text(fd, function) : 0;

	if (fd >= 0)
		sys_close(fd);
	if (!offset && !dyntext_failed)
		log_warning("the code of a function made at run time could not be kept", 0);
	dyntext_failed |= !offset;
	return offset;
}

/* ---- what the program announces ---- */

/* Withdraws what is announced in a place; true if it was within this epoch. */
static bool close_place(struct place *place)
{
	if (place->last_epoch == LAST_EPOCH_OPEN) {
		place->last_epoch = stacktable_last_epoch();
		log_unload(place->start, place->last_epoch);
	}
	return place->last_epoch == stacktable_epoch();
}

static bool may_begin_epoch(void)
{
	uint64_t passed = clock_now_ns() - collector.start_ns;
	bool may = epochs_begun < EPOCHS_AT_ONCE + passed / EPOCH_EACH_NS;

	epochs_begun += may;
	return may;
}

void dynamic_load(const struct dynamic_function *function)
{
	struct place place = {function->start, function->start + function->size, LAST_EPOCH_OPEN};
	bool other_code = modules_were_at(place.start, place.end);
	size_t from = find_place(place.start), to = from;

	if (place.end < place.start || !make_room())
		return;
	look_for_nameless();
	for (; to < place_count && places[to].start < place.end; to++)
		other_code |= close_place(&places[to]);
	if (other_code || (!function->late && ran_nameless(&place) && may_begin_epoch()))
		modules_next_epoch();
	put_place(from, to, &place);
	log_load(function, stacktable_epoch(), keep_text(function));
}

void dynamic_add(const struct dynamic_function *function)
{
	log_load(function, 0, function->code || function->line_count ? keep_text(function) : 0);
}

uint64_t dynamic_keep_constants(const void *bytes, uint64_t size)
{
	const struct dynamic_function record = {
		.start = FORMAT_PC_JAVA, .code = bytes, .code_size = size};

	return keep_text(&record);
}

void dynamic_retire(uint64_t start)
{
	size_t at = find_place(start);

	if (at < place_count && places[at].start == start)
		close_place(&places[at]);
}

void dynamic_unload(uint64_t start)
{
	size_t at = find_place(start);

	look_for_nameless();
	if (at < place_count && places[at].start == start &&
	    places[at].last_epoch == LAST_EPOCH_OPEN && close_place(&places[at]) &&
	    may_begin_epoch())
		modules_next_epoch();
}
