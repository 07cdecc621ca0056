/** Follows kinds that nobody else follows, to learn when their objects go. */
import { Informer, type InformerOptions } from '../../client/informers/informer.ts'
import { collectionPath, type Resource } from '../../client/resource.ts'
import type { KubeObject } from '../../machinery/object.ts'

interface Followed {
  readonly informer: Informer<KubeObject>
  readonly ended: Promise<void>
  isSynced: boolean
}

export class Departures {
  readonly #followed = new Map<string, Followed>()
  readonly #stopping = new AbortController()

  /** Begins to follow a kind, unless it is followed. `gone` is told of the namespaces of objects that have gone. */
  follow(options: InformerOptions<KubeObject>, gone: (namespace: string) => void): void {
    const path = collectionPath(options.resource)
    if (this.#followed.has(path) || this.#stopping.signal.aborted) return
    const informer = new Informer(options)
    informer.onChange((object, before) => {
      if (!object && before) gone(before.metadata.namespace ?? '')
    })
    const followed: Followed = {
      informer,
      isSynced: false,
      ended: informer.run(this.#stopping.signal, () => {
        followed.isSynced = true
      }),
    }
    this.#followed.set(path, followed)
  }

  /** The objects of a namespace; undefined while they are not known. */
  in(resource: Resource, namespace: string): Iterable<KubeObject> | undefined {
    const followed = this.#followed.get(collectionPath(resource))
    return followed?.isSynced ? followed.informer.in(namespace) : undefined
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([...this.#followed.values()].map(({ ended }) => ended))
  }
}
