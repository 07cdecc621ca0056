/**
 * The objects of a fresh server, compared with those of kube-apiserver 1.36.2 and its controllers
 * (`objects-1.36.json.gz`).
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

interface Item {
  metadata: Record<string, unknown> & { readonly name: string; readonly namespace?: string }
  status?: { conditions?: Record<string, unknown>[] }
  spec?: { ports?: { targetPort?: number }[] }
}

interface Created {
  readonly metadata: {
    readonly uid: string
    readonly creationTimestamp: string
    readonly managedFields: readonly { readonly time: string }[]
  }
}

type Lists = Readonly<Record<string, readonly Item[]>>

const file = readFileSync(join(import.meta.dirname, 'objects-1.36.json.gz'))
const recorded = JSON.parse(gunzipSync(file).toString()) as Lists

/** Upstream registers no local APIService for the group of aggregation itself. */
const ours = new Set(['v1.apiregistration.k8s.io'])

/** Returns the object without fields that differ between servers: identity, times, managers, ports. */
function comparable({ metadata, status, spec, ...rest }: Item): [string, unknown] {
  const { uid: _, resourceVersion: _r, creationTimestamp: _c, managedFields: _m, generation: _g, ...kept } = metadata
  const conditions = status?.conditions?.map(({ lastTransitionTime: _t, ...condition }) => condition)
  const ports = spec?.ports?.map(({ targetPort: _p, ...port }) => port)
  const { kind: _k, apiVersion: _a, ...fields } = rest as Record<string, unknown>
  const object = {
    ...fields,
    metadata: kept,
    ...(spec && { spec: { ...spec, ...(ports && { ports }) } }),
    ...(status && { status: { ...status, ...(conditions && { conditions }) } }),
  }
  return [`${kept.namespace ?? ''}/${kept.name}`, object]
}

const byName = (items: readonly Item[]): object =>
  Object.fromEntries(
    items
      .filter(({ metadata }) => !ours.has(metadata.name))
      .map(comparable)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )

for (const order of ['first', 'second'])
  test(`the ${order} fresh server of a process has exactly the objects of 1.36`, async (t) => {
    const cluster = await testCluster(t, { controllers: ['*'] })
    for (const [path, items] of Object.entries(recorded))
      await t.test(path, async () => {
        const wanted = byName(items)
        // Controllers complete some: the finalizer of the ServiceCIDR, the rules of aggregated roles.
        await waitFor(path, async () => {
          const { items: live } = (await cluster.call('GET', path)) as unknown as { readonly items: readonly Item[] }
          assert.deepEqual(byName(live), wanted)
          return true
        })
      })
  })

test('first objects that are copied have UIDs of their own and the time of their cluster', async (t) => {
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin'
  const created = async (): Promise<Created> => {
    const cluster = await testCluster(t, { controllers: false })
    return (await cluster.call('GET', path)) as unknown as Created
  }
  const [first, second] = [await created(), await created()]
  assert.notEqual(first.metadata.uid, second.metadata.uid)
  const { creationTimestamp, managedFields } = second.metadata
  assert.ok(Date.now() - Date.parse(creationTimestamp) < 60_000, creationTimestamp)
  for (const { time } of managedFields) assert.equal(time, creationTimestamp)
})
