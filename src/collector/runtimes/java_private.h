/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this runtime share. */
#ifndef HELIO_COLLECTOR_JAVA_PRIVATE_H
#define HELIO_COLLECTOR_JAVA_PRIVATE_H

#include "collector/storage/text.h"
#include "format/kinds.h"

#include <jni.h>
#include <jvmti.h>

/* java_names.c: a method's names as they are written down: "Lpkg/Class;.name(II)V", where its
 * source is below the directories of sources: "pkg/Class.java", "" if that is not known. */
enum { JAVA_NAME_ROOM = 1024, JAVA_SOURCE_ROOM = 512 };
struct java_names {
	char name[JAVA_NAME_ROOM], source[JAVA_SOURCE_ROOM];
};
/* False: the method's class is gone. */
bool java_names_find(jvmtiEnv *jvmti, jmethodID method, struct java_names *names);
/* Asks for what bytecode refers to; false: the machine does not tell. */
bool java_names_add(jvmtiEnv *jvmti);
/* Writes down the methods that stacks have met since the last call, while a recording is active. In
 * a callback of JVMTI, or a thread of the machine's that runs no Java. */
void java_names_write(jvmtiEnv *jvmti);
bool java_names_are_being_written(void);
/* A recording begins: its stacks are others. */
void java_names_begin(void);
/* In the child of a fork: who was writing is not here. */
void java_names_forget(void);

/* java.c: the same for the machine that is followed; and that it is not any more. */
void java_write_names(void);
void java_end(void);

/* The calling thread, if what it does now is to be recorded; NULL: it is not. */
struct thread *java_recorded_thread(uint64_t now_ns);

/* java_late.c: in the child of a fork. */
void java_late_forget(void);

/* java_code.c: callbacks of what is compiled */
void JNICALL java_code_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *code,
				jint map_length, const jvmtiAddrLocationMap *map,
				const void *inlining);
void JNICALL java_code_gone(jvmtiEnv *jvmti, jmethodID method, const void *code);
void JNICALL java_code_generated(jvmtiEnv *jvmti, const char *name, const void *code, jint size);
/* The lines of a method by the place in its bytecode; to be given back by Deallocate. */
struct java_lines {
	jvmtiLineNumberEntry *entries;
	jint count;
};
void java_code_lines(jvmtiEnv *jvmti, jmethodID method, struct java_lines *lines);
/* The line of a bytecode; 0: not known. */
uint32_t java_code_line(const struct java_lines *lines, jlocation place);
/* Whether an address is where the machine keeps code that it has made. Safe in a handler. */
bool java_code_is_at(uint64_t pc);

/* java_class.c: the number of a text of the kind's file, `before` and the name of a class as it is
 * written in Java; 0: there is none. */
uint64_t java_class_text(jvmtiEnv *jvmti, jclass class, const char *before, enum trace_kind kind);

/* java_objects.c: what is allocated, where it is to be recorded.  settle: before the machine ends;
 * forget: in the child of a fork. */
void java_objects_begin(JavaVM *vm);
void java_objects_settle(void);
void java_objects_end(void);
void java_objects_forget(void);

/* java_monitor.c: waits for monitors, where they are to be recorded */
/* What the machine's own threads wait for is left out from now on: the machine is where `inside`
 * is. */
void java_monitor_leave_out(const void *inside);
/* Asks the machine for them; false: they are not wanted, or it does not tell. */
bool java_monitor_add(jvmtiEnv *jvmti, JNIEnv *env, jvmtiEventCallbacks *callbacks);

/* java_api.c: gives the class of the collector's functions its native methods, when it is prepared;
 * what those need of a thread, in the thread itself when it begins. */
void java_api_prepare(jvmtiEnv *jvmti, JNIEnv *env, jclass class);
void java_api_note_thread(jvmtiEnv *jvmti, jthread thread);
/* They ask this environment from now on; end: none any more, when it returns. */
void java_api_begin(jvmtiEnv *jvmti);
void java_api_end(void);

/* java_collection.c: garbage collections, where the machine tells of them: adds the callbacks,
 * which are called from `begin` on. */
void java_collection_add(jvmtiEventCallbacks *callbacks);
void java_collection_begin(jvmtiEnv *jvmti);

/* java_fields.c: what the machine's library exports; and its table of its own fields, which it has
 * for debuggers. NULL: there is none such. */
struct java_field {
	const char *type, *name, *text; /* text: the type of what is there; NULL for some */
	int32_t is_static;
	uint64_t offset;     /* in an object of the type, */
	const void *address; /* or of the static one */
};
const void *java_machine_symbol(const char *name);
const struct java_field *java_field_find(const char *type, const char *name);
/* Whether a switch of the machine's is on, as "UseG1GC". */
bool java_flag_is_on(const char *name);

/* java_heap.c: how much of the heap is in use, while all threads stand still; JAVA_HEAP_UNKNOWN:
 * the machine does not tell. Nothing but memory is read. */
#define JAVA_HEAP_UNKNOWN UINT64_MAX
void java_heap_begin(void);
uint64_t java_heap_used(void);

/* java_counters.c: the machine's counters about its collections, which it has for jstat. */
void java_counters_begin(void);
/* A collection begins. */
void java_counters_note(void);
/* It ends: why it was done, and what did it; "": not known. */
const char *java_counters_cause(void);
const char *java_counters_collector(void);

/* java_stack.c */
/* From now on events have the Java stack beside their own; false: this machine does not tell. */
bool java_stack_begin(JNIEnv *env);
void java_stack_end(void);
/* In a callback: asks for the Java stack of the calling thread, which events of it have until it is
 * forgotten. */
void java_stack_note(jvmtiEnv *jvmti);
void java_stack_forget(void);
/* A thread of ours, which runs no Java; 0: there is none. */
void java_stack_leave_out(int tid);

#endif
