/** DRA with a scheduler: the test creates the nodes, and writes what the driver would write. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Pod, ResourceClaim } from '../../src/client/kinds.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { readyNode } from './ready-node.ts'

const cluster = testCluster({ after }, { controllers: ['resourceclaim-controller', 'serviceaccount'], scheduler: true })
const core = '/api/v1/namespaces/default'
const dra = '/apis/resource.k8s.io/v1'
const claims = `${dra}/namespaces/default/resourceclaims`
const apiVersion = 'resource.k8s.io/v1'
const merge = 'application/merge-patch+json'

const get = async <T>(api: TestCluster, path: string): Promise<T> => (await api.call('GET', path)) as unknown as T

/** Creates a driver's ResourceSlice for a node, and a DeviceClass for it. */
async function driver(api: TestCluster, name: string, nodeName: string, devices: object[]): Promise<void> {
  const selectors = [{ cel: { expression: `device.driver == "${name}"` } }]
  await api.call('POST', `${dra}/deviceclasses`, {
    apiVersion,
    kind: 'DeviceClass',
    metadata: { name },
    spec: { selectors },
  })
  const spec = { driver: name, nodeName, pool: { name: nodeName, generation: 1, resourceSliceCount: 1 }, devices }
  await api.call('POST', `${dra}/resourceslices`, {
    apiVersion,
    kind: 'ResourceSlice',
    metadata: { name: `${nodeName}-${name}` },
    spec,
  })
}

