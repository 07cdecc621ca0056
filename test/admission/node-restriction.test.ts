/** NodeRestriction: nodes may write only their own objects. On by default in clusters. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { as, mergePatch, nodeUser } from '../authorization/as-user.ts'
import { testCluster } from '../support/test-cluster.ts'

const nodes = '/api/v1/nodes'
const pods = '/api/v1/namespaces/default/pods'
const n1 = nodeUser('n1')

test('a node registers itself, but cannot set labels or change taints to attract pods', async (t) => {
  const cluster = await testCluster(t)
  const post = (name: string, labels = {}) =>
    as(cluster, n1, 'POST', nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } })
  const patch = (name: string, body: object) => as(cluster, n1, 'PATCH', `${nodes}/${name}`, body, mergePatch)
  assert.match((await post('n2')).message, /^nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"$/)
  assert.match(
    (await post('n1', { 'node-restriction.kubernetes.io/team': 'a', 'k8s.io/x': 'y' })).message,
    /not allowed to set the following labels: k8s\.io\/x, node-restriction\.kubernetes\.io\/team$/,
  )
  assert.equal((await post('n1', { 'kubernetes.io/hostname': 'h', 'example.com/any': 'v' })).status, 201)
  const refused: readonly (readonly [object, RegExp])[] = [
    [
      { metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } },
      /is not allowed to modify labels: node-role\.kubernetes\.io\/control-plane$/,
    ],
    [{ spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }, /node "n1" is not allowed to modify taints$/],
    [
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u' }] } },
      /node "n1" is not allowed to modify ownerReferences$/,
    ],
  ]
  for (const [body, message] of refused) assert.match((await patch('n1', body)).message, message)
  assert.match(
    (await as(cluster, n1, 'PATCH', `${nodes}/n1/status`, refused[0]![0], mergePatch)).message,
    refused[0]![1],
  )
  assert.equal((await patch('n1', { metadata: { annotations: { a: 'b' } } })).status, 200)
  await cluster.call('POST', nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } })
  assert.match(
    (await patch('n2', { metadata: { annotations: { a: 'b' } } })).message,
    /not allowed to modify node "n2"$/,
  )
  // Other users may do all that.
  await cluster.call('PATCH', `${nodes}/n1`, refused[0]![0], mergePatch)
})

test('a node creates mirror pods without references, and cannot change pods of others', async (t) => {
  // The ServiceAccount plug-in checks mirror pods first.
  const cluster = await testCluster(t, { apiServerFlags: ['--disable-admission-plugins=ServiceAccount'] })
  const { metadata } = await cluster.call('POST', nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: metadata.uid, controller: true }
  const mirror = (spec: object = {}, more: object = {}) =>
    as(cluster, n1, 'POST', pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'm', annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences: [owner], ...more },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], ...spec },
    })
  const reference = (what: string) => new RegExp(`node "n1" can not create pods that reference ${what}$`)
  const refused: readonly (readonly [object, object, RegExp])[] = [
    [
      {},
      { annotations: {} },
      /pod does not have "kubernetes\.io\/config\.mirror" annotation, node "n1" can only create mirror pods$/,
    ],
    [{ nodeName: 'n2' }, {}, /node "n1" can only create pods with spec\.nodeName set to itself$/],
    [{}, { ownerReferences: [] }, /can only create pods with an owner reference set to itself$/],
    [{}, { ownerReferences: [{ ...owner, uid: 'other' }] }, /node n1 UID mismatch: expected other got /],
    [
      {},
      { ownerReferences: [{ ...owner, controller: false }] },
      /can only create pods with a controller owner reference set to itself$/,
    ],
    [
      {},
      { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] },
      /must not set blockOwnerDeletion on an owner reference$/,
    ],
    [{ serviceAccountName: 'default' }, {}, reference('a service account')],
    [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, {}, reference('secrets')],
    [{ imagePullSecrets: [{ name: 's' }] }, {}, reference('secrets')],
    [
      { containers: [{ name: 'c', image: 'i', envFrom: [{ configMapRef: { name: 'c' } }] }] },
      {},
      reference('configmaps'),
    ],
    [{ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'd' } }] }, {}, reference('persistentvolumeclaims')],
    [{ resourceClaims: [{ name: 'r', resourceClaimName: 'x' }] }, {}, reference('resourceclaims')],
  ]
  for (const [spec, more, message] of refused) assert.match((await mirror(spec, more)).message, message)
  assert.equal((await mirror()).status, 201)

  await cluster.call('POST', pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'theirs' },
    spec: { nodeName: 'n2', containers: [{ name: 'c', image: 'i' }] },
  })
  const status = (name: string, body: object) => as(cluster, n1, 'PATCH', `${pods}/${name}/status`, body, mergePatch)
  assert.match(
    (await status('theirs', { status: { phase: 'Failed' } })).message,
    /node "n1" can only update pod status for pods with spec\.nodeName set to itself$/,
  )
  assert.match(
    (await status('m', { metadata: { labels: { a: 'b' } } })).message,
    /node "n1" cannot update labels through pod status$/,
  )
  assert.equal((await status('m', { status: { phase: 'Running' } })).status, 200)
  const eviction = (name: string) =>
    as(cluster, n1, 'POST', `${pods}/${name}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name },
      deleteOptions: { gracePeriodSeconds: 0 },
    })
  assert.match((await eviction('theirs')).message, /node n1 can only evict pods with spec\.nodeName set to itself$/)
  assert.match(
    (await as(cluster, n1, 'DELETE', `${pods}/theirs`)).message,
    /node "n1" can only delete pods with spec\.nodeName set to itself$/,
  )
  assert.match((await as(cluster, n1, 'DELETE', `${pods}/gone`)).message, /^pods "gone" not found$/)
  assert.equal((await eviction('m')).status, 201)
})

test('leases, CSINodes and ResourceSlices must have the node’s name', async (t) => {
  const cluster = await testCluster(t)
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
  const slices = '/apis/resource.k8s.io/v1/resourceslices'
  const post = (path: string, name: string, spec: object) => as(cluster, n1, 'POST', path, { metadata: { name }, spec })
  assert.equal((await post(leases, 'n1', {})).status, 201)
  assert.match(
    (await post(leases, 'n2', {})).message,
    /can only access node lease with the same name as the requesting node$/,
  )
  assert.equal((await post('/apis/storage.k8s.io/v1/csinodes', 'n1', { drivers: [] })).status, 201)
  assert.match(
    (await post('/apis/storage.k8s.io/v1/csinodes', 'n2', { drivers: [] })).message,
    /can only access CSINode with the same name as the requesting node$/,
  )
  const slice = (nodeName: string) => ({
    driver: 'd.example.com',
    nodeName,
    pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
  })
  assert.equal((await post(slices, 's1', slice('n1'))).status, 201)
  assert.match(
    (await post(slices, 's2', slice('n2'))).message,
    /can only create ResourceSlice with the same NodeName as the requesting node$/,
  )
})

test('the plug-in can be disabled', async (t) => {
  const cluster = await testCluster(t, { apiServerFlags: ['--disable-admission-plugins=NodeRestriction'] })
  assert.equal(
    (await as(cluster, n1, 'POST', nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } })).status,
    201,
  )
})
