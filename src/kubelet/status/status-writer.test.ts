import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as tick } from 'node:timers/promises'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { Pod, PodStatus } from '../pod-types.ts'
import { StatusWriter } from './status-writer.ts'

const podOf = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: name },
  spec: { containers: [] },
})

test('a status that arrives as a write ends is written, also while the write of another pod waits', async () => {
  const phases: string[] = []
  /** Called when a write of the pod `b` has ended. */
  let onWritten = (): void => {}
  const client = {
    async patch(_: unknown, __: string, name: string, { status }: { readonly status: PodStatus }) {
      if (name === 'a') throw new Error('the server is down')
      phases.push(status.phase ?? '')
      // After the writer has seen that nothing is left to write, and before it is ready for the next status.
      queueMicrotask(() => queueMicrotask(() => onWritten()))
      return podOf(name)
    },
  }
  const writer = new StatusWriter({
    client: client as unknown as RestClient,
    log: () => {},
    // The write of the pod `a` waits for ever.
    schedule: () => () => {},
    objectOf: (pod) => pod,
    observeDelay: () => {},
    now: Date.now,
  })
  writer.set(podOf('a'), { phase: 'Pending' })
  await tick()
  onWritten = () => {
    onWritten = () => {}
    writer.set(podOf('b'), { phase: 'Running' })
  }
  writer.set(podOf('b'), { phase: 'Pending' })
  await tick()
  assert.deepEqual(phases, ['Pending', 'Running'])
  writer.stop()
})

/** A writer whose timers are called by `pass`, with the statuses that it has written. */
function startWriter() {
  const timers: { readonly callback: () => void; readonly ms: number }[] = []
  const written: unknown[] = []
  let version = 0
  const client = {
    async patch(_: unknown, __: string, name: string, { status }: { readonly status: PodStatus }) {
      written.push(status)
      const pod = podOf(name)
      return { ...pod, metadata: { ...pod.metadata, resourceVersion: `${(version += 10)}` } }
    },
  }
  const writer = new StatusWriter({
    client: client as unknown as RestClient,
    log: () => {},
    schedule(callback, ms) {
      const timer = { callback, ms }
      timers.push(timer)
      return () => timers.splice(timers.indexOf(timer), 1)
    },
    objectOf: (pod) => pod,
    observeDelay: () => {},
    now: Date.now,
  })
  const pass = (): void => {
    for (const { callback } of timers.splice(0)) callback()
  }
  return { writer, written, timers, pass }
}

const observed = (status: PodStatus, resourceVersion: string): Pod => {
  const pod = podOf('a')
  return { ...pod, metadata: { ...pod.metadata, resourceVersion }, status }
}

const ready = (status: 'True' | 'False'): PodStatus => ({
  phase: 'Running',
  conditions: [{ type: 'Ready', status }] as never,
})

test('a status that others have changed is written again after 10 s', async () => {
  const { writer, written, timers, pass } = startWriter()
  writer.set(podOf('a'), ready('True'))
  await tick()
  // The node controller has marked the pod.
  writer.observe('a', observed(ready('False'), '11'))
  assert.deepEqual(
    timers.map(({ ms }) => ms),
    [10_000],
  )
  pass()
  await tick()
  assert.deepEqual(written, [ready('True'), { conditions: [{ type: 'Ready', status: 'True' }] }])
  writer.observe('a', observed(ready('True'), '20'))
  assert.deepEqual(timers, [])
})

test('an object that is older than the last write, and a phase that is final, are left alone', async () => {
  const { writer, written, pass } = startWriter()
  writer.set(podOf('a'), ready('True'))
  await tick()
  writer.observe('a', observed({ phase: 'Pending' }, '9'))
  pass()
  await tick()
  writer.observe('a', observed({ phase: 'Failed' }, '12'))
  pass()
  await tick()
  assert.deepEqual(written, [ready('True')])
})

test('the delay of a write is the time since the first change that was not written', async () => {
  const delays: number[] = []
  const retries: (() => void)[] = []
  const state = { now: 1_000, isDown: true }
  const client = {
    async patch() {
      if (state.isDown) throw new Error('the server is down')
      return podOf('a')
    },
  }
  const writer = new StatusWriter({
    client: client as unknown as RestClient,
    log: () => {},
    schedule: (callback) => {
      retries.push(callback)
      return () => {}
    },
    objectOf: (pod) => pod,
    observeDelay: (ms) => void delays.push(ms),
    now: () => state.now,
  })
  writer.set(podOf('a'), { phase: 'Pending' })
  await tick()
  state.now += 100
  writer.set(podOf('a'), { phase: 'Running' })
  await tick()
  state.now += 100
  state.isDown = false
  retries.at(-1)?.()
  await tick()
  assert.deepEqual(delays, [200])
  state.now += 1_000
  writer.set(podOf('a'), { phase: 'Running' })
  await tick()
  writer.set(podOf('a'), { phase: 'Succeeded' })
  state.now += 5
  await tick()
  writer.stop()
  assert.deepEqual(delays, [200, 5], 'a status that is written already is not observed')
})
