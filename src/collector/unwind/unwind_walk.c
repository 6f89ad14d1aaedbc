/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk from leaf to root, the reuse of the remembered stack, and the
 * interning of what is new.
 *
 * The memory holds two arrays of frames: the remembered stack, root first,
 * behind a sentinel that no state equals, and the fresh frames, leaf first.
 */
#include "collector/unwind/unwind.h"

#include "collector/unwind/arch.h"
#include "collector/unwind/modules.h"
#include "collector/unwind/rule.h"
#include "collector/unwind/slow.h"
#include "format/format.h"

/* How a walk ends, besides enum step. */
enum outcome {
	OUTCOME_ROOT,
	OUTCOME_FAILED,
	OUTCOME_LIMIT,	/* `fresh` is full */
	OUTCOME_REUSED, /* the rest is frames[1 .. cursor] */
	OUTCOME_GO_ON,
};

enum {
	SIGNALS_REWIND =
		4, /* signal frames after which all remembered frames are candidates again */
};

static uint64_t skip_low, skip_high;

void unwind_skip(uint64_t low, uint64_t high)
{
	skip_low = low;
	skip_high = high;
}

static uint32_t clamp_limit(uint32_t limit)
{
	if (!limit)
		return UNWIND_DEPTH_DEFAULT;
	return limit < UNWIND_DEPTH_MIN ? UNWIND_DEPTH_MIN : limit;
}

size_t unwind_memory_size(uint32_t limit)
{
	return sizeof(struct unwind_memory) +
	       (1 + 2 * (size_t)clamp_limit(limit)) * sizeof(struct unwind_frame);
}

void unwind_memory_init(struct unwind_memory *memory, uint32_t limit)
{
	memory->limit = clamp_limit(limit);
	memory->depth = 0;
	memory->frames[0] = (struct unwind_frame){.sp = UINT64_MAX};
}

void unwind_memory_reset(struct unwind_memory *memory)
{
	memory->depth = 0;
	for (int i = 0; i < UNWIND_KNOWN; i++)
		memory->known[i].count = 0;
}

void walk_bound(struct walk *walk, uint64_t sp)
{
	static const uint64_t nothing;
	uint64_t low = walk->stack->low, high = walk->stack->high;
	bool inside = sp - low < high - low && high - sp >= 8;

	if (inside && sp - low > ARCH_RED_ZONE)
		low = sp - ARCH_RED_ZONE;
	/* A stack that is nearly full: the few frames below the range cost a system call each, but
	 * the hundreds behind them must not. */
	inside |= low < high && low - sp <= UNWIND_STACK_SLACK;
	/* A range holds one word at least: in place of an empty one, a word that may be read. */
	walk->low = inside ? low : (uint64_t)&nothing;
	walk->span = inside ? high - low - 8 : 0;
}

void walk_enter(struct walk *walk)
{
	walk->held = !modules_enter();
}

void walk_leave(struct walk *walk)
{
	if (!walk->held)
		modules_leave();
}

const struct unwind_module *walk_module(const struct walk *walk, uint64_t pc)
{
	const struct unwind_module *module = modules_find(walk->modules, pc);

	return module && (module->stays || !walk->held) ? module : NULL;
}

bool walk_load_chunk(struct walk *walk, uint64_t address)
{
	struct unwind_memory *memory = walk->memory;
	const struct unwind_stack *stack = walk->stack;

	memory->chunk_address = address;
	memory->chunk_size = stack->read_slow(address, memory->chunk, UNWIND_CHUNK, stack->arg);
	if (memory->chunk_size < 8)
		memory->chunk_size = stack->read_slow(address, memory->chunk, 8, stack->arg);
	if (memory->chunk_size > UNWIND_CHUNK)
		memory->chunk_size = 0;
	return memory->chunk_size >= 8;
}

