/** What Go's runtime ends a program for without asking anybody: recover() does not see it. */
import type { KnownMessage } from './reason.ts'

const outOfMemory: Omit<KnownMessage, 'pattern'> = {
  kind: 'out of memory',
  explain: () =>
    'The system gave no more memory: the limit of the container or of the process is reached, or one allocation ' +
    'was huge.',
  advice:
    'Look at the stack for what was allocated, compare the size that is told with the limit, and set GOMEMLIMIT ' +
    'a little below it.',
}

export const fatalMessages: readonly KnownMessage[] = [
  {
    pattern: /all goroutines are asleep/,
    kind: 'deadlock',
    explain: () =>
      'Every goroutine waits for another one (a channel, a lock, a WaitGroup), so that none can ever go on.',
    advice:
      'Look at what each waits for: a channel that nobody sends to or closes, a lock that its own holder takes ' +
      'again, a Done that is missing.',
  },
  {
    pattern: /no goroutines \(main called runtime\.Goexit\)/,
    kind: 'deadlock',
    explain: () =>
      'The main goroutine ended itself by runtime.Goexit, and so did all others: nothing is left that could end ' +
      'the program.',
    advice: 'Let main return, or call os.Exit; t.FailNow outside of the goroutine of its test does this too.',
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
        `${both[what] ?? 'A goroutine copied a map while another one wrote to it.'} The stack shows one of them ` +
        'alone; the other had gone on.'
      )
    },
    advice: 'Guard the map by a sync.RWMutex, or use sync.Map; go test -race shows both sides.',
  },
  {
    pattern: /stack overflow|morestack on g0/,
    kind: 'stack overflow',
    explain: () => "A goroutine's stack has grown beyond its limit: calls without end, nearly always.",
    advice: 'Look for the functions that repeat in the stack, and for what should have ended them.',
  },
  { pattern: /out of memory|cannot allocate memory/, ...outOfMemory },
  {
    pattern: /thread exhaustion|failed to create new OS thread/,
    kind: 'too many threads',
    explain: () => 'The program has as many threads as it may: each goroutine in a system call or in C code takes one.',
    advice: 'Bound how many goroutines block in calls at once; the limit may be that of the container (pids).',
  },
  {
    pattern: /sync: (?:[uU]nlock of unlocked (?:RW)?[mM]utex|RUnlock of unlocked RWMutex)/,
    kind: 'sync misuse',
    explain: () => 'A lock was unlocked that nobody had locked, or that was copied after it was.',
    advice:
      'Look for Unlock on two ways of one function, and for structs with a lock that are passed by value (go vet ' +
      'finds them).',
  },
  {
    pattern: /^sync: /,
    kind: 'sync misuse',
    explain: () => 'A lock or a group of package sync was used in a way that cannot be.',
    advice: 'Look for copies of it: go vet finds them.',
  },
  {
    pattern: /unexpected signal during runtime execution/,
    kind: 'crash in the runtime',
    explain: () =>
      'The processor stopped code of the runtime, or of C: memory was overwritten, nearly always by unsafe, cgo ' +
      'or a data race.',
    advice: 'Look at what uses unsafe or cgo, run it with -race and GODEBUG=cgocheck=1, and update Go.',
  },
  {
    pattern: /^fault$/,
    kind: 'bad address',
    explain: () =>
      'Memory was read or written at an address that is no nil pointer and belongs to nobody: a file that is ' +
      'mapped and was cut, unsafe, or overwritten memory.',
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
      'The garbage collector found a pointer that points nowhere: unsafe, cgo, or a data race has overwritten memory.',
    advice: 'Run it with -race and GODEBUG=cgocheck=1, and look at conversions by unsafe.',
  },
  {
    pattern: /panic while printing panic value/,
    kind: 'panic in Error or String',
    explain: () =>
      'The program panicked with a value whose own method Error or String panics: so nobody can say what it was.',
    advice: 'Look at the method that the stack shows above runtime.preprintpanics: a nil receiver, often.',
  },
  {
    pattern: /panic holding locks|malloc deadlock|panic during/,
    kind: 'crash in the runtime',
    explain: () => 'The runtime panicked at a place where it may not.',
    advice: 'Look for unsafe, cgo and data races (-race), and update Go.',
  },
  {
    pattern: /self deadlock|runtime: /,
    kind: 'crash in the runtime',
    explain: () => 'The runtime found itself in a state that cannot be.',
    advice: 'Look for unsafe, cgo and data races (-race), and update Go.',
  },
  {
    pattern: /unreachable method called/,
    kind: 'linker',
    explain: () => 'A method was called that the linker had removed, because it saw no call.',
    advice: 'Build with another version of Go, and look at plug-ins and reflection.',
  },
]