async function pod(api: TestCluster, name: string, claim: object): Promise<void> {
  await waitFor('the account', () => get(api, `${core}/serviceaccounts/default`))
  const spec = {
    resourceClaims: [{ name: 'd', ...claim }],
    containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'd' }] } }],
  }
  await api.call('POST', `${core}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec })
}

const scheduled = (api: TestCluster, name: string): Promise<string> =>
  waitFor(`the node of ${name}`, async () => (await get<Pod>(api, `${core}/pods/${name}`)).spec?.nodeName)

const rejectionOf = (api: TestCluster, name: string): Promise<string> =>
  waitFor(`the rejection of ${name}`, async () => {
    const { status } = await get<Pod>(api, `${core}/pods/${name}`)
    return status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False')?.message
  })

test('a pod gets a device from its claim template; the next pod gets it after a delete', async () => {
  const api = await cluster
  await readyNode(api, 'without')
  await readyNode(api, 'with')
  await driver(api, 'gpu.example.com', 'with', [{ name: 'g0', attributes: { model: { string: 'x' } } }])
  const devices = { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }] }
  await api.call('POST', `${dra}/namespaces/default/resourceclaimtemplates`, {
    apiVersion,
    kind: 'ResourceClaimTemplate',
    metadata: { name: 'gpu' },
    spec: { spec: { devices } },
  })
  await pod(api, 'first', { resourceClaimTemplateName: 'gpu' })
  assert.equal(await scheduled(api, 'first'), 'with')
  const claimName = (await get<Pod>(api, `${core}/pods/first`)).status?.resourceClaimStatuses?.[0]?.resourceClaimName
  const claim = await get<ResourceClaim>(api, `${claims}/${claimName}`)
  const { allocationTimestamp, ...allocation } = claim.status?.allocation ?? {}
  assert.match(String(allocationTimestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.deepEqual(allocation, {
    devices: { results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'with', device: 'g0' }] },
    nodeSelector: {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['with'] }] }],
    },
  })
  assert.deepEqual(
    claim.status?.reservedFor?.map(({ resource, name }) => `${resource}/${name}`),
    ['pods/first'],
  )
  assert.deepEqual(claim.metadata.finalizers, ['resource.kubernetes.io/delete-protection'])

  await pod(api, 'second', { resourceClaimTemplateName: 'gpu' })
  assert.match(
    await rejectionOf(api, 'second'),
    /^0\/\d+ nodes are available: \d+ cannot allocate all claims\. still not schedulable, preemption: /,
  )
  for (const installed of installedKubectls()) {
    const kubectl = new Kubectl(installed, api.kubeconfigFile, api.folder)
    assert.match(await kubectl.ok('get resourceclaims'), new RegExp(`^${claimName} +allocated,reserved `, 'm'))
    assert.match(await kubectl.ok('describe pod second'), /FailedScheduling .*cannot allocate all claims/)
  }
  await api.call('DELETE', `${core}/pods/first?gracePeriodSeconds=0`)
  assert.equal(await scheduled(api, 'second'), 'with')
})

test('pods that share a claim are scheduled to the same node', async () => {
  const api = await cluster
  await readyNode(api, 'shared')
  await driver(api, 'net.example.com', 'shared', [{ name: 'n0' }, { name: 'n1' }])
  const devices = {
    requests: [{ name: 'all', exactly: { deviceClassName: 'net.example.com', allocationMode: 'All' } }],
  }
  await api.call('POST', claims, { apiVersion, kind: 'ResourceClaim', metadata: { name: 'net' }, spec: { devices } })
  for (const name of ['one', 'two', 'three']) await pod(api, name, { resourceClaimName: 'net' })
  for (const name of ['one', 'two', 'three']) assert.equal(await scheduled(api, name), 'shared')
  const { status } = await get<ResourceClaim>(api, `${claims}/net`)
  assert.deepEqual(
    status?.allocation?.devices?.results?.map(({ device }) => device),
    ['n0', 'n1'],
  )
  assert.equal(status.reservedFor?.length, 3)
})

test('a pod is bound when its device is ready', async () => {
  const api = await cluster
  await readyNode(api, 'fabric')
  const device = { name: 'f0', bindingConditions: ['Attached'], bindingFailureConditions: ['Broken'] }
  await driver(api, 'fabric.example.com', 'fabric', [device])
  const devices = { requests: [{ name: 'f', exactly: { deviceClassName: 'fabric.example.com' } }] }
  await api.call('POST', claims, { apiVersion, kind: 'ResourceClaim', metadata: { name: 'fabric' }, spec: { devices } })
  await pod(api, 'attached', { resourceClaimName: 'fabric' })
  await waitFor(
    'the device',
    async () => (await get<ResourceClaim>(api, `${claims}/fabric`)).status?.reservedFor?.length === 1,
  )
  assert.equal((await get<Pod>(api, `${core}/pods/attached`)).spec?.nodeName, undefined)
  const condition = {
    type: 'Attached',
    status: 'True',
    reason: 'Done',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const devicesStatus = [{ driver: 'fabric.example.com', pool: 'fabric', device: 'f0', conditions: [condition] }]
  await api.call('PATCH', `${claims}/fabric/status`, { status: { devices: devicesStatus } }, merge)
  assert.equal(await scheduled(api, 'attached'), 'fabric')
})

test('a claim whose device fails is deallocated and gets another device', async () => {
  const api = await cluster
  await readyNode(api, 'broken')
  const slow = (name: string) => ({ name, bindingConditions: ['Attached'], bindingFailureConditions: ['Broken'] })
  await driver(api, 'broken.example.com', 'broken', [slow('b0'), slow('b1')])
  const devices = { requests: [{ name: 'f', exactly: { deviceClassName: 'broken.example.com' } }] }
  await api.call('POST', claims, { apiVersion, kind: 'ResourceClaim', metadata: { name: 'broken' }, spec: { devices } })
  await pod(api, 'unlucky', { resourceClaimName: 'broken' })
  const device = async (): Promise<string | undefined> =>
    (await get<ResourceClaim>(api, `${claims}/broken`)).status?.allocation?.devices?.results?.[0]?.device
  await waitFor('the first device', async () => (await device()) === 'b0')
  const setCondition = (name: string, type: string) => {
    const condition = { type, status: 'True', reason: 'Test', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }
    const devicesStatus = [{ driver: 'broken.example.com', pool: 'broken', device: name, conditions: [condition] }]
    return api.call('PATCH', `${claims}/broken/status`, { status: { devices: devicesStatus } }, merge)
  }
  // The driver no longer publishes the failed device.
  const pool = { name: 'broken', generation: 2, resourceSliceCount: 1 }
  await api.call(
    'PATCH',
    `${dra}/resourceslices/broken-broken.example.com`,
    { spec: { pool, devices: [slow('b1')] } },
    merge,
  )
  await setCondition('b0', 'Broken')
  await waitFor('the second device', async () => (await device()) === 'b1')
  await setCondition('b1', 'Attached')
  assert.equal(await scheduled(api, 'unlucky'), 'broken')
})

test('extended resources backed by a device class are allocated as devices', async () => {
  const api = await cluster
  await readyNode(api, 'extended')
  await driver(api, 'toy.example.com', 'extended', [{ name: 't0' }])
  await api.call(
    'PATCH',
    `${dra}/deviceclasses/toy.example.com`,
    { spec: { extendedResourceName: 'example.com/toy' } },
    merge,
  )
  const resources = { limits: { 'example.com/toy': '1' } }
  const create = (name: string) =>
    api.call('POST', `${core}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { containers: [{ name: 'c', image: 'i', resources }] },
    })
  await create('plays')
  assert.equal(await scheduled(api, 'plays'), 'extended')
  const { status } = await get<Pod>(api, `${core}/pods/plays`)
  const { resourceClaimName = '', requestMappings } = status?.extendedResourceClaimStatus ?? {}
  assert.deepEqual(requestMappings, [
    { containerName: 'c', resourceName: 'example.com/toy', requestName: 'container-0-request-0' },
  ])
  const claim = await get<ResourceClaim>(api, `${claims}/${resourceClaimName}`)
  assert.match(resourceClaimName, /^plays-extended-resources-.{5}$/)
  assert.equal(claim.metadata.annotations?.['resource.kubernetes.io/extended-resource-claim'], 'true')
  assert.equal(claim.status?.allocation?.devices?.results?.[0]?.device, 't0')
  assert.equal(claim.status.reservedFor?.[0]?.name, 'plays')
  await create('waits')
  assert.match(await rejectionOf(api, 'waits'), /cannot allocate all claims/)
})

test('a stale claim for extended resources is replaced in the next attempt', async () => {
  const api = await cluster
  await readyNode(api, 'retried')
  await driver(api, 'retry.example.com', 'retried', [{ name: 'r0' }])
  const resources = { limits: { 'deviceclass.resource.kubernetes.io/retry.example.com': '1' } }
  const spec = { schedulingGates: [{ name: 'example.com/later' }], containers: [{ name: 'c', image: 'i', resources }] }
  const created = (await api.call('POST', `${core}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'retry' },
    spec,
  })) as unknown as Pod
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'retry', uid: created.metadata.uid, controller: true }
  const requests = [{ name: 'container-0-request-0', exactly: { deviceClassName: 'retry.example.com' } }]
  await api.call('POST', claims, {
    apiVersion,
    kind: 'ResourceClaim',
    metadata: {
      name: 'left-over',
      ownerReferences: [owner],
      annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
    },
    spec: { devices: { requests } },
  })
  await api.call('PATCH', `${core}/pods/retry`, { spec: { schedulingGates: null } }, merge)
  assert.equal(await scheduled(api, 'retry'), 'retried')
  assert.notEqual(
    (await get<Pod>(api, `${core}/pods/retry`)).status?.extendedResourceClaimStatus?.resourceClaimName,
    'left-over',
  )
})