bool walk_load_slow(struct walk *walk, uint64_t address, uint64_t *value)
{
	struct unwind_memory *memory = walk->memory;

	if (address >> WALK_ADDRESS_BITS || !walk->stack->read_slow)
		return false;
	if ((address < memory->chunk_address || memory->chunk_size < 8 ||
	     address - memory->chunk_address > memory->chunk_size - 8) &&
	    !walk_load_chunk(walk, address))
		return false;
	__builtin_memcpy(value, (const char *)memory->chunk + (address - memory->chunk_address), 8);
	return true;
}

/* The caller of a frame at whose end the CFA and bp's slot are known. */
static enum step step_to(struct walk *walk, uint64_t cfa, uint64_t bp_at, int64_t bp_offset,
			 int32_t bp_slot)
{
	uint64_t address;
	uint64_t bp = walk->bp;

	if (cfa - ARCH_RETURN_SIZE < walk->sp)
		return walk_fail(walk, UNWIND_REASON_BAD_STACK);
	if (!walk_load(walk, cfa - ARCH_RETURN_SIZE, &address) ||
	    (bp_offset != RULE_BP_SAME && !walk_load(walk, bp_at, &bp)))
		return walk_fail(walk, UNWIND_REASON_UNREADABLE);
	return walk_return(walk, address, cfa, bp, bp_slot);
}

static enum step step_bp(struct walk *walk, uint64_t rule)
{
	const struct cfi_result *result = &walk_scratch(walk)->result;
	int32_t slot = (int32_t)rule_bp(rule) + FRAME_BY_BP;
	uint64_t cfa;

	if (walk->bp == WALK_BP_UNKNOWN) {
		bool found = false;

		walk_enter(walk);
		if (slow_row(walk))
			found = arch_search_bp(walk, result->function, rule_cfa(rule));
		walk_leave(walk);
		if (!found)
			return walk_fail(walk, UNWIND_REASON_REGISTER);
		slot = FRAME_OPAQUE;
	}
	cfa = walk->bp + (uint64_t)rule_cfa(rule);
	return step_to(walk, cfa, cfa + (uint64_t)rule_bp(rule), rule_bp(rule), slot);
}

static enum step step_register(struct walk *walk, uint64_t rule)
{
	uint64_t cfa;

	if (!slow_register(walk, rule_register(rule), &cfa))
		return walk_fail(walk, UNWIND_REASON_REGISTER);
	cfa += (uint64_t)rule_cfa(rule);
	return step_to(walk, cfa, cfa + (uint64_t)rule_bp(rule), rule_bp(rule), FRAME_OPAQUE);
}

static enum step step_deref_bp(struct walk *walk, uint64_t rule)
{
	uint64_t cfa;

	if (walk->bp == WALK_BP_UNKNOWN)
		return walk_fail(walk, UNWIND_REASON_REGISTER);
	if (!walk_load(walk, walk->bp + (uint64_t)rule_cfa(rule), &cfa))
		return walk_fail(walk, UNWIND_REASON_UNREADABLE);
	return step_to(walk, cfa, walk->bp + (uint64_t)rule_bp(rule), 0, FRAME_OPAQUE);
}

/* Out of a signal handler: everything is in the ucontext at sp, and sp may go anywhere. */
static enum step step_signal(struct walk *walk)
{
	uint64_t context = walk->sp;

	if (!walk_load(walk, context + ARCH_CONTEXT_PC, &walk->pc) ||
	    !walk_load(walk, context + ARCH_CONTEXT_SP, &walk->sp) ||
	    !walk_load(walk, context + ARCH_CONTEXT_BP, &walk->bp))
		return walk_fail(walk, UNWIND_REASON_UNREADABLE);
	if (walk->sp >> WALK_ADDRESS_BITS)
		return walk_fail(walk, UNWIND_REASON_BAD_STACK);
	walk_bound(walk, walk->sp);
	walk->bp_slot = FRAME_OPAQUE;
	walk->exact_index = walk->fresh_count;
	walk->signal_index = walk->fresh_count;
	walk->signal_context = context;
	walk->signals++;
	if (walk->signals <= SIGNALS_REWIND)
		walk->cursor = walk->memory->depth;
	return STEP_ON;
}

