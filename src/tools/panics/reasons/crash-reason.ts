/** Derives the reason of a crash from its panics, fatal error and signal. */
import type { Crash, PanicValue } from '../dump/crash.ts'
import { fatalMessages } from './fatal-errors.ts'
import { panicMessages } from './panics.ts'
import { type Reason, reasonIn } from './reason.ts'
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
    const reason = reasonIn(panicMessages, message ?? '') ?? {
      kind: 'panic',
      explanation: 'The program panicked.',
      advice: 'Look at its first own frame.',
    }
    return { ...reason, explanation: `${reason.explanation} The panic was recovered, and the program continued.` }
  }
  if (kind === 'logged error')
    return {
      kind: 'logged error',
      explanation: 'An error was logged with the stack of the logging call: the program continued.',
      advice: 'The message shows what failed; the stack only shows the logging call.',
    }
  return {
    kind: 'goroutines',
    explanation: 'The program did not fail: this is a list of its goroutines.',
    advice: 'Look at the goroutines that wait longest, and at large groups.',
  }
}

function nilExplanation(offset: number): string {
  if (offset === 0)
    return (
      'A nil pointer was dereferenced at offset 0: the first field of its struct, the value itself, or a function ' +
      'value that is nil.'
    )
  return (
    `A field of a nil pointer was accessed, at offset ${offset} (0x${offset.toString(16)}) of its ` +
    `struct; or an element of a nil slice or array pointer, ${offset} bytes from its start.`
  )
}

/** Explains the program's own panics: `main.name("x")` for named types, an address for others. */
function panicReason(text: string): Reason {
  const knownReason = reasonIn(panicMessages, text)
  if (knownReason) return knownReason
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
        'String: the runtime prints its address, not its content.',
      advice: `Give ${opaque[1]} a method Error or String, so that the next panic prints what happened.`,
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
  const reason = reasonIn(fatalMessages, message) ?? {
    kind: 'fatal error',
    explanation: `The runtime ended the program (runtime.throw): ${message}.`,
    advice: 'It cannot be recovered. Look for unsafe, cgo and data races (-race), and update Go.',
  }
  const limit = /goroutine stack exceeds (\d+)-byte limit/.exec(notes.join('\n'))?.[1]
  if (reason.kind === 'stack overflow' && limit)
    return { ...reason, explanation: `${reason.explanation} The limit is ${limit} bytes.` }
  const block = /cannot allocate (\d+)-byte block(?: \((\d+) in use\))?/.exec(notes.join('\n'))
  if (reason.kind === 'out of memory' && block) {
    const inUse = block[2] ? `, with ${block[2]} in use` : ''
    return { ...reason, explanation: `${reason.explanation} It requested ${block[1]} more bytes${inUse}.` }
  }
  if (reason.kind === 'bad address' && signal?.address)
    return { ...reason, explanation: `${reason.explanation} The address is ${signal.address}.` }
  return reason
}

function race({ race: stacks }: Crash): Reason {
  const [one, other] = stacks.map(({ title }) => title.replace(/^Previous /, '').toLowerCase())
  const both = one && other ? `: a ${one}, after a ${other}` : ''
  return {
    kind: 'data race',
    explanation:
      `Two goroutines used the same memory at the same time, and at least one of them wrote${both}. Their ` +
      'order is not defined.',
    advice: 'Guard it with a lock, pass it through a channel, or use sync/atomic.',
  }
}

/** Returns a sentence on how several panics are related; undefined for a single one. */
export function chainSentence(panics: readonly PanicValue[]): string | undefined {
  const last = panics.at(-1)
  if (!last || (panics.length === 1 && !last.recovered)) return undefined
  if (last.repanicked)
    return (
      'A deferred function recovered from the panic and panicked again with the same value: the stack of the ' +
      'first one is printed below it.'
    )
  if (panics.length === 1) return 'A deferred function recovered it, but another failure ended the program meanwhile.'
  if (panics.every(({ text }) => text === last.text))
    return (
      'A deferred function recovered from the panic and panicked again with the same value: the first one, at ' +
      'the bottom of the stack, is the cause.'
    )
  const recovered = panics.filter((panic) => panic.recovered).length
  const went =
    recovered === 0
      ? 'the first was not recovered'
      : recovered === panics.length - 1
        ? 'each was recovered before the next'
        : `${recovered} of them were recovered`
  return (
    `There were ${panics.length} panics, each in a deferred function of the one before; ${went}. The first one is ` +
    `the cause: ${JSON.stringify(panics[0]?.text)}.`
  )
}
