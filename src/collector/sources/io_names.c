/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What descriptors are called.
 *
 * A name is looked up when a descriptor is first used, and kept until its number is closed or
 * given out again.  So nothing has to be known of how the program came by it: descriptors
 * that were inherited, duplicated or received are like those it opened.  The kernel's word is a
 * link in /proc; for sockets their two addresses say more.
 *
 * Texts are written down once each, or more often where many take turns: `known` is a small
 * cache, not a table.
 */
#include "collector/arch/sys.h"
#include "collector/sources/io.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/un.h>

enum {
	PAGE_NAMES = 1024,
	PAGES = 1024, /* descriptors beyond have no names */
	KNOWN = 4096,
	NAME_ROOM = 512,
};

#define NUMBER_MASK UINT64_C(0xffffff)

/* By descriptor: the number of its name, 0: not known. */
static _Atomic(_Atomic uint32_t *) pages[PAGES];

/* By the lowest bits of a text's hash: its other bits above its number. */
static _Atomic uint64_t known[KNOWN];

static _Atomic uint32_t *page_of(unsigned fd, bool make)
{
	_Atomic uint32_t *page, *none = NULL;

	if (fd / PAGE_NAMES >= PAGES)
		return NULL;
	page = atomic_load_explicit(&pages[fd / PAGE_NAMES], memory_order_acquire);
	if (page || !make)
		return page;
	page = sys_mmap(PAGE_NAMES * sizeof(*page), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!page)
		return NULL;
	if (atomic_compare_exchange_strong(&pages[fd / PAGE_NAMES], &none, page))
		return page;
	sys_munmap((void *)page, PAGE_NAMES * sizeof(*page));
	return none;
}

void io_names_set(int fd, uint32_t name)
{
	_Atomic uint32_t *page = fd >= 0 ? page_of((unsigned)fd, name) : NULL;

	if (page)
		atomic_store_explicit(&page[(unsigned)fd % PAGE_NAMES], name, memory_order_relaxed);
}

void io_names_forget(unsigned first, unsigned last)
{
	for (unsigned page = first / PAGE_NAMES; page < PAGES && page <= last / PAGE_NAMES;
	     page++) {
		unsigned begin = page * PAGE_NAMES;

		if (!page_of(begin, false))
			continue;
		for (unsigned fd = begin; fd < begin + PAGE_NAMES; fd++)
			if (fd >= first && fd <= last)
				io_names_set((int)fd, 0);
	}
}

void io_names_begin(void)
{
	io_names_forget(0, PAGES * PAGE_NAMES - 1);
	for (int i = 0; i < KNOWN; i++)
		atomic_store_explicit(&known[i], 0, memory_order_relaxed);
}

uint32_t io_name_of_path(struct thread *thread, const char *path)
{
	uint64_t hash = text_hash(TEXT_HASH_START, path, text_length(path));
	_Atomic uint64_t *entry = &known[hash % KNOWN];
	uint64_t seen = atomic_load_explicit(entry, memory_order_relaxed);
	uint32_t number = (uint32_t)(seen & NUMBER_MASK);

	if (number && !((seen ^ hash) & ~NUMBER_MASK))
		return number;
	number = trace_text(thread, TRACE_IO, path);
	if (number <= NUMBER_MASK)
		atomic_store_explicit(entry, (hash & ~NUMBER_MASK) | number, memory_order_relaxed);
	return number;
}

/* ---- sockets ---- */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

static void put_port(struct text *text, in_port_t port)
{
	text_putc(text, ':');
	text_decimal(text, __builtin_bswap16(port));
}

static void put_v4(struct text *text, const struct sockaddr_in *address)
{
	const uint8_t *bytes = (const uint8_t *)&address->sin_addr;

	for (int i = 0; i < 4; i++) {
		if (i)
			text_putc(text, '.');
		text_decimal(text, bytes[i]);
	}
	put_port(text, address->sin_port);
}

static unsigned group_of(const uint8_t *bytes, int index)
{
	return (unsigned)bytes[2 * index] << 8 | bytes[2 * index + 1];
}

/* The first longest run of groups that are 0, which "::" stands for. */
static int zeros_at(const uint8_t *bytes, int *length)
{
	int best = -1;

	*length = 1; /* a single one is written */
	for (int i = 0; i < 8; i++) {
		int end = i;

		while (end < 8 && !group_of(bytes, end))
			end++;
		if (end - i <= *length)
			continue;
		best = i;
		*length = end - i;
	}
	return best;
}

static void put_group(struct text *text, unsigned group)
{
	for (int shift = 12; shift >= 0; shift -= 4)
		if (group >> shift || !shift)
			text_putc(text, "0123456789abcdef"[group >> shift & 15]);
}

