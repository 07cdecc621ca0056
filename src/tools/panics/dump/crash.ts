/** The output of Go's runtime when a program ends or dumps its goroutines, parsed but not interpreted. */
import type { Frame } from './frame.ts'
import type { Goroutine } from './goroutine.ts'

export interface PanicValue {
  /** As printed: the text of an error, or the runtime's format of another value. */
  text: string
  /** A deferred function recovered it; the next panic in the list is newer. */
  readonly recovered: boolean
  /** The same value was panicked with again (printed since Go 1.24). */
  readonly repanicked: boolean
}

export interface SignalFacts {
  /** `SIGSEGV`. */
  readonly name: string
  /** The runtime's description: `segmentation violation`. */
  readonly description: string
  readonly code?: number
  readonly address?: string
  readonly pc?: string
  /** True if it arrived while C code was running. */
  readonly duringCgo?: boolean
}

/** One side of a data race, or the creation of one of its goroutines. */
export interface RaceStack {
  /** `Write at 0x00c0000b4010 by goroutine 7`. */
  readonly title: string
  readonly frames: Frame[]
}

/** The source of the output. */
export type CrashKind =
  | 'panic'
  | 'fatal error'
  | 'signal'
  | 'data race'
  /** A panic that was recovered and logged. */
  | 'logged panic'
  /** An error that was logged with its stack. */
  | 'logged error'
  /** A dump of goroutines without a failure. */
  | 'goroutines'

export interface Crash {
  kind: CrashKind
  /** Its first line in the input, from 1. */
  readonly line: number
  /** Oldest first. */
  readonly panics: PanicValue[]
  fatalError?: string
  /** The log message next to a stack. */
  message?: string
  signal?: SignalFacts
  /** Lines of the runtime before it, which begin with `runtime:`. */
  readonly notes: string[]
  readonly goroutines: Goroutine[]
  /** Stack of the failed thread, if it ran no goroutine. */
  runtimeStack?: Frame[]
  readonly registers: Map<string, string>
  readonly race: RaceStack[]
  /** Number of goroutines that were not stored. */
  dropped: number
  /** The exit status printed by a shell or `go run`. */
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
