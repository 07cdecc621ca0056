/** Conformance tests of Deployments (`test/e2e/apps/deployment.go`). The test simulates the kubelet. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { controllerName, progressOf, revisionOf, sizesOf, template, Workloads } from './workloads.ts'

const cluster = testCluster({ after }, { controllers: ['deployment', 'replicaset', 'serviceaccount'] })
const workloads = async (name: string): Promise<Workloads> => await Workloads.in(await cluster, name)

/** Starts a replacement in which one old pod is held. Resolves with a function that releases it. */
async function replaceHeld(all: Workloads, tag: number): Promise<() => Promise<unknown>> {
  const [held] = await all.pods('web')
  const path = `${all.core}/pods/${held?.metadata.name}`
  await all.patch(path, { metadata: { finalizers: ['example.com/hold'] } })
  await all.image('web', tag)
  await waitFor('the old pods to end', async () =>
    (await all.pods('web')).every(({ metadata }) => metadata.deletionTimestamp),
  )
  return () => all.patch(path, { metadata: { finalizers: null } })
}

test('Deployment should have a working scale subresource', async () => {
  const all = await workloads('scale')
  await all.deploy('web', { replicas: 1 })
  await all.rolledOut('web')
  const path = `${all.apps}/deployments/web/scale`
  const scale = await all.get<{ spec: { replicas: number } }>(path)
  assert.equal(scale.spec.replicas, 1)
  await all.put(path, { ...scale, spec: { replicas: 2 } })
  assert.equal((await all.rolledOut('web')).spec?.replicas, 2)
  await all.patch(path, { spec: { replicas: 4 } })
  assert.equal((await all.rolledOut('web')).status?.readyReplicas, 4)
  assert.deepEqual(sizesOf(await all.sets('web')), [4])
})

test('RecreateDeployment should delete old pods and create new ones', async () => {
  const all = await workloads('recreate')
  await all.deploy('web', { replicas: 2, strategy: { type: 'Recreate' } })
  await all.rolledOut('web')
  const letGo = await replaceHeld(all, 2)
  await waitFor('the end to be in the status', async () => {
    const { status } = await all.deployment('web')
    return !status?.replicas && status?.terminatingReplicas === 1
  })
  assert.equal((await all.sets('web')).length, 1)
  await letGo()
  await all.rolledOut('web')
  assert.deepEqual(sizesOf(await all.sets('web')), [0, 2])
})

test('a paused Recreate starts no pods beside pods of another template', async () => {
  const all = await workloads('recreate-paused')
  await all.deploy('web', { replicas: 2, strategy: { type: 'Recreate' } })
  await all.rolledOut('web')
  await all.image('web', 2)
  await all.rolledOut('web')
  const letGo = await replaceHeld(all, 1)
  const { metadata } = await all.change('web', { paused: true })
  await waitFor(
    'the pause to be seen',
    async () => (await all.deployment('web')).status?.observedGeneration === metadata.generation,
  )
  assert.deepEqual(sizesOf(await all.sets('web')), [0, 0])
  await letGo()
  await waitFor('the new pods', async () => (await all.pods('web')).length === 2)
  assert.deepEqual(sizesOf(await all.sets('web')), [0, 2])
})

test('RollingUpdateDeployment should delete old pods and create new ones', async () => {
  const all = await workloads('rolling')
  // An existing ReplicaSet is adopted as the previous revision.
  await all.makeReplicaSet('before', {
    replicas: 1,
    template: template('web'),
    selector: { matchLabels: { app: 'web' } },
  })
  await all.patch(`${all.apps}/replicasets/before`, {
    metadata: { labels: { app: 'web' }, annotations: { 'deployment.kubernetes.io/revision': '3546343826724305832' } },
  })
  await all.playKubelet('web', 'its pod', async () => (await all.replicaSet('before')).status?.availableReplicas === 1)
  await all.deploy('web', { replicas: 1, template: template('web', 2) })
  await all.rolledOut('web')
  const [old, current, ...more] = await all.sets('web')
  assert.equal(more.length, 0)
  assert.deepEqual([old?.metadata.name, old?.spec?.replicas, current?.spec?.replicas], ['before', 0, 1])
  assert.equal(old?.metadata.ownerReferences?.[0]?.name, 'web')
  const [pod, ...others] = await all.pods('web')
  assert.equal(others.length, 0)
  assert.equal(controllerName(pod!), current?.metadata.name)
})

test('deployment should delete old replica sets', async () => {
  const all = await workloads('history')
  await all.deploy('web', { replicas: 1, revisionHistoryLimit: 0 })
  await all.rolledOut('web')
  for (const tag of [2, 3]) {
    await all.image('web', tag)
    await all.rolledOut('web')
  }
  await waitFor('the old sets to go', async () => (await all.sets('web')).length === 1)
})

