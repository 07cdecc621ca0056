/** What `t8s explain-panic` says of a crash, as data: the text and the JSON are both made of it. */
import { type ArgumentReport, buildOf, type CallingConvention, layOut } from './arguments/index.ts'
import type { Crash, CrashKind, PanicValue, RaceStack, SignalFacts } from './dump/crash.ts'
import type { Frame } from './dump/frame.ts'
import type { CreatedBy, Goroutine } from './dump/goroutine.ts'
import type { SourceLine, Sources } from './go/sources.ts'
import type { Signature } from './go/types.ts'
import { failureOf } from './goroutines/failing.ts'
import { groupsOf } from './goroutines/groups.ts'
import { moduleOf, type Origin, originOf } from './goroutines/origin.ts'
import { judge, type Suspicion } from './goroutines/suspects.ts'
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
  /** Frames that Go left out; true where it does not say how many. */
  readonly elided?: number | true
  readonly unavailable?: true
  readonly ancestors?: readonly { readonly goroutine: number; readonly frames: readonly FrameReport[] }[]
}

export interface GroupReport extends GoroutineReport {
  readonly count: number
  /** Of all of them. */
  readonly ids: readonly number[]
  readonly leastMinutes: number
  readonly mostMinutes: number
  readonly suspicion: Suspicion
  readonly why?: string
}

export interface CrashReport {
  /** `nil dereference`, `deadlock`, `data race`, … */
  readonly kind: string
  readonly source: CrashKind
  /** In the program's, or the runtime's, own words. */
  readonly message: string
  readonly explanation: string
  readonly advice: string
  /** How several panics hang together. */
  readonly chain?: string
  /** Where it begins in the input, from 1, and how many more like it there are. */
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
  /** Of a panic: its phases, in their order. */
  readonly phases: readonly Phase[]
  readonly exitStatus?: number
  /** The one that failed. */
  readonly goroutine?: GoroutineReport
  /** Indexes of its frames. */
  readonly failedFrame?: number
  readonly ownFrame?: number
  /** Explanations of offsets and missing words in its frames. Sentences. */
  readonly stackNotes: readonly string[]
  readonly excerpt?: readonly SourceLine[]
  /** Why the sources have no such line. */
  readonly sourcesMissing?: string
  readonly arguments: readonly (ArgumentReport & { readonly function: string })[]
  readonly goroutineCount: number
  readonly groups: readonly GroupReport[]
  readonly runtimeStack?: readonly FrameReport[]
  readonly race: readonly { readonly title: string; readonly frames: readonly FrameReport[] }[]
  readonly registers: Readonly<Record<string, string>>
}

export interface ReportOptions {
  /** Of functions that were written on the command line. */
  readonly signatures?: readonly Signature[]
  readonly sources?: Pick<Sources, 'signature' | 'excerpt' | 'missing' | 'fieldsAt'>
  readonly convention?: CallingConvention
}

/** Reports of crashes in their order; those that are the same are one. */
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

/** Crashes of one goroutine are the same if it stopped in the same place; dumps are all their own. */
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
      fields.length > 0 ? `${reason.explanation} By the sources that is ${fields.join(' or ')}.` : reason.explanation,
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
    groups: judge(groupsOf(goroutines), failure?.goroutine, isDeadlock).map(({ group, suspicion, why }) => ({
      count: group.members.length,
      ids: group.members.flatMap(({ id }) => id ?? []),
      leastMinutes: group.leastMinutes,
      mostMinutes: group.mostMinutes,
      suspicion,
      ...(why && { why }),
      ...goroutineReport(group.first),
    })),
    ...(runtimeStack && { runtimeStack: runtimeStack.map(frameReport) }),
    race: crash.race.map(({ title, frames }: RaceStack) => ({ title, frames: frames.map(frameReport) })),
    registers: Object.fromEntries(crash.registers),
  }
}

/** Which fields a nil pointer of the failing function's arguments was followed for, perhaps. */
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

/** Those of the functions that were asked for, else those that the sources have for the first frame of its own. */
function argumentsOf(
  crash: Crash,
  failing: Goroutine | undefined,
  own: Frame | undefined,
  { signatures = [], sources, convention }: ReportOptions,
): CrashReport['arguments'] {
  const build = buildOf(crash)
  const stacks = failing ? [failing, ...crash.goroutines] : crash.goroutines
  const asked = signatures.flatMap((signature) => {
    for (const { frames } of stacks) {
      const frame = frames.find((one) => one.words !== undefined && isOf(one, signature))
      if (frame) return [{ frame, signature }]
    }
    return []
  })
  const found = own && sources?.signature(own)
  const all = asked.length > 0 || !found ? asked : [{ frame: own, signature: found }]
  return all.flatMap(({ frame, signature }) => {
    const laidOut = layOut(frame, signature, build, convention)
    return laidOut ? [{ function: frame.function.full, ...laidOut }] : []
  })
}

/** Whether a frame is a call of this function: a receiver counts if the signature has one. */
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
