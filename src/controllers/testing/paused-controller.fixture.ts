/** Runs one controller on a paused clock. Its objects are in memory, and its writes are recorded. */
import { setTimeout as delay } from 'node:timers/promises'
import { defaultFeatures } from '../../api/features/feature-gates.ts'
import { type RunningController, runController } from '../../client/controller/controller.ts'
import type { ChangeHandler } from '../../client/informers/informer.ts'
import type { IndexFunction } from '../../client/informers/object-index.ts'
import { keyOf, ObjectStore } from '../../client/informers/object-store.ts'
import type { SharedInformers } from '../../client/informers/shared-informers.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { ClockMemory } from '../../lib/clock/clock-memory.ts'
import { MovableClock } from '../../lib/clock/movable-clock.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { notFound } from '../../machinery/status-error.ts'
import type { ControllerDescriptor } from '../descriptor.ts'
import { FlagValues } from '../flags.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const none = () => Promise.reject(new Error('signing is not available'))

interface Kind {
  readonly store: ObjectStore<KubeObject>
  readonly handlers: ChangeHandler<KubeObject>[]
}

export class PausedController {
  /** Paused at the start of 2026. */
  readonly clock = new MovableClock(new ClockMemory(), { now: () => start, monotonic: () => 0 })
  /** For example `create jobs/n/report`. */
  readonly writes: string[] = []
  /** Documents by path, for `client.read`. */
  readonly documents = new Map<string, unknown>()
  readonly #kinds = new Map<string, Kind>()
  #running: RunningController | undefined

  constructor() {
    this.clock.move(0, 0)
  }

  /** Starts the controller `name` of `descriptors` with its default flags. */
  async run(descriptors: readonly ControllerDescriptor[], name: string): Promise<void> {
    const { clock } = this
    const descriptor = descriptors.find((one) => one.name === name)!
    const environment = { rootCA: '', signer: { read: none, sign: none }, features: defaultFeatures, clock }
    const flags = new FlagValues(descriptor.flags ?? [], {})
    const controller = await descriptor.make(environment, flags, new MetricsRegistry())
    const informers = this.#informers() as unknown as SharedInformers
    const client = this.#client() as unknown as RestClient
    this.#running = runController(controller, { informers, client, clock }, () => {})
    await this.#running.synced
    // The first reconciles end before the clock moves.
    await this.pass(0)
  }

  /** Writes an object into the cache, and notifies the controller. */
  set<T extends KubeObject>(resource: Resource<T>, object: T): void {
    const { store, handlers } = this.#kind(resource)
    const old = store.byKey(keyOf(object))
    store.set(keyOf(object), object)
    for (const handler of handlers) handler(object, old)
  }

  get<T extends KubeObject>(resource: Resource<T>, key: string): T {
    return this.#kind(resource).store.byKey(key) as T
  }

  /** Moves the clock. Resolves with the writes since then, when the controller has done what is due. */
  async pass(ms: number): Promise<readonly string[]> {
    const before = this.writes.length
    this.clock.move(ms, 0)
    await delay(25)
    return this.writes.slice(before)
  }

  async stop(): Promise<void> {
    await this.#running?.stop()
    this.clock.stop()
  }

  #kind(resource: Resource): Kind {
    const kind = this.#kinds.get(resource.plural) ?? { store: new ObjectStore(), handlers: [] }
    this.#kinds.set(resource.plural, kind)
    return kind
  }

  #informers() {
    return {
      of: (resource: Resource) => {
        const { store, handlers } = this.#kind(resource)
        return {
          get: (namespace: string, name: string) => store.byKey(namespace ? `${namespace}/${name}` : name),
          all: () => store.all(),
          in: (namespace: string) => store.in(namespace),
          by: (index: IndexFunction<KubeObject>, value: string) => store.by(index, value),
          onChange(handler: ChangeHandler<KubeObject>) {
            handlers.push(handler)
            for (const object of store.all()) handler(object, undefined)
          },
        }
      },
      synced: async () => {},
      find: () => undefined,
    }
  }

  #client() {
    const record = (verb: string, { plural }: Resource, key: string): void => {
      // Events are written in the background.
      if (plural !== 'events') this.writes.push(`${verb} ${plural}/${key}`)
    }
    const write = (verb: string) => async (resource: Resource, object: KubeObject) => {
      record(verb, resource, keyOf(object))
      const uid = object.metadata.uid ?? `${this.writes.length}`
      const written = { ...object, metadata: { ...object.metadata, uid, resourceVersion: `${this.writes.length}` } }
      if (resource.plural !== 'events') this.set(resource, written)
      return written
    }
    const find = async (resource: Resource, namespace: string, name: string) => {
      const object = this.#kind(resource).store.byKey(namespace ? `${namespace}/${name}` : name)
      if (!object) throw notFound({ group: resource.group, name: resource.plural }, name)
      return object
    }
    return {
      get: find,
      create: write('create'),
      updateStatus: write('update status of'),
      update: async (resource: Resource, object: KubeObject & { readonly spec?: unknown }, subresource = '') =>
        record(`update ${subresource} of`, resource, `${keyOf(object)} ${JSON.stringify(object.spec)}`),
      patch: async (resource: Resource, namespace: string, name: string, patch: object) => {
        record('patch', resource, namespace ? `${namespace}/${name}` : name)
        const object = await find(resource, namespace, name)
        return { ...object, ...patch, metadata: object.metadata }
      },
      delete: async (resource: Resource, namespace: string, name: string) =>
        record('delete', resource, `${namespace}/${name}`),
      read: async (path: string) => this.documents.get(path.split('?')[0] ?? ''),
    }
  }
}
