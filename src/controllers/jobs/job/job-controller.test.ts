import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caches, ReconcileContext } from '../../../client/controller/controller.ts'
import { type Job, jobs, type Pod, pods } from '../../../client/kinds.ts'
import { controllerReference } from '../../../client/objects/owners.ts'
import type { Resource } from '../../../client/resource.ts'
import { jobController } from './job-controller.ts'
import { endedPod, jobOf } from './job-fixture.ts'

test('a pod that is counted, and that the cache shows as such while its Job is looked at, is not counted again', async () => {
  const written: Job['status'][] = []
  let version = 1
  let job = jobOf({ completions: 2, selector: { matchLabels: { job: 'j' } } }, { startTime: '2026-01-01T00:00:00Z' })
  const ended = endedPod('p', 0)
  const held: Pod = { ...ended, metadata: { ...ended.metadata, labels: { job: 'j' }, ownerReferences: [controllerReference(job)] } }
  const released: Pod = { ...held, metadata: { ...held.metadata, finalizers: [] } }
  const caches = {
    get: (of: Resource) => (of.plural === jobs.plural ? job : held),
    by: (_: Resource, __: unknown, value: string) => (value === 'j' ? [held] : []),
  } as unknown as Caches
  const client = {
    async updateStatus(_: Resource, object: Job) {
      written.push(object.status)
      return { ...object, metadata: { ...object.metadata, resourceVersion: `${++version}` } }
    },
    patch: async () => released,
    create: async () => held,
  }
  const { watches = [], reconcile = async () => {} } = jobController({ concurrency: 1 })
  const watchOfPods = watches.find(({ resource }) => resource.plural === pods.plural)!
  const context = { caches, client, again() {}, events: { tell() {} } } as unknown as ReconcileContext

  await reconcile('n/j', context)
  assert.deepEqual(
    written.map((status) => [status?.succeeded, status?.uncountedTerminatedPods?.succeeded]),
    [
      [undefined, ['p']],
      [1, undefined],
    ],
  )
  job = { ...job, metadata: { ...job.metadata, resourceVersion: `${version}` }, status: written[1] }
  watchOfPods.changed?.(held, undefined, context)
  const looked = reconcile('n/j', context)
  watchOfPods.changed?.(released, held, context)
  await looked
  assert.deepEqual(
    written.slice(2).flatMap((status) => status?.uncountedTerminatedPods?.succeeded ?? []),
    [],
  )
  assert.ok(written.every((status) => (status?.succeeded ?? 0) <= 1))
})
