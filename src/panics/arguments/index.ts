/** The words of a frame against the signature of its function, by the calling convention that the output shows. */
import type { Crash } from '../dump/crash.ts'
import type { Frame } from '../dump/frame.ts'
import { partsOf, type Signature } from '../go/types.ts'
import { flatArguments } from './flat.ts'
import type { LaidOut } from './laid-out.ts'
import { structuredArguments } from './structured.ts'
import { isStructured, parseWords, type Word } from './words.ts'

/** `stack`: as Go 1.16 and older print a call; `register`: as newer ones do, on all machines. */
export type CallingConvention = 'stack' | 'register'

export interface ArgumentReport {
  readonly convention: CallingConvention
  readonly values: readonly LaidOut[]
  /** What one has to know to read them. Sentences. */
  readonly notes: readonly string[]
}

/** What a crash tells of how it was built. */
export interface Build {
  /** Undefined where nothing shows it. */
  readonly convention?: CallingConvention
  /** Whether any word is marked as stale: Go 1.18 and newer do that. */
  readonly marks: boolean
  readonly wordBytes: number
}

/** Frames that are looked at, for a dump of thousands says nothing more than its first ones. */
const mostFrames = 5000

export function buildOf({ goroutines, registers, runtimeStack = [] }: Crash): Build {
  let structured = goroutines.some(({ gp, createdBy }) => gp !== undefined || createdBy?.goroutine !== undefined)
  let marks = false
  let flatPanic = false
  let largest = 0n
  let seen = 0
  for (const frames of [runtimeStack, ...goroutines.map((goroutine) => goroutine.frames)]) {
    for (const { function: name, words } of frames) {
      if (!words || ++seen > mostFrames) continue
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

/** Undefined for a frame that shows no words (inlined, or of a log). */
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
  const convention = given ?? (isStructured(words) ? 'register' : (build.convention ?? likely(words, complete)))
  return convention === 'register' ? registerArguments(words, complete, build) : stackArguments(words, complete, build)
}

/** For a signature without the receiver that the frame has. */
const impliedReceiver = (receiver: string): NonNullable<Signature['receiver']> => ({
  name: '',
  type: receiver.startsWith('*') ? { kind: 'pointer', text: receiver } : { kind: 'named', text: receiver },
})

/**
 * By how many words there are: older Go shows those of results too, and several of one value without braces. A type
 * that is not known counts as one value, so that it changes nothing for the others.
 */
function likely(words: readonly Word[], signature: Signature): CallingConvention {
  const values = signature.parameters.length + (signature.receiver ? 1 : 0)
  const hasParts = signature.parameters.some(({ type }) => partsOf(type))
  return !hasParts && words.length === values ? 'register' : 'stack'
}

/** How to get words that can be relied on. */
const reliable = 'Built with -gcflags="all=-N -l", without optimisation and inlining, a program keeps them.'

function registerArguments(words: readonly Word[], signature: Signature, { marks, wordBytes }: Build): ArgumentReport {
  const values = structuredArguments(signature, words, wordBytes)
  const shown = words.filter(({ kind }) => kind !== 'more').length
  const notes: string[] = []
  if (JSON.stringify(values).includes('?"'))
    notes.push(
      'A word with ? may be stale: its value was in a register, which has been used for something else since. ' +
        `${reliable}`,
    )
  else if (!marks && wordBytes === 8 && words.length > 0)
    notes.push(`No word is marked: Go 1.17, which marks none, may show stale ones all the same. ${reliable}`)
  if (words.some(cut))
    notes.push('Go prints at most ten words of a call, and values five deep: ... stands for the rest.')
  if (shown > values.length)
    notes.push(
      `The call shows ${shown} values and the signature has ${values.length}: it is that of another version, perhaps.`,
    )
  else if (shown < values.length && !words.some(cut))
    notes.push(
      `The call shows only ${shown} of the ${values.length} values: the signature is that of another version, perhaps.`,
    )
  if (signature.results.length > 0) notes.push('Results are not printed since Go 1.17.')
  return { convention: 'register', values: [...values, ...unprinted(signature)], notes }
}

const cut = (word: Word): boolean => word.kind === 'more' || (word.kind === 'group' && word.words.some(cut))

/** Results have their place all the same. */
const unprinted = ({ results }: Signature): readonly LaidOut[] =>
  results.map(({ name, type }) => ({ role: 'result', name, type: type.text, parts: [{ label: '', word: '?' }] }))

function stackArguments(words: readonly Word[], signature: Signature, { wordBytes }: Build): ArgumentReport {
  const { values, expected, unknown } = flatArguments(signature, words, wordBytes)
  const shown = words.filter(({ kind }) => kind !== 'more').length
  const notes: string[] = []
  if (unknown)
    notes.push(
      `Nothing is known of the type ${unknown}, so that what follows cannot be told: write what it is made of ` +
        '(struct{ a, b int }), or name its sources by --src.',
    )
  if (words.some(cut)) notes.push('Go prints at most ten words of a call: ... stands for the rest.')
  else if (expected !== undefined && shown !== expected)
    notes.push(
      `The call shows ${shown} words and the signature has ${expected}: it is that of another version, or the ` +
        'output is of Go 1.17 or newer (--abi register).',
    )
  if (signature.results.length > 0)
    notes.push('The words of results are what was there before the function returned: they may be anything.')
  return { convention: 'stack', values, notes }
}
