/** The reason of a crash, from all that it says: panics, fatal error, signal. */
import type { Crash, PanicValue } from '../dump/crash.ts'
import { fatalMessages } from './fatal-errors.ts'
import { panicMessages } from './panics.ts'
import { known, type Reason } from './reason.ts'
import { nilOffset, signalReason } from './signals.ts'

export function crashReason(crash: Crash): Reason {
  const { kind, panics, fatalError, signal, message } = crash
  if (kind === 'data race') return race(crash)
  if (fatalError !== undefined) return fatal(fatalError, crash)
  const first = panics[0]
  if (first) {
    const reason = panicReason(first.text)
    if (reason.kind !== 'nil dereference' || !signal) return reason
    const offset = nilOffset(signal)
    return offset === undefined ? reason : { ...reason, explanation: nilExplanation(offset) }
  }
  if (signal) return signalReason(signal)
  if (kind === 'logged panic') {
    const told = known(panicMessages, message ?? '') ?? {
      kind: 'panic',
      explanation: 'The program panicked.',
      advice: 'Look at the first frame of its own.',
    }
    return { ...told, explanation: `${told.explanation} Somebody recovered from it, and the program went on.` }
  }
  if (kind === 'logged error')
    return {
      kind: 'logged error',
      explanation: 'An error was written to the log with the stack of who wrote it: the program went on.',
      advice: 'The message says what failed; the stack says only who told it.',
    }
  return {
    kind: 'goroutines',
    explanation: 'Nothing says that the program failed: this is a list of its goroutines.',
    advice: 'Look at what waits longest, and at what there are many of.',
  }
}

function nilExplanation(offset: number): string {
  if (offset === 0)
    return (
      'A nil pointer was followed, at offset 0: the first field of its struct, the value itself, or a function ' +
      'value that is nil.'
    )
  return (
    `A field of a nil pointer was read or written: the one at offset ${offset} (0x${offset.toString(16)}) of its ` +
    `struct. Or an element of a nil slice or array pointer, ${offset} bytes from its beginning.`
  )
}

/** What a program's own panics look like: `main.name("x")` for named types, an address for the others. */
function panicReason(text: string): Reason {
  const told = known(panicMessages, text)
  if (told) return told
  if (text.startsWith('runtime error: '))
    return {
      kind: 'runtime error',
      explanation: `The runtime stopped the goroutine: ${text.slice('runtime error: '.length)}.`,
      advice: 'Look at the line below.',
    }
  const opaque = /^\(([^)]+)\) (?:\(0x[0-9a-f]+,\s*0x[0-9a-f]+\)|0x[0-9a-f]+|\{.*\})$/.exec(text)
  if (opaque) {
    return {
      kind: 'panic',
      explanation:
        `The program panicked with a value of the type ${opaque[1]}, which is neither an error nor has a method ` +
        'String: the runtime prints where it lies, and not what it is.',
      advice: `Give ${opaque[1]} a method Error or String, so that the next time it says what has happened.`,
    }
  }
  const typed = /^(\S+\.\S+)\((.*)\)$/s.exec(text)
  if (typed)
    return {
      kind: 'panic',
      explanation: `The program itself called panic with a ${typed[1]}: ${typed[2]}.`,
      advice: 'The message is its own: search for it, or look at the line below.',
    }
  return {
    kind: 'panic',
    explanation: 'The program itself called panic: the message is its own.',
    advice: 'Search for the message in its sources, or look at the line below.',
  }
}

function fatal(message: string, { signal, notes }: Crash): Reason {
  const told = known(fatalMessages, message) ?? {
    kind: 'fatal error',
    explanation: `The runtime ended the program (runtime.throw): ${message}.`,
    advice: 'Nobody can recover from it. Look for unsafe, cgo and data races (-race), and update Go.',
  }
  const limit = /goroutine stack exceeds (\d+)-byte limit/.exec(notes.join('\n'))?.[1]
  if (told.kind === 'stack overflow' && limit)
    return { ...told, explanation: `${told.explanation} The limit is ${limit} bytes.` }
  const block = /cannot allocate (\d+)-byte block(?: \((\d+) in use\))?/.exec(notes.join('\n'))
  if (told.kind === 'out of memory' && block)
    return {
      ...told,
      explanation: `${told.explanation} It asked for ${block[1]} bytes more${block[2] ? `, and had ${block[2]}` : ''}.`,
    }
  if (told.kind === 'bad address' && signal?.address)
    return { ...told, explanation: `${told.explanation} The address is ${signal.address}.` }
  return told
}

function race({ race: stacks }: Crash): Reason {
  const [one, other] = stacks.map(({ title }) => title.replace(/^Previous /, '').toLowerCase())
  const both = one && other ? `: a ${one}, and before it a ${other}` : ''
  return {
    kind: 'data race',
    explanation:
      `Two goroutines used the same memory at the same time, and at least one of them wrote${both}. Nothing ` +
      'orders the two.',
    advice: 'Guard it by a lock, hand it over by a channel, or use sync/atomic.',
  }
}

/** How several panics hang together: a sentence; undefined for a single one. */
export function chainSentence(panics: readonly PanicValue[]): string | undefined {
  const last = panics.at(-1)
  if (!last || (panics.length === 1 && !last.recovered)) return undefined
  if (last.repanicked)
    return (
      'A deferred function recovered from the panic and panicked again with the same value: the stack of the ' +
      'first one is kept below it.'
    )
  if (panics.length === 1)
    return 'A deferred function recovered from it, and something else ended the program while it did.'
  if (panics.every(({ text }) => text === last.text))
    return (
      'A deferred function recovered from the panic and panicked again with the same value: the first one, at ' +
      'the bottom of the stack, is the cause.'
    )
  const recovered = panics.filter((panic) => panic.recovered).length
  const went =
    recovered === 0
      ? 'nobody recovered from the first'
      : recovered === panics.length - 1
        ? 'each was recovered from before the next'
        : `${recovered} of them were recovered from`
  return (
    `There were ${panics.length} panics, one while another ran its deferred functions; ${went}. The first one is ` +
    `the cause: ${JSON.stringify(panics[0]?.text)}.`
  )
}
