/** Long work in steps that yields to the event loop between steps. Short work, which is the most, does not yield. */

/** Time without a pause, in ms. */
const holdMs = 5

/** Called and awaited between steps. Returns undefined if no pause is needed. */
export type Pause = () => Promise<void> | undefined

/** Returns the pause function for one piece of work. */
export function pauses(): Pause {
  let since = performance.now()
  return () => {
    if (performance.now() - since < holdMs) return undefined
    return new Promise((resolve) =>
      setImmediate(() => {
        since = performance.now()
        resolve()
      }),
    )
  }
}

/**
 * Work that yields between its steps, to run with pauses (`runWithPauses`) or without (`runSync`). A step can yield a
 * promise, which only `runWithPauses` awaits; if it rejects, the work is aborted.
 */
export type Steps<Result> = Generator<Promise<void> | undefined, Result, undefined>

/** Runs the steps with pauses. Returns a promise only if there was a pause. */
export function runWithPauses<Result>(steps: Steps<Result>, pause: Pause): Result | Promise<Result> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    const turn = step.value ?? pause()
    if (turn) return turn.then(() => runWithPauses(steps, pause))
  }
}

/** Runs the steps without pauses. Throws an Error if a step yields a promise. */
export function runSync<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (step.value) throw new Error('the work awaits a promise: use runWithPauses')
  }
}
