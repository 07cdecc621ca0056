/** Waits until a cluster has done what its clock has made due. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Activity } from './clock-control.ts'

/** How long nothing must happen, in checks of a millisecond each, and how long to wait for that, in ms. */
const patience = {
  briefly: { quietChecks: 3, maxMs: 250 },
  long: { quietChecks: 15, maxMs: 2_000 },
} as const
const checkMs = 1

export class Settling {
  readonly #activity: () => Promise<Activity>

  constructor(activity: () => Promise<Activity>) {
    this.#activity = activity
  }

  /**
   * Resolves when no request is in progress and nothing was written for a while: components that wait for a change have
   * got it, and have reacted. Clients that never pause do not hold it up for long.
   */
  async settled(how: keyof typeof patience): Promise<void> {
    const { quietChecks, maxMs } = patience[how]
    const until = performance.now() + maxMs
    let before = await this.#activity()
    for (let quiet = 0; quiet < quietChecks && performance.now() < until; ) {
      await delay(checkMs)
      const now = await this.#activity()
      quiet = now.requests === 0 && now.revision === before.revision ? quiet + 1 : 0
      before = now
    }
  }
}
