// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/*
 * Allocates so much of each class in a method of its own, in several threads: Objects ROUNDS THREADS.
 * Of what keep() allocates all stays until the end, which is behind a collection; of the others
 * nothing.  Says what it has allocated: "class method objects bytes", and of each thread "thread
 * NAME bytes", by the machine's own count.
 */
public class Objects {
	/** 16 bytes of head, with what fills them up, and 48. */
	static final class Item {
		long a, b, c, d, e, f;
	}

	/** As large as the points of the sample lie apart in the tests. */
	static final int APART = 16384;

	static volatile Object sink;
	static final List<Object> kept = new ArrayList<>(100000);
	static final AtomicLong[] counts = new AtomicLong[6];

	static int bytes(int count) {
		for (int i = 0; i < count; i++)
			sink = new byte[1000];
		return count;
	}

	static int longs(int count) {
		for (int i = 0; i < count; i++)
			sink = new long[20];
		return count;
	}

	static int items(int count) {
		for (int i = 0; i < count; i++)
			sink = new Item();
		return count;
	}

	static int large(int count) {
		for (int i = 0; i < count; i++)
			sink = new int[300000];
		return count;
	}

	static int middling(int count) {
		for (int i = 0; i < count; i++)
			sink = new double[APART / 8 - 2];
		return count;
	}

	static int keep(int count) {
		synchronized (kept) {
			for (int i = 0; i < count; i++)
				kept.add(new char[500]);
		}
		return count;
	}

	static void round() {
		counts[0].addAndGet(bytes(2000));
		counts[1].addAndGet(longs(5000));
		counts[2].addAndGet(items(20000));
		counts[3].addAndGet(large(2));
		counts[4].addAndGet(middling(150));
		counts[5].addAndGet(keep(200));
	}

	static long allocatedHere() {
		return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean()).getThreadAllocatedBytes(
			Thread.currentThread().getId());
	}

	static void work(int rounds) {
		long before = allocatedHere();

		for (int i = 0; i < rounds; i++)
			round();
		long bytes = allocatedHere() - before;

		synchronized (Objects.class) {
			System.out.println("thread " + Thread.currentThread().getName() + " " + bytes);
		}
	}

	public static void main(String[] arguments) throws InterruptedException {
		String[] names = {"byte[] bytes 1016", "long[] longs 176", "Objects$Item items 64", "int[] large 1200016",
			"double[] middling " + APART, "char[] keep 1016"};
		int rounds = Integer.parseInt(arguments[0]);
		Thread[] threads = new Thread[Integer.parseInt(arguments[1])];

		for (int i = 0; i < counts.length; i++)
			counts[i] = new AtomicLong();
		for (int i = 0; i < threads.length; i++)
			(threads[i] = new Thread(() -> work(rounds), "worker-" + i)).start();
		for (Thread thread : threads)
			thread.join();
		sink = null;
		System.gc();
		for (int i = 0; i < names.length; i++) {
			String[] words = names[i].split(" ");

			System.out.println(words[0] + " " + words[1] + " " + counts[i] + " " + counts[i].get() * Integer.parseInt(words[2]));
		}
		System.exit(kept.isEmpty() ? 1 : 3);
	}
}
