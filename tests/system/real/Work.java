// SPDX-License-Identifier: Apache-2.0
import java.util.*;
import java.util.concurrent.*;

/** Threads, garbage, exceptions, a child process, null pointers turned into exceptions by signals. */
public class Work {
	static long hash(int from, int to) {
		long sum = 0;
		for (int i = from; i < to; i++)
			sum = sum * 31 + Integer.toString(i).hashCode();
		return sum;
	}

	public static void main(String[] words) throws Exception {
		System.out.println("Hello " + String.join(" ", words));
		ExecutorService pool = Executors.newFixedThreadPool(4);
		List<Future<Long>> parts = new ArrayList<>();
		for (int i = 0; i < 16; i++) {
			int from = i * 1000000;
			parts.add(pool.submit(() -> hash(from, from + 1000000)));
		}
		for (Future<Long> part : parts)
			System.out.println(part.get());
		pool.shutdown();
		int nulls = 0;
		for (int i = 0; i < 20000; i++) {
			String text = i % 2 == 0 ? "x" : null;
			try {
				nulls += text.length();
			} catch (NullPointerException e) {
				nulls -= 2;
			}
		}
		System.out.println("nulls " + nulls);
		try {
			deeper(0);
		} catch (StackOverflowError e) {
			System.out.println("stack overflow");
		}
		Thread sleeper = new Thread(() -> {
			try {
				Thread.sleep(60000);
			} catch (InterruptedException e) {
				System.out.println("interrupted");
			}
		});
		sleeper.start();
		sleeper.interrupt();
		sleeper.join();
		Process child = new ProcessBuilder("sh", "-c", "read x; echo got $x; exit 4").start();
		child.getOutputStream().write("line\n".getBytes());
		child.getOutputStream().close();
		System.out.print(new String(child.getInputStream().readAllBytes()));
		System.out.println("child " + child.waitFor());
		List<byte[]> kept = new ArrayList<>();
		for (int i = 0; i < 20000; i++) {
			kept.add(new byte[8192]);
			if (kept.size() > 1000)
				kept.clear();
		}
		System.out.println("kept " + kept.size());
	}

	static int deeper(int depth) { return deeper(depth + 1) + 1; }
}
