/** Watches all changes of objects in a namespace in order, across restarts of the server. */
import { setTimeout as delay } from 'node:timers/promises'
import { Connection, type ServerAccess } from '../../../src/client/connection/connection.ts'
import type { Resource } from '../../../src/client/resource.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'
import type { KubeObject } from '../../../src/machinery/object.ts'
import { StatusError } from '../../../src/machinery/status-error.ts'
import { waitFor } from '../../support/wait-for.ts'

/**
 * Called with the name of a changed object, its new state (undefined after a delete), and all objects before the
 * change.
 */
export type Seen<T> = (name: string, object: T | undefined, before: ReadonlyMap<string, T>) => void

export class Witness<T extends KubeObject> {
  readonly #resource: Resource<T>
  readonly #namespace: string
  readonly #connection: Connection
  readonly #client: RestClient
  readonly #seen: Seen<T>
  readonly #all = new Map<string, T>()
  readonly #stopping = new AbortController()
  #resourceVersion = ''
  #following: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | undefined

  private constructor(access: ServerAccess, resource: Resource<T>, namespace: string, seen: Seen<T>) {
    this.#resource = resource
    this.#namespace = namespace
    this.#connection = new Connection(access)
    this.#client = new RestClient(this.#connection)
    this.#seen = seen
  }

  /** Starts watching all changes until stopped. */
  static async of<T extends KubeObject>(
    access: ServerAccess,
    resource: Resource<T>,
    namespace: string,
    seen: Seen<T>,
  ): Promise<Witness<T>> {
    const witness = new Witness(access, resource, namespace, seen)
    const { items, resourceVersion } = await witness.#client.list(resource, { namespace })
    for (const item of items) witness.#all.set(item.metadata.name ?? '', item)
    witness.#resourceVersion = resourceVersion
    witness.#following = witness.#follow()
    return witness
  }

  /** Waits until all current objects, which must not change any more, were observed. */
  async caughtUp(): Promise<void> {
    const versions = (objects: Iterable<KubeObject>): string =>
      [...objects]
        .map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`)
        .sort()
        .join()
    await waitFor(`${this.#resource.plural} to be observed`, async () => {
      this.#check()
      const { items } = await this.#client.list(this.#resource, { namespace: this.#namespace })
      return versions(items) === versions(this.#all.values())
    })
  }

  /** Stops. Rejects with the error of `seen`, or if events were missed. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#following
    this.#connection.close()
    this.#check()
  }

  #check(): void {
    if (this.#failure) throw this.#failure.error
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted && !this.#failure) {
      try {
        await this.#watch(signal)
      } catch (error) {
        // A killed server closes the connection and a starting one returns 503; other errors would cause a gap.
        if (error instanceof StatusError && error.code !== 503 && error.code !== 429) this.#failure = { error }
      }
      if (!signal.aborted) await delay(10)
    }
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const options = { namespace: this.#namespace, resourceVersion: this.#resourceVersion, signal }
    for await (const { type, object } of this.#client.watch(this.#resource, options)) {
      this.#resourceVersion = object.metadata.resourceVersion ?? ''
      if (type === 'BOOKMARK') continue
      const { name = '' } = object.metadata
      const now = type === 'DELETED' ? undefined : object
      try {
        this.#seen(name, now, this.#all)
      } catch (error) {
        this.#failure = { error }
        return
      }
      if (now) this.#all.set(name, now)
      else this.#all.delete(name)
    }
  }
}