/* Any step that the loop of walk_run does not do itself. */
static __attribute__((noinline)) enum step step_any(struct walk *walk, uint64_t rule)
{
	uint64_t cfa;

	if (!rule)
		rule = slow_rule(walk);
	switch (rule_kind(rule)) {
	case RULE_SP:
		cfa = walk->sp + (uint64_t)rule_cfa(rule);
		return step_to(walk, cfa, cfa + (uint64_t)rule_bp(rule), rule_bp(rule),
			       (int32_t)rule_bp(rule));
	case RULE_BP:
		return step_bp(walk, rule);
	case RULE_REGISTER:
		return step_register(walk, rule);
	case RULE_DEREF_BP:
		return step_deref_bp(walk, rule);
	case RULE_SIGNAL:
		return step_signal(walk);
	case RULE_STOP:
		return STEP_END;
	case RULE_NO_CFI:
		return arch_fallback(walk);
	case RULE_SLOW:
		return slow_step(walk);
	case RULE_BAD:
		return walk_fail(walk, UNWIND_REASON_BAD_CFI);
	default: /* RULE_ABSENT */
		return walk_fail(walk, UNWIND_REASON_NO_CODE);
	}
}

static bool append(struct walk *walk)
{
	if (walk->fresh_count == walk->memory->limit)
		return false;
	walk->fresh[walk->fresh_count++] = (struct unwind_frame){
		.sp = walk->sp, .pc = walk->pc, .bp = walk->bp, .bp_slot = walk->bp_slot};
	return true;
}

/*
 * How far outwards a remembered stack still stands, seen from a frame whose sp and pc are as they
 * were: the index of the outermost frame that still follows.  *bp is that frame's here and
 * becomes that one's there.  It may be another one than remembered in frames whose callers are
 * found without it: many a function keeps a variable in bp.
 */
static uint32_t verify(const struct walk *walk, const struct unwind_frame *frames, uint32_t index,
		       uint64_t *bp)
{
	const struct unwind_frame *frame = &frames[index];
	uint64_t value = *bp;

	for (; index > 1; index--) {
		uint64_t return_at, bp_at, remembered = frame->bp;
		int32_t slot;

		frame--;
		slot = frame->bp_slot & ~FRAME_BY_BP;
		return_at = frame->sp - ARCH_RETURN_SIZE;
		bp_at = frame->sp + (uint64_t)(int64_t)slot;
		if (slot == FRAME_OPAQUE || return_at - walk->low > walk->span ||
		    bp_at - walk->low > walk->span)
			break;
		if (*(const word64 *)return_at != frame->pc + 1 ||
		    (frame->bp_slot & FRAME_BY_BP && value != remembered))
			break;
		value = slot == RULE_BP_SAME ? value : *(const word64 *)bp_at;
	}
	*bp = value;
	return index;
}

/*
 * The state equals the remembered frame at `cursor`, but perhaps for bp.  Either everything
 * outside it still stands, and its node is good; or the frames that stand become fresh
 * ones, because their nodes hang below what has changed, and the walk goes on
 * from the last of them.
 */
static enum outcome reuse(struct walk *walk)
{
	struct unwind_memory *memory = walk->memory;
	uint32_t index = walk->cursor;
	uint64_t bp = walk->bp;
	uint32_t last = verify(walk, memory->frames, index, &bp);
	uint32_t total = walk->fresh_count - 1 + index;

