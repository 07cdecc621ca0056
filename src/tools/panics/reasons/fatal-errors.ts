/** Errors for which Go's runtime ends a program; recover() does not catch them. */
import type { KnownMessage } from './reason.ts'

const outOfMemory: Omit<KnownMessage, 'pattern'> = {
  kind: 'out of memory',
  explain: () =>
    'The system has no more memory: the limit of the container or of the process was reached, or one allocation ' +
    'was huge.',
  advice:
    'Look at the stack for the allocation, compare the size with the limit, and set GOMEMLIMIT ' + 'a little below it.',
}

export const fatalMessages: readonly KnownMessage[] = [
  {
    pattern: /all goroutines are asleep/,
    kind: 'deadlock',
    explain: () => 'Every goroutine waits for another one (a channel, a lock, a WaitGroup), so none can ever continue.',
    advice:
      'Look at what each waits for: a channel without sender or close, a lock that its own holder locks ' +
      'again, a missing Done.',
  },
  {
    pattern: /no goroutines \(main called runtime\.Goexit\)/,
    kind: 'deadlock',
    explain: () =>
      'The main goroutine ended with runtime.Goexit, and so did all others: no goroutine can end ' + 'the program.',
    advice: 'Let main return, or call os.Exit; t.FailNow outside of its test goroutine has the same effect.',
  },
  {
    pattern: /concurrent map (writes|iteration and map write|read and map write|clone and map write)/,
    kind: 'concurrent map use',
    explain: (what = '') => {
      const both: Record<string, string> = {
        writes: 'Two goroutines wrote to the same map at the same time.',
        'iteration and map write': 'A goroutine ranged over a map while another one wrote to it.',
        'read and map write': 'A goroutine read a map while another one wrote to it.',
      }
      return (
        `${both[what] ?? 'A goroutine copied a map while another one wrote to it.'} The stack shows only ` +
        'one of them; the other had continued.'
      )
    },
    advice: 'Guard the map with a sync.RWMutex, or use sync.Map; go test -race shows both sides.',
  },
  {
    pattern: /stack overflow|morestack on g0/,
    kind: 'stack overflow',
    explain: () => "A goroutine's stack exceeded its limit: nearly always an infinite recursion.",
    advice: 'Look for the functions that repeat in the stack, and for the condition that should have ended them.',
  },
  { pattern: /out of memory|cannot allocate memory/, ...outOfMemory },
  {
    pattern: /thread exhaustion|failed to create new OS thread/,
    kind: 'too many threads',
    explain: () =>
      'The program has reached its limit of threads: each goroutine in a system call or in C code takes one.',
    advice: 'Limit the number of goroutines that block in calls; the limit may be that of the container (pids).',
  },
  {
    pattern: /sync: (?:[uU]nlock of unlocked (?:RW)?[mM]utex|RUnlock of unlocked RWMutex)/,
    kind: 'sync misuse',
    explain: () => 'A lock was unlocked that was not locked, or that was copied after locking.',
    advice:
      'Look for two calls of Unlock in one function, and for structs with a lock that are passed by value (go vet ' +
      'finds them).',
  },
  {
    pattern: /^sync: /,
    kind: 'sync misuse',
    explain: () => 'A lock or a group of package sync was used incorrectly.',
    advice: 'Look for copies of it: go vet finds them.',
  },
  {
    pattern: /unexpected signal during runtime execution/,
    kind: 'crash in the runtime',
    explain: () =>
      'The processor stopped code of the runtime or of C: nearly always, memory was overwritten through unsafe, cgo ' +
      'or a data race.',
    advice: 'Look at code that uses unsafe or cgo, run it with -race and GODEBUG=cgocheck=1, and update Go.',
  },
  {
    pattern: /^fault$/,
    kind: 'bad address',
    explain: () =>
      'Memory was accessed at an unmapped address that is not a nil pointer: a truncated ' +
      'mapped file, unsafe, or overwritten memory.',
    advice: 'Look at mmap, unsafe and cgo; debug.SetPanicOnFault makes it a panic.',
  },
  {
    pattern: /checkptr: (.*)/,
    kind: 'unsafe',
    explain: (what = '') => `A conversion with unsafe.Pointer breaks its rules: ${what}.`,
    advice: 'Look at the conversion on the line below; the rules are those of package unsafe.',
  },
  {
    pattern: /found bad pointer in Go heap|bad pointer|invalid pointer found/,
    kind: 'bad pointer',
    explain: () =>
      'The garbage collector found an invalid pointer: unsafe, cgo, or a data race has overwritten memory.',
    advice: 'Run it with -race and GODEBUG=cgocheck=1, and look at conversions with unsafe.',
  },
  {
    pattern: /panic while printing panic value/,
    kind: 'panic in Error or String',
    explain: () =>
      'The program panicked with a value whose own method Error or String panics, so it cannot be printed.',
    advice: 'Look at the method that the stack shows above runtime.preprintpanics: often a nil receiver.',
  },
  {
    pattern: /panic holding locks|malloc deadlock|panic during/,
    kind: 'crash in the runtime',
    explain: () => 'The runtime panicked where it must not.',
    advice: 'Look for unsafe, cgo and data races (-race), and update Go.',
  },
  {
    pattern: /self deadlock|runtime: /,
    kind: 'crash in the runtime',
    explain: () => 'The runtime found itself in an invalid state.',
    advice: 'Look for unsafe, cgo and data races (-race), and update Go.',
  },
  {
    pattern: /unreachable method called/,
    kind: 'linker',
    explain: () => 'A method was called that the linker had removed because it found no call.',
    advice: 'Build with another version of Go, and check plugins and reflection.',
  },
]
