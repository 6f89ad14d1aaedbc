// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/** Does what it reads, a letter for each: the arguments are collector.jar, and a library of native methods or nothing. */
public class Late {
	static final String NAME = "com.sun.forte.st.collector.CollectorAPI";
	static Class<?> first;
	static volatile long sink;
	static int[] none;

	static native long forked();

	static native void chain();

	static native void failToExec();

	static void burn(long ms)
	{
		final long end = System.nanoTime() + ms * 1_000_000;

		while (System.nanoTime() < end)
			sink++;
	}

	static void paused()
	{
		burn(400);
	}

	static void resumed()
	{
		burn(400);
	}

	static Class<?> load(URL jar) throws Exception
	{
		Class<?> api = Class.forName(NAME, true, new URLClassLoader(new URL[] {jar}, null));
		Field recorded = api.getDeclaredField("RECORDED");

		recorded.setAccessible(true);
		return recorded.getBoolean(null) ? api : null;
	}

	/* Until an agent is there, which gives the class its methods when it is prepared. */
	static void meetAgent(URL jar) throws Exception
	{
		Class<?> api;

		while ((api = load(jar)) == null)
			Thread.sleep(20);
		if (first == null)
			first = api;
	}

	static void tell(String name)
	{
		try {
			first.getMethod(name, Thread.class).invoke(null, Thread.currentThread());
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
		}
	}

	static void pauseAThread() throws Exception
	{
		Thread thread = new Thread(() -> {
			tell("threadPause");
			paused();
			tell("threadResume");
			resumed();
		});

		thread.start();
		thread.join();
	}

	/* The machine looks there, and gets a SIGSEGV. */
	static String dereference()
	{
		try {
			return "length " + none.length;
		} catch (NullPointerException e) {
			return "null";
		}
	}

	static String answer(int letter, URL jar) throws Exception
	{
		switch (letter) {
		case 'a':
			meetAgent(jar);
			return "agent";
		case 'p':
			pauseAThread();
			return "paused";
		case 'g':
			System.gc();
			return "collected";
		case 'f':
			return "child " + forked();
		case 'c':
			chain();
			return "chained";
		case 'e':
			failToExec();
			return "no exec";
		default:
			return dereference();
		}
	}

	public static void main(String[] arguments) throws Exception
	{
		int letter;

		if (arguments.length > 1)
			System.load(arguments[1]);
		System.out.println("ready");
		while ((letter = System.in.read()) != 'q')
			System.out.println(answer(letter, Path.of(arguments[0]).toUri().toURL()));
		System.out.println("done");
	}
}