	/* A truncated stack of which only little is left could show more by now. */
	if (last == 1 && bp == memory->frames[1].bp && total <= memory->limit &&
	    (memory->end != UNWIND_TRUNCATED || total >= memory->limit / 4)) {
		/* Its callee may be another one now, or another place in the same. */
		walk->fresh_count--;
		memory->frames[index].bp_slot = walk->fresh[walk->fresh_count].bp_slot;
		return OUTCOME_REUSED;
	}
	while (index > last) {
		const struct unwind_frame *frame = &memory->frames[--index];
		int32_t slot = frame->bp_slot & ~FRAME_BY_BP;

		walk->sp = frame->sp;
		walk->pc = frame->pc;
		if (slot != RULE_BP_SAME)
			walk->bp = *(const word64 *)(frame->sp + (uint64_t)(int64_t)slot);
		walk->bp_slot = frame->bp_slot;
		if (!append(walk))
			return OUTCOME_LIMIT;
	}
	walk->cursor = last - 1;
	return OUTCOME_GO_ON;
}

/*
 * The walk's state in registers, in the form that makes the way from one return
 * address to the next short: `next` is pc + 1, `at` the place below sp, where
 * `next` was read.
 */
struct run {
	uint64_t next, at, bp, low, span;
	struct unwind_frame *top;	/* behind the last fresh frame */
	const struct unwind_frame *old; /* remembered frames beyond it cannot match */
};

static inline void run_enter(struct run *run, const struct walk *walk)
{
	run->next = walk->pc + 1;
	run->at = walk->sp - ARCH_RETURN_SIZE;
	run->bp = walk->bp;
	run->low = walk->low;
	run->span = walk->span;
	run->top = walk->fresh + walk->fresh_count;
	run->old = walk->memory->frames + walk->cursor;
}

static inline void run_leave(const struct run *run, struct walk *walk)
{
	walk->pc = run->next - 1;
	walk->sp = run->at + ARCH_RETURN_SIZE;
	walk->bp = run->bp;
	walk->fresh_count = (uint32_t)(run->top - walk->fresh);
	walk->cursor = (uint32_t)(run->old - walk->memory->frames);
}

/* A step by the two rules that nearly all frames have; false: it takes more. */
static inline __attribute__((always_inline)) bool run_step(struct run *run, uint64_t rule,
							   int32_t *bp_slot)
{
	enum rule_kind kind = rule_kind(rule);
	int64_t slot = rule_bp(rule);
	uint64_t to = run->at, bp_at, saved;
	int32_t flag = 0;

	if (__builtin_expect(kind == RULE_BP, 0)) {
		to = run->bp - ARCH_RETURN_SIZE;
		flag = FRAME_BY_BP;
	}
	to += (uint64_t)rule_cfa(rule);
	bp_at = to + ARCH_RETURN_SIZE + (uint64_t)slot;
	/*
	 * A caller's frame is at least the return address further out, as in step_to; an
	 * absent rule is all zero, and does not get beyond `at`.
	 */
	if (__builtin_expect(kind > RULE_BP || to < run->at + ARCH_RETURN_SIZE ||
				     to - run->low > run->span || bp_at - run->low > run->span,
			     0))
		return false;
	saved = *(const word64 *)bp_at;
	run->next = *(const word64 *)to;
	run->at = to;
	run->bp = slot == RULE_BP_SAME ? run->bp : saved;
	*bp_slot = (int32_t)slot + flag;
	return true;
}

static enum outcome walk_run(struct walk *walk)
{
	const struct unwind_frame *limit = walk->fresh + walk->memory->limit;
	struct run run;

	run_enter(&run, walk);
	for (;;) {
		uint64_t sp = run.at + ARCH_RETURN_SIZE;
		uint64_t rule;
		int32_t slot;

		while (run.old->sp < sp)
			run.old--;
		if (__builtin_expect(run.old->sp == sp && run.old->pc == run.next - 1, 0)) {
			enum outcome outcome;

			run_leave(&run, walk);
			outcome = reuse(walk);
			if (outcome != OUTCOME_GO_ON)
				return outcome;
			run_enter(&run, walk);
		}
		rule = rule_cache_find(run.next, walk->tag);
		if (!run_step(&run, rule, &slot)) {
			enum step step;

			run_leave(&run, walk);
			step = step_any(walk, rule);
			if (step != STEP_ON)
				return step == STEP_END ? OUTCOME_ROOT : OUTCOME_FAILED;
			run_enter(&run, walk);
			slot = walk->bp_slot;
		} else if (!run.next) {
			run_leave(&run, walk);
			return OUTCOME_ROOT;
		}
		if (run.top == limit) {
			run_leave(&run, walk);
			return OUTCOME_LIMIT;
		}
		*run.top++ = (struct unwind_frame){.sp = run.at + ARCH_RETURN_SIZE,
						   .pc = run.next - 1,
						   .bp = run.bp,
						   .bp_slot = slot};
	}
}

