import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Pod } from '../../client/kinds.ts'
import { systemClock } from '../../lib/clock/clock.ts'
import { ClockMemory } from '../../lib/clock/clock-memory.ts'
import { MovableClock } from '../../lib/clock/movable-clock.ts'
import { on } from '../framework/cluster-events.ts'
import type { PodInfo } from '../framework/pods/pod-info.ts'
import { unresolvable } from '../framework/status.ts'
import { aNode, aPod } from '../testing/objects.fixture.ts'
import { Registrations } from './registrations.ts'
import { type QueueProfile, SchedulingQueue } from './scheduling-queue.ts'

const start = 1_000_000

/** A queue by priority with a mock machine clock, and plug-ins `Fit` (nodes) and `Device` (pods named in its hint). */
function aQueue(t: TestContext, gates: (pod: PodInfo) => boolean = () => false, clockOf = () => systemClock) {
  const { timers } = t.mock
  timers.enable({ apis: ['setTimeout', 'Date'], now: start })
  const registrations = new Registrations()
  registrations.add('Fit', [on('Node', ['Add', 'UpdateAllocatable'])])
  registrations.add('Device', [on('Pod', ['Delete'], (_pod, before) => before?.metadata.name === 'holder')])
  registrations.add('Gate', [on('Pod', ['UpdateLabel'], (pod, _before, after) => after?.metadata.uid === pod.uid)])
  const profile: QueueProfile = {
    registrations,
    preEnqueue: (pod) => (gates(pod) ? { plugin: 'Gate', status: unresolvable('closed') } : undefined),
  }
  let ready = 0
  const queue = new SchedulingQueue({
    isBefore: (a, b) =>
      a.pod.priority > b.pod.priority || (a.pod.priority === b.pod.priority && a.queuedAt < b.queuedAt),
    profileOf: () => profile,
    backOff: { initialMs: 1000, maxMs: 10_000 },
    onReady: () => ready++,
    clock: clockOf(),
    log: assert.fail,
  })
  /** Pops the next pod and puts it back, rejected by the plug-in. */
  const reject = (plugin: string, pending = false): string | undefined => {
    const entry = queue.pop()
    if (!entry) return undefined
    if (pending) entry.pendingFor = new Set([plugin])
    else entry.rejectedBy = new Set([plugin])
    queue.putBack(entry, entry.pod)
    return entry.pod.name
  }
  const emit = (resource: 'Node' | 'Pod', action: 'Add' | 'Delete', object: object): void =>
    queue.handleEvent({ resource, action, ...(action === 'Add' ? { after: object } : { before: object }) } as never, [
      profile,
    ])
  t.after(() => queue.stop())
  return { queue, reject, emit, ready: () => ready, tick: (ms: number) => timers.tick(ms) }
}

const names = (queue: SchedulingQueue): (string | undefined)[] => {
  const found: (string | undefined)[] = []
  for (let entry = queue.pop(); entry; entry = queue.pop()) {
    found.push(entry.pod.name)
    queue.done(entry.pod.uid)
  }
  return found
}

test('pods come out by priority, then by age', (t) => {
  const { queue, ready, tick } = aQueue(t)
  queue.add(aPod('first'))
  tick(1)
  queue.add(aPod('second'))
  queue.add(aPod('urgent', { priority: 9 }))
  assert.equal(ready(), 3)
  assert.deepEqual(names(queue), ['urgent', 'first', 'second'])
})

test('a rejected pod waits for an event of the plug-in that rejected it', (t) => {
  const { queue, reject, emit } = aQueue(t)
  queue.add(aPod('p'))
  assert.equal(reject('Fit'), 'p')
  assert.deepEqual(queue.sizes(), { active: 0, backoff: 0, unschedulable: 1, gated: 0 })
  emit('Pod', 'Delete', aPod('holder', { nodeName: 'n' }))
  assert.equal(queue.sizes().unschedulable, 1)
  emit('Node', 'Add', aNode('n'))
  assert.deepEqual(queue.sizes(), { active: 0, backoff: 1, unschedulable: 0, gated: 0 })
})

test('a queueing hint selects the pods that an event may help', (t) => {
  const { queue, reject, emit } = aQueue(t)
  queue.add(aPod('p'))
  reject('Device')
  emit('Pod', 'Delete', aPod('other', { nodeName: 'n' }))
  assert.equal(queue.sizes().unschedulable, 1)
  emit('Pod', 'Delete', aPod('holder', { nodeName: 'n' }))
  assert.equal(queue.sizes().unschedulable, 0)
})

test('a pending pod becomes active immediately when its event arrives', (t) => {
  const { queue, reject, emit } = aQueue(t)
  queue.add(aPod('p'))
  reject('Device', true)
  emit('Pod', 'Delete', aPod('holder', { nodeName: 'n' }))
  assert.equal(queue.sizes().active, 1)
})

test('events during an attempt are not missed', (t) => {
  const { queue, emit } = aQueue(t)
  queue.add(aPod('p'))
  queue.add(aPod('q'))
  const [p, q] = [queue.pop()!, queue.pop()!]
  emit('Node', 'Add', aNode('n'))
  p.rejectedBy = new Set(['Device'])
  queue.putBack(p, p.pod)
  q.rejectedBy = new Set(['Fit'])
  queue.putBack(q, q.pod)
  assert.deepEqual(
    [queue.get('default/p')?.pod.name, queue.sizes()],
    ['p', { active: 0, backoff: 1, unschedulable: 1, gated: 0 }],
  )
})

