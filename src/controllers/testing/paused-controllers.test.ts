/** Controllers on a paused clock: what waits for time happens when the clock passes, and not before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  cronJobs,
  horizontalPodAutoscalers,
  type Job,
  jobs,
  type Lease,
  leases,
  type Node,
  namespaces,
  nodes,
  type Pod,
  pods,
} from '../../client/kinds.ts'
import { controllerReference } from '../../client/objects/owners.ts'
import { controllers as autoscaling } from '../autoscaling/index.ts'
import { controllers as jobControllers } from '../jobs/index.ts'
import { endedPod, jobOf } from '../jobs/job/job.fixture.ts'
import { controllers as namespaceControllers } from '../namespaces/index.ts'
import { controllers as nodeControllers } from '../nodes/index.ts'
import { PausedController } from './paused-controller.fixture.ts'

const startTime = '2026-01-01T00:00:00Z'
const second = 1000
const minute = 60 * second

/** Runs a test with a controller, and stops it afterwards. */
const paused = (name: string, body: (world: PausedController) => Promise<void>): void => {
  void test(name, async () => {
    const world = new PausedController()
    try {
      await body(world)
    } finally {
      await world.stop()
    }
  })
}

paused('a CronJob creates its Job when the clock reaches its time', async (world) => {
  world.set(cronJobs, {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { namespace: 'n', name: 'report', uid: 'report', creationTimestamp: startTime },
    spec: {
      schedule: '30 * * * *',
      jobTemplate: { spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } } },
    },
  })
  await world.run(jobControllers, 'cronjob-controller')
  assert.deepEqual(await world.pass(30 * minute), [])
  // As upstream, it waits a moment longer.
  assert.deepEqual(await world.pass(100), ['create jobs/n/report-29453790', 'update status of cronjobs/n/report'])
  assert.equal(world.get(cronJobs, 'n/report').status?.lastScheduleTime, '2026-01-01T00:30:00Z')
})

/** A Job with a selector for `label`. */
function labelled(spec: object): Job {
  const job = jobOf({ completions: 1, selector: { matchLabels: { job: 'j' } }, ...spec }, { startTime })
  return { ...job, spec: { ...job.spec!, template: { ...job.spec!.template, metadata: { labels: { job: 'j' } } } } }
}

paused('a finished Job is deleted when its TTL has passed on the clock', async (world) => {
  const conditions = [{ type: 'Complete', status: 'True', lastTransitionTime: startTime }]
  world.set(jobs, jobOf({ ttlSecondsAfterFinished: 100 }, { conditions }))
  await world.run(jobControllers, 'ttl-after-finished-controller')
  assert.deepEqual(await world.pass(99 * second), [])
  assert.deepEqual(await world.pass(second), ['delete jobs/n/j'])
})

paused('a Job replaces a failed pod when its back-off has passed on the clock', async (world) => {
  const job = labelled({})
  const failed = endedPod('p', 1, { finishedAt: startTime })
  world.set(jobs, job)
  world.set(pods, {
    ...failed,
    metadata: { ...failed.metadata, labels: { job: 'j' }, ownerReferences: [controllerReference(job)] },
  })
  await world.run(jobControllers, 'job-controller')
  const created = (writes: readonly string[]) => writes.filter((write) => write.startsWith('create pods'))
  assert.deepEqual(created(await world.pass(9 * second)), [])
  assert.equal(created(await world.pass(second)).length, 1)
})

paused('a Job fails when its activeDeadlineSeconds have passed on the clock', async (world) => {
  world.set(jobs, labelled({ activeDeadlineSeconds: 600 }))
  await world.run(jobControllers, 'job-controller')
  const reasons = () => world.get(jobs, 'n/j').status?.conditions?.map(({ type, reason }) => `${type} ${reason}`) ?? []
  await world.pass(599 * second)
  assert.deepEqual(reasons(), [])
  await world.pass(second)
  assert.equal(reasons()[0], 'FailureTarget DeadlineExceeded')
})

