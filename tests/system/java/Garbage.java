// SPDX-License-Identifier: Apache-2.0

/** Allocates so many MB, of which the last few are in use, and asks for a collection in the middle and at the end. */
public final class Garbage {
	private static final int KEPT = 16;
	private static final int PIECE = 64 * 1024;
	private static final int PIECES = (1 << 20) / PIECE;

	public static void main(String[] arguments) {
		final int megabytes = Integer.parseInt(arguments[0]);
		final byte[][] kept = new byte[KEPT * PIECES][];

		for (int i = 0; i < megabytes * PIECES; i++) {
			kept[i % kept.length] = new byte[PIECE];
			if (i == megabytes * PIECES / 2)
				System.gc();
		}
		System.gc();
		System.out.println(kept.length + " pieces");
	}
}
