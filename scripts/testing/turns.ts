/**
 * Decides when the next file of integration tests begins. Some run at any time. Tests wait for a third of their time,
 * so more begin while a processor is idle; without this condition, tests would run into their deadlines.
 */

/** The machine, as a runner of tests sees it. */
export interface Machine {
  /** The time that all processors together have been idle, in ms since a fixed moment. */
  idleMs(): number
  /** In ms since a fixed moment. */
  now(): number
  /** Resolves after some ms. */
  wait(ms: number): Promise<unknown>
}

export interface Limits {
  /** As many files run at any time. */
  readonly always: number
  /** In addition to them, as many run if a processor is idle when they begin. */
  readonly more: number
}

/** A processor is idle if it had nothing to do for this share of the last `measuredMs`. */
const idleShare = 0.5
const measuredMs = 1000

/**
 * Calls `perform` for each file, in this order. When all have ended, it resolves, or rejects with the first error of
 * `perform`.
 */
export async function inTurns(
  files: readonly string[],
  perform: (file: string) => Promise<void>,
  limits: Limits,
  machine: Machine,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const errors: unknown[] = []
  for (const file of files) {
    await turn(running, limits, machine)
    const performance = perform(file)
      .catch((error: unknown) => void errors.push(error))
      .finally(() => running.delete(performance))
    running.add(performance)
  }
  await Promise.all(running)
  if (errors.length > 0) throw errors[0]
}

/** Resolves when one more file may begin. */
async function turn(running: ReadonlySet<Promise<void>>, { always, more }: Limits, machine: Machine): Promise<void> {
  while (running.size >= always) {
    const [start, idle] = [machine.now(), machine.idleMs()]
    // The next file replaces one that ends, without a wait.
    await Promise.race([machine.wait(measuredMs), ...running])
    const elapsed = machine.now() - start
    if (running.size >= always + more || elapsed < measuredMs) continue
    if (machine.idleMs() - idle >= idleShare * elapsed) return
  }
}