const node: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-1', uid: 'node-1', creationTimestamp: startTime, resourceVersion: '1' },
  status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: startTime }] },
}
const lease = (renewTime: string): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: 'kube-node-lease', name: 'node-1' },
  spec: { renewTime },
})

paused('a node becomes Unknown when its lease was not renewed for the grace period of the clock', async (world) => {
  world.set(nodes, node)
  world.set(leases, lease(startTime))
  await world.run(nodeControllers, 'node-lifecycle-controller')
  const ready = () => world.get(nodes, 'node-1').status?.conditions?.find(({ type }) => type === 'Ready')?.status
  for (let at = 0; at < 45; at += 5) await world.pass(5 * second)
  world.set(leases, lease('2026-01-01T00:00:45.000000Z'))
  for (let at = 45; at < 95; at += 5) await world.pass(5 * second)
  assert.equal(ready(), 'True')
  for (let at = 95; at < 105; at += 5) await world.pass(5 * second)
  assert.equal(ready(), 'Unknown')
})

const podOn = (nodeName: string, spec: object): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'n', name: 'web', uid: 'web', labels: { app: 'web' } },
  spec: { nodeName, containers: [{ name: 'c', image: 'i' }], ...spec },
})

paused('a pod is evicted when its tolerationSeconds have passed on the clock', async (world) => {
  world.set(nodes, { ...node, spec: { taints: [{ key: 'maintenance', effect: 'NoExecute' }] } })
  const tolerations = [{ key: 'maintenance', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }]
  world.set(pods, podOn('node-1', { tolerations }))
  await world.run(nodeControllers, 'taint-eviction-controller')
  assert.deepEqual(await world.pass(299 * second), [])
  assert.deepEqual(await world.pass(second), ['patch pods/n/web', 'delete pods/n/web'])
})

paused('an autoscaler scales down when the stabilization window has passed on the clock', async (world) => {
  const { documents } = world
  documents.set('/apis/apps', { versions: [{ version: 'v1' }] })
  documents.set('/apis/apps/v1', { resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true }] })
  documents.set('/apis/apps/v1/namespaces/n/deployments/web/scale', {
    metadata: { namespace: 'n', name: 'web' },
    spec: { replicas: 4 },
    status: { replicas: 4, selector: 'app=web' },
  })
  const usage = { cpu: '10m', memory: '100Mi' }
  documents.set('/apis/metrics.k8s.io/v1beta1/namespaces/n/pods', {
    items: [{ metadata: { name: 'web' }, timestamp: startTime, window: '15s', containers: [{ name: 'c', usage }] }],
  })
  const web = podOn('node-1', { containers: [{ name: 'c', image: 'i', resources: { requests: { memory: '1Gi' } } }] })
  const status = {
    phase: 'Running',
    startTime,
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: startTime }],
  }
  world.set(pods, { ...web, status })
  world.set(horizontalPodAutoscalers, {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { namespace: 'n', name: 'web', uid: 'hpa' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [
        { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
    },
  })
  await world.run(autoscaling, 'horizontal-pod-autoscaler-controller')
  const scaled = (writes: readonly string[]) => writes.filter((write) => write.includes('scale of'))
  // The first reconcile is after 15 s; its recommendation counts for five minutes.
  for (let at = 15; at < 315; at += 15) assert.deepEqual(scaled(await world.pass(15 * second)), [], `after ${at} s`)
  assert.deepEqual(scaled(await world.pass(15 * second)), ['update scale of deployments/n/web {"replicas":1}'])
})

paused('a namespace is finalized while the clock stands still', async (world) => {
  for (const path of ['/api', '/apis']) world.documents.set(path, { kind: 'APIGroupDiscoveryList', items: [] })
  world.set(namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'n', uid: 'n', deletionTimestamp: '2025-12-31T23:59:59Z' },
    spec: { finalizers: ['kubernetes'] },
  })
  await world.run(namespaceControllers, 'namespace-controller')
  const deadline = performance.now() + 10_000
  while (!world.writes.some((write) => write.includes('finalize of')) && performance.now() < deadline)
    await world.pass(0)
  assert.equal(world.writes.at(-1), 'update finalize of namespaces/n {"finalizers":[]}')
})