/*
 * Leaves out outer frames of a stack that is too deep.  The cut is made where
 * the stack addresses of two neighbours, in the outer half of what there is,
 * differ in the highest bit: the same place for all stacks that differ by some
 * frames at the leaf, so that they share their nodes and can be reused.
 */
static void cut(struct walk *walk)
{
	const struct unwind_frame *fresh = walk->fresh;
	uint32_t i, best = walk->fresh_count / 2;
	uint64_t widest = 0;

	for (i = best; i < walk->fresh_count; i++) {
		uint64_t difference = fresh[i - 1].sp ^ fresh[i].sp;

		if (difference > widest) {
			widest = difference;
			best = i;
		}
	}
	walk->fresh_count = best;
}

/* Interns the fresh frames from the outermost inwards, and remembers them. */
static uint32_t remember(struct walk *walk, uint32_t parent, unwind_intern *intern, void *arg)
{
	struct unwind_memory *memory = walk->memory;
	struct unwind_frame *to = &memory->frames[memory->depth];
	const struct unwind_frame *from = walk->fresh + walk->fresh_count;
	const uint64_t low = skip_low, size = skip_high - skip_low;

	while (from-- != walk->fresh) {
		uint64_t pc = from->pc;

		if (pc - low >= size) {
			parent = intern(parent, pc < FORMAT_PC_LIMIT ? FORMAT_PC_UNKNOWN : pc, arg);
			if (!parent) {
				memory->depth = 0;
				return 0;
			}
		}
		to++;
		to->sp = from->sp;
		to->pc = pc;
		to->bp = from->bp;
		to->node = parent;
		to->bp_slot = from->bp_slot;
	}
	memory->depth = (uint32_t)(to - memory->frames);
	return parent;
}

/* A stack that is not a continuation of the remembered one begins, at the root or its marker. */
static uint32_t begin(struct walk *walk, enum outcome outcome, unwind_intern *intern, void *arg)
{
	struct unwind_memory *memory = walk->memory;

	memory->depth = 0;
	switch (outcome) {
	case OUTCOME_LIMIT:
		cut(walk);
		memory->end = UNWIND_TRUNCATED;
		return intern(0, FORMAT_PC_TRUNCATED, arg);
	case OUTCOME_FAILED:
		memory->end = UNWIND_FAILED;
		return intern(0, FORMAT_PC_UNWIND_FAILED, arg);
	default:
		memory->end = UNWIND_COMPLETE;
		return 0;
	}
}

static inline uint32_t generation_of(const struct unwind_modules *modules)
{
	return modules ? modules->generation : 0;
}

/* Whether the snapshot is the one that the memory is about; else the memory is emptied. */
static void check_generation(struct walk *walk)
{
	struct unwind_memory *memory = walk->memory;
	uint32_t generation = generation_of(walk->modules);

	walk->tag = rule_tag(generation);
	if (memory->generation == generation)
		return;
	memory->generation = generation;
	memory->depth = 0;
}

/* All but the modules.  Field by field: most of them are not needed at first, and clearing all
 * would show. */
