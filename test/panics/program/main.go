// A program that crashes in the way that its argument names.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	crash, ok := crashes[os.Args[1]]
	if !ok {
		fmt.Println("there is no crash", os.Args[1])
		os.Exit(3)
	}
	crash()
}

type point struct{ x, y int64 }

type named string

type opaque struct{ a, b int }

type broken struct{}

func (broken) Error() string { panic("inside Error") }

type item struct {
	padding [40]byte
	price   int
}

type cart struct {
	mu    sync.Mutex
	items []*item
}

//go:noinline
func (i *item) cost() int { return i.price }

//go:noinline
func test1(a int, b []int, c string, d [2]int64) error { panic(fmt.Sprint(a, b, c, d)) }

//go:noinline
func (c *cart) many(small int8, big uint16, yes bool, at point, none struct{}, err error) (int, error) {
	panic(errors.New(fmt.Sprint(small, big, yes, at, none, err)))
}

//go:noinline
func eleven(a, b, c, d, e, f, g, h, i, j, k int) int {
	panic(fmt.Sprint(a, b, c, d, e, f, g, h, i, j, k))
}

//go:noinline
func generic[T any](value T, count int) T { panic(fmt.Sprint("generic ", count)) }

//go:noinline
func deep(n int) int { return deep(n+1) + 1 }

//go:noinline
func (c *cart) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count()
}

//go:noinline
func (c *cart) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.items)
}

//go:noinline
func (c *cart) move(to *cart, ready *sync.WaitGroup) {
	c.mu.Lock()
	ready.Done()
	ready.Wait()
	to.mu.Lock()
}

func again(with interface{}) {
	defer func() {
		if value := recover(); with == nil {
			panic(value)
		}
		panic(with)
	}()
	panic("first")
}

var (
	three   = make([]int, 3)
	zero    = len(os.Args) - 2
	nilMap  map[string]int
	nothing interface{}
	sink    interface{}
)

var crashes = map[string]func(){
	"args":           func() { _ = test1(7, three, "hello", [2]int64{5, -6}) },
	"many":           func() { _, _ = new(cart).many(-3, 65535, true, point{1, 2}, struct{}{}, nil) },
	"eleven":         func() { eleven(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11) },
	"generic":        func() { generic("x", 4) },
	"nil":            func() { var f func(); f() },
	"nil-field":      func() { var i *item; sink = i.cost() },
	"nil-method":     func() { nothing = (*point)(nil); sink = nothing.(fmt.Stringer).String() },
	"deep":           func() { sink = deep(0) },
	"again":          func() { again("second") },
	"same":           func() { again(nil) },
	"map":            func() { nilMap["a"] = 1 },
	"index":          func() { sink = three[zero+5] },
	"index-negative": func() { sink = three[zero-1] },
	"slice":          func() { sink = three[zero+3 : zero+2] },
	"slice-capacity": func() { sink = three[:zero+7] },
	"slice-string":   func() { sink = "abc"[:zero+7] },
	"slice-three":    func() { sink = three[: zero+2 : zero+9] },
	"slice-array":    func() { sink = (*[8]int)(three) },
	"divide":         func() { sink = 1 / zero },
	"shift":          func() { sink = 1 << (zero - 1) },
	"close-nil":      func() { var c chan int; close(c) },
	"close-twice":    func() { c := make(chan int); close(c); close(c) },
	"send":           func() { c := make(chan int); close(c); c <- 1 },
	"assert":         func() { var v interface{} = "x"; sink = v.(int) },
	"assert-nil":     func() { sink = nothing.(fmt.Stringer) },
	"assert-method":  func() { var v interface{} = opaque{}; sink = v.(error) },
	"named":          func() { panic(named("hello")) },
	"opaque":         func() { panic(opaque{1, 2}) },
	"error":          func() { panic(errors.New("no such item")) },
	"stringer":       func() { panic(point{1, 2}) },
	"broken":         func() { panic(broken{}) },
	"lines":          func() { panic("one\ntwo\n\nthree") },
	"unlock":         func() { var m sync.Mutex; m.Unlock() },
	"group":          func() { var g sync.WaitGroup; g.Done() },
	"hash":           func() { m := map[interface{}]int{}; m[three] = 2 },
	"compare":        func() { var a, b interface{} = three, three; sink = a == b },
	"make":           func() { sink = make([]int, zero-1) },
	"memory":         func() { sink = make([]byte, 1<<(30+17*(^uint(0)>>63))) },
	"goexit":         func() { runtime.Goexit() },
	"self-lock":      func() { sink = new(cart).total() },
	"address":        func() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGSEGV); time.Sleep(time.Minute) },
	"deadlock": func() {
		var ready sync.WaitGroup
		ready.Add(2)
		a, b := new(cart), new(cart)
		go a.move(b, &ready)
		go b.move(a, &ready)
		select {}
	},
	"concurrent": func() {
		m := map[int]int{}
		for i := 0; i < 8; i++ {
			go func() {
				for {
					m[1]++
				}
			}()
		}
		select {}
	},
	"quit": func() {
		c := make(chan int)
		for i := 0; i < 25; i++ {
			go func() { c <- 1 }()
		}
		go func() { var never chan int; <-never }()
		stacks := make([]byte, 1<<20)
		for text := ""; strings.Count(text, "[chan send]") < 25 || !strings.Contains(text, "(nil chan)"); {
			runtime.Gosched()
			text = string(stacks[:runtime.Stack(stacks, true)])
		}
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGQUIT)
		time.Sleep(time.Minute)
	},
}

// A value receiver, so that a call through a nil pointer panics.
func (p point) String() string { return fmt.Sprintf("%d/%d", p.x, p.y) }
