/** Volumes with the keys of configMaps and secrets, alone and projected, for tests of all four. */
import { configMaps, secrets } from '../../../src/client/kinds.ts'
import type { RestClient } from '../../../src/client/rest/rest-client.ts'
import type { PodSpec } from '../../../src/kubelet/pod-types.ts'

type Volume = NonNullable<PodSpec['volumes']>[number]
type Data = Readonly<Record<string, string>>

interface KeySettings {
  readonly defaultMode?: number
  readonly items?: { key: string; path: string; mode?: number }[]
  readonly optional?: boolean
}

/** A kind of object, and a kind of volume that shows its keys as files. Objects are in `default` by default. */
export interface KeyFamily {
  volume(name: string, object: string, settings?: KeySettings): Volume
  create(client: RestClient, name: string, data: Data, namespace?: string): Promise<void>
  /** Replaces all keys. */
  replace(client: RestClient, name: string, data: Data): Promise<void>
  /** Applies a merge patch. */
  merge(client: RestClient, name: string, patch: object): Promise<void>
  delete(client: RestClient, name: string): Promise<void>
}

export const base64 = (content: string | Buffer): string => Buffer.from(content).toString('base64')

const encoded = (data: Data): Data => Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)]))

const namespace = 'default'

const configMapCalls: Omit<KeyFamily, 'volume'> = {
  async create(client, name, data, of = namespace) {
    await client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: of, name },
      data: { ...data },
    })
  },
  async replace(client, name, data) {
    await client.update(configMaps, { ...(await client.get(configMaps, namespace, name)), data: { ...data } })
  },
  async merge(client, name, patch) {
    await client.patch(configMaps, namespace, name, patch)
  },
  async delete(client, name) {
    await client.delete(configMaps, namespace, name)
  },
}

const secretCalls: Omit<KeyFamily, 'volume'> = {
  async create(client, name, data, of = namespace) {
    await client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: of, name },
      data: encoded(data),
    })
  },
  async replace(client, name, data) {
    await client.update(secrets, { ...(await client.get(secrets, namespace, name)), data: encoded(data) })
  },
  async merge(client, name, patch) {
    await client.patch(secrets, namespace, name, patch)
  },
  async delete(client, name) {
    await client.delete(secrets, namespace, name)
  },
}

/** configMap, projected configMap, secret, projected secret. */
export const keyFamilies: readonly KeyFamily[] = [
  {
    ...configMapCalls,
    volume: (name, object, settings) => ({ name, configMap: { name: object, ...settings } }),
  },
  {
    ...configMapCalls,
    volume: (name, object, { defaultMode, ...settings } = {}) => ({
      name,
      projected: { defaultMode, sources: [{ configMap: { name: object, ...settings } }] },
    }),
  },
  {
    ...secretCalls,
    volume: (name, object, settings) => ({ name, secret: { secretName: object, ...settings } }),
  },
  {
    ...secretCalls,
    volume: (name, object, { defaultMode, ...settings } = {}) => ({
      name,
      projected: { defaultMode, sources: [{ secret: { name: object, ...settings } }] },
    }),
  },
]
