/**
 * Long work in steps: between two of them everybody else who waits for the event loop gets a turn, if the steps took
 * long. Work that is short, which is nearly all, goes on at once.
 */

/** The patience of others, in ms. */
const holdMs = 5

/** Called between steps of one piece of work, and awaited. */
export type Pause = () => Promise<void> | undefined

/** A piece of work begins. */
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
 * Work that yields between its steps, for whoever carries it out: with pauses (`inSteps`) or without (`atOnce`). A step
 * that has to wait for others yields a promise, which only `inSteps` can wait for; if it rejects, the work is given up.
 */
export type Steps<Result> = Generator<Promise<void> | undefined, Result, undefined>

/** A promise only if there was a pause. */
export function inSteps<Result>(steps: Steps<Result>, pause: Pause): Result | Promise<Result> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    const turn = step.value ?? pause()
    if (turn) return turn.then(() => inSteps(steps, pause))
  }
}

export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (step.value) throw new Error('this work waits for others: it cannot be done at once')
  }
}
