/** Apples of the extension server, with their history for watches. */

export interface Apple {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly resourceVersion?: string
    readonly [field: string]: unknown
  }
  readonly spec?: unknown
}

type Listener = (type: 'ADDED' | 'MODIFIED' | 'DELETED', apple: Apple) => void

interface Event {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  readonly namespace: string
  readonly apple: Apple
}

export class Apples {
  revision = 1
  readonly #apples = new Map<string, Apple>()
  readonly #events: Event[] = []
  readonly #watches = new Set<(event: Event) => void>()

  get(namespace: string, name: string): Apple | undefined {
    return this.#apples.get(`${namespace}/${name}`)
  }

  list(namespace: string | undefined): Apple[] {
    return [...this.#apples.values()].filter(
      ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
    )
  }

  put(namespace: string, apple: Apple): Apple {
    const key = `${namespace}/${apple.metadata.name}`
    const before = this.#apples.get(key)
    const metadata = {
      creationTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
      uid: crypto.randomUUID(),
      ...before?.metadata,
      ...apple.metadata,
      namespace,
      resourceVersion: `${++this.revision}`,
    }
    const stored = { ...apple, metadata }
    this.#apples.set(key, stored)
    this.#tell({ type: before ? 'MODIFIED' : 'ADDED', revision: this.revision, namespace, apple: stored })
    return stored
  }

  delete(namespace: string, name: string): Apple {
    const apple = this.#apples.get(`${namespace}/${name}`)!
    this.#apples.delete(`${namespace}/${name}`)
    this.#tell({ type: 'DELETED', revision: ++this.revision, namespace, apple })
    return apple
  }

  /** Events after a revision, and those to come. The returned function ends that. */
  watch(namespace: string | undefined, since: number, listener: Listener): () => void {
    const tell = (event: Event): void => {
      if (event.revision > since && (namespace === undefined || event.namespace === namespace))
        listener(event.type, event.apple)
    }
    this.#events.forEach(tell)
    this.#watches.add(tell)
    return () => this.#watches.delete(tell)
  }

  #tell(event: Event): void {
    this.#events.push(event)
    for (const watch of this.#watches) watch(event)
  }
}

export const appleList = (items: readonly Apple[], revision: number): object => ({
  kind: 'AppleList',
  apiVersion: 'orchard.example.com/v1',
  metadata: { resourceVersion: `${revision}` },
  items,
})
