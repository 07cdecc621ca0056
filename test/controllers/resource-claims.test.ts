/** ResourceClaims: created for pods from templates, reserved, released and deleted with them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, ResourceClaim } from '../../src/client/kinds.ts'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const core = '/api/v1/namespaces/default'
const dra = '/apis/resource.k8s.io/v1/namespaces/default'
const merge = 'application/merge-patch+json'
const devices = { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }] }
const finalizer = 'resource.kubernetes.io/delete-protection'

const get = async <T>(cluster: TestCluster, path: string): Promise<T> =>
  (await cluster.call('GET', path)) as unknown as T
const claimsOf = async (cluster: TestCluster): Promise<readonly ResourceClaim[]> =>
  (await get<{ items: ResourceClaim[] }>(cluster, `${dra}/resourceclaims`)).items

async function makePod(cluster: TestCluster, name: string, claim: object, nodeName?: string): Promise<void> {
  await waitFor('the account', () => get(cluster, `${core}/serviceaccounts/default`))
  const spec = {
    nodeName,
    resourceClaims: [{ name: 'gpu', ...claim }],
    containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'gpu' }] } }],
  }
  await cluster.call('POST', `${core}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec })
}

const template = (labels: Record<string, string>) => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaimTemplate',
  metadata: { name: 't' },
  spec: { metadata: { labels }, spec: { devices } },
})

test('a claim is created from a template, set in the pod status, and deleted after the pod ended', async (t) => {
  const cluster = await testCluster(t, { controllers: ['*'] })
  await makePod(cluster, 'p', { resourceClaimTemplateName: 't' })
  await waitFor('the event', async () => {
    const { items } = await get<{ items: { message?: string }[] }>(
      cluster,
      `${core}/events?fieldSelector=reason=FailedResourceClaimCreation`,
    )
    return items.some(
      ({ message }) =>
        message ===
        'PodResourceClaim gpu: resource claim template "t": resourceclaimtemplate.resource.k8s.io "t" not found',
    )
  })
  await cluster.call('POST', `${dra}/resourceclaimtemplates`, template({ a: 'b' }))
  const status = await waitFor(
    'the status',
    async () => (await get<Pod>(cluster, `${core}/pods/p`)).status?.resourceClaimStatuses?.[0],
  )
  const [claim, ...others] = await claimsOf(cluster)
  assert.deepEqual(others, [])
  assert.equal(status.name, 'gpu')
  assert.equal(status.resourceClaimName, claim?.metadata.name)
  assert.match(claim?.metadata.name ?? '', /^p-gpu-.{5}$/)
  assert.deepEqual(claim?.metadata.labels, { a: 'b' })
  assert.equal(claim?.metadata.annotations?.['resource.kubernetes.io/pod-claim-name'], 'gpu')
  assert.equal(claim?.metadata.ownerReferences?.[0]?.name, 'p')
  await cluster.call('PATCH', `${core}/pods/p/status`, { status: { phase: 'Succeeded' } }, merge)
  await waitFor('the claim to be deleted', async () => (await claimsOf(cluster)).length === 0)
})

test('an allocated claim is reserved for a bound pod and released when the pod is deleted', async (t) => {
  const cluster = await testCluster(t, { controllers: ['*'] })
  await cluster.call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } })
  await cluster.call('POST', `${dra}/resourceclaims`, {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name: 'one', finalizers: [finalizer] },
    spec: { devices },
  })
  await cluster.call('PATCH', `${dra}/resourceclaims/one/status`, { status: { allocation: { devices: {} } } }, merge)
  await makePod(cluster, 'p', { resourceClaimName: 'one' }, 'n')
  const pod = await get<Pod>(cluster, `${core}/pods/p`)
  const reserved = await waitFor('the reservation', async () => (await claimsOf(cluster))[0]?.status?.reservedFor)
  assert.deepEqual(reserved, [{ resource: 'pods', name: 'p', uid: pod.metadata.uid }])
  await cluster.call('DELETE', `${core}/pods/p?gracePeriodSeconds=0`)
  const freed = await waitFor('the claim to be released', async () => {
    const claim = await get<ResourceClaim>(cluster, `${dra}/resourceclaims/one`)
    return claim.status?.allocation === undefined && !claim.metadata.finalizers?.length ? claim : undefined
  })
  assert.equal(freed.status?.reservedFor?.length ?? 0, 0)
})

test('a claim for extended resources is released and deleted when its pod has ended', async (t) => {
  const cluster = await testCluster(t, { controllers: ['*'] })
  await cluster.call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } })
  await waitFor('the account', () => get(cluster, `${core}/serviceaccounts/default`))
  const resources = { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '1' } }
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i', resources }] }
  const { metadata } = (await cluster.call('POST', `${core}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec,
  })) as unknown as Pod
  await cluster.call('POST', `${dra}/resourceclaims`, {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      name: 'x',
      finalizers: [finalizer],
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: metadata.uid, controller: true }],
    },
    spec: { devices },
  })
  const reservedFor = [{ resource: 'pods', name: 'p', uid: metadata.uid }]
  await cluster.call(
    'PATCH',
    `${dra}/resourceclaims/x/status`,
    { status: { allocation: { devices: {} }, reservedFor } },
    merge,
  )
  const requestMappings = [{ containerName: 'c', requestName: 'gpu', resourceName: 'example.com/gpu' }]
  const claimStatus = { extendedResourceClaimStatus: { resourceClaimName: 'x', requestMappings } }
  await cluster.call('PATCH', `${core}/pods/p/status`, { status: { ...claimStatus, phase: 'Running' } }, merge)
  await cluster.call('PATCH', `${core}/pods/p/status`, { status: { phase: 'Succeeded' } }, merge)
  await waitFor('the claim to be deleted', async () => (await claimsOf(cluster)).length === 0)
})

test('a pod is evicted when a device that it uses gets a NoExecute taint', async (t) => {
  const cluster = await testCluster(t, { controllers: ['*'] })
  await cluster.call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } })
  const slice = { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice', metadata: { name: 's' } }
  const pool = { name: 'p', generation: 1, resourceSliceCount: 1 }
  const spec = (device: object) => ({
    driver: 'd.example.com',
    pool,
    nodeName: 'n',
    devices: [{ name: 'gpu', ...device }],
  })
  await cluster.call('POST', '/apis/resource.k8s.io/v1/resourceslices', { ...slice, spec: spec({}) })
  await cluster.call('POST', `${dra}/resourceclaims`, {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name: 'one' },
    spec: { devices },
  })
  const results = [{ request: 'gpu', driver: 'd.example.com', pool: 'p', device: 'gpu' }]
  await cluster.call(
    'PATCH',
    `${dra}/resourceclaims/one/status`,
    { status: { allocation: { devices: { results } } } },
    merge,
  )
  await makePod(cluster, 'p', { resourceClaimName: 'one' }, 'n')
  await waitFor('the reservation', async () => (await claimsOf(cluster))[0]?.status?.reservedFor?.length === 1)
  assert.equal((await get<Pod>(cluster, `${core}/pods/p`)).metadata.deletionTimestamp, undefined)
  const taints = [{ key: 'sick', effect: 'NoExecute' }]
  await cluster.call('PATCH', '/apis/resource.k8s.io/v1/resourceslices/s', { spec: spec({ taints }) }, merge)
  const pod = await waitFor('the pod to be deleted', async () => {
    const found = await get<Pod>(cluster, `${core}/pods/p`)
    return found.metadata.deletionTimestamp ? found : undefined
  })
  assert.equal(
    pod.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason,
    'DeletionByDeviceTaintManager',
  )
})
