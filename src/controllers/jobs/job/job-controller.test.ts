import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caches, ReconcileContext } from '../../../client/controller/controller.ts'
import { type Job, jobs, type Pod, pods } from '../../../client/kinds.ts'
import { controllerReference } from '../../../client/objects/owners.ts'
import type { Resource } from '../../../client/resource.ts'
import { conflict } from '../../../machinery/status-error.ts'
import { jobController } from './job-controller.ts'
import { endedPod, jobOf, podOf } from './job-fixture.ts'

/** A cache of one Job and one pod of it, which has succeeded and is held; and what is written. */
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
  const world = { job, held, written: [] as Job['status'][], created: 0, changedMeanwhile: false }
  let version = 1
  const caches = {
    get: (of: Resource) => (of.plural === jobs.plural ? world.job : held),
    by: (_: Resource, __: unknown, value: string) => (value === 'j' ? [held] : []),
  } as unknown as Caches
  const client = {
    async updateStatus(_: Resource, object: Job) {
      version++
      if (world.changedMeanwhile) throw conflict({ group: 'batch', name: 'jobs' }, 'j', 'it has changed')
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
    look: async () => reconcile('n/j', context),
    tellPod: (pod: Pod, before?: Pod) =>
      watches.find(({ resource }) => resource.plural === pods.plural)?.changed?.(pod, before, context),
    /** The cache shows the Job as it was written last. */
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

test('a pod that is counted, and that the cache shows as such while its Job is looked at, is not counted again', async () => {
  const { world, look, tellPod, catchUp } = jobWorld()
  const { held } = world
  await look()
  const namedAndCounted = world.written.map((status) => [status?.uncountedTerminatedPods?.succeeded, status?.succeeded])
  assert.deepEqual(namedAndCounted, [
    [['p'], undefined],
    [undefined, 1],
  ])
  catchUp()
  for (let at = 0; at < world.created; at++) tellPod(made(`${at}`, held))
  const looked = look()
  tellPod({ ...held, metadata: { ...held.metadata, finalizers: [] } }, held)
  await looked
  assert.ok(
    world.written.slice(2).every((status) => status?.succeeded === 1 && !status.uncountedTerminatedPods?.succeeded),
  )
})

test('by a Job that has changed meanwhile nothing more is decided', async () => {
  const { world, look, tellPod, catchUp } = jobWorld()
  world.changedMeanwhile = true
  await assert.rejects(look(), { code: 409 })
  const { created } = world
  assert.ok(created > 0)
  for (let at = 0; at < created; at++) tellPod(made(`${at}`, world.held))
  await look()
  assert.equal(world.created, created)
  catchUp()
  await assert.rejects(look(), { code: 409 })
})
