/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files for programs that have moved their root, or are not root any more (format/broker.h).
 */
#ifndef HELIO_LAUNCH_BROKER_H
#define HELIO_LAUNCH_BROKER_H

#include <stdbool.h>
#include <stdint.h>

struct broker;

/*
 * A socket in a founder's directory, a descriptor of which is copied; to be called before there is
 * a second thread.  NULL: none can be had, and such programs are not recorded.
 */
struct broker *broker_open(int folder);
/* Two numbers, by which processes are known that this run records; 0: there is no broker. */
const uint64_t *broker_key(const struct broker *broker);
/* Becomes readable with the first request; -1 from when a thread answers, or without a broker. */
int broker_descriptor(const struct broker *broker);
/* Answers all requests from here on, in threads of its own. */
void broker_serve(struct broker *broker);
/* Whether it does not answer any more, since too many questions did not end. */
bool broker_gave_up(struct broker *broker);
/* The experiment is closed: the socket is not found any more.  Who holds one may still ask. */
void broker_hide(struct broker *broker);
/* Who asks from here on is told at once that nobody answers. NULL is fine, here and there. */
void broker_close(struct broker *broker);

#endif
