// SPDX-License-Identifier: Apache-2.0
/*
 * Everything that is hard for a profiler, at once, for so many seconds: 16 threads that throw,
 * load and unload a plugin, start threads and fork, all with few different stacks.
 *
 *   soak SECONDS PLUGIN...
 *
 * Prints its own memory (kB, all of it that is not a file's), after a third of the time and at
 * the end: what grows in between grows with the events.  And the CPU time that its threads did not
 * see, as it came after their last look: what their ends took.
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace
{
std::atomic<bool> stop;
std::atomic<unsigned long> thrown, loaded, started, forked;
std::atomic<long> seen_ns; // CPU time of all threads, as each saw it at its end
std::vector<const char *> plugins;

double now()
{
	timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return double(time.tv_sec) + double(time.tv_nsec) / 1e9;
}

long cpu_ns(clockid_t clock)
{
	timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

__attribute__((noinline)) int throwing(int depth)
{
	if (!depth)
		throw std::runtime_error("as wanted");
	return throwing(depth - 1) + 1;
}

void throw_and_catch()
{
	try {
		throwing(8);
	} catch (const std::runtime_error &) {
		thrown++;
	}
}

void load_and_unload(unsigned number)
{
	void *handle = dlopen(plugins[number % plugins.size()], RTLD_NOW | RTLD_LOCAL);
	void *symbol = handle ? dlsym(handle, "plugin_run") : nullptr;
	void (*run)(long, long);

	if (!symbol)
		abort();
	memcpy(&run, &symbol, sizeof(symbol));
	run(5, 2000);
	dlclose(handle);
	loaded++;
}

void fork_and_wait()
{
	pid_t child = fork();
	int status = 0;

	if (!child)
		_exit(3);
	if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3)
		abort();
	forked++;
}

void work(unsigned number)
{
	for (unsigned long i = 0; !stop; i++) {
		switch (number % 4) {
		case 0:
			load_and_unload(number / 4);
			break;
		case 1:
			std::thread([] {
				throw_and_catch();
				seen_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID);
			}).join();
			started++;
			break;
		case 2:
			if (number == 2 && i % 64 == 0)
				fork_and_wait();
			[[fallthrough]];
		default:
			throw_and_catch();
		}
	}
	seen_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID);
}

long private_memory()
{
	char line[256];
	long anonymous = 0;
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "RssAnon:", 8))
			anonymous = strtol(line + 8, nullptr, 10);
	if (file)
		fclose(file);
	return anonymous;
}
} // namespace

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? strtod(argv[1], nullptr) : 0, start = now();
	std::vector<std::thread> threads;

	if (seconds <= 0)
		return 2;
	plugins.assign(argv + 2, argv + argc);
	for (unsigned i = 0; i < 16; i++)
		threads.emplace_back(work, i);
	while (now() < start + seconds / 3)
		usleep(20000);
	printf("memory_early %ld\n", private_memory());
	while (now() < start + seconds)
		usleep(20000);
	printf("memory_late %ld\n", private_memory());
	stop = true;
	for (auto &thread : threads)
		thread.join();
	printf("thrown %lu\nloaded %lu\nstarted %lu\nforked %lu\n", thrown.load(), loaded.load(),
	       started.load(), forked.load());
	seen_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	printf("unseen %.9f\n", double(cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - seen_ns) / 1e9);
	return 0;
}
