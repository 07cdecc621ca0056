/** An in-memory cluster for tests and benchmarks: objects for a scheduler to watch, and a client for its requests. */
import { Connection } from '../../client/connection/connection.ts'
import type { IndexFunction } from '../../client/informers/object-index.ts'
import { keyOf, ObjectStore } from '../../client/informers/object-store.ts'
import type { Pod } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import { type CallOptions, RestClient } from '../../client/rest/rest-client.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { notFound } from '../../machinery/status-error.ts'
import type { Lister } from '../framework/handle.ts'
import type { ClusterSource } from '../runtime/cluster-source.ts'

type Handler = (object: KubeObject | undefined, before: KubeObject | undefined) => void

/** An event recorded for an object. */
export interface RecordedNote {
  readonly reason: string
  readonly note: string
  readonly name: string
}

export class MemoryCluster implements ClusterSource {
  readonly client: RestClient
  readonly events: RecordedNote[] = []
  /** Called when a pod is to be deleted. Returns false to delay the deletion. */
  onDelete: (pod: Pod) => boolean = () => true
  /** Called before a pod is bound. */
  onBind: (pod: Pod, node: string) => void = () => {}
  readonly #stores = new Map<string, ObjectStore<KubeObject>>()
  readonly #handlers = new Map<string, Set<Handler>>()
  #version = 0

  constructor() {
    this.client = new MemoryClient((method, path, body) => this.#answer(method, path, body))
  }

  /** Creates or replaces objects. */
  put(...objects: readonly KubeObject[]): void {
    for (const object of objects) {
      const store = this.#store(object.kind)
      const before = store.byKey(keyOf(object))
      const after = { ...object, metadata: { ...object.metadata, resourceVersion: `${++this.#version}` } }
      store.set(keyOf(object), after)
      for (const handler of this.#handlers.get(object.kind) ?? []) handler(after, before)
    }
  }

  remove(kind: string, key: string): void {
    const store = this.#store(kind)
    const before = store.byKey(key)
    if (!before) return
    store.delete(key)
    for (const handler of this.#handlers.get(kind) ?? []) handler(undefined, before)
  }

  pod(name: string, namespace = 'default'): Pod | undefined {
    return this.#store('Pod').byKey(`${namespace}/${name}`) as Pod | undefined
  }

  lister<T extends KubeObject>({ kind }: Resource<T>): Lister<T> {
    const store = this.#store(kind) as unknown as ObjectStore<T>
    return {
      get: (namespace, name) => store.byKey(namespace ? `${namespace}/${name}` : name),
      all: () => store.all(),
      in: (namespace) => store.in(namespace),
      by: (values: IndexFunction<T>, value) => store.by(values, value),
      onChange: (handler) => {
        const known = this.#handlers.get(kind) ?? new Set()
        this.#handlers.set(kind, known.add(handler as Handler))
        for (const object of store.all()) handler(object, undefined)
        return () => known.delete(handler as Handler)
      },
    }
  }

  async synced(): Promise<void> {}
  async stop(): Promise<void> {}

  #store(kind: string): ObjectStore<KubeObject> {
    let store = this.#stores.get(kind)
    if (!store) this.#stores.set(kind, (store = new ObjectStore()))
    return store
  }

  /** Answers requests that bind, patch and delete pods, and that record events. */
  #answer(method: string, path: string, body: Readonly<Record<string, unknown>>): unknown {
    const [, namespace = '', name = '', subresource] = /\/namespaces\/([^/]+)\/pods\/([^/?]+)\/?(\w*)/.exec(path) ?? []
    if (!name) {
      const { reason, note, regarding } = body as { reason?: string; note?: string; regarding?: { name?: string } }
      if (reason) this.events.push({ reason, note: note ?? '', name: regarding?.name ?? '' })
      return body
    }
    const pod = this.pod(name, namespace)
    if (!pod) throw notFound({ group: '', name: 'pods' }, name)
    if (method === 'DELETE') {
      if (this.onDelete(pod)) this.remove('Pod', `${namespace}/${name}`)
    } else if (subresource === 'binding') {
      const { target } = body as { target?: { name?: string } }
      this.onBind(pod, target?.name ?? '')
      this.put({ ...pod, spec: { ...pod.spec, nodeName: target?.name } } as Pod)
    } else if (method === 'PATCH') this.put(withStatus(pod, (body as { status: NonNullable<Pod['status']> }).status))
    return {}
  }
}

function withStatus(pod: Pod, { conditions = [], nominatedNodeName }: NonNullable<Pod['status']>): Pod {
  const types = new Set(conditions.map(({ type }) => type))
  const kept = pod.status?.conditions?.filter(({ type }) => !types.has(type)) ?? []
  return {
    ...pod,
    status: {
      ...pod.status,
      conditions: [...kept, ...conditions],
      ...(nominatedNodeName !== undefined && { nominatedNodeName: nominatedNodeName ?? undefined }),
    },
  }
}

class MemoryClient extends RestClient {
  readonly #answer: (method: string, path: string, body: Readonly<Record<string, unknown>>) => unknown

  constructor(answer: (method: string, path: string, body: Readonly<Record<string, unknown>>) => unknown) {
    super(new Connection({ url: 'https://127.0.0.1:0' }))
    this.#answer = answer
  }

  override async request<T>(method: string, path: string, { body }: CallOptions = {}): Promise<T> {
    return this.#answer(method, path, (body ?? {}) as Readonly<Record<string, unknown>>) as T
  }
}
