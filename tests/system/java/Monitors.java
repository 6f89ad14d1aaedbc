// SPDX-License-Identifier: Apache-2.0
/* Waits for monitors whose number is known, and whose time each waiter measures itself. */
import java.util.concurrent.locks.LockSupport;

public class Monitors {
	static final class Lock { }
	static final class Signal { }
	static final class Stranger { }
	static final int ROUNDS = 3;
	static final long MS = 40;
	static final Object lock = new Lock(), signal = new Signal(), stranger = new Stranger();
	static long entered, waited, notified, ofClass;

	static void enterLock()
	{
		long begin = System.nanoTime();

		synchronized (lock) {
			entered += System.nanoTime() - begin;
		}
	}

	static void enterClass()
	{
		long begin = System.nanoTime();

		synchronized (Monitors.class) {
			ofClass += System.nanoTime() - begin;
		}
	}

	/* Others enter what the calling thread has entered. */
	static void hold(Runnable enter) throws Exception
	{
		Thread thread = new Thread(enter);

		thread.start();
		while (thread.getState() != Thread.State.BLOCKED)
			Thread.sleep(1);
		Thread.sleep(MS);
	}

	static void waitForTime() throws Exception
	{
		synchronized (signal) {
			long begin = System.nanoTime();

			signal.wait(MS);
			waited += System.nanoTime() - begin;
		}
	}

	static void waitForOther()
	{
		synchronized (signal) {
			long begin = System.nanoTime();

			try {
				signal.wait();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
			notified += System.nanoTime() - begin;
		}
	}

	/* It throws at once; what the thread does then is no wait for a monitor. */
	static void waitWithoutEntering()
	{
		try {
			stranger.wait();
			throw new AssertionError();
		} catch (IllegalMonitorStateException | InterruptedException e) {
			LockSupport.park();
		}
	}

	public static void main(String[] args) throws Exception
	{
		for (int i = 0; i < ROUNDS; i++) {
			synchronized (lock) {
				hold(Monitors::enterLock);
			}
			waitForTime();
		}
		synchronized (Monitors.class) {
			hold(Monitors::enterClass);
		}
		Thread thread = new Thread(Monitors::waitForOther);

		thread.start();
		while (thread.getState() != Thread.State.WAITING)
			Thread.sleep(1);
		Thread.sleep(MS);
		synchronized (signal) {
			signal.notifyAll();
		}
		thread.join();
		for (int i = 0; i < 1000; i++)
			enterLock(); // free
		LockSupport.parkNanos(MS * 1000000);
		System.out.printf("lock %d%nclass %d%ntime %d%nother %d%n", entered, ofClass, waited, notified);
		if (args.length > 0) {
			for (Runnable run : new Runnable[] {Monitors::waitForOther, Monitors::waitWithoutEntering}) {
				Thread last = new Thread(run);

				last.setDaemon(true);
				last.start();
			}
			Thread.sleep(10 * MS);
		}
	}
}
