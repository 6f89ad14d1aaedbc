// SPDX-License-Identifier: Apache-2.0
//
// What C++ programs wait with. A second thread lets each wait end after so many ms, a number of
// rounds each; prints how long the waits of each kind were, and those for the second thread's end.
//
// Arguments: rounds, ms.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

using namespace std::chrono;

static milliseconds pause_length;
static double waited, joined;

template <typename Wait> static void timed(Wait wait, double &sum = waited)
{
	auto begin = steady_clock::now();

	wait();
	sum += duration<double>(steady_clock::now() - begin).count();
}

/* Another thread holds the lock: the wait begins when it has it. */
template <typename Lock, typename Wait> static void with_holder(Lock &lock, Wait wait)
{
	std::atomic<bool> held{false};
	std::thread holder([&] {
		lock.lock();
		held = true;
		std::this_thread::sleep_for(pause_length);
		lock.unlock();
	});

	while (!held)
		std::this_thread::yield();
	timed(wait);
	timed([&] { holder.join(); }, joined);
}

/* Another thread does something a while later. */
template <typename Act, typename Wait> static void with_actor(Act act, Wait wait)
{
	std::thread actor([&] {
		std::this_thread::sleep_for(pause_length);
		act();
	});

	timed(wait);
	timed([&] { actor.join(); }, joined);
}

#define KIND [[gnu::noinline]] static void

KIND wait_mutex()
{
	std::mutex lock;

	with_holder(lock, [&] { std::lock_guard guard(lock); });
}

KIND wait_recursive()
{
	std::recursive_mutex lock;

	with_holder(lock, [&] { std::lock_guard guard(lock); });
}

KIND wait_timed()
{
	std::timed_mutex lock;

	with_holder(lock, [&] {
		if (!lock.try_lock_for(hours(1)))
			std::abort();
		lock.unlock();
	});
}

KIND wait_shared()
{
	std::shared_mutex lock;

	with_holder(lock, [&] { std::shared_lock guard(lock); });
}

KIND wait_condition()
{
	std::mutex lock;
	std::condition_variable changed;
	bool done = false;

	with_actor(
		[&] {
			std::lock_guard guard(lock);
			done = true;
			changed.notify_one();
		},
		[&] {
			std::unique_lock guard(lock);
			while (!done)
				changed.wait(guard);
		});
}

KIND wait_in_vain()
{
	std::mutex lock;
	std::condition_variable changed;
	std::unique_lock guard(lock);

	timed([&] { changed.wait_for(guard, pause_length, [] { return false; }); });
}

KIND wait_semaphore()
{
	std::counting_semaphore<10> semaphore(0);

	with_actor([&] { semaphore.release(); }, [&] { semaphore.acquire(); });
}

KIND wait_latch()
{
	std::latch latch(1);

	with_actor([&] { latch.count_down(); }, [&] { latch.wait(); });
}

KIND wait_barrier()
{
	std::barrier barrier(2);

	with_actor([&] { barrier.arrive_and_wait(); }, [&] { barrier.arrive_and_wait(); });
}

KIND wait_atomic()
{
	std::atomic<int> value{0};

	with_actor(
		[&] {
			value = 1;
			value.notify_one();
		},
		[&] { value.wait(0); });
}

KIND wait_future()
{
	std::promise<int> promise;
	std::future<int> future = promise.get_future();

	with_actor([&] { promise.set_value(1); }, [&] { future.get(); });
}

KIND wait_join()
{
	std::thread thread([] { std::this_thread::sleep_for(pause_length); });

	timed([&] { thread.join(); });
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*wait)();
	} kinds[] = {
		{"mutex", wait_mutex},	       {"recursive", wait_recursive},
		{"timed", wait_timed},	       {"shared", wait_shared},
		{"condition", wait_condition}, {"in_vain", wait_in_vain},
		{"semaphore", wait_semaphore}, {"latch", wait_latch},
		{"barrier", wait_barrier},     {"atomic", wait_atomic},
		{"future", wait_future},       {"join", wait_join},
	};
	int rounds = argc > 1 ? std::atoi(argv[1]) : 3;

	pause_length = milliseconds(argc > 2 ? std::atoi(argv[2]) : 10);
	for (auto &kind : kinds) {
		waited = joined = 0;
		for (int i = 0; i < rounds; i++)
			kind.wait();
		std::printf("%s.waited %.6f\n%s.joined %.6f\n", kind.name, waited, kind.name,
			    joined);
	}
}
