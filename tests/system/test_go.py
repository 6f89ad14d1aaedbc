# SPDX-License-Identifier: Apache-2.0
"""
Go, however it is linked: recorded where the C library makes its threads and handlers, else left
alone before anything is changed in it, and never harmed.
"""
import os

from harness import ROOT, test
from test_attach import Program

SOURCE = '''package main

import (
	%s
	"crypto/sha256"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func chain(n int, out chan int) {
	value := fmt.Sprint(n)
	for i := 0; i < 30000; i++ {
		value = fmt.Sprintf("%%x", sha256.Sum256([]byte(value)))
	}
	out <- len(value)
}

func main() {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1)
	fmt.Println("ready")
	if len(os.Args) > 1 {
		var line string
		fmt.Scanln(&line)
	}
	out, sum := make(chan int), 0
	for i := 0; i < 4; i++ {
		go chain(i, out)
	}
	for i := 0; i < 4; i++ {
		sum += <-out
	}
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	<-told
	time.Sleep(10 * time.Millisecond)
	fmt.Println("sum", sum)
	os.Exit(7)
}
'''
CGO = '_ "runtime/cgo"'
# name: with cgo, flags of go build, recorded
LINKED = {
    'static': ('', (), False),
    'external': ('', ('-ldflags=-linkmode=external',), False),
    'unnamed': ('', ('-ldflags=-linkmode=external -s -w -buildid=',), False),  # nothing in it says Go
    'pie': ('', ('-buildmode=pie',), False),
    'cgo': (CGO, ('-ldflags=-linkmode=internal',), True),
    'cgo-external': (CGO, ('-ldflags=-linkmode=external',), True),
}


def build(t, name):
    imports, flags, _ = LINKED[name]
    source = t.directory / f'{name}.go'
    source.write_text(SOURCE % imports)
    path = t.directory / name
    result = t.run(t.need('go'), 'build', *flags, '-o', path, source,
                   env={'CGO_ENABLED': '1' if imports else '0', 'GOFLAGS': '-mod=mod', 'GO111MODULE': 'off',
                        'GOCACHE': os.environ.get('GOCACHE', str(ROOT / 'build' / 'go-cache'))})
    t.equal(result.status, 0, f'go build ({result.err})')
    return path


@test(engines=True)
def linked_in_any_way(t, engine):
    for name, (_, _, recorded) in LINKED.items():
        path = build(t, name)
        bare = t.run(path)
        t.equal((bare.status, bare.out), (7, 'ready\nsum 256\n'), f'{name}, bare')
        if recorded:
            for result, _ in t.like_bare(engine, path, intervals=('1', '10')):
                t.check('Go: call stacks of goroutines' in result.err, f'{name}: {result.err}')
                rows = t.functions(result.experiment)
                t.within(rows['<Total>']['i.totalcpu'] > 0 and 'main.chain' in rows, f'{name}: {rows}')
            continue
        result = t.collect(path, engine=engine, status=126)
        t.check('runtime/cgo' in result.err and 'perf record' in result.err and not result.out, f'{name}: {result.err}')
        # as a descendant: alone, and as what a recorded process becomes
        for script in (f'{path}; exit $?', f'exec {path}'):
            result = t.collect('sh', '-c', script, engine=engine, options=('-p', '1'), status=7)
            t.equal(result.out, bare.out, f'{name}, {script}')
            rows = t.functions(result.experiment, 'e.totalcpu')
            row = rows.get(f'<not recorded: {name}>', {}).get('e.totalcpu', 0)
            t.within(f'not recorded: {name}' in result.err and row > 0.5 * rows['<Total>']['e.totalcpu'], f'{name}: {result.err} {rows}')
            family = t.read(result.experiment)
            if name != 'static':
                told = [event['reason'] for event in family['']['log_events'] if event['kind'] == 'left_alone']
                t.check(len(told) == 1 and 'Go without cgo' in told[0], f'{name}: {family[""]["log_events"]}')


@test(engines=True)
def goroutines_have_roots(t, engine):
    """Their stacks end where the runtime has begun them, and are not called unfinished."""
    result = t.collect(build(t, 'cgo'), engine=engine, options=('-p', '1'), status=7)
    process = t.read(result.experiment)['']
    t.check(f' {process["events"]} events, ' in result.err, f'Go ends by a raw call: {process["events"]} events, and the last line is {result.err}')
    rows = t.functions(result.experiment)
    t.within(rows['runtime.goexit.abi0']['i.totalcpu'] >= 0.99 * rows['main.chain']['i.totalcpu'] > 0, f'{rows["main.chain"]}')


BUSY = '''package main

import (
	"fmt"
	"runtime"
	_ "runtime/cgo"
	"sync"
	"syscall"
)

//go:noinline
func hot(n uint64) uint64 {
	x := uint64(1)
	for i := uint64(0); i < n; i++ {
		x = x*31 + i
	}
	return x
}

func cpu() float64 {
	var use syscall.Rusage
	syscall.Getrusage(0, &use)
	return float64(use.Utime.Sec+use.Stime.Sec) + float64(use.Utime.Usec+use.Stime.Usec)*1e-6
}

func main() {
	runtime.GOMAXPROCS(4 * runtime.NumCPU())
	var wait sync.WaitGroup
	sums := make([]uint64, 8*runtime.NumCPU())
	for i := range sums {
		wait.Add(1)
		go func(i int) {
			for cpu() < 0.8 {
				sums[i] += hot(1000000)
			}
			wait.Done()
		}(i)
	}
	wait.Wait()
	fmt.Println(cpu())
}
'''


