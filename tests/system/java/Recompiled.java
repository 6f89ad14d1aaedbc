// SPDX-License-Identifier: Apache-2.0
/*
 * A method that is compiled twice: while one class is loaded the call in it is inlined, and when a
 * second one comes the code is thrown away.  Each of the two has its time, which the thread's CPU
 * clock tells.
 */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

public class Recompiled {
	static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
	static long sink;

	abstract static class Step {
		abstract long next(long x);
	}

	static class First extends Step {
		long next(long x)
		{
			return x * 31 + (x >>> 7);
		}
	}

	static class Second extends Step {
		long next(long x)
		{
			return x * 37 + (x >>> 5);
		}
	}

	static long work(Step step, int n)
	{
		long x = 1;

		for (int i = 0; i < n; i++)
			x = step.next(x);
		return x;
	}

	/*
	 * What is interpreted first, and is compiled meanwhile with -Xbatch, is not of the phase.  The
	 * loops are here as this method is called too rarely to be compiled, with work() in it.
	 */
	static void phase(String name, Step step, long ns)
	{
		for (int i = 0; i < 3000; i++)
			sink += work(step, 1000);

		long begin = threads.getCurrentThreadCpuTime(), end;

		do {
			for (int i = 0; i < 1000; i++)
				sink += work(step, 1000);
			end = threads.getCurrentThreadCpuTime();
		} while (end - begin < ns);
		System.out.println("phase " + name + " " + (end - begin));
	}

	public static void main(String[] args) throws Exception
	{
		long ns = Long.parseLong(args[0]) * 1_000_000L;

		phase("first", new First(), ns);
		phase("second", (Step)Class.forName("Recompiled$Second").getDeclaredConstructor().newInstance(), 2 * ns);
	}
}
