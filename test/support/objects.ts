/** Test objects: pods of realistic size, and ConfigMaps. */
import assert from 'node:assert/strict'
import type { Client } from './api-client.ts'

export const podsPath = '/api/v1/namespaces/default/pods'
export const configMapsPath = '/api/v1/namespaces/default/configmaps'

/** Returns for example `o-000042`: names sort by number. */
export const nameOf = (i: number): string => `o-${String(i).padStart(6, '0')}`

export const podOf = (i: number, labels: Readonly<Record<string, string>> = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: nameOf(i), labels: { app: 'test', shard: String(i % 10), ...labels } },
  spec: {
    nodeSelector: { never: 'here' },
    containers: [
      { name: 'main', image: 'registry.example/app:1', resources: { requests: { cpu: '10m', memory: '16Mi' } } },
    ],
  },
})

export const configMapOf = (i: number, labels: Readonly<Record<string, string>> = {}, bytes = 20): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: nameOf(i), labels },
  data: { k: 'x'.repeat(bytes) },
})

/** Calls `work` for the numbers from `from` to `to` (exclusive), `workers` at a time. */
export async function each(
  from: number,
  to: number,
  workers: number,
  work: (i: number) => Promise<unknown>,
): Promise<void> {
  let next = from
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (next < to) await work(next++)
    }),
  )
}

/** Creates objects concurrently. */
export const createAll = (
  client: Client,
  path: string,
  from: number,
  to: number,
  object: (i: number) => object,
): Promise<void> =>
  each(from, to, 32, async (i) => {
    const { status, bytes } = await client.request('POST', path, { body: object(i) })
    assert.equal(status, 201, bytes.toString())
  })
