// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Threads that wait for something of each class, one after another, and say how long. */
public final class Parking {
	private static final long MS = 60;

	private interface Wait {
		void run() throws Exception;
	}

	/** A class of the program's own that waits by a condition. */
	private static final class Room {
		private final ReentrantLock lock = new ReentrantLock();
		private final Condition open = lock.newCondition();
		private boolean isOpen;

		void enter() throws InterruptedException {
			lock.lock();
			while (!isOpen)
				open.await();
			lock.unlock();
		}

		void open() {
			lock.lock();
			isOpen = true;
			open.signalAll();
			lock.unlock();
		}
	}

	private static void time(String name, Wait wait, Wait end) throws Exception {
		final Thread thread = new Thread(() -> {
			final long begin = System.nanoTime();

			try {
				wait.run();
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
			System.out.println(name + " " + (System.nanoTime() - begin));
		});

		thread.start();
		while (thread.getState() != Thread.State.WAITING)
			Thread.sleep(1);
		Thread.sleep(MS);
		end.run();
		thread.join();
	}

	private static volatile boolean go;

	private static void parkDirectly() {
		while (!go)
			LockSupport.park();
	}

	public static void main(String[] arguments) throws Exception {
		final ReentrantLock lock = new ReentrantLock();
		final ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
		final Semaphore semaphore = new Semaphore(0);
		final CountDownLatch latch = new CountDownLatch(1);
		final LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>();
		final CompletableFuture<String> future = new CompletableFuture<>();
		final Room room = new Room();

		lock.lock();
		time("java.util.concurrent.locks.ReentrantLock", lock::lock, lock::unlock);
		readWrite.writeLock().lock();
		time("java.util.concurrent.locks.ReentrantReadWriteLock", () -> readWrite.readLock().lock(), () -> readWrite.writeLock().unlock());
		time("java.util.concurrent.Semaphore", semaphore::acquire, semaphore::release);
		time("java.util.concurrent.CountDownLatch", latch::await, latch::countDown);
		time("java.util.concurrent.LinkedBlockingQueue", queue::take, () -> queue.add("one"));
		time("java.util.concurrent.CompletableFuture", future::get, () -> future.complete("one"));
		time("Parking$Room", room::enter, room::open);

		final Thread[] parked = new Thread[1];

		time("Parking", () -> {
			parked[0] = Thread.currentThread();
			parkDirectly();
		}, () -> {
			go = true;
			LockSupport.unpark(parked[0]);
		});
	}
}
