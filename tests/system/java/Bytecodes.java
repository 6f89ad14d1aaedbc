// SPDX-License-Identifier: Apache-2.0
/* One method with instructions of every form, which calls another that takes time. */
public class Bytecodes {
	static double real = 0.5;
	long field = 1L << 40;
	String[] words = {"first", "tab\tand \u00fcmlaut"};

	static long burn(long n)
	{
		long x = 1;

		for (long i = 0; i < n; i++)
			x = x * 31 + (i ^ (x >>> 7));
		return x;
	}

	long every(long n, Object object)
	{
		int[][][] cube = new int[2][3][4];
		boolean[] flags = new boolean[3];
		float small = 1.25f;
		int far = 1, sum = 0;

		far += 1000;
		switch ((int)(n % 5)) {
		case 0:
			sum += 70000;
			break;
		case 1:
			sum -= 300;
			break;
		case 2:
		case 3:
			sum *= 2;
			break;
		default:
			sum = -1;
		}
		switch (words[(int)(n & 1)]) {
		case "first":
			real *= 2.5e300;
			break;
		case "tab\tand \u00fcmlaut":
			real = -0.0;
			break;
		}
		synchronized (this) {
			field += object instanceof String ? ((String)object).length() : small > real ? 1 : far;
		}
		try {
			Runnable runnable = () -> flags[1] = true;

			runnable.run();
			if (object == null)
				throw new IllegalStateException("a text of more than sixty characters, which is cut somewhere behind its middle");
		} catch (IllegalStateException e) {
			cube[1][2][3]++;
		}
		Class<?> type = int[].class;

		return burn(n) + field + sum + cube.length + type.hashCode();
	}

	public static void main(String[] args)
	{
		Bytecodes bytecodes = new Bytecodes();
		long sum = 0;

		for (int i = 0; i < 20; i++)
			sum += bytecodes.every(Long.parseLong(args[0]) * 1000000 + i, i % 2 == 0 ? "text" : null);
		System.out.println("result " + (sum & 0));
	}
}
