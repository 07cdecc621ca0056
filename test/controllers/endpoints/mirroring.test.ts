/** Mirroring of manually managed Endpoints to slices. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { backends, core } from './backends.ts'

test('EndpointSliceMirroring should mirror a custom Endpoints resource through create update and delete', async (t) => {
  const b = await backends(t)
  await b.service('hand', { selector: undefined })
  const subsets = (ip: string) => [{ addresses: [{ ip }], ports: [{ name: 'example', port: 80, protocol: 'TCP' }] }]
  const made = await b.cluster.call('POST', `${core}/endpoints`, {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'hand' },
    subsets: subsets('10.1.2.3'),
  })
  await waitFor('the slice', async () => (await b.shown('hand')) === '10.1.2.3: example 80')
  const [slice] = await b.slices('hand')
  assert.equal(
    slice?.metadata.labels['endpointslice.kubernetes.io/managed-by'],
    'endpointslicemirroring-controller.k8s.io',
  )
  assert.deepEqual(
    slice?.metadata.ownerReferences?.map(({ kind, name }) => [kind, name]),
    [['Endpoints', 'hand']],
  )
  await b.cluster.call('PUT', `${core}/endpoints/hand`, { ...made, subsets: subsets('10.2.3.4') })
  await waitFor('the other address', async () => (await b.shown('hand')) === '10.2.3.4: example 80')
  assert.equal((await b.slices('hand'))[0]?.metadata.name, slice?.metadata.name)
  await b.delete('endpoints/hand')
  await waitFor('the slice to be deleted', async () => (await b.slices('hand')).length === 0)
})

test('a Service that gets a selector gets its own slices, and skip-mirror is respected', async (t) => {
  const b = await backends(t)
  const subsets = [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }]
  const labels = { 'endpointslice.kubernetes.io/skip-mirror': 'true' }
  for (const [name, metadata] of [['hand', {}] as const, ['quiet', { labels }] as const]) {
    await b.cluster.call('POST', `${core}/endpoints`, {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name, ...metadata },
      subsets,
    })
    await b.service(name, { selector: undefined })
  }
  await waitFor('the slice', async () => (await b.shown('hand')) === '10.1.2.3: 80')
  assert.deepEqual(await b.slices('quiet'), [])
  await b.cluster.call(
    'PATCH',
    `${core}/services/hand`,
    { spec: { selector: { app: 'hand' } } },
    'application/merge-patch+json',
  )
  await waitFor('slices of another manager', async () => {
    const managers = (await b.slices('hand')).map(
      ({ metadata }) => metadata.labels['endpointslice.kubernetes.io/managed-by'],
    )
    return managers.join() === 'endpointslice-controller.k8s.io'
  })
})
