// SPDX-License-Identifier: Apache-2.0
/** Writes and reads a file in pieces: so many calls of write and read of 1000 bytes, and of a short thread each. */
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;

class Files {
	static final int PIECES = 200;
	static final int THREADS = 20;

	static void save(String name) throws IOException {
		try (FileOutputStream file = new FileOutputStream(name)) {
			for (int i = 0; i < PIECES; i++)
				file.write(new byte[1000]);
		}
	}

	static void load(String name) throws IOException {
		try (FileInputStream file = new FileInputStream(name)) {
			while (file.read(new byte[1000]) > 0)
				;
		}
	}

	public static void main(String[] words) throws Exception {
		save(words[0]);
		load(words[0]);
		for (int i = 0; i < THREADS; i++) {
			Thread thread = new Thread(() -> {
				try {
					load(words[0]);
				} catch (IOException error) {
					System.err.println(error);
				}
			});
			thread.start();
			thread.join();
		}
	}
}
