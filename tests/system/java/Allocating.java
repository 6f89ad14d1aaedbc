// SPDX-License-Identifier: Apache-2.0
/* Allocates until "q" is read, for each array of bytes one of ints, which is some three times as large. */
public class Allocating {
	static volatile boolean ended;
	static volatile Object sink;

	static void bytes() {
		for (int i = 0; i < 1000; i++)
			sink = new byte[1000];
	}

	static void ints() {
		for (int i = 0; i < 1000; i++)
			sink = new int[750];
	}

	static void work() {
		while (!ended) {
			bytes();
			ints();
		}
	}

	public static void main(String[] arguments) throws Exception {
		Thread worker = new Thread(Allocating::work, "worker");

		worker.start();
		System.out.println("ready");
		while (System.in.read() != 'q')
			continue;
		ended = true;
		worker.join();
		System.out.println("done");
	}
}
