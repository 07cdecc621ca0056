/**
 * What the runtime of a Go program tells when it ends, or is asked for its goroutines: as it was read, without
 * judgement.
 */
import type { Frame } from './frame.ts'
import type { Goroutine } from './goroutine.ts'

export interface PanicValue {
  /** As printed: of errors their text, of others what the runtime makes of them. */
  text: string
  /** A deferred function took it; the panic behind it in the list came later. */
  readonly recovered: boolean
  /** The same value was panicked with again (told since Go 1.24). */
  readonly repanicked: boolean
}

export interface SignalFacts {
  /** `SIGSEGV`. */
  readonly name: string
  /** In the runtime's words: `segmentation violation`. */
  readonly description: string
  readonly code?: number
  readonly address?: string
  readonly pc?: string
  /** It came while C code ran. */
  readonly duringCgo?: boolean
}

/** One side of a data race, or where a goroutine of one was made. */
export interface RaceStack {
  /** `Write at 0x00c0000b4010 by goroutine 7`. */
  readonly title: string
  readonly frames: Frame[]
}

/** How it came to the output. */
export type CrashKind =
  | 'panic'
  | 'fatal error'
  | 'signal'
  | 'data race'
  /** A panic that somebody recovered from, and wrote to the log. */
  | 'logged panic'
  /** An error that was logged with its stack. */
  | 'logged error'
  /** Goroutines without a reason. */
  | 'goroutines'

export interface Crash {
  kind: CrashKind
  /** Where it begins in the input, from 1. */
  readonly line: number
  /** The first panic first. */
  readonly panics: PanicValue[]
  fatalError?: string
  /** What a log said beside a stack. */
  message?: string
  signal?: SignalFacts
  /** What the runtime said before: lines that begin with `runtime:`. */
  readonly notes: string[]
  readonly goroutines: Goroutine[]
  /** Of the thread that failed, where that ran no goroutine. */
  runtimeStack?: Frame[]
  readonly registers: Map<string, string>
  readonly race: RaceStack[]
  /** Goroutines that were too many to keep. */
  dropped: number
  /** What a shell or `go run` says at the end. */
  exitStatus?: number
}

export const newCrash = (kind: CrashKind, line: number): Crash => ({
  kind,
  line,
  panics: [],
  notes: [],
  goroutines: [],
  registers: new Map(),
  race: [],
  dropped: 0,
})
