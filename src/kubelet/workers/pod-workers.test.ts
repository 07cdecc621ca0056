import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod-types.ts'
import type { PodSteps } from './pod-worker.ts'
import { PodWorkers } from './pod-workers.ts'

/** Lets pending promises settle. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const podOf = (uid: string, more: Partial<Pod['metadata']> = {}, spec: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid, ...more },
    spec: { containers: [], ...spec },
  }) as Pod

const fromFile = { annotations: { 'kubernetes.io/config.source': 'file' } }

function workersOf(steps: Partial<PodSteps> = {}) {
  const calls: string[] = []
  const timers: (() => void)[] = []
  const workers = new PodWorkers({
    steps: {
      async sync(pod) {
        calls.push(`sync ${pod.metadata.uid}`)
        return (await steps.sync?.(pod)) ?? { hasEnded: false }
      },
      interrupt: () => {},
      async terminate(pod, termination, signal) {
        calls.push(`terminate ${pod.metadata.uid} ${termination.graceSeconds}`)
        await steps.terminate?.(pod, termination, signal)
      },
      async cleanUp(pod) {
        calls.push(`clean up ${pod.metadata.uid}`)
      },
    },
    log: () => {},
    schedule: (callback) => {
      timers.push(callback)
      return () => {}
    },
  })
  return { workers, calls, timers }
}

test('a changed static pod starts when the former one with its name is cleaned up', async () => {
  const ended = Promise.withResolvers<void>()
  const { workers, calls } = workersOf({ terminate: () => ended.promise })
  workers.add(podOf('old', fromFile))
  await settled()
  workers.remove(podOf('old', fromFile))
  workers.add(podOf('new', fromFile))
  await settled()
  assert.deepEqual(calls, ['sync old', 'terminate old 30'])
  ended.resolve()
  await settled()
  assert.deepEqual(calls.slice(2), ['clean up old', 'sync new'])
})

test('pods of the API with one name do not wait for each other', async () => {
  const { workers, calls } = workersOf({ terminate: () => new Promise(() => {}) })
  workers.add(podOf('old'))
  await settled()
  workers.remove(podOf('old'))
  workers.add(podOf('new'))
  await settled()
  assert.deepEqual(calls, ['sync old', 'terminate old 30', 'sync new'])
})

test('a pod that comes back with its UID while it ends starts once more', async () => {
  const ended = Promise.withResolvers<void>()
  const { workers, calls } = workersOf({ terminate: () => ended.promise })
  workers.add(podOf('u', fromFile))
  await settled()
  workers.remove(podOf('u', fromFile))
  workers.add(podOf('u', fromFile))
  workers.update(podOf('u', { ...fromFile, labels: { newer: 'yes' } }))
  ended.resolve()
  await settled()
  assert.deepEqual(calls, ['sync u', 'terminate u 30', 'clean up u', 'sync u'])
  assert.deepEqual(workers.pods[0]?.metadata.labels, { newer: 'yes' })
})

test('a late update of a pod that is cleaned up starts nothing', async () => {
  const { workers, calls } = workersOf({ sync: async () => ({ hasEnded: true }) })
  workers.add(podOf('u'))
  await settled()
  workers.update(podOf('u'))
  await settled()
  assert.deepEqual(calls, ['sync u', 'terminate u 30', 'clean up u'])
})

test('a force-deleted pod ends although its first termination fails', async () => {
  let attempts = 0
  const { workers, calls, timers } = workersOf({
    async terminate() {
      if (++attempts === 1) throw new Error('the runtime is busy')
    },
  })
  workers.add(podOf('u', {}, { terminationGracePeriodSeconds: 5 }))
  await settled()
  workers.remove(podOf('u', {}, { terminationGracePeriodSeconds: 5 }))
  await settled()
  timers.at(-1)?.()
  await settled()
  assert.deepEqual(calls, ['sync u', 'terminate u 5', 'terminate u 5', 'clean up u'])
  assert.deepEqual(workers.pods, [])
})

test('a stop waits for the running step', async () => {
  const step = Promise.withResolvers<void>()
  const { workers } = workersOf({
    async sync() {
      await step.promise
      return { hasEnded: false }
    },
  })
  workers.add(podOf('u'))
  await settled()
  let isStopped = false
  const stopped = workers.stop().then(() => (isStopped = true))
  await settled()
  assert.equal(isStopped, false)
  step.resolve()
  await stopped
})

test('a termination resolves when the containers have ended', async () => {
  const ended = Promise.withResolvers<void>()
  const { workers } = workersOf({ terminate: () => ended.promise })
  workers.add(podOf('u'))
  await settled()
  let hasEnded = false
  const termination = workers.terminate('u', { graceSeconds: 1 }).then(() => (hasEnded = true))
  await settled()
  assert.equal(hasEnded, false)
  assert.equal(workers.active.length, 1)
  ended.resolve()
  await termination
  assert.equal(workers.active.length, 0)
})