static inline void start(struct walk *walk, struct unwind_memory *memory,
			 const struct unwind_regs *regs, const struct unwind_stack *stack)
{
	walk->memory = memory;
	walk->regs = regs;
	walk->stack = stack;
	walk->pc = regs->reg[ARCH_PC];
	walk->sp = regs->reg[ARCH_SP];
	walk->bp = regs->known >> ARCH_BP & 1 ? regs->reg[ARCH_BP] : WALK_BP_UNKNOWN;
	walk->bp_slot = FRAME_OPAQUE;
	walk->fresh = memory->frames + 1 + memory->limit;
	walk->fresh_count = 0;
	walk->exact_index = regs->known & UNWIND_CALLED ? UINT32_MAX : 0;
	walk->signals = 0;
	walk->full = false;
	walk_bound(walk, walk->sp);
	check_generation(walk);
	memory->chunk_size = 0;
	walk->cursor = memory->depth;
	append(walk);
}

/*
 * Besides the last stack, some of those are kept from which traced calls were made at least twice:
 * a loop that allocates in several places goes from one to the other, and would have the
 * frames between them and their common caller walked and interned each time.  A stack is the same
 * if its leaf is, and all words that the way outwards depends on: the return addresses, and
 * bp where a frame is found by it.
 */
static inline bool known_stands(const struct unwind_known *known, const struct unwind_word *words,
				const struct unwind_regs *regs, const struct unwind_stack *stack,
				uint32_t generation)
{
	if (!known->count || known->generation != generation || known->low != stack->low ||
	    known->high != stack->high ||
	    (known->by_bp && (known->bp != regs->reg[ARCH_BP] || !(regs->known >> ARCH_BP & 1))))
		return false;
	for (uint32_t i = 0; i < known->count; i++)
		if (*(const word64 *)words[i].at != words[i].value)
			return false;
	return true;
}

/* The node of the whole stack, if it is kept and stands; else 0, and *index is its place. */
static inline uint32_t known_find(struct unwind_memory *memory, const struct unwind_regs *regs,
				  const struct unwind_stack *stack, uint32_t generation,
				  uint32_t *index)
{
	const uint64_t sp = regs->reg[ARCH_SP], pc = regs->reg[ARCH_PC];
	uint32_t place = (uint32_t)((pc ^ sp) * UINT64_C(0x9e3779b97f4a7c15) >> UNWIND_KNOWN_SHIFT);
	uint32_t last = memory->known_last >> place & 1;

	for (uint32_t i = 0; i < 2; i++, last ^= 1) {
		const struct unwind_known *known = &memory->known[2 * place + last];

		*index = 2 * place + last;
		if (known->sp != sp || known->pc != pc)
			continue;
		if (i)
			memory->known_last ^= 1u << place;
		if (!known_stands(known, memory->known_words[*index], regs, stack, generation))
			return 0;
		memory->counts.known++;
		return known->node;
	}
	return 0;
}

static bool known_add(const struct walk *walk, struct unwind_known *known,
		      struct unwind_word *words, uint64_t at, uint64_t value)
{
	if (known->count == UNWIND_KNOWN_WORDS || at - walk->low > walk->span)
		return false;
	words[known->count++] = (struct unwind_word){.at = at, .value = value};
	return true;
}

/* What the last stack depends on; false: on too much. */
static bool known_gather(const struct walk *walk, struct unwind_known *known,
			 struct unwind_word *words)
{
	const struct unwind_memory *memory = walk->memory;
	uint64_t bp_at = 0; /* where bp of the frame at hand was read; 0: it is the leaf's */

	for (uint32_t i = memory->depth; i >= 1; i--) {
		const struct unwind_frame *frame = &memory->frames[i], *caller = frame - 1;
		int32_t slot = caller->bp_slot & ~FRAME_BY_BP;

		/* It may also be what tells that the outermost frame is one. */
		if (i == 1 || caller->bp_slot & FRAME_BY_BP) {
			known->by_bp |= !bp_at;
			known->bp = bp_at ? known->bp : frame->bp;
			if (bp_at && !known_add(walk, known, words, bp_at, frame->bp))
				return false;
		}
		if (i == 1)
			break;
		if (slot == FRAME_OPAQUE ||
		    !known_add(walk, known, words, caller->sp - ARCH_RETURN_SIZE, caller->pc + 1))
			return false;
		if (slot != RULE_BP_SAME)
			bp_at = caller->sp + (uint64_t)(int64_t)slot;
	}
	return true;
}

