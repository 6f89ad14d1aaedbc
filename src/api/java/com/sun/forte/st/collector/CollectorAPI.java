// SPDX-License-Identifier: Apache-2.0
package com.sun.forte.st.collector;

/**
 * What a Java program may tell the collector that records it (collectorAPI.h). Nothing is loaded: in a machine that is
 * recorded the collector brings the native methods when this class is prepared; in others all calls do nothing.
 */
public final class CollectorAPI {
	private static final boolean RECORDED = isRecorded();

	private CollectorAPI() {
	}

	/** Records a sample point with this label; null: none. */
	public static void sample(String name) {
		if (RECORDED)
			sample0(name == null ? "" : name);
	}

	/** Stops recording events until resume(). */
	public static void pause() {
		if (RECORDED)
			pause0();
	}

	public static void resume() {
		if (RECORDED)
			resume0();
	}

	/** The same for one thread that lives. */
	public static void threadPause(Thread thread) {
		if (RECORDED)
			threadPause0(thread);
	}

	public static void threadResume(Thread thread) {
		if (RECORDED)
			threadResume0(thread);
	}

	/** Closes the experiment of this process: nothing is recorded any more. */
	public static void terminate() {
		if (RECORDED)
			terminate0();
	}

	private static boolean isRecorded() {
		try {
			return recorded0();
		} catch (UnsatisfiedLinkError nobody) {
			return false;
		}
	}

	private static native boolean recorded0();

	private static native void sample0(String name);

	private static native void pause0();

	private static native void resume0();

	private static native void threadPause0(Thread thread);

	private static native void threadResume0(Thread thread);

	private static native void terminate0();
}
