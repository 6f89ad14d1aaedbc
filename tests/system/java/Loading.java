// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;

/** Uses one class so many times, each by a loader of its own. */
public final class Loading {
	/** What is used. */
	public static final class Piece {
		public Piece() {
		}
	}

	/** A loader that defines Piece itself. */
	private static final class Own extends ClassLoader {
		Class<?> define(byte[] bytes) {
			return defineClass("Loading$Piece", bytes, 0, bytes.length);
		}
	}

	public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
		final byte[] bytes;

		try (InputStream in = Loading.class.getResourceAsStream("Loading$Piece.class")) {
			bytes = in.readAllBytes();
		}
		for (int i = Integer.parseInt(arguments[0]); i > 0; i--)
			new Own().define(bytes).getConstructor().newInstance();
	}
}
