import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podRequests } from '../../api/core/pod/resources/pod-resources.ts'
import { milliValue } from '../../machinery/values/quantity.ts'
import type { Pod } from '../pod-types.ts'
import { PodAllocations, type Refusal } from './pod-allocations.ts'
import type { PodResources } from './pod-resources.ts'
import { ResizeConditions } from './resize-conditions.ts'

interface Options {
  readonly cpu?: string
  readonly priority?: number
  readonly phase?: string
  readonly generation?: number
}

const podOf = (uid: string, { cpu = '100m', priority = 0, phase = 'Running', generation = 1 }: Options = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { uid, name: uid, namespace: 'default', generation },
  spec: { priority, containers: [{ name: 'main', resources: { requests: { cpu } } }] },
  status: { phase, qosClass: 'Burstable' },
})

const cpuOf = (pod: Pod): string | undefined => podRequests(pod).cpu

/** A node with one CPU. */
function nodeWith(...pods: Pod[]) {
  const all = new Map(pods.map((pod) => [pod.metadata.uid ?? '', pod]))
  const record = new Map<string, PodResources>()
  const events: string[] = []
  const changed: string[] = []
  const conditions = new ResizeConditions(() => 0)
  const allocations = new PodAllocations({
    record: {
      get: (uid) => record.get(uid),
      set: (uid, resources) => void record.set(uid, resources),
      delete: (uid) => void record.delete(uid),
      retain(isKnown) {
        for (const uid of [...record.keys()]) if (!isKnown(uid)) record.delete(uid)
      },
    },
    conditions,
    events: { ofPod: ({ metadata }, _type, reason) => void events.push(`${metadata.name} ${reason}`) },
    pods: () => [...all.values()],
    refusal(pod, others): Refusal | undefined {
      const used = [pod, ...others].reduce((sum, one) => sum + milliValue(cpuOf(one) ?? '0'), 0n)
      return used > 1000n ? { reason: 'Deferred', message: `${used} of 1000` } : undefined
    },
    changed: (uid) => void changed.push(uid),
    schedule: () => () => {},
    log: (line) => assert.fail(line),
  })
  const update = (pod: Pod): void => {
    all.set(pod.metadata.uid ?? '', pod)
    allocations.update(pod)
  }
  for (const pod of pods) allocations.update(pod)
  return {
    allocations,
    conditions,
    events,
    changed,
    update,
    remove(uid: string) {
      all.delete(uid)
      allocations.release(uid)
    },
    allocated: (uid: string) => cpuOf(allocations.allocatedPod(all.get(uid)!)),
  }
}

test('a resize that fits is allocated, and in progress', () => {
  const { allocations, conditions, events, changed, update, allocated } = nodeWith(podOf('a'))
  allocations.start()
  update(podOf('a', { cpu: '500m', generation: 2 }))
  assert.equal(allocated('a'), '500m')
  assert.equal(conditions.find('a', 'PodResizeInProgress')?.observedGeneration, 2)
  assert.deepEqual([events, changed], [['a ResizeStarted'], ['a']])
})

test('a resize that does not fit waits for the resources of others, and is reported once', () => {
  const { allocations, conditions, events, update, remove, allocated } = nodeWith(
    podOf('a'),
    podOf('b', { cpu: '800m' }),
  )
  allocations.start()
  update(podOf('a', { cpu: '500m', generation: 2 }))
  update(podOf('a', { cpu: '500m', generation: 2 }))
  assert.equal(allocated('a'), '100m')
  const { reason, message } = conditions.find('a', 'PodResizePending') ?? {}
  assert.deepEqual([reason, message], ['Deferred', '1300 of 1000'])
  assert.deepEqual(events, ['a ResizeDeferred'])
  remove('b')
  assert.equal(allocated('a'), '500m')
  assert.equal(conditions.find('a', 'PodResizePending'), undefined)
  assert.deepEqual(events, ['a ResizeDeferred', 'a ResizeStarted'])
})

test('a resize that is taken back is not pending any more', () => {
  const { allocations, conditions, changed, update } = nodeWith(podOf('a'), podOf('b', { cpu: '800m' }))
  allocations.start()
  update(podOf('a', { cpu: '500m' }))
  update(podOf('a'))
  assert.equal(conditions.find('a', 'PodResizePending'), undefined)
  assert.deepEqual(changed, ['a', 'a'])
})

test('of several resizes, smaller ones come first, then those of a higher priority', () => {
  const { allocations, update, remove, allocated } = nodeWith(
    podOf('low'),
    podOf('high', { priority: 1 }),
    podOf('shrinks', { cpu: '200m' }),
    podOf('large', { cpu: '600m' }),
  )
  allocations.start()
  update(podOf('low', { cpu: '500m' }))
  update(podOf('high', { cpu: '500m', priority: 1 }))
  remove('large')
  assert.deepEqual([allocated('low'), allocated('high')], ['100m', '500m'])
  update(podOf('shrinks', { cpu: '50m' }))
  assert.deepEqual([allocated('low'), allocated('shrinks')], ['100m', '50m'])
})

test('a pod that has ended holds no resources', () => {
  const { allocations, update, allocated } = nodeWith(podOf('a'), podOf('b', { cpu: '800m' }))
  allocations.start()
  update(podOf('a', { cpu: '500m' }))
  update(podOf('b', { cpu: '800m', phase: 'Succeeded' }))
  assert.equal(allocated('a'), '500m')
})

test('nothing is resized before all pods are known', () => {
  const { allocations, update, allocated } = nodeWith(podOf('a'))
  update(podOf('a', { cpu: '500m' }))
  assert.equal(allocated('a'), '100m')
  allocations.start()
  assert.equal(allocated('a'), '500m')
})

test('without a record, a pod that runs has what its status says', () => {
  const { containers, ...rest } = podOf('a').spec!
  const pod: Pod = {
    ...podOf('a'),
    spec: { ...rest, containers: containers.map((one) => ({ ...one, resources: { requests: { cpu: '2' } } })) },
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          name: 'main',
          image: 'i',
          imageID: '',
          ready: true,
          restartCount: 0,
          containerID: 'containerd://c',
          allocatedResources: { cpu: '100m' },
          resources: { requests: { cpu: '100m' } },
        },
      ],
    },
  }
  assert.equal(nodeWith(pod).allocated('a'), '100m')
})
