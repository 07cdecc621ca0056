/** Panics of Go's runtime and standard library, with explanations. */
import { boundsMessages } from './bounds.ts'
import type { KnownMessage } from './reason.ts'

const a = (type: string): string => (type === 'interface {}' || type === 'interface' ? 'an interface' : type)

const twoTypes =
  'They are two types of the same name: a package is in the program twice (vendored, or in two versions).'

export const panicMessages: readonly KnownMessage[] = [
  ...boundsMessages,
  {
    pattern: /invalid memory address or nil pointer dereference/,
    kind: 'nil dereference',
    explain: () =>
      'A nil pointer was dereferenced: a field was accessed, a method was called, or a nil function value was called.',
    advice:
      'Find out on the line below which pointer may be nil and why it was not set: often an error that was not ' +
      'checked.',
  },
  {
    pattern: /assignment to entry in nil map/,
    kind: 'nil map write',
    explain: () => 'A key of a nil map was set: a nil map can be read, and is empty, but cannot be written.',
    advice: 'Make the map first: m = make(map[K]V), or in the constructor of its struct.',
  },
  {
    pattern: /close of nil channel/,
    kind: 'close of nil channel',
    explain: () => 'close() was called with a nil channel.',
    advice: 'Find out why the channel was not made: make(chan T).',
  },
  {
    pattern: /close of closed channel/,
    kind: 'close of closed channel',
    explain: () => 'close() was called a second time for the same channel.',
    advice: 'Close it in one place only, by the sender; or use sync.Once.',
  },
  {
    pattern: /send on closed channel/,
    kind: 'send on closed channel',
    explain: () => 'A value was sent to a channel that was closed already.',
    advice: 'Close a channel only when all its senders are done (sync.WaitGroup), or stop them with a context.',
  },
  {
    pattern: /integer divide by zero/,
    kind: 'division by zero',
    explain: () => 'An integer was divided by zero, or its remainder taken.',
    advice: 'Check the divisor before: often a length or a count that is 0.',
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
    explain: () => 'The processor reported an error in a floating point operation.',
    advice: 'Look at C code that enables such errors: Go does not.',
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
    explain: (from = '', to = '') => `x.(${to}) was applied to ${a(from)} that is nil.`,
    advice: 'Use two values, v, ok := x.(T), and handle !ok.',
  },
  {
    pattern: /interface conversion: (.+) is not (.+): missing method (\S+)/,
    kind: 'type assertion',
    explain: (from = '', to = '', method = '') =>
      `x.(${to}) was applied to a ${from}, which has no method ${method}; its pointer type may have it.`,
    advice: 'Add the method to the type (check *T and T), or use two values, v, ok := x.(T).',
  },
  {
    pattern: /interface conversion: (.+) is (.+), not (.+?)(?: \((types from different (?:packages|scopes))\))?$/m,
    kind: 'type assertion',
    explain: (from = '', found = '', to = '', different = '') =>
      `x.(${to}) was applied to ${a(from)} that contains a ${found}.${different ? ` ${twoTypes}` : ''}`,
    advice: 'Use two values, v, ok := x.(T), or a type switch.',
  },
  {
    pattern: /value method (\S+) called using nil \*?(\S+) pointer/,
    kind: 'nil dereference',
    explain: (method = '', type = '') =>
      `${method} takes its receiver by value, and was called through a nil pointer *${type}.`,
    advice: 'Find out why the pointer is nil; an interface that contains a nil pointer is not nil itself.',
  },
  {
    pattern: /hash of unhashable type (.+)/,
    kind: 'unhashable map key',
    explain: (type = '') =>
      `A ${type} in an interface was used as the key of a map: slices, maps and functions cannot be keys.`,
    advice: 'Use a key that can be compared: a string or an array derived from it.',
  },
  {
    pattern: /comparing uncomparable type (.+)/,
    kind: 'uncomparable values',
    explain: (type = '') =>
      `Two interfaces that contain a ${type} were compared (==): slices, maps and functions cannot be compared.`,
    advice: 'Compare with slices.Equal, maps.Equal or reflect.DeepEqual.',
  },
  {
    pattern: /makeslice(copy)?: (len|cap) out of range/,
    kind: 'impossible size',
    explain: (_copy = '', what = '') =>
      `make([]T, …) was called with a ${what === 'len' ? 'length' : 'capacity'} that is negative or more than ` +
      'memory can hold.',
    advice: 'Find out where the size comes from: a negative difference, or a number from an external source.',
  },
  {
    pattern: /makechan: size out of range/,
    kind: 'impossible size',
    explain: () => 'make(chan T, n) was called with a size that is negative or too large.',
    advice: 'Find out where n comes from.',
  },
  {
    pattern: /growslice: (?:len|cap) out of range/,
    kind: 'impossible size',
    explain: () => 'append() would create a slice that is larger than memory.',
    advice: 'Look for a loop that appends endlessly.',
  },
  {
    pattern: /unsafe\.(Slice|String)(Data)?: /,
    kind: 'unsafe',
    explain: (what = '') =>
      `unsafe.${what} was called with a length that is negative or too large, or with a nil pointer.`,
    advice: 'Find out where pointer and length come from.',
  },
  {
    pattern:
      /cgo argument has Go pointer to (?:unpinned )?Go pointer|cgo result (?:(?:is|has) unpinned|has) Go pointer/,
    kind: 'cgo pointer',
    explain: () =>
      'Go memory that contains pointers to other Go memory was passed to C, which must not store or follow them.',
    advice: 'Copy the data to C memory, pass a cgo.Handle, or pin it with runtime.Pinner.',
  },
  {
    pattern: /sync: negative WaitGroup counter/,
    kind: 'sync misuse',
    explain: () => 'WaitGroup.Done was called more often than the count of Add.',
    advice: 'Call Add before the go statement, and Done once, with defer.',
  },
  {
    pattern: /sync: WaitGroup /,
    kind: 'sync misuse',
    explain: () => 'Add was called on a WaitGroup during Wait, or the WaitGroup was reused too early.',
    advice: 'Call Add before Wait, and use a new WaitGroup for each round.',
  },
  {
    pattern: /panic called with nil argument/,
    kind: 'panic(nil)',
    explain: () => 'panic(nil) was called.',
    advice: 'Panic with an error that gives the reason.',
  },
  {
    pattern: /^nil$/,
    kind: 'panic(nil)',
    explain: () => 'panic(nil) was called; before Go 1.21, recover() returns nil as without a panic.',
    advice: 'Panic with an error that gives the reason.',
  },
  {
    pattern: /too many concurrent operations on a single file or socket/,
    kind: 'too many operations',
    explain: () => 'More than a million reads or writes wait for one file or connection.',
    advice: 'Limit the number of goroutines that use it.',
  },
  {
    pattern: /strings: negative Repeat count|bytes: negative Repeat count/,
    kind: 'impossible size',
    explain: () => 'Repeat was called with a negative count.',
    advice: 'Find out where the count comes from: often a width minus a length.',
  },
  {
    pattern: /bytes\.Buffer: too large/,
    kind: 'out of memory',
    explain: () => 'A bytes.Buffer has grown larger than the available memory.',
    advice: 'Limit what is read into it: io.LimitReader.',
  },
  {
    pattern: /reflect: call of (\S+) on (zero|\S+) Value/,
    kind: 'reflect misuse',
    explain: (method = '', kind = '') =>
      `${method} was called on a reflect.Value ` +
      `${kind === 'zero' ? 'that is empty' : `of kind ${kind}, which does not support it`}.`,
    advice: 'Check IsValid() or Kind() before.',
  },
  {
    pattern: /reflect[.:]/,
    kind: 'reflect misuse',
    explain: () => 'Package reflect was used in a way that the value or its type does not allow.',
    advice: 'Look at the values passed as interfaces: a value instead of a pointer, or a field that is not exported.',
  },
  {
    pattern: /test timed out after (\S+)/,
    kind: 'test timeout',
    explain: (time = '') => `The tests did not finish within ${time}: the goroutines below show what they wait for.`,
    advice: 'Look at the goroutine of the test, and at those that wait longest.',
  },
  {
    pattern: /regexp: Compile\(|template: /,
    kind: 'bad literal',
    explain: () => 'A Must function was called with a text that cannot be compiled.',
    advice: 'The message has the text; use the function without Must for texts from external sources.',
  },
]
