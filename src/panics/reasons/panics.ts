/** What Go's runtime and standard library panic with, and what it means. */
import { boundsMessages } from './bounds.ts'
import type { KnownMessage } from './reason.ts'

const a = (type: string): string => (type === 'interface {}' || type === 'interface' ? 'an interface' : type)

export const panicMessages: readonly KnownMessage[] = [
  ...boundsMessages,
  {
    pattern: /invalid memory address or nil pointer dereference/,
    kind: 'nil dereference',
    explain: () =>
      'A nil pointer was followed: a field was read or written, a method called, or a function value called that ' +
      'is nil.',
    advice:
      'Find out on the line below which pointer may be nil, and why nobody set it: an error that was not looked ' +
      'at, often.',
  },
  {
    pattern: /assignment to entry in nil map/,
    kind: 'nil map write',
    explain: () =>
      'A key of a map that is nil was set: a nil map can be read, and is empty, but nothing can be put into it.',
    advice: 'Make the map before: m = make(map[K]V), or in the function that makes the struct that holds it.',
  },
  {
    pattern: /close of nil channel/,
    kind: 'close of nil channel',
    explain: () => 'close() was called with a channel that is nil.',
    advice: 'Find out why nobody has made the channel: make(chan T).',
  },
  {
    pattern: /close of closed channel/,
    kind: 'close of closed channel',
    explain: () => 'close() was called a second time for the same channel.',
    advice: 'Let one place alone close it, the one that sends; sync.Once where that cannot be.',
  },
  {
    pattern: /send on closed channel/,
    kind: 'send on closed channel',
    explain: () => 'A value was sent to a channel that somebody had closed already.',
    advice: 'Close a channel only when all its senders are done (sync.WaitGroup), or tell them to stop by a context.',
  },
  {
    pattern: /integer divide by zero/,
    kind: 'division by zero',
    explain: () => 'An integer was divided by zero, or its remainder taken.',
    advice: 'Check the divisor before: a length or a count that is 0, often.',
  },
  {
    pattern: /integer overflow/,
    kind: 'integer overflow',
    explain: () => 'The result of a division is too large for its type.',
    advice: 'Look at the smallest number of the type divided by -1.',
  },
  {
    pattern: /floating point error/,
    kind: 'floating point error',
    explain: () => 'The processor refused a calculation with floating point numbers.',
    advice: 'Look at C code that unmasks such errors: Go does not.',
  },
  {
    pattern: /negative shift amount/,
    kind: 'negative shift',
    explain: () => 'A number was shifted (<< or >>) by a negative count.',
    advice: 'Make the count unsigned, or check it before.',
  },
  {
    pattern: /interface conversion: (.+) is nil, not (.+)/,
    kind: 'type assertion',
    explain: (from = '', to = '') => `x.(${to}) was asked of ${a(from)} that holds nothing: it is nil.`,
    advice: 'Ask in two values, v, ok := x.(T), and treat !ok.',
  },
  {
    pattern: /interface conversion: (.+) is not (.+): missing method (\S+)/,
    kind: 'type assertion',
    explain: (from = '', to = '', method = '') =>
      `x.(${to}) was asked of a ${from}, which has no method ${method}; perhaps its pointer has.`,
    advice: 'Give the type the method (mind *T and T), or ask in two values, v, ok := x.(T).',
  },
  {
    pattern: /interface conversion: (.+) is (.+), not (.+?)(?: \((types from different (?:packages|scopes))\))?$/m,
    kind: 'type assertion',
    explain: (from = '', found = '', to = '', different = '') =>
      `x.(${to}) was asked of ${a(from)} that holds a ` +
      `${found}.${different ? ' They have the same name and are two types: a package that is there twice (vendored, or of two versions).' : ''}`,
    advice: 'Ask in two values, v, ok := x.(T), or in a type switch.',
  },
  {
    pattern: /value method (\S+) called using nil \*?(\S+) pointer/,
    kind: 'nil dereference',
    explain: (method = '', type = '') =>
      `${method} takes its receiver by value, and was called through a pointer *${type} that is nil.`,
    advice: 'Find out why the pointer is nil; an interface that holds a nil pointer is not nil itself.',
  },
  {
    pattern: /hash of unhashable type (.+)/,
    kind: 'unhashable map key',
    explain: (type = '') =>
      `A ${type} was used as the key of a map, in an interface: slices, maps and functions cannot be keys.`,
    advice: 'Use a key that can be compared: a string or an array made of it.',
  },
  {
    pattern: /comparing uncomparable type (.+)/,
    kind: 'uncomparable values',
    explain: (type = '') =>
      `Two interfaces were compared (==) that hold a ${type}: slices, maps and functions cannot be compared.`,
    advice: 'Compare with slices.Equal, maps.Equal or reflect.DeepEqual.',
  },
  {
    pattern: /makeslice(copy)?: (len|cap) out of range/,
    kind: 'impossible size',
    explain: (_copy = '', what = '') =>
      `make([]T, …) was asked for a ${what === 'len' ? 'length' : 'capacity'} that is negative or more than ` +
      'memory can hold.',
    advice: 'Look at where the size comes from: a difference that is negative, or a number read from outside.',
  },
  {
    pattern: /makechan: size out of range/,
    kind: 'impossible size',
    explain: () => 'make(chan T, n) was asked for a size that is negative or too large.',
    advice: 'Look at where n comes from.',
  },
  {
    pattern: /growslice: (?:len|cap) out of range/,
    kind: 'impossible size',
    explain: () => 'append() would make a slice that is larger than memory.',
    advice: 'Look for a loop that appends without end.',
  },
  {
    pattern: /unsafe\.(Slice|String)(Data)?: /,
    kind: 'unsafe',
    explain: (what = '') =>
      `unsafe.${what} was called with a length that is negative or too large, or with a nil pointer.`,
    advice: 'Look at where pointer and length come from.',
  },
  {
    pattern:
      /cgo argument has Go pointer to (?:unpinned )?Go pointer|cgo result (?:is|has) unpinned Go pointer|cgo result has Go pointer/,
    kind: 'cgo pointer',
    explain: () =>
      'Memory of Go that holds pointers to more memory of Go was passed to C, which may not keep or follow them.',
    advice: 'Copy the data to memory of C, pass a cgo.Handle, or pin it with runtime.Pinner.',
  },
  {
    pattern: /sync: negative WaitGroup counter/,
    kind: 'sync misuse',
    explain: () => 'WaitGroup.Done was called more often than Add has counted.',
    advice: 'Call Add before the go statement, and Done once, by defer.',
  },
  {
    pattern: /sync: WaitGroup /,
    kind: 'sync misuse',
    explain: () => 'A WaitGroup was added to while somebody waited for it, or used again too early.',
    advice: 'Call Add before Wait, and use a new WaitGroup for each round.',
  },
  {
    pattern: /panic called with nil argument/,
    kind: 'panic(nil)',
    explain: () => 'panic(nil) was called.',
    advice: 'Panic with an error that says why.',
  },
  {
    pattern: /^nil$/,
    kind: 'panic(nil)',
    explain: () => 'panic(nil) was called; recover() cannot tell it from no panic at all before Go 1.21.',
    advice: 'Panic with an error that says why.',
  },
  {
    pattern: /too many concurrent operations on a single file or socket/,
    kind: 'too many operations',
    explain: () => 'More than a million reads or writes wait for one file or connection.',
    advice: 'Bound how many goroutines use it.',
  },
  {
    pattern: /strings: negative Repeat count|bytes: negative Repeat count/,
    kind: 'impossible size',
    explain: () => 'Repeat was called with a negative count.',
    advice: 'Look at where the count comes from: a width minus a length, often.',
  },
  {
    pattern: /bytes\.Buffer: too large/,
    kind: 'out of memory',
    explain: () => 'A bytes.Buffer has grown larger than memory can hold.',
    advice: 'Bound what is read into it: io.LimitReader.',
  },
  {
    pattern: /reflect: call of (\S+) on (zero|\S+) Value/,
    kind: 'reflect misuse',
    explain: (method = '', kind = '') =>
      `${method} was called on a reflect.Value ` +
      `${kind === 'zero' ? 'that holds nothing' : `of the kind ${kind}, which has no such thing`}.`,
    advice: 'Ask IsValid() or Kind() before.',
  },
  {
    pattern: /reflect[.:]/,
    kind: 'reflect misuse',
    explain: () => 'Package reflect was asked for something that the value or its type does not allow.',
    advice: 'Look at what is passed by interface: a value where a pointer is wanted, or a field that is not exported.',
  },
  {
    pattern: /test timed out after (\S+)/,
    kind: 'test timeout',
    explain: (time = '') => `The tests did not end within ${time}: the goroutines below show what they wait for.`,
    advice: 'Look at the goroutine of the test, and at what waits longest.',
  },
  {
    pattern: /regexp: Compile\(|template: /,
    kind: 'bad literal',
    explain: () => 'A Must function was given a text that cannot be compiled.',
    advice: 'The message has the text; use the function without Must for texts that come from outside.',
  },
]