def build_busy(t):
    source, path = t.directory / 'busy.go', t.directory / 'busy'
    source.write_text(BUSY)
    built = t.run(t.need('go'), 'build', '-o', path, source,
                  env={'CGO_ENABLED': '1', 'GO111MODULE': 'off', 'GOCACHE': os.environ.get('GOCACHE', str(ROOT / 'build' / 'go-cache'))})
    t.equal(built.status, 0, f'go build ({built.err})')
    return path


@test(engines=True)
def preempted(t, engine):
    """Ticks that wait for the end of Go's handler belong to what it has preempted: runtime.asyncPreempt does next to nothing."""
    path = build_busy(t)
    for interval in ('1', '10'):
        rows = t.functions(t.collect(path, engine=engine, options=('-p', interval)).experiment)
        taken = sum(row['e.totalcpu'] for name, row in rows.items() if name.startswith('runtime.asyncPreempt'))
        t.within(taken < 0.05 * rows['main.hot']['e.totalcpu'], f'at {interval} ms: {taken} s in asyncPreempt, {rows["main.hot"]}')


@test(engines=True)
def interval_is_kept(t, engine):
    """Below the kernel's tick, too: four times as many events come at a quarter of the interval."""
    path = build_busy(t)
    events = {}
    for interval in ('1', '4'):
        result = t.collect(path, engine=engine, options=('-p', interval))
        events[interval] = t.read(result.experiment)['']['events']
    t.within(events['1'] > 2 * events['4'], f'{events} events')


@test(engines=True)
def totals(t, engine):
    """What its threads did after their last ticks has a row, and nothing is called a descendant's; the program knows what it used."""
    path = build_busy(t)
    for interval in ('100u', '1', 'on', '10'):
        result = t.collect(path, engine=engine, options=('-p', interval))
        rows = t.functions(result.experiment, 'e.totalcpu', whole=True)
        t.within(not [name for name in rows if name.startswith('<not recorded')], f'at {interval}: {list(rows)}')
        own = [int(event['collector_us']) / 1e6 for event in t.read(result.experiment)['']['log_events'] if event['kind'] == 'left']
        t.ratio(rows['<Total>']['e.totalcpu'] + sum(own), float(result.out), 0.98, 1.05, f'total at {interval}, and the collector')


@test(engines=True)
def warnings_in_the_header(t, engine):
    """The header has the warnings that reading has: none for Go, which ends by a call of its own."""
    def told(experiment):
        shown = t.run(t.helio, 'print', '-header', experiment)
        return 'No warnings' in shown.out, 'Warning:' in shown.err, shown.out + shown.err

    none, warned, text = told(t.collect(build(t, 'cgo'), engine=engine, status=7).experiment)
    t.within(none and not warned, text)
    none, warned, text = told(t.collect('sh', '-c', 'kill -9 $$', engine=engine, status=137).experiment)
    t.check(not none and warned and 'killed by signal 9' in text, text)


EXECUTES = '''package main

import (
	"os"
	_ "runtime/cgo"
	"syscall"
)

func main() {
	sum := 0
	for i := 0; i < 100000000; i++ {
		sum += i * i
	}
	syscall.Exec("/bin/echo", []string{"echo", "executed"}, os.Environ())
}
'''


@test(engines=True)
def executes(t, engine):
    """Go's runtime executes by an instruction of its own: no signal of ours is pending then."""
    source, path = t.directory / 'executes.go', t.directory / 'executes'
    source.write_text(EXECUTES)
    # stripped, without the note that says Go
    built = t.run(t.need('go'), 'build', '-ldflags=-s -w -buildid=', '-o', path, source,
                  env={'CGO_ENABLED': '1', 'GO111MODULE': 'off', 'GOCACHE': os.environ.get('GOCACHE', str(ROOT / 'build' / 'go-cache'))})
    t.equal(built.status, 0, f'go build ({built.err})')
    for _ in range(5):
        for result, _ in t.like_bare(engine, path, intervals=('1', '10')):
            t.equal((result.status, result.out), (0, 'executed\n'), 'the second program')


@test(engines=True)
def attached_to(t, engine):
    for name, (_, _, recorded) in LINKED.items():
        with Program(t, build(t, name), 'wait') as program:
            result = t.run(t.helio, 'attach', '--engine', engine, '--for', '300ms', '-o', f'{name}.er', program.pid)
            t.equal(result.status, 0 if recorded else 126, f'{name}: status of helio attach ({result.err})')
            if recorded:
                t.check('Go: call stacks of goroutines' in result.err, f'{name}: {result.err}')
            else:
                t.check('runtime/cgo' in result.err and 'perf record' in result.err, f'{name}: {result.err}')
                t.check('libhelio' not in open(f'/proc/{program.pid}/maps', encoding='ascii').read(), f'{name}: touched')
            t.equal(program.end('\n'), (7, 'sum 256\n'), name)
