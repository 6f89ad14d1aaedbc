// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

// #include <stdlib.h>
import "C"

func work(from, to int) (sum uint32) {
	for i := from; i < to; i++ {
		for _, c := range fmt.Sprint(i) {
			sum = sum*31 + uint32(c)
		}
	}
	return
}

// Goroutines on several threads, garbage, channels, signals, nil pointers turned into panics, a child, calls into C.
func main() {
	sums := make([]uint32, 16)
	var group sync.WaitGroup
	for i := range sums {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			sums[i] = work(i*400000, (i+1)*400000)
		}(i)
	}
	group.Wait()
	fmt.Println(sums)
	signals := make(chan os.Signal, 100)
	signal.Notify(signals, syscall.SIGUSR1)
	for i := 0; i < 20; i++ {
		syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		<-signals
	}
	panics := 0
	for i := 0; i < 1000; i++ {
		func() {
			defer func() {
				if recover() != nil {
					panics++
				}
			}()
			var text *string
			panics += len(*text)
		}()
	}
	fmt.Println("panics", panics)
	command := exec.Command("tr", "a-z", "A-Z")
	command.Stdin = strings.NewReader("through a child\n")
	out, err := command.Output()
	fmt.Print(string(out))
	fmt.Println(err, exec.Command("sh", "-c", "exit 9").Run())
	select {
	case <-signals:
		fmt.Println("one too many")
	case <-time.After(50 * time.Millisecond):
		fmt.Println("timeout")
	}
	fmt.Println(C.abs(-5))
	os.Exit(2)
}