/*
 * Keeps the last stack if it was the last one in this place, too.  Those that come once do
 * not push out one that is kept and found again and again.
 */
static void known_keep(const struct walk *walk, uint32_t index, uint32_t node)
{
	struct unwind_memory *memory = walk->memory;
	struct unwind_known *known = &memory->known[index];
	const uint64_t sp = walk->regs->reg[ARCH_SP], pc = walk->regs->reg[ARCH_PC];
	bool same_leaf = known->sp == sp && known->pc == pc;
	bool same = same_leaf && known->node == node;

	*known = (struct unwind_known){.sp = sp,
				       .pc = pc,
				       .low = walk->stack->low,
				       .high = walk->stack->high,
				       .node = node,
				       .generation = memory->generation};
	if (!same_leaf && !memory->known[index ^ 1].count)
		memory->known_last ^= 1u << index / 2;
	if (same && memory->end == UNWIND_COMPLETE &&
	    !known_gather(walk, known, memory->known_words[index]))
		known->count = 0;
}

uint64_t unwind_outermost_pc(const struct unwind_memory *memory)
{
	return memory->depth ? memory->frames[1].pc : 0;
}

uint32_t unwind_stack_node(struct unwind_memory *memory, const struct unwind_regs *regs,
			   const struct unwind_stack *stack, unwind_intern *intern, void *arg,
			   enum unwind_end *end)
{
	const uint32_t needed = 1u << ARCH_PC | 1u << ARCH_SP;
	const bool called = regs->known & UNWIND_CALLED;
	struct walk walk;
	enum outcome outcome = OUTCOME_FAILED;
	uint32_t node, index = 0;

	memory->counts.stacks++;
	walk.modules = modules_get();
	node = called ? known_find(memory, regs, stack, generation_of(walk.modules), &index) : 0;
	if (node) {
		*end = UNWIND_COMPLETE;
		return node;
	}
	start(&walk, memory, regs, stack);
	if ((regs->known & needed) == needed && !(walk.sp >> WALK_ADDRESS_BITS))
		outcome = walk_run(&walk);
	else
		memory->reason = UNWIND_REASON_REGISTER;
	memory->counts.frames += walk.fresh_count;
	if (outcome == OUTCOME_REUSED) {
		memory->counts.reused += walk.cursor;
		memory->depth = walk.cursor;
		node = remember(&walk, memory->frames[walk.cursor].node, intern, arg);
	} else {
		node = begin(&walk, outcome, intern, arg);
		node = node || outcome == OUTCOME_ROOT ? remember(&walk, node, intern, arg) : 0;
	}
	if (memory->end == UNWIND_FAILED) {
		memory->counts.reasons[memory->reason]++;
		/* What failed for want of access or time may succeed next time. */
		if (memory->reason > UNWIND_REASON_BAD_CFI)
			memory->depth = 0;
	}
	if (called && node)
		known_keep(&walk, index, node);
	*end = memory->end;
	return node;
}

bool unwind_preserved(struct unwind_memory *memory, const struct unwind_regs *regs,
		      const struct unwind_stack *stack, uint64_t sp, struct unwind_regs *found)
{
	struct walk walk;

	walk.modules = modules_get();
	start(&walk, memory, regs, stack);
	while (walk.sp < sp)
		if (step_any(&walk, rule_cache_find(walk.pc + 1, walk.tag)) != STEP_ON ||
		    !append(&walk))
			return false;
	found->known = 0;
	for (unsigned int i = 0; i < UNWIND_REGS; i++)
		if (ARCH_PRESERVED >> i & 1 && slow_register(&walk, i, &found->reg[i]))
			found->known |= 1u << i;
	return walk.sp == sp;
}
