/** The data of `t8s explain-panic`, from which both text and JSON are rendered. */
import { type ArgumentReport, buildOf, type CallingConvention, layOut } from './arguments/index.ts'
import type { Crash, CrashKind, PanicValue, RaceStack, SignalFacts } from './dump/crash.ts'
import type { Frame } from './dump/frame.ts'
import type { CreatedBy, Goroutine } from './dump/goroutine.ts'
import type { SourceLine, Sources } from './go/sources.ts'
import type { Signature } from './go/types.ts'
import { failureOf } from './goroutines/failure.ts'
import { groupsOf } from './goroutines/groups.ts'
import { moduleOf, type Origin, originOf } from './goroutines/origin.ts'
import { rateGroups, type Suspicion } from './goroutines/suspicion.ts'
import { chainSentence, crashReason } from './reasons/crash-reason.ts'
import { type Phase, phasesOf } from './reasons/phases.ts'
import { codeOf, nilOffset, signalName } from './reasons/signals.ts'
import { stackNotes } from './stack-notes.ts'

export interface FrameReport {
  /** As printed. */
  readonly function: string
  readonly package: string
  readonly receiver?: string
  readonly name: string
  readonly closure?: string
  readonly wrapper?: string
  readonly file: string
  readonly line: number
  readonly offset?: number
  readonly origin: Origin
  readonly module?: string
  readonly version?: string
  readonly inlined?: true
  /** The words of its arguments, as printed. */
  readonly words?: string
}

export interface GoroutineReport {
  readonly id?: number
  readonly state: string
  readonly minutes: number
  readonly lockedToThread?: true
  readonly notes?: readonly string[]
  readonly createdBy?: {
    readonly function: string
    readonly file: string
    readonly line: number
    readonly goroutine?: number
  }
  readonly frames: readonly FrameReport[]
  /** Number of elided frames; true if Go does not print it. */
  readonly elided?: number | true
  readonly unavailable?: true
  readonly ancestors?: readonly { readonly goroutine: number; readonly frames: readonly FrameReport[] }[]
}

export interface GroupReport extends GoroutineReport {
  readonly count: number
  /** Ids of all goroutines of the group. */
  readonly ids: readonly number[]
  readonly leastMinutes: number
  readonly maxMinutes: number
  readonly suspicion: Suspicion
  readonly why?: string
}

export interface CrashReport {
  /** `nil dereference`, `deadlock`, `data race`, … */
  readonly kind: string
  readonly source: CrashKind
  /** The message of the program or the runtime. */
  readonly message: string
  readonly explanation: string
  readonly advice: string
  /** How several panics are related. */
  readonly chain?: string
  /** First line in the input, from 1, and number of identical crashes. */
  readonly line: number
  readonly times: number
  readonly panics: readonly PanicValue[]
  readonly signal?: SignalFacts & {
    readonly text: string
    readonly codeName?: string
    readonly codeMeaning?: string
    readonly nilOffset?: number
  }
  readonly notes: readonly string[]
  /** Phases of a panic, in order. */
  readonly phases: readonly Phase[]
  readonly exitStatus?: number
  /** The goroutine that failed. */
  readonly goroutine?: GoroutineReport
  /** Indexes of its frames. */
  readonly failedFrame?: number
  readonly ownFrame?: number
  /** Sentences that explain offsets and missing words in its frames. */
  readonly stackNotes: readonly string[]
  readonly excerpt?: readonly SourceLine[]
  /** Why the sources do not contain the line. */
  readonly sourcesMissing?: string
  readonly arguments: readonly (ArgumentReport & { readonly function: string })[]
  readonly goroutineCount: number
  readonly groups: readonly GroupReport[]
  readonly runtimeStack?: readonly FrameReport[]
  readonly race: readonly { readonly title: string; readonly frames: readonly FrameReport[] }[]
  readonly registers: Readonly<Record<string, string>>
}

export interface ReportOptions {
  /** Signatures from the command line. */
  readonly signatures?: readonly Signature[]
  readonly sources?: Pick<Sources, 'signature' | 'excerpt' | 'missing' | 'fieldsAt'>
  readonly convention?: CallingConvention
}

/** Returns the reports of crashes in their order; identical crashes are merged. */
export function reportsOf(crashes: readonly Crash[], options: ReportOptions = {}): readonly CrashReport[] {
  const alike = new Map<string, { readonly crash: Crash; times: number }>()
  for (const crash of crashes) {
    const key = keyOf(crash)
    const known = alike.get(key)
    if (known) known.times++
    else alike.set(key, { crash, times: 1 })
  }
  return [...alike.values()].map(({ crash, times }) => reportOf(crash, times, options))
}

/** Crashes of a single goroutine are identical if it stopped at the same place; dumps are never merged. */
function keyOf(crash: Crash): string {
  const [goroutine] = crash.goroutines
  if (crash.goroutines.length !== 1 || !goroutine || crash.kind === 'goroutines') return `${crash.line}`
  return `${crash.kind} ${crashReason(crash).kind} ${goroutine.frames.map(({ site }) => site).join()}`
}

