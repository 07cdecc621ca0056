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
    this.#publish({ type: before ? 'MODIFIED' : 'ADDED', revision: this.revision, namespace, apple: stored })
    return stored
  }

  delete(namespace: string, name: string): Apple {
    const apple = this.#apples.get(`${namespace}/${name}`)!
    this.#apples.delete(`${namespace}/${name}`)
    this.#publish({ type: 'DELETED', revision: ++this.revision, namespace, apple })
    return apple
  }

  /** Notifies the listener of events after a revision, past and future. The returned function stops the watch. */
  watch(namespace: string | undefined, since: number, listener: Listener): () => void {
    const notify = (event: Event): void => {
      if (event.revision > since && (namespace === undefined || event.namespace === namespace))
        listener(event.type, event.apple)
    }
    this.#events.forEach(notify)
    this.#watches.add(notify)
    return () => this.#watches.delete(notify)
  }

  #publish(event: Event): void {
    this.#events.push(event)
    for (const notify of this.#watches) notify(event)
  }
}

export const appleList = (items: readonly Apple[], revision: number): object => ({
  kind: 'AppleList',
  apiVersion: 'orchard.example.com/v1',
  metadata: { resourceVersion: `${revision}` },
  items,
})
