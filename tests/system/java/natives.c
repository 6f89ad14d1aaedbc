// SPDX-License-Identifier: Apache-2.0
/* Native methods of Shares.java. */
#include <jni.h>

JNIEXPORT jlong JNICALL Java_Shares_nativeWork(JNIEnv *env, jclass class, jlong n);
JNIEXPORT jlong JNICALL Java_Shares_nativeCalls(JNIEnv *env, jclass class, jlong n);

__attribute__((noinline)) static jlong native_burn(jlong n)
{
	unsigned long x = 1;

	for (jlong i = 0; i < n; i++) {
		x = x * 31 + ((unsigned long)i ^ (x >> 7));
		__asm__ volatile("" : "+r"(x));
	}
	return (jlong)x;
}

jlong JNICALL Java_Shares_nativeWork(JNIEnv *env, jclass class, jlong n)
{
	(void)env, (void)class;
	return native_burn(n) + 1;
}

jlong JNICALL Java_Shares_nativeCalls(JNIEnv *env, jclass class, jlong n)
{
	jmethodID back = (*env)->GetStaticMethodID(env, class, "back", "(J)J");

	return (*env)->CallStaticLongMethod(env, class, back, n) + 1;
}
