// SPDX-License-Identifier: Apache-2.0
/* Methods whose shares of the time are known: work(n) takes time in proportion to n. */
import java.util.function.LongUnaryOperator;

public class Shares {
	static final long UNIT = 1_000_000L;
	static volatile long sink;

	static native long nativeWork(long n);
	static native long nativeCalls(long n);

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

	static long recurse(int depth, long n)
	{
		return depth == 0 ? work(n) : recurse(depth - 1, n) + 1;
	}

	static long lambda(long n)
	{
		LongUnaryOperator f = x -> work(x) + 1;

		return f.applyAsLong(n);
	}

	/* Small enough to be inlined, by either compiler. */
	static long small(long x, long i)
	{
		return x * 31 + (i ^ (x >>> 7));
	}

	static long inlines(long n)
	{
		long x = 1;

		for (long i = 0; i < n; i++)
			x = small(x, i);
		return x;
	}

	static void thrower(int i)
	{
		throw new IllegalStateException("x" + i);
	}

	static long exceptions(long n)
	{
		long x = 0;

		for (int i = 0; i < n; i++) {
			try {
				thrower(i);
			} catch (IllegalStateException e) {
				x += work(1000);
			}
		}
		return x;
	}

	static long reflection(long n) throws Exception
	{
		return (Long)Shares.class.getDeclaredMethod("one", long.class).invoke(null, n);
	}

	/* Called by nativeCalls. */
	static long back(long n)
	{
		return work(n);
	}

	public static void main(String[] args) throws Exception
	{
		boolean natives = args.length > 1;
		long n = Long.parseLong(args[0]) * UNIT;

		if (natives)
			System.load(args[1]);
		for (int i = 0; i < 10; i++) {
			sink += one(n) + two(n) + recurse(20, n) + lambda(n) + inlines(n) + exceptions(n / 20_000);
			sink += reflection(n);
			if (natives)
				sink += nativeWork(n) + nativeCalls(n);
		}
		System.out.println("result " + (sink & 0));
		System.err.println("to the other one");
		System.exit(3);
	}
}