static void put_v6(struct text *text, const struct sockaddr_in6 *address)
{
	const uint8_t *bytes = address->sin6_addr.s6_addr;
	int length, zeros = zeros_at(bytes, &length);

	text_putc(text, '[');
	for (int i = 0; i < 8; i++) {
		if (i == zeros) {
			text_puts(text, "::");
			i += length - 1;
			continue;
		}
		if (i && i != zeros + length)
			text_putc(text, ':');
		put_group(text, group_of(bytes, i));
	}
	text_putc(text, ']');
	put_port(text, address->sin6_port);
}

/* False: it has no path. */
static bool put_local(struct text *text, const struct sockaddr_un *address, socklen_t size)
{
	size_t length = size > offsetof(struct sockaddr_un, sun_path)
				? size - offsetof(struct sockaddr_un, sun_path)
				: 0;
	bool abstract = length && !address->sun_path[0];

	if (abstract)
		text_putc(text, '@');
	for (size_t i = abstract; i < length && (abstract || address->sun_path[i]); i++)
		text_putc(text, address->sun_path[i]);
	return length;
}

/* "tcp 127.0.0.1:80". False: there is no such address. */
static bool put_address(struct text *text, const char *kind, const union address *address,
			socklen_t size)
{
	text->length = 0;
	text_puts(text, kind);
	text_putc(text, ' ');
	if (address->any.sa_family == AF_INET && size >= sizeof(address->v4))
		put_v4(text, &address->v4);
	else if (address->any.sa_family == AF_INET6 && size >= sizeof(address->v6))
		put_v6(text, &address->v6);
	else
		return address->any.sa_family == AF_UNIX && put_local(text, &address->local, size);
	return address->v4.sin_port; /* at the same place in both */
}

static const char *socket_kind(int fd)
{
	int type = 0, family = 0;
	socklen_t size = sizeof(int);

	sys_call6(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, SYS_ARG(&family), SYS_ARG(&size), 0);
	sys_call6(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, SYS_ARG(&type), SYS_ARG(&size), 0);
	if (family == AF_UNIX)
		return "unix";
	if (family != AF_INET && family != AF_INET6)
		return "other";
	return type == SOCK_STREAM ? "tcp" : type == SOCK_DGRAM ? "udp" : "raw";
}

static bool put_end(struct text *text, const char *kind, long call, int fd)
{
	union address address = {0};
	socklen_t size = sizeof(address);

	return !sys_call(call, fd, &address, &size, 0) && put_address(text, kind, &address, size);
}

/* By the peer's address, or its own, or none. */
static void put_socket(struct text *text, int fd)
{
	const char *kind = socket_kind(fd);

	if (put_end(text, kind, SYS_getpeername, fd) || put_end(text, kind, SYS_getsockname, fd))
		return;
	text->length = 0;
	text_putc(text, '<');
	text_puts(text, kind);
	text_puts(text, " socket>");
}

uint32_t io_name_of_address(struct thread *thread, int fd, const void *address, socklen_t size)
{
	char room[NAME_ROOM];
	struct text text = TEXT_ON(room);
	union address copy = {0};

	if (size > sizeof(copy))
		return io_name_of_fd(thread, fd);
	for (socklen_t i = 0; i < size; i++)
		((char *)&copy)[i] = ((const char *)address)[i];
	if (!put_address(&text, socket_kind(fd), &copy, size))
		return io_name_of_fd(thread, fd);
	uint32_t name = io_name_of_path(thread, room);

	io_names_set(fd, name);
	return name;
}

/* ---- any descriptor ---- */

const char *io_opened_path(const char *path, int flags)
{
	return (flags & O_TMPFILE) == O_TMPFILE ? NULL : path;
}

static bool put_link(struct text *text, int fd)
{
	char path[64];
	struct text link = TEXT_ON(path);

	text_puts(&link, "/proc/self/fd/");
	text_decimal(&link, fd);
	long length = sys_readlink(path, text->buffer, text->size - 1);

	if (length <= 0)
		return false;
	text->buffer[length] = '\0';
	return true;
}

/* There is no room for it on a small stack. */
static uint32_t name_of_long_link(struct thread *thread, int fd)
{
	char *room =
		sys_mmap(PATH_MAX_HERE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct text text = {.buffer = room, .size = PATH_MAX_HERE};
	uint32_t name = room && put_link(&text, fd) ? io_name_of_path(thread, room) : 0;

	if (room)
		sys_munmap(room, PATH_MAX_HERE);
	return name;
}

uint32_t io_name_of_fd(struct thread *thread, int fd)
{
	char room[NAME_ROOM];
	struct text text = TEXT_ON(room);
	_Atomic uint32_t *page = fd >= 0 ? page_of((unsigned)fd, false) : NULL;
	uint32_t name = page ? page[(unsigned)fd % PAGE_NAMES] : 0;

	if (name || fd < 0 || !put_link(&text, fd))
		return name;
	if (text_starts(room, "socket:"))
		put_socket(&text, fd);
	name = text_length(room) < sizeof(room) - 1 ? io_name_of_path(thread, room)
						    : name_of_long_link(thread, fd);
	io_names_set(fd, name);
	return name;
}
