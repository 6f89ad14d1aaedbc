// SPDX-License-Identifier: Apache-2.0
/* Native methods of Late.java. */
#include <jni.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

JNIEXPORT jlong JNICALL Java_Late_forked(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_Late_chain(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_Late_failToExec(JNIEnv *env, jclass class);

static struct sigaction before;

/* A child that stays, without the machine; it ends when its parent does. */
jlong JNICALL Java_Late_forked(JNIEnv *env, jclass class)
{
	const pid_t parent = getpid(), child = fork();

	(void)env, (void)class;
	while (!child && getppid() == parent)
		usleep(10000);
	if (!child)
		_exit(0);
	return child;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	before.sa_sigaction(number, info, context);
}

/* As crash reporters do it. */
void JNICALL Java_Late_chain(JNIEnv *env, jclass class)
{
	struct sigaction action;

	(void)env, (void)class;
	sigaction(SIGSEGV, NULL, &before);
	action = before;
	action.sa_sigaction = pass_on;
	sigaction(SIGSEGV, &action, NULL);
}

/* The recording rests in each. */
void JNICALL Java_Late_failToExec(JNIEnv *env, jclass class)
{
	enum { TIMES = 2000 };

	(void)env, (void)class;
	for (int i = 0; i < TIMES; i++)
		execl("/nothing/here", "here", (char *)NULL);
}
