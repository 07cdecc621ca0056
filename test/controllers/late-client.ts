/**
 * A client whose watches tell late: what caches show is older than what the server has, as it is where a watch broke
 * off and is taken up again.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from '../../src/client/connection/connection.ts'
import type { Resource } from '../../src/client/resource.ts'
import { RestClient, type WatchEvent, type WatchOptions } from '../../src/client/rest/rest-client.ts'
import type { KubeObject } from '../../src/machinery/object.ts'
import type { Random } from '../fuzz/random.ts'

/** Resolves when the next event of a kind may be told; undefined: at once. */
export type Late = (of: Resource) => Promise<unknown> | undefined

export class LateClient extends RestClient {
  readonly #late: Late

  constructor(connection: Connection, late: Late) {
    super(connection)
    this.#late = late
  }

  override async *watch<T extends KubeObject>(of: Resource<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    for await (const event of super.watch(of, options)) {
      const wait = this.#late(of)
      if (wait) await wait
      yield event
    }
  }
}

/** One event in ten comes up to so many milliseconds late, and those of its kind that follow with it. */
export const oneInTen =
  (random: Random, mostMs: number): Late =>
  () =>
    random.chance(0.1) ? delay(random.below(mostMs), undefined, { ref: false }) : undefined
