// SPDX-License-Identifier: Apache-2.0
/* Runs until "q" is read: two(n) takes twice the time of one(n), for an n that changes each time. */
import java.util.Random;

public class Running {
	static volatile boolean ended;
	static volatile long sink;

	static long work(long n)
	{
		long x = 1;

		for (long i = 0; i < n; i++)
			x = x * 31 + (i ^ (x >>> 7));
		return x;
	}

	static long one(long n)
	{
		return work(n);
	}

	static long two(long n)
	{
		return work(2 * n);
	}

	static void rounds(Random random)
	{
		long n = 100_000 + random.nextInt(1_000_000);

		sink += one(n) + two(n);
	}

	static void run()
	{
		Random random = new Random(1);

		while (!ended)
			rounds(random);
	}

	public static void main(String[] args) throws Exception
	{
		Thread thread = new Thread(Running::run, "worker");

		thread.start();
		for (int i = 0; i < 300; i++)
			rounds(new Random(i));
		System.out.println("ready");
		while (System.in.read() != 'q')
			;
		ended = true;
		thread.join();
		System.out.println("done " + (sink & 0));
	}
}