test('the back-off doubles with each rejection up to the maximum, and active pods go first', (t) => {
  const { queue, reject, emit, tick } = aQueue(t)
  queue.add(aPod('p'))
  for (const seconds of [1, 2, 4, 8, 10, 10]) {
    reject('Fit')
    emit('Node', 'Add', aNode('n'))
    assert.equal(queue.sizes().backoff, 1)
    tick(seconds * 1000 - 1)
    assert.deepEqual([seconds, queue.sizes().active], [seconds, 0])
    tick(1)
    assert.deepEqual([seconds, queue.sizes().active], [seconds, 1])
  }
})

test('a backed-off pod is tried early if no pod is active, unless it failed with an error', (t) => {
  const { queue, reject, emit, tick } = aQueue(t)
  queue.add(aPod('rejected'))
  reject('Fit')
  queue.add(aPod('failed'))
  const failed = queue.pop()!
  queue.putBack(failed, failed.pod)
  emit('Node', 'Add', aNode('n'))
  assert.equal(queue.sizes().backoff, 2)
  queue.add(aPod('new'))
  assert.deepEqual(names(queue), ['new', 'rejected'])
  tick(1000)
  assert.deepEqual(names(queue), ['failed'])
})

test('an unschedulable pod is retried after five minutes', (t) => {
  const { queue, reject, tick } = aQueue(t)
  queue.add(aPod('p'))
  reject('Fit')
  tick(5 * 60_000 - 1)
  assert.equal(queue.sizes().unschedulable, 1)
  tick(1)
  assert.equal(queue.sizes().active, 1)
})

test('gated pods are not tried before their gate opens', (t) => {
  const { queue } = aQueue(t, ({ labels }) => labels.open === undefined)
  const pod = aPod('p')
  queue.add(pod)
  assert.deepEqual([queue.sizes(), queue.pop()], [{ active: 0, backoff: 0, unschedulable: 0, gated: 1 }, undefined])
  const opened: Pod = { ...pod, metadata: { ...pod.metadata, labels: { open: 'yes' } } }
  queue.update(pod, opened)
  assert.deepEqual(names(queue), ['p'])
})

test('a pod activated during its attempt does not wait for an event', (t) => {
  const { queue } = aQueue(t)
  queue.add(aPod('p'))
  queue.add(aPod('q'))
  const [p, q] = [queue.pop()!, queue.pop()!]
  queue.activate(['default/p'])
  for (const entry of [p, q]) {
    entry.rejectedBy = new Set(['Fit'])
    queue.putBack(entry, entry.pod)
  }
  assert.deepEqual(queue.sizes(), { active: 0, backoff: 1, unschedulable: 1, gated: 0 })
  assert.equal(queue.pop()?.pod.name, 'p')
})

test('pods are found by key in every part, updated, activated and deleted', (t) => {
  const { queue, reject } = aQueue(t)
  const pod = aPod('p')
  queue.add(pod)
  reject('Fit')
  queue.update(pod, { ...pod, metadata: { ...pod.metadata, annotations: { a: 'b' } } })
  assert.deepEqual(queue.get('default/p')?.pod.pod.metadata.annotations, { a: 'b' })
  assert.equal(queue.sizes().unschedulable, 1)
  queue.activate(['default/p', 'default/none'])
  assert.equal(queue.sizes().active, 1)
  queue.delete(pod)
  assert.deepEqual([queue.get('default/p'), queue.pop()], [undefined, undefined])
})

test('back-offs and the wait of unschedulable pods follow a paused clock; retries after errors do not', async (t) => {
  const clock = new MovableClock(new ClockMemory(), { now: () => start, monotonic: () => 0 })
  t.after(() => clock.stop())
  const { queue, reject, emit, tick } = aQueue(t, undefined, () => clock)
  clock.move(0, 0)
  /** Moves the clock. Resolves when the alarms that are due until then have rung. */
  const move = async (ms: number): Promise<void> => {
    let hasRung = false
    clock.after(ms, () => (hasRung = true))
    clock.move(ms, 0)
    while (!hasRung) {
      await nextTurn()
      tick(1)
    }
  }
  queue.add(aPod('failed'))
  const failed = queue.pop()!
  queue.putBack(failed, failed.pod)
  queue.add(aPod('unschedulable'))
  reject('Fit')
  queue.add(aPod('rejected'))
  reject('Device')
  emit('Pod', 'Delete', aPod('holder', { nodeName: 'n' }))
  assert.deepEqual(queue.sizes(), { active: 0, backoff: 2, unschedulable: 1, gated: 0 })
  tick(10 * 60_000)
  assert.deepEqual([queue.pop()?.pod.name, queue.sizes().backoff], ['failed', 1])
  queue.done(failed.pod.uid)
  await move(999)
  assert.equal(queue.sizes().active, 0)
  await move(1)
  assert.equal(queue.sizes().active, 1)
  await move(5 * 60_000 - 1_001)
  assert.equal(queue.sizes().unschedulable, 1)
  await move(1)
  assert.equal(queue.sizes().active, 2)
})
