/**
 * The objects of volumes as they were last read: while the API cannot be reached, the volumes of running pods stay as
 * they are, and containers restart. Simultaneous reads of one object, as by many pods that start, are one request.
 */
import { LruMap } from '../../../client/events/lru-map.ts'
import type { VolumeObjects } from './volume-objects.ts'

const maxObjects = 5_000

export class LastKnownObjects implements VolumeObjects {
  readonly #objects: VolumeObjects
  readonly #log: (line: string) => void
  readonly #known = new LruMap<{ readonly value: unknown }>(maxObjects)
  readonly #reads = new Map<string, Promise<unknown>>()

  constructor(objects: VolumeObjects, log: (line: string) => void) {
    this.#objects = objects
    this.#log = log
  }

  configMap: VolumeObjects['configMap'] = (namespace, name) =>
    this.#read(`configmap ${namespace}/${name}`, () => this.#objects.configMap(namespace, name))

  secret: VolumeObjects['secret'] = (namespace, name) =>
    this.#read(`secret ${namespace}/${name}`, () => this.#objects.secret(namespace, name))

  claim: VolumeObjects['claim'] = (namespace, name) =>
    this.#read(`persistentvolumeclaim ${namespace}/${name}`, () => this.#objects.claim(namespace, name))

  persistentVolume: VolumeObjects['persistentVolume'] = (name) =>
    this.#read(`persistentvolume ${name}`, () => this.#objects.persistentVolume(name))

  trustBundle: VolumeObjects['trustBundle'] = (name) =>
    this.#read(`clustertrustbundle ${name}`, () => this.#objects.trustBundle(name))

  trustBundles: VolumeObjects['trustBundles'] = () =>
    this.#read('clustertrustbundles', () => this.#objects.trustBundles())

  #read<T>(key: string, read: () => Promise<T>): Promise<T> {
    const current = this.#reads.get(key)
    if (current) return current as Promise<T>
    const result = this.#readOrRecall(key, read).finally(() => this.#reads.delete(key))
    this.#reads.set(key, result)
    return result
  }

  async #readOrRecall<T>(key: string, read: () => Promise<T>): Promise<T> {
    try {
      const value = await read()
      this.#known.set(key, { value })
      return value
    } catch (error) {
      const known = this.#known.get(key)
      if (!known) throw error
      this.#log(`cannot read ${key}, using it as it was: ${(error as Error).message}`)
      return known.value as T
    }
  }
}
