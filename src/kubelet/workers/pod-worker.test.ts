import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod-types.ts'
import { type PodSteps, PodWorker, type Termination } from './pod-worker.ts'

const podOf = (metadata: Partial<Pod['metadata']> = {}): Pod =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'default', uid: 'u', ...metadata } }) as Pod

/** Lets pending promises settle. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function workerOf(steps: Partial<PodSteps> = {}) {
  const calls: string[] = []
  const logged: string[] = []
  const timers: { readonly callback: () => void; readonly ms: number }[] = []
  let hasFinished = false
  const worker = new PodWorker(podOf(), {
    steps: {
      async sync(pod) {
        calls.push('sync')
        return (await steps.sync?.(pod)) ?? { hasEnded: false }
      },
      interrupt: (pod) => void steps.interrupt?.(pod),
      async terminate(pod, termination, signal) {
        calls.push(`terminate ${termination.graceSeconds}`)
        await steps.terminate?.(pod, termination, signal)
      },
      async cleanUp(pod, termination) {
        calls.push('clean up')
        await steps.cleanUp?.(pod, termination)
      },
    },
    log: (line) => void logged.push(line),
    schedule: (callback, ms) => {
      timers.push({ callback, ms })
      return () => {}
    },
    onFinish: () => (hasFinished = true),
  })
  return { worker, calls, logged, timers, hasFinished: () => hasFinished }
}

test('a deleted pod is terminated with its grace period, cleaned up, and never synced again', async () => {
  const { worker, calls, hasFinished } = workerOf()
  worker.wake()
  await settled()
  worker.update(podOf({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 7 }))
  await settled()
  worker.update(podOf())
  await settled()
  assert.deepEqual(calls, ['sync', 'terminate 7', 'clean up'])
  assert.equal(hasFinished(), true)
})

test('a pod whose containers have ended is terminated without a deletion', async () => {
  const { worker, calls } = workerOf({ sync: async () => ({ hasEnded: true }) })
  worker.wake()
  await settled()
  assert.deepEqual(calls, ['sync', 'terminate 30', 'clean up'])
})

test('a pod that is deleted during a sync interrupts it', async () => {
  const pull = Promise.withResolvers<void>()
  const { worker, calls } = workerOf({
    async sync() {
      await pull.promise
      return { hasEnded: false }
    },
    interrupt: () => pull.resolve(),
  })
  worker.wake()
  worker.terminate({ graceSeconds: 5 })
  await settled()
  assert.deepEqual(calls, ['sync', 'terminate 5', 'clean up'])
})

test('updates during a step lead to one more step', async () => {
  const first = Promise.withResolvers<void>()
  let syncs = 0
  const { worker, calls } = workerOf({
    async sync() {
      if (++syncs === 1) await first.promise
      return { hasEnded: false }
    },
  })
  worker.wake()
  worker.update(podOf())
  worker.update(podOf())
  first.resolve()
  await settled()
  assert.deepEqual(calls, ['sync', 'sync'])
})

test('a shorter grace period interrupts a termination; a longer one does not', async () => {
  const seen: Termination[] = []
  const { worker, calls } = workerOf({
    async terminate(_pod, termination, signal) {
      seen.push(termination)
      if (termination.graceSeconds > 1) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  })
  worker.terminate({ graceSeconds: 30, status: { reason: 'Evicted', message: 'low on memory' } })
  await settled()
  worker.terminate({ graceSeconds: 60 })
  worker.terminate({ graceSeconds: 1 })
  await settled()
  assert.deepEqual(calls, ['terminate 30', 'terminate 1', 'clean up'])
  assert.deepEqual(seen.at(-1)?.status, { reason: 'Evicted', message: 'low on memory' })
})

test('a failed step is logged and repeated', async () => {
  let attempts = 0
  const { worker, calls, logged, timers } = workerOf({
    async sync() {
      if (++attempts === 1) throw new Error('the runtime is busy')
      return { hasEnded: false, retryMs: 5_000 }
    },
  })
  worker.wake()
  await settled()
  assert.deepEqual(logged, ['cannot sync the pod default/web: the runtime is busy'])
  assert.equal(timers[0]?.ms, 10_000)
  timers[0]?.callback()
  await settled()
  assert.deepEqual(calls, ['sync', 'sync'])
  assert.equal(timers[1]?.ms, 5_000)
})
