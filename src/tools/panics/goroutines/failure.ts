/** Finds the goroutine that failed, its failing frame, and the program's own frame below it. */
import type { Crash } from '../dump/crash.ts'
import type { Frame } from '../dump/frame.ts'
import type { Goroutine } from '../dump/goroutine.ts'
import { originOf } from './origin.ts'

export interface Failure {
  readonly goroutine: Goroutine
  /** Index of the failing frame. The frames above are deferred functions and the runtime. */
  readonly failed: number
  /** Index of the program's first own frame from there on. */
  readonly own?: number
}

/** The runtime prints the failed goroutine first. Undefined for plain dumps of goroutines. */
export function failureOf({ kind, goroutines, signal, fatalError }: Crash): Failure | undefined {
  if (kind === 'goroutines' || (kind === 'signal' && signal?.name === 'SIGQUIT')) return undefined
  const goroutine = goroutines.find(({ id, frames }) => id !== 0 && frames.length > 0) ?? goroutines[0]
  if (!goroutine) return undefined
  const { frames } = goroutine
  // In a deadlock no frame failed: the own frame is where the goroutine waits.
  const failed = /deadlock/.test(fatalError ?? '') ? 0 : failedFrame(frames)
  const own = frames.findIndex((frame, index) => index >= failed && originOf(frame) === 'own')
  const any = own < 0 ? frames.findIndex((frame) => originOf(frame) === 'own') : own
  return { goroutine, failed, ...(any >= 0 && { own: any }) }
}

const stopped =
  /^(panic|runtime\.(gopanic|sigpanic|panic[A-Za-z]+|goPanic[A-Za-z0-9]+|throw|fatal|fatalthrow|sigpanic0|panicIndex))$/

/** A panic runs deferred functions on top of the stack, so the first panic, which is the cause, is the lowest. */
function failedFrame(frames: readonly Frame[]): number {
  const last = frames.findLastIndex(({ function: { full } }) => stopped.test(full))
  let failed = last + 1
  // There may be more runtime frames between the panic and the failing frame; functions such as sync.fatal fail on
  // behalf of their callers.
  while (failed < frames.length && originOf(frames[failed]!) === 'runtime') failed++
  return failed < frames.length ? failed : 0
}