test('deployment should support rollover', async () => {
  const all = await workloads('rollover')
  await all.deploy('web', { replicas: 4, strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } })
  await all.rolledOut('web')
  await all.image('web', 2)
  await waitFor('the second set', async () => sizesOf(await all.sets('web')).join() === '4,1')
  // The second never becomes ready: the third replaces it.
  await all.image('web', 3)
  await all.rolledOut('web')
  assert.deepEqual(sizesOf(await all.sets('web')), [0, 0, 4])
})

test('deployment should support proportional scaling', async () => {
  const all = await workloads('proportional')
  await all.deploy('web', { replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } })
  await all.rolledOut('web')
  await all.image('web', 2)
  await waitFor('the rollout to wait', async () => sizesOf(await all.sets('web')).join() === '8,5')
  await all.change('web', { replicas: 30 })
  await waitFor('the new sizes', async () => sizesOf(await all.sets('web')).join() === '20,13')
})

test('a Deployment should run the lifecycle of a Deployment', async () => {
  const all = await workloads('lifecycle')
  await all.deploy('web', { replicas: 2 })
  const first = await all.rolledOut('web')
  assert.equal(
    progressOf(first).message,
    `ReplicaSet "${(await all.sets('web'))[0]?.metadata.name}" has successfully progressed.`,
  )
  await all.change('web', { replicas: 1, template: template('web', 'patched') })
  assert.equal(revisionOf(await all.rolledOut('web')), 2)
  const scaled = (await all.events('web', 'ScalingReplicaSet')).map((message) => message.replace(/set web-\w+/, 'set'))
  assert.ok(scaled.includes('Scaled up replica set from 0 to 2'), scaled.join('\n'))
  await all.delete(`${all.apps}/deployments/web`)
  await waitFor('it to go', () =>
    all.deployment('web').then(
      () => false,
      () => true,
    ),
  )
})

test('Deployment should validate Deployment Status endpoints', async () => {
  const all = await workloads('status')
  await all.deploy('web', { replicas: 1 })
  const deployment = await all.rolledOut('web')
  const path = `${all.apps}/deployments/web/status`
  const condition = { type: 'StatusUpdate', status: 'True', reason: 'E2E', message: 'Set from e2e test' }
  await all.patch(path, { status: { conditions: [...(deployment.status?.conditions ?? []), condition] } })
  // Conditions of others are retained.
  await all.image('web', 2)
  const { status } = await all.rolledOut('web')
  assert.equal(status?.conditions?.find(({ type }) => type === 'StatusUpdate')?.message, condition.message)
})

test('a name collision with another ReplicaSet changes the name', async () => {
  const all = await workloads('collision')
  const path = `${all.apps}/deployments/web`
  await all.deploy('web', { replicas: 0 })
  await all.rolledOut('web')
  const [
    {
      metadata: { name },
    } = { metadata: {} },
  ] = await all.sets('web')
  await all.delete(path)
  // Without garbage collection the set remains, and gets another owner.
  await all.patch(`${all.apps}/replicasets/${name}`, { metadata: { labels: { app: 'other' }, ownerReferences: null } })
  await all.deploy('web', { replicas: 1 })
  assert.equal((await all.rolledOut('web')).status?.collisionCount, 1)
  const [set] = await all.sets('web')
  assert.notEqual(set?.metadata.name, name)
})

test('a missed progress deadline is reported, and later progress too', async () => {
  const all = await workloads('deadline')
  await all.deploy('web', { replicas: 1, progressDeadlineSeconds: 1 })
  const late = await waitFor('the deadline', async () => {
    const deployment = await all.deployment('web')
    return progressOf(deployment).reason === 'ProgressDeadlineExceeded' && deployment
  })
  assert.match(progressOf(late).message ?? '', /^ReplicaSet "web-\w+" has timed out progressing\.$/)
  await all.rolledOut('web')
})

test('a Deployment reports pods that cannot be created', async () => {
  const all = await workloads('refused')
  await all.post(`${all.core}/resourcequotas`, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'none' },
    spec: { hard: { pods: '0' } },
  })
  await all.patch(`${all.core}/resourcequotas/none/status`, { status: { hard: { pods: '0' }, used: { pods: '0' } } })
  await all.deploy('web', { replicas: 3 })
  const failure = await waitFor('the failure', async () =>
    (await all.deployment('web')).status?.conditions?.find(({ type }) => type === 'ReplicaFailure'),
  )
  assert.deepEqual([failure.status, failure.reason], ['True', 'FailedCreate'])
  assert.match(failure.message ?? '', /exceeded quota: none/)
  await all.delete(`${all.core}/resourcequotas/none`)
  const { status } = await all.rolledOut('web')
  assert.equal(
    status?.conditions?.some(({ type }) => type === 'ReplicaFailure'),
    false,
  )
})
