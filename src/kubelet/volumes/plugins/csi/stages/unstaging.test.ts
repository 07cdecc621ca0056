import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { KeyedQueue } from '../../../../../lib/flow/keyed-queue.ts'
import type { PodVolumeData, StagedVolume } from '../volume-data.ts'
import { Unstaging } from './unstaging.ts'

const volume: StagedVolume = { driverName: 'd', volumeHandle: 'v', isBlock: false }

function unstagingOf(answers: readonly (string | undefined)[]) {
  const used: PodVolumeData[] = []
  const logged: string[] = []
  const delays: number[] = []
  const timers = new Set<() => void>()
  const operations = new KeyedQueue()
  const left = [...answers]
  let calls = 0
  const unstaging = new Unstaging({
    csiPaths: { podVolumes: async () => used },
    operations,
    log: (line) => void logged.push(line),
    schedule(callback, ms) {
      delays.push(ms)
      timers.add(callback)
      return () => void timers.delete(callback)
    },
    async unstage() {
      calls++
      const problem = left.shift()
      if (problem !== undefined) throw new Error(problem)
    },
  })
  /** Lets the operation of a volume end, and runs the timers after it. */
  const pass = async (): Promise<void> => {
    await setImmediate()
    const due = [...timers]
    timers.clear()
    for (const callback of due) callback()
    await setImmediate()
  }
  return { unstaging, operations, used, logged, delays, timers, calls: () => calls, pass }
}

test('a failure to unstage is logged and retried with a growing delay', async () => {
  const { unstaging, logged, delays, timers, calls, pass } = unstagingOf(['busy', 'busy', undefined])
  unstaging.begin(volume)
  await pass()
  await pass()
  await pass()
  assert.equal(calls(), 3)
  assert.deepEqual(delays, [500, 1_000])
  assert.equal(logged[0], 'UnmountDevice failed for volume "d^v": busy')
  assert.equal(timers.size, 0)
})

test('the delay grows to about two minutes', async () => {
  const { unstaging, delays, pass } = unstagingOf(Array.from({ length: 12 }, () => 'busy'))
  unstaging.begin(volume)
  for (let i = 0; i < 12; i++) await pass()
  assert.equal(Math.max(...delays), 122_000)
})

test('a volume that a pod uses is not unstaged, also if the pod came after a failure', async () => {
  const { unstaging, used, calls, timers, pass } = unstagingOf(['busy', undefined])
  unstaging.begin(volume)
  await setImmediate()
  used.push({ driverName: 'd', volumeHandle: 'v', uid: 'u' })
  await pass()
  assert.equal(calls(), 1)
  assert.equal(timers.size, 0)
})

test('a volume is not unstaged while it is set up', async () => {
  const { unstaging, operations, used, calls } = unstagingOf([])
  const { promise, resolve } = Promise.withResolvers<void>()
  const setUp = operations.run('d^v', async () => {
    await promise
    used.push({ driverName: 'd', volumeHandle: 'v', uid: 'u' })
  })
  unstaging.begin(volume)
  await setImmediate()
  resolve()
  await setUp
  await setImmediate()
  assert.equal(calls(), 0)
})

test('after the stop there are no retries', async () => {
  const { unstaging, calls, timers, pass } = unstagingOf(['busy', 'busy'])
  unstaging.begin(volume)
  await setImmediate()
  assert.equal(timers.size, 1)
  unstaging.stop()
  await pass()
  assert.equal(calls(), 1)
  unstaging.begin(volume)
  await pass()
  assert.equal(calls(), 1)
})
