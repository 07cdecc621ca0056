/** Informers of kinds that no other controller watches, to detect deletions. */
import { Informer, type InformerOptions } from '../../client/informers/informer.ts'
import { collectionPath, type Resource } from '../../client/resource.ts'
import type { KubeObject } from '../../machinery/object.ts'

interface RunningInformer {
  readonly informer: Informer<KubeObject>
  readonly ended: Promise<void>
  isSynced: boolean
}

export class DeletionInformers {
  readonly #running = new Map<string, RunningInformer>()
  readonly #stopping = new AbortController()

  /** Starts the informer of a kind unless it runs. `onDelete` is called with the namespace of each deleted object. */
  start(options: InformerOptions<KubeObject>, onDelete: (namespace: string) => void): void {
    const path = collectionPath(options.resource)
    if (this.#running.has(path) || this.#stopping.signal.aborted) return
    const informer = new Informer(options)
    informer.onChange((object, old) => {
      if (!object && old) onDelete(old.metadata.namespace ?? '')
    })
    const running: RunningInformer = {
      informer,
      isSynced: false,
      ended: informer.run(this.#stopping.signal, () => {
        running.isSynced = true
      }),
    }
    this.#running.set(path, running)
  }

  /** The objects of a namespace; undefined until the informer is synced. */
  in(resource: Resource, namespace: string): Iterable<KubeObject> | undefined {
    const running = this.#running.get(collectionPath(resource))
    return running?.isSynced ? running.informer.in(namespace) : undefined
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }
}
