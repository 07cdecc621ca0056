/** Slices and Endpoints of Services follow the pods. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { backends, core, slicesPath } from './backends.ts'

const merge = 'application/merge-patch+json'

test('EndpointSlice should create Endpoints and EndpointSlices for Pods matching a Service', async (t) => {
  const b = await backends(t)
  await b.service(
    'web',
    {
      ports: [
        { name: 'http', port: 80, targetPort: 8080 },
        { name: 'm', port: 90, targetPort: 'metrics' },
      ],
    },
    { labels: { tier: 'front' } },
  )
  await b.show('web', ': ')
  await b.pod('a', { ips: ['10.1.0.1'], ports: { metrics: 9100 } })
  await b.pod('b', { ips: ['10.1.0.2'], ports: { metrics: 9100 }, ready: false })
  await b.show('web', '10.1.0.1,-10.1.0.2: http 8080,m 9100')
  const [slice] = await b.slices('web')
  assert.deepEqual(slice?.metadata.labels, {
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    'kubernetes.io/service-name': 'web',
    tier: 'front',
  })
  assert.deepEqual(
    slice?.metadata.ownerReferences?.map(({ kind, name }) => [kind, name]),
    [['Service', 'web']],
  )
  assert.match(slice?.metadata.annotations?.['endpoints.kubernetes.io/last-change-trigger-time'] ?? '', /^\d{4}-/)
  const { metadata } = await b.cluster.call('GET', `${core}/endpoints/web`)
  assert.deepEqual(metadata.labels, { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller', tier: 'front' })
})

test(
  'EndpointsController should create and delete Endpoints ' + 'for a Service with a selector that matches no pods',
  async (t) => {
    const b = await backends(t)
    await b.service('web')
    await b.show('web', ': ')
    const { subsets } = await b.cluster.call('GET', `${core}/endpoints/web`)
    assert.deepEqual(subsets ?? [], [])
    await b.delete('services/web')
    await waitFor('the Endpoints to be deleted', async () => (await b.shownAsEndpoints('web')) === 'none')
  },
)

test('EndpointsController should create Endpoints for Pods matching a Service', async (t) => {
  const b = await backends(t)
  const labels = { first: { one: 'on', both: 'on' }, second: { two: 'on', both: 'on' } }
  await b.pod('pod1', { ips: ['10.1.0.1'], labels: labels.first, ports: { 'example-name': 3000 } })
  await b.pod('pod2', { ips: ['10.1.0.2'], labels: labels.second, ports: { 'example-name': 3001 } })
  const service = (name: string, selector: object, targetPort: number | string) =>
    b.service(name, { selector, publishNotReadyAddresses: true, ports: [{ name: 'http', port: 80, targetPort }] })
  await service('example-int-port', { one: 'on' }, 3000)
  await service('example-named-port', { both: 'on' }, 'example-name')
  await service('example-no-match', { none: 'on' }, 8080)
  await b.show('example-int-port', '10.1.0.1: http 3000')
  await b.show('example-named-port', '10.1.0.1: http 3000 | 10.1.0.2: http 3001')
  await b.show('example-no-match', ': ')
  const { subsets } = await b.cluster.call('GET', `${core}/endpoints/example-named-port`)
  assert.equal((subsets as unknown[]).length, 2)
})

test('EndpointSlice should have Endpoints and EndpointSlices pointing to API Server', async (t) => {
  const b = await backends(t)
  assert.match(await b.shownAsEndpoints('kubernetes'), /^[\d.]+: https \d+$/)
  assert.match(await b.shown('kubernetes'), /^[\d.]+: https \d+$/)
})

test('EndpointSlice should support creating EndpointSlice API operations', async (t) => {
  const { cluster } = await backends(t)
  const slice = (name: string) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, labels: { by: 'hand' } },
    addressType: 'IPv4',
    endpoints: [],
  })
  const selected = `${slicesPath}?labelSelector=by%3Dhand`
  const count = async (): Promise<number> => ((await cluster.call('GET', selected)).items as unknown[]).length
  for (const name of ['a', 'b', 'c']) await cluster.call('POST', slicesPath, slice(name))
  const a = await cluster.call('GET', `${slicesPath}/a`)
  assert.equal(await count(), 3)
  await cluster.call('PATCH', `${slicesPath}/a`, { metadata: { annotations: { patched: 'true' } } }, merge)
  const patched = await cluster.call('GET', `${slicesPath}/a`)
  assert.deepEqual(patched.metadata.annotations, { patched: 'true' })
  assert.equal(
    (await cluster.call('PUT', `${slicesPath}/a`, { ...patched, ports: [{ port: 80 }] })).metadata.uid,
    a.metadata.uid,
  )
  await cluster.call('DELETE', `${slicesPath}/a`)
  assert.equal(await count(), 2)
  await cluster.call('DELETE', selected)
  assert.equal(await count(), 0)
})

test('Services should serve a basic endpoint from pods', async (t) => {
  const b = await backends(t)
  await b.service('web')
  await b.show('web', ': ')
  await b.pod('a', { ips: ['10.1.0.1'] })
  await b.show('web', '10.1.0.1: http 8080')
  await b.pod('b', { ips: ['10.1.0.2'] })
  await b.show('web', '10.1.0.1,10.1.0.2: http 8080')
  await b.delete('pods/a?gracePeriodSeconds=0')
  await b.show('web', '10.1.0.2: http 8080')
  await b.delete('pods/b?gracePeriodSeconds=0')
  await b.show('web', ': ')
})

test('Services should serve multiport endpoints from pods', async (t) => {
  const b = await backends(t)
  await b.service('web', {
    ports: [
      { name: 'one', port: 80, targetPort: 'first' },
      { name: 'two', port: 81, targetPort: 'second' },
    ],
  })
  await b.pod('a', { ips: ['10.1.0.1'], ports: { first: 100 } })
  await b.show('web', '10.1.0.1: one 100')
  await b.pod('b', { ips: ['10.1.0.2'], ports: { second: 101 } })
  await b.show('web', '10.1.0.1: one 100 | 10.1.0.2: two 101')
  await b.delete('pods/a?gracePeriodSeconds=0')
  await b.show('web', '10.1.0.2: two 101')
  await b.delete('pods/b?gracePeriodSeconds=0')
  await b.show('web', ': ')
})

test('Endpoints should test the lifecycle of an Endpoint', async (t) => {
  const { cluster } = await backends(t)
  const subsets = (ip: string, port: number) => [
    { addresses: [{ ip }], ports: [{ name: 'http', port, protocol: 'TCP' }] },
  ]
  const made = await cluster.call('POST', `${core}/endpoints`, {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'hand', labels: { by: 'hand' } },
    subsets: subsets('10.0.0.24', 80),
  })
  await cluster.call('PUT', `${core}/endpoints/hand`, {
    ...made,
    metadata: { ...made.metadata, labels: { by: 'hand', changed: 'yes' } },
  })
  await cluster.call('PATCH', `${core}/endpoints/hand`, { subsets: subsets('10.0.0.25', 8080) }, merge)
  const found = await cluster.call('GET', `${core}/endpoints/hand`)
  assert.deepEqual([found.metadata.labels, found.subsets], [{ by: 'hand', changed: 'yes' }, subsets('10.0.0.25', 8080)])
  await cluster.call('DELETE', `${core}/endpoints?labelSelector=by%3Dhand`)
  await assert.rejects(cluster.call('GET', `${core}/endpoints/hand`), / 404 /)
})

test('Service endpoints latency should not be very high', async (t) => {
  const b = await backends(t)
  const names = Array.from({ length: 50 }, (_, i) => `s${i}`)
  await b.pod('p', { ips: ['10.1.0.1'], labels: { app: 'p' } })
  await Promise.all(names.map((name) => b.service(name, { selector: { app: 'p' } })))
  await waitFor('all Services to have the pod', async () => {
    const shown = await Promise.all(names.map((name) => b.shown(name)))
    return shown.every((line) => line === '10.1.0.1: http 8080')
  })
})

test('a terminating pod serves until it is deleted, and a pod counts when its node exists', async (t) => {
  const b = await backends(t)
  await b.service('web')
  await b.pod('a', { ips: ['10.1.0.1'] })
  await b.pod('late', { ips: ['10.1.0.2'], node: 'later' })
  await waitFor('the pod to be listed', async () => (await b.shown('web')) === '10.1.0.1: http 8080')
  await b.node('later', 'east')
  await waitFor('the pod on the new node', async () => (await b.shown('web')) === '10.1.0.1,10.1.0.2: http 8080')
  assert.deepEqual(
    (await b.slices('web')).flatMap(({ endpoints }) => (endpoints ?? []).map(({ zone }) => zone)).sort(),
    ['east', undefined],
  )
  await b.delete('pods/a')
  await waitFor('the pod to be on its way', async () => (await b.shown('web')) === '-10.1.0.1,10.1.0.2: http 8080')
  const going = (await b.slices('web'))
    .flatMap(({ endpoints }) => endpoints ?? [])
    .find(({ addresses }) => addresses[0] === '10.1.0.1')
  assert.deepEqual(going?.conditions, { ready: false, serving: true, terminating: true })
  assert.equal(await b.shownAsEndpoints('web'), '10.1.0.2: http 8080')
})

test('many pods fill several slices, and later changes write few of them', async (t) => {
  const b = await backends(t)
  const ip = (n: number): string => `10.1.${n >> 8}.${n & 255}`
  await Promise.all(Array.from({ length: 130 }, (_, n) => b.pod(`p${n}`, { ips: [ip(n)] })))
  await b.service('web')
  const full = await waitFor('all pods to be listed', async () => {
    const slices = await b.slices('web')
    return slices.reduce((sum, { endpoints }) => sum + (endpoints?.length ?? 0), 0) === 130 && slices
  })
  assert.deepEqual(full.map(({ endpoints }) => endpoints?.length).sort(), [100, 30])
  await b.runs('p0', [ip(0)], false)
  const changed = await waitFor('the change to be listed', async () => {
    const slices = await b.slices('web')
    return slices.some(({ endpoints }) => endpoints?.some(({ conditions }) => !conditions.ready)) && slices
  })
  const before = new Set(full.map(({ metadata }) => metadata.resourceVersion))
  assert.equal(changed.filter(({ metadata }) => !before.has(metadata.resourceVersion)).length, 1)
})

test('a dual-stack Service has slices of both families, and Endpoints of the first', async (t) => {
  const b = await backends(t, { serviceClusterIpRange: '10.0.0.0/16,fd00:1::/108' })
  await b.service('web', { ipFamilyPolicy: 'RequireDualStack' })
  await b.pod('a', { ips: ['10.1.0.1', 'fd00::1'] })
  await waitFor('slices of both', async () => (await b.shown('web')) === '10.1.0.1: http 8080 | fd00::1: http 8080')
  assert.deepEqual((await b.slices('web')).map(({ addressType }) => addressType).sort(), ['IPv4', 'IPv6'])
  await waitFor('the Endpoints', async () => (await b.shownAsEndpoints('web')) === '10.1.0.1: http 8080')
  await b.cluster.call('PATCH', `${core}/services/web`, { spec: { ipFamilyPolicy: 'SingleStack' } }, merge)
  await waitFor('one family to be left', async () => (await b.shown('web')) === '10.1.0.1: http 8080')
})

test('Endpoints of a deleted Service are deleted unless they are manually managed', async (t) => {
  const b = await backends(t)
  const labels = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' }
  for (const [name, metadata] of [['hand', {}] as const, ['left', { labels }] as const]) {
    await b.cluster.call('POST', `${core}/endpoints`, {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name, ...metadata },
    })
  }
  await waitFor('the orphaned ones to be deleted', async () => (await b.shownAsEndpoints('left')) === 'none')
  assert.equal(await b.shownAsEndpoints('hand'), '')
  await b.service('web')
  await b.show('web', ': ')
  await b.delete('endpoints/web')
  await b.show('web', ': ')
})

test('topology hints follow the zones of nodes and cause events', async (t) => {
  const b = await backends(t)
  await b.node('east', 'east')
  await b.node('west', 'west')
  // A node without a zone removes all hints.
  await b.cluster.call('DELETE', '/api/v1/nodes/n')
  await b.pod('a', { ips: ['10.1.0.1', 'fd00::1'], node: 'east' })
  await b.pod('b', { ips: ['10.1.0.2', 'fd00::2'], node: 'west' })
  await b.service('web', { trafficDistribution: 'PreferClose' })
  const zones = async (): Promise<string[]> =>
    (await b.slices('web'))
      .flatMap(({ endpoints }) => (endpoints ?? []).map(({ hints }) => hints?.forZones?.[0]?.name ?? 'none'))
      .sort()
  await waitFor('hints', async () => (await zones()).join() === 'east,west')
  const annotations = { 'service.kubernetes.io/topology-mode': 'Auto' }
  await b.cluster.call(
    'PATCH',
    `${core}/services/web`,
    { metadata: { annotations }, spec: { trafficDistribution: null } },
    merge,
  )
  await waitFor('the event', async () => {
    const { items } = await b.cluster.call('GET', `${core}/events?fieldSelector=reason%3DTopologyAwareHintsEnabled`)
    const [event] = items as { message: string; source: { component: string } }[]
    return (
      event?.message === 'Topology Aware Hints has been enabled, addressType: IPv4' &&
      event.source.component === 'endpoint-slice-controller'
    )
  })
  assert.deepEqual(await zones(), ['east', 'west'])
})
