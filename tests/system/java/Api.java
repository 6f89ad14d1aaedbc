// SPDX-License-Identifier: Apache-2.0
import com.sun.forte.st.collector.CollectorAPI;

/** Works in methods of which the collector is told to record some; with an argument, what has ended the recording is not called. */
public final class Api {
	private static volatile boolean ends;

	private static void burn(long ms) {
		final long end = System.nanoTime() + ms * 1_000_000;

		while (System.nanoTime() < end) {
			/* on a processor */
		}
	}

	private static void before() {
		burn(200);
	}

	private static void paused() {
		burn(400);
	}

	private static void resumed() {
		burn(200);
	}

	private static void other() {
		while (!ends)
			burn(1);
	}

	private static void otherAgain() {
		burn(200);
	}

	private static void beside() {
		burn(200);
	}

	private static void ended() {
		burn(400);
	}

	public static void main(String[] arguments) throws InterruptedException {
		CollectorAPI.sample("at the begin");
		before();
		CollectorAPI.pause();
		paused();
		CollectorAPI.resume();
		resumed();
		CollectorAPI.sample(null);

		final Thread thread = new Thread(() -> {
			CollectorAPI.threadPause(Thread.currentThread());
			other();
			otherAgain();
		});

		thread.start();
		beside();
		CollectorAPI.threadResume(thread);
		ends = true;
		thread.join();
		CollectorAPI.threadPause(thread); // it has ended: nothing
		CollectorAPI.terminate();
		ended();
		System.out.println("done");
	}
}
