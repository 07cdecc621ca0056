/** Which goroutine failed, at which frame, and which frame of the program's own code is the first on the way there. */
import type { Crash } from '../dump/crash.ts'
import type { Frame } from '../dump/frame.ts'
import type { Goroutine } from '../dump/goroutine.ts'
import { originOf } from './origin.ts'

export interface Failure {
  readonly goroutine: Goroutine
  /** Index of the frame that failed: what is above are deferred functions and the runtime. */
  readonly failed: number
  /** Index of the first frame of the program's own code from there on. */
  readonly own?: number
}

/** The runtime shows the one that failed first. Undefined for lists of goroutines, of which none has. */
export function failureOf({ kind, goroutines, signal, fatalError }: Crash): Failure | undefined {
  if (kind === 'goroutines' || (kind === 'signal' && signal?.name === 'SIGQUIT')) return undefined
  const goroutine = goroutines.find(({ id, frames }) => id !== 0 && frames.length > 0) ?? goroutines[0]
  if (!goroutine) return undefined
  const { frames } = goroutine
  // In a deadlock nothing failed: the program's own code is where it waits.
  const failed = /deadlock/.test(fatalError ?? '') ? 0 : failedFrame(frames)
  const own = frames.findIndex((frame, index) => index >= failed && originOf(frame) === 'own')
  const any = own < 0 ? frames.findIndex((frame) => originOf(frame) === 'own') : own
  return { goroutine, failed, ...(any >= 0 && { own: any }) }
}

const stopped =
  /^(panic|runtime\.(gopanic|sigpanic|panic[A-Za-z]+|goPanic[A-Za-z0-9]+|throw|fatal|fatalthrow|sigpanic0|panicIndex))$/

/** A panic runs deferred functions on top of the stack: the first one, which is the cause, is the lowest. */
function failedFrame(frames: readonly Frame[]): number {
  const last = frames.findLastIndex(({ function: { full } }) => stopped.test(full))
  let failed = last + 1
  // Between the panic and what failed the runtime may have more to tell; sync.fatal and its like speak for their
  // callers.
  while (failed < frames.length && originOf(frames[failed]!) === 'runtime') failed++
  return failed < frames.length ? failed : 0
}
