/** Assigns the words of a frame to the signature of its function, by the calling convention that the output shows. */
import type { Crash } from '../dump/crash.ts'
import type { Frame } from '../dump/frame.ts'
import { partsOf, type Signature } from '../go/types.ts'
import type { ArgumentValue } from './argument-value.ts'
import { flatArguments } from './flat.ts'
import { structuredArguments } from './structured.ts'
import { isStructured, parseWords, type Word } from './words.ts'

/** `stack`: the format of Go 1.16 and older. `register`: that of newer versions, on all architectures. */
export type CallingConvention = 'stack' | 'register'

export interface ArgumentReport {
  readonly convention: CallingConvention
  readonly values: readonly ArgumentValue[]
  /** Sentences that help to read them. */
  readonly notes: readonly string[]
}

/** Properties of the build, derived from a crash. */
export interface Build {
  /** Undefined without evidence. */
  readonly convention?: CallingConvention
  /** True if a word is marked as stale, as Go 1.18 and newer do. */
  readonly marks: boolean
  readonly wordBytes: number
}

/** Maximum number of frames that are inspected. */
const maxFrames = 5000

export function buildOf({ goroutines, registers, runtimeStack = [] }: Crash): Build {
  let structured = goroutines.some(({ gp, createdBy }) => gp !== undefined || createdBy?.goroutine !== undefined)
  let marks = false
  let flatPanic = false
  let largest = 0n
  let seen = 0
  for (const frames of [runtimeStack, ...goroutines.map((goroutine) => goroutine.frames)]) {
    for (const { function: name, words } of frames) {
      if (!words || ++seen > maxFrames) continue
      if (/[{_]/.test(words)) structured = true
      if (words.includes('?')) marks = true
      // An interface, which is one value in braces since Go 1.17.
      if (name.full === 'panic' && /^0x\w+, 0x\w+$/.test(words)) flatPanic = true
      for (const word of words.match(/0x[0-9a-f]{7,}/g) ?? []) if (BigInt(word) > largest) largest = BigInt(word)
    }
  }
  const narrow =
    registers.size > 0 ? registers.has('eax') || registers.has('cpsr') : largest > 0x08000000n && largest <= 0xffffffffn
  const convention = structured || marks ? 'register' : flatPanic ? 'stack' : undefined
  return { ...(convention && { convention }), marks, wordBytes: narrow ? 4 : 8 }
}

/** Returns undefined for a frame without words (inlined, or from a log). */
export function layOut(
  frame: Frame,
  signature: Signature,
  build: Build,
  given?: CallingConvention,
): ArgumentReport | undefined {
  const words = frame.words === undefined ? undefined : parseWords(frame.words)
  if (!words) return undefined
  const complete =
    frame.function.receiver && !signature.receiver
      ? { ...signature, receiver: impliedReceiver(frame.function.receiver) }
      : signature
  const convention =
    given ?? (isStructured(words) ? 'register' : (build.convention ?? likelyConvention(words, complete)))
  return convention === 'register' ? registerArguments(words, complete, build) : stackArguments(words, complete, build)
}

/** The receiver for a signature that lacks it. */
const impliedReceiver = (receiver: string): NonNullable<Signature['receiver']> => ({
  name: '',
  type: receiver.startsWith('*') ? { kind: 'pointer', text: receiver } : { kind: 'named', text: receiver },
})

/**
 * Guesses by the number of words: older Go also prints results, and values of several words without braces. An unknown
 * type counts as one value, so that it does not affect the guess.
 */
function likelyConvention(words: readonly Word[], signature: Signature): CallingConvention {
  const values = signature.parameters.length + (signature.receiver ? 1 : 0)
  const hasParts = signature.parameters.some(({ type }) => partsOf(type))
  return !hasParts && words.length === values ? 'register' : 'stack'
}

/** How to build a program with reliable words. */
const reliable = 'A build without optimisation and inlining (-gcflags="all=-N -l") has reliable words.'

function registerArguments(words: readonly Word[], signature: Signature, { marks, wordBytes }: Build): ArgumentReport {
  const values = structuredArguments(signature, words, wordBytes)
  const shown = words.filter(({ kind }) => kind !== 'more').length
  const notes: string[] = []
  if (JSON.stringify(values).includes('?"'))
    notes.push(`A word with ? may be stale: its value was in a register that has been reused since. ${reliable}`)
  else if (!marks && wordBytes === 8 && words.length > 0)
    notes.push(`No word is marked as stale, but Go 1.17 does not mark stale words. ${reliable}`)
  if (words.some(isTruncated))
    notes.push('Go prints at most ten words of a call and five levels of a value: ... stands for the rest.')
  if (shown > values.length)
    notes.push(
      `The call has ${shown} values and the signature ${values.length}: the signature may be that of another version.`,
    )
  else if (shown < values.length && !words.some(isTruncated))
    notes.push(
      `The call has only ${shown} of the ${values.length} values: the signature may be that of another version.`,
    )
  if (signature.results.length > 0) notes.push('Results are not printed since Go 1.17.')
  return { convention: 'register', values: [...values, ...unprinted(signature)], notes }
}

const isTruncated = (word: Word): boolean =>
  word.kind === 'more' || (word.kind === 'group' && word.words.some(isTruncated))

/** Lists the results, whose words are not printed. */
const unprinted = ({ results }: Signature): readonly ArgumentValue[] =>
  results.map(({ name, type }) => ({ role: 'result', name, type: type.text, parts: [{ label: '', word: '?' }] }))

function stackArguments(words: readonly Word[], signature: Signature, { wordBytes }: Build): ArgumentReport {
  const { values, expected, unknown } = flatArguments(signature, words, wordBytes)
  const shown = words.filter(({ kind }) => kind !== 'more').length
  const notes: string[] = []
  if (unknown)
    notes.push(
      `The type ${unknown} is unknown, so the values after it cannot be read: give its structure ` +
        '(struct{ a, b int }), or its sources with --src.',
    )
  if (words.some(isTruncated)) notes.push('Go prints at most ten words of a call: ... stands for the rest.')
  else if (expected !== undefined && shown !== expected)
    notes.push(
      `The call has ${shown} words and the signature ${expected}: the signature may be that of another version, or ` +
        'the output that of Go 1.17 or newer (--abi register).',
    )
  if (signature.results.length > 0) notes.push('The words of results are uninitialised until the function returns.')
  return { convention: 'stack', values, notes }
}