function reportOf(crash: Crash, times: number, options: ReportOptions): CrashReport {
  const { kind: source, line, panics, signal, notes, exitStatus, goroutines, runtimeStack, dropped } = crash
  const reason = crashReason(crash)
  const failure = failureOf(crash)
  const isDeadlock = reason.kind === 'deadlock'
  const chain = chainSentence(panics)
  const own = failure?.own === undefined ? undefined : failure.goroutine.frames[failure.own]
  const excerpt = own && options.sources?.excerpt(own)
  const fields = own && reason.kind === 'nil dereference' ? nilFields(crash, own, options) : []
  const sourcesMissing = own && options.sources?.missing(own)
  return {
    kind: reason.kind,
    source,
    message: messageOf(crash),
    explanation:
      fields.length > 0
        ? `${reason.explanation} According to the sources that is ${fields.join(' or ')}.`
        : reason.explanation,
    advice: reason.advice,
    ...(chain && { chain }),
    line,
    times,
    panics,
    ...(signal && { signal: signalReport(signal) }),
    notes,
    phases: phasesOf(crash, failure?.goroutine),
    ...(exitStatus !== undefined && { exitStatus }),
    ...(failure && {
      goroutine: goroutineReport(failure.goroutine),
      failedFrame: failure.failed,
      ...(failure.own !== undefined && { ownFrame: failure.own }),
    }),
    stackNotes: failure ? stackNotes(failure.goroutine.frames, own) : [],
    ...(excerpt?.length && { excerpt }),
    ...(sourcesMissing && { sourcesMissing }),
    arguments: argumentsOf(crash, failure?.goroutine, own, options),
    goroutineCount: goroutines.length + dropped,
    groups: rateGroups(groupsOf(goroutines), failure?.goroutine, isDeadlock).map(({ group, suspicion, why }) => ({
      count: group.members.length,
      ids: group.members.flatMap(({ id }) => id ?? []),
      leastMinutes: group.leastMinutes,
      maxMinutes: group.maxMinutes,
      suspicion,
      ...(why && { why }),
      ...goroutineReport(group.first),
    })),
    ...(runtimeStack && { runtimeStack: runtimeStack.map(frameReport) }),
    race: crash.race.map(({ title, frames }: RaceStack) => ({ title, frames: frames.map(frameReport) })),
    registers: Object.fromEntries(crash.registers),
  }
}

/** Returns the fields that may have been accessed through a nil pointer among the failing function's arguments. */
function nilFields(crash: Crash, own: Frame, { sources }: ReportOptions): readonly string[] {
  const offset = crash.signal && nilOffset(crash.signal)
  return offset && sources ? sources.fieldsAt(own, offset, buildOf(crash).wordBytes) : []
}

function messageOf({ panics, fatalError, message, signal, kind, race, goroutines }: Crash): string {
  if (fatalError !== undefined) return `fatal error: ${fatalError}`
  const last = panics.at(-1)
  if (last) return `panic: ${last.text}`
  if (message !== undefined && message !== '') return message
  if (signal) return signalName(signal)
  if (kind === 'data race') return `data race${race[0] ? `: ${race[0].title}` : ''}`
  return `${goroutines.length} goroutine${goroutines.length === 1 ? '' : 's'}`
}

function signalReport(signal: SignalFacts): NonNullable<CrashReport['signal']> {
  const [code, offset] = [codeOf(signal), nilOffset(signal)]
  return {
    ...signal,
    text: signalName(signal),
    ...(code && { codeName: code.name, codeMeaning: code.meaning }),
    ...(offset !== undefined && { nilOffset: offset }),
  }
}

/** Lays out the arguments of functions with a given signature, or else those of the first own frame, by the sources. */
function argumentsOf(
  crash: Crash,
  failing: Goroutine | undefined,
  own: Frame | undefined,
  { signatures = [], sources, convention }: ReportOptions,
): CrashReport['arguments'] {
  const build = buildOf(crash)
  const stacks = failing ? [failing, ...crash.goroutines] : crash.goroutines
  const requested = signatures.flatMap((signature) => {
    for (const { frames } of stacks) {
      const frame = frames.find((one) => one.words !== undefined && isOf(one, signature))
      if (frame) return [{ frame, signature }]
    }
    return []
  })
  const found = own && sources?.signature(own)
  const all = requested.length > 0 || !found ? requested : [{ frame: own, signature: found }]
  return all.flatMap(({ frame, signature }) => {
    const laidOut = layOut(frame, signature, build, convention)
    return laidOut ? [{ function: frame.function.full, ...laidOut }] : []
  })
}

/** Returns true if a frame is a call of this function. A receiver is compared if the signature has one. */
function isOf({ function: { name, receiver, closure } }: Frame, signature: Signature): boolean {
  if (name !== signature.name || closure !== undefined) return false
  const wanted = signature.receiver?.type.text.replace(/\[.*/, '')
  return wanted === undefined || receiver === undefined || wanted === receiver
}

function goroutineReport({
  id,
  state,
  minutes,
  lockedToThread,
  notes,
  createdBy,
  frames,
  elided,
  unavailable,
  ancestors,
}: Goroutine): GoroutineReport {
  return {
    ...(id !== undefined && { id }),
    state,
    minutes,
    ...(lockedToThread && { lockedToThread }),
    ...(notes.length > 0 && { notes }),
    ...(createdBy && { createdBy: creatorReport(createdBy) }),
    frames: frames.map(frameReport),
    ...(elided && { elided }),
    ...(unavailable && { unavailable }),
    ...(ancestors && {
      ancestors: ancestors.map((one) => ({ goroutine: one.goroutine, frames: one.frames.map(frameReport) })),
    }),
  }
}

const creatorReport = ({ function: { full }, ...rest }: CreatedBy): GoroutineReport['createdBy'] => ({
  function: full,
  ...rest,
})

export function frameReport(frame: Frame): FrameReport {
  const { function: name, file, line, offset, inlined, words } = frame
  const module = moduleOf(file)
  return {
    function: name.full,
    package: name.package,
    ...(name.receiver && { receiver: name.receiver }),
    name: name.name,
    ...(name.closure && { closure: name.closure }),
    ...(name.wrapper && { wrapper: name.wrapper }),
    file,
    line,
    ...(offset !== undefined && { offset }),
    origin: originOf(frame),
    ...(module && { module: module.path, version: module.version }),
    ...(inlined && { inlined }),
    ...(words !== undefined && { words }),
  }
}
