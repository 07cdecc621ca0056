/**
 * A client whose watch events are delayed: caches are older than the server, as after an interrupted watch.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from '../../../src/client/connection/connection.ts'
import type { Resource } from '../../../src/client/resource.ts'
import { RestClient, type WatchEvent, type WatchOptions } from '../../../src/client/rest/rest-client.ts'
import type { KubeObject } from '../../../src/machinery/object.ts'
import type { Random } from '../../fuzz/random.ts'

/** Resolves when the next event of a kind may be delivered; undefined for immediately. */
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

/** Delays one event in ten, and the following events of its kind, by up to `maxMs`. */
export const oneInTen =
  (random: Random, maxMs: number): Late =>
  () =>
    random.chance(0.1) ? delay(random.below(maxMs), undefined, { ref: false }) : undefined
