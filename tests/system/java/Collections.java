// SPDX-License-Identifier: Apache-2.0

/** Asks so many times for a garbage collection, of a heap of a million objects, and says how long the requests took. */
public final class Collections {
	private static final int OBJECTS = 1_000_000;
	private static final long BETWEEN_NS = 20_000_000;

	private static void burn() {
		final long end = System.nanoTime() + BETWEEN_NS;

		while (System.nanoTime() < end) {
			/* on a processor */
		}
	}

	public static void main(String[] arguments) {
		Object[] list = null;
		long requests = 0;

		for (int i = 0; i < OBJECTS; i++)
			list = new Object[] {list};
		for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
			burn();

			final long begin = System.nanoTime();

			System.gc();
			requests += System.nanoTime() - begin;
		}
		System.out.println("requests " + requests + (list == null ? " without a list" : ""));
	}
}
