import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caches, ReconcileContext } from '../../../client/controller/controller.ts'
import { type Job, jobs, type Pod, pods } from '../../../client/kinds.ts'
import { controllerReference } from '../../../client/objects/owners.ts'
import type { Resource } from '../../../client/resource.ts'
import { conflict } from '../../../machinery/status-error.ts'
import { endedPod, jobOf, podOf } from './job.fixture.ts'
import { jobController } from './job-controller.ts'

/** Simulates a cache with one Job and its succeeded, unreleased pod, and records writes. */
function jobWorld() {
  const job = jobOf(
    { completions: 3, parallelism: 2, selector: { matchLabels: { job: 'j' } } },
    { startTime: '2026-01-01T00:00:00Z' },
  )
  const ended = endedPod('p', 0)
  const held: Pod = {
    ...ended,
    metadata: { ...ended.metadata, labels: { job: 'j' }, ownerReferences: [controllerReference(job)] },
  }
  const world = { job, held, written: [] as Job['status'][], created: 0, hasConflict: false }
  let version = 1
  const caches = {
    get: (of: Resource) => (of.plural === jobs.plural ? world.job : held),
    by: (_: Resource, __: unknown, value: string) => (value === 'j' ? [held] : []),
  } as unknown as Caches
  const client = {
    async updateStatus(_: Resource, object: Job) {
      version++
      if (world.hasConflict) throw conflict({ group: 'batch', name: 'jobs' }, 'j', 'it has changed')
      world.written.push(object.status)
      return { ...object, metadata: { ...object.metadata, resourceVersion: `${version}` } }
    },
    patch: async () => held,
    create: async (_: Resource, pod: Pod) => ({ ...pod, metadata: { ...pod.metadata, uid: `${++world.created}` } }),
  }
  const context = { caches, client, requeue() {}, events: { record() {} } } as unknown as ReconcileContext
  const { watches = [], reconcile = async () => {} } = jobController({ concurrency: 1 })
  return {
    world,
    sync: async () => reconcile('n/j', context),
    notifyPod: (pod: Pod, before?: Pod) =>
      watches.find(({ resource }) => resource.plural === pods.plural)?.onChange?.(pod, before, context),
    /** Updates the Job in the cache to the last write. */
    catchUp() {
      world.job = {
        ...world.job,
        metadata: { ...world.job.metadata, resourceVersion: `${version}` },
        status: world.written.at(-1) ?? world.job.status,
      }
    },
  }
}

const made = (name: string, { metadata }: Pod): Pod =>
  podOf(name, { phase: 'Pending' }, { ownerReferences: metadata.ownerReferences })

test('a pod whose release reaches the cache during a reconcile is not counted twice', async () => {
  const { world, sync, notifyPod, catchUp } = jobWorld()
  const { held } = world
  await sync()
  const listedAndCounted = world.written.map((status) => [
    status?.uncountedTerminatedPods?.succeeded,
    status?.succeeded,
  ])
  assert.deepEqual(listedAndCounted, [
    [['p'], undefined],
    [undefined, 1],
  ])
  catchUp()
  for (let at = 0; at < world.created; at++) notifyPod(made(`${at}`, held))
  const pending = sync()
  notifyPod({ ...held, metadata: { ...held.metadata, finalizers: [] } }, held)
  await pending
  assert.ok(
    world.written.slice(2).every((status) => status?.succeeded === 1 && !status.uncountedTerminatedPods?.succeeded),
  )
})

test('a Job is not reconciled from the version that caused a conflict', async () => {
  const { world, sync, notifyPod, catchUp } = jobWorld()
  world.hasConflict = true
  await assert.rejects(sync(), { code: 409 })
  const { created } = world
  assert.ok(created > 0)
  for (let at = 0; at < created; at++) notifyPod(made(`${at}`, world.held))
  await sync()
  assert.equal(world.created, created)
  catchUp()
  await assert.rejects(sync(), { code: 409 })
})
