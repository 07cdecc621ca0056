/** Chooses targets: in turn, or the one that a client has had. A group of listeners shares one choice. */
import type { Target } from '../listener.ts'

interface Chosen {
  readonly target: Target
  readonly until: number
}

const isSame = (a: Target, b: Target): boolean => a.address === b.address && a.port === b.port

export class TargetChoice {
  #next = 0
  readonly #byClient = new Map<string, Chosen>()

  /**
   * @param client its address; empty if clients do not stay with targets
   * @param affinityMs see `Listener`
   * @param now in ms
   * @param tried targets that did not answer
   * @returns undefined if no target remains
   */
  choose(
    targets: readonly Target[],
    client: string,
    affinityMs: number | undefined,
    now: number,
    tried: readonly Target[] = [],
  ): Target | undefined {
    const isUsable = (target: Target): boolean => !tried.some((other) => isSame(other, target))
    const known = affinityMs === undefined ? undefined : this.#byClient.get(client)
    if (known && known.until > now && isUsable(known.target) && targets.some((each) => isSame(each, known.target)))
      return this.#remember(client, known.target, affinityMs, now)
    for (let i = 0; i < targets.length; i++) {
      const target = targets[this.#next++ % targets.length]
      if (target && isUsable(target)) return this.#remember(client, target, affinityMs, now)
    }
    return undefined
  }

  /** Removes clients whose time is over. */
  expire(now: number): void {
    for (const [client, { until }] of this.#byClient) if (until <= now) this.#byClient.delete(client)
  }

  #remember(client: string, target: Target, affinityMs: number | undefined, now: number): Target {
    if (affinityMs !== undefined) this.#byClient.set(client, { target, until: now + affinityMs })
    return target
  }
}
