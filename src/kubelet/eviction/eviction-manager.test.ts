import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod-types.ts'
import type { UsageSnapshot } from '../stats/usage/usage-snapshot.ts'
import type { TerminationStatus } from '../workers/pod-worker.ts'
import { EvictionManager, type EvictionOptions } from './eviction-manager.ts'
import type { PressureCondition } from './signals.ts'
import { parseThresholds } from './thresholds.ts'

const mebi = 1024 * 1024

/** The amounts of the node that are free, of 1,000 MiB each and of 1,000 processes. */
interface Free {
  memory: number
  disk: number
  imageDisk?: number
  processes: number
}

const podOf = (name: string, memory: number, fields: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: name, annotations: { memory: String(memory) } },
  spec: { containers: [{ name: 'c' }], terminationGracePeriodSeconds: 60, ...fields },
})

const disk = (free: number) => ({ availableBytes: free * mebi, capacityBytes: 1000 * mebi, inodes: 0, inodesFree: 0 })

function snapshotOf(free: Free, pods: readonly Pod[]): UsageSnapshot {
  const imageDisk = free.imageDisk ?? free.disk
  return {
    node: {
      memory: { available: free.memory * mebi, workingSet: (1000 - free.memory) * mebi },
      maxPid: 1000,
      processes: 1000 - free.processes,
    },
    fileSystem: disk(free.disk),
    imageFileSystem: disk(imageDisk),
    hasImageFileSystem: free.imageDisk !== undefined,
    system: [],
    pods: pods.map(({ metadata: { uid, annotations } }) => {
      const usage = { memory: { workingSet: Number(annotations?.memory) * mebi }, processes: 5 }
      const part = { usedBytes: 0, inodesUsed: 0 }
      const container = { name: 'c', usage, writableLayer: part, logs: part }
      return { identity: { uid }, usage, containers: [container], volumes: [] }
    }),
  } as unknown as UsageSnapshot
}

const nothing = { evictionHard: {}, evictionSoft: {}, evictionSoftGracePeriod: {}, evictionMinimumReclaim: {} }

type Settings = Partial<Parameters<typeof parseThresholds>[0]>

function setUp(settings: Settings, changes: Partial<EvictionOptions> = {}) {
  const free: Free = { memory: 900, disk: 900, processes: 900 }
  const pods = [podOf('small', 10), podOf('large', 200)]
  const state = { now: 0, conditions: [] as readonly PressureCondition[] }
  const steps: string[] = []
  const statuses: TerminationStatus[] = []
  const manager = new EvictionManager({
    thresholds: parseThresholds({ ...nothing, ...settings }),
    transitionMs: 300_000,
    countEviction: () => {},
    observeAge: () => {},
    maxGraceSeconds: 30,
    limitsStorage: false,
    now: () => state.now,
    log: (line) => void steps.push(line),
    schedule: () => () => {},
    collectUsage: async () => snapshotOf(free, pods),
    activePods: () => pods,
    setConditions: (conditions) => void (state.conditions = conditions),
    async terminate({ metadata }, graceSeconds, status) {
      steps.push(`ends ${metadata.name} in ${graceSeconds}s`)
      statuses.push(status)
    },
    removeUnusedContainers: async () => void steps.push('removes containers'),
    removeUnusedImages: async () => void steps.push('removes images'),
    record: (subject, reason) => void steps.push(`${subject === 'node' ? 'node' : subject.metadata.name} ${reason}`),
    ...changes,
  })
  const check = async (now: number): Promise<readonly string[]> => {
    state.now = now
    await manager.check()
    return steps.splice(0)
  }
  return { free, pods, state, statuses, check }
}

test('a node short of memory evicts the pod that uses the most, one at a time', async () => {
  const { free, state, statuses, check } = setUp({ evictionHard: { 'memory.available': '100Mi' } })
  assert.deepEqual(await check(0), [])
  free.memory = 50
  assert.deepEqual(await check(10_000), ['node EvictionThresholdMet', 'large Evicted', 'ends large in 1s'])
  assert.deepEqual(state.conditions, ['MemoryPressure'])
  assert.deepEqual(statuses, [
    {
      reason: 'Evicted',
      message:
        'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ' +
        'Container c was using 200Mi, request is 0, has larger consumption of memory. ',
      isDisruption: true,
    },
  ])
})

test('critical pods are not evicted', async () => {
  const { free, pods, check } = setUp({ evictionHard: { 'memory.available': '100Mi' } })
  pods.splice(1, 1, podOf('large', 200, { priority: 2_000_001_000 }))
  free.memory = 50
  const steps = await check(0)
  assert.equal(steps.at(-1), 'ends small in 1s')
})

test('a soft threshold evicts after its grace period, and gives pods time', async () => {
  const { free, state, check } = setUp({
    evictionSoft: { 'memory.available': '300Mi' },
    evictionSoftGracePeriod: { 'memory.available': '1m' },
  })
  free.memory = 200
  assert.deepEqual(await check(0), [])
  assert.deepEqual(state.conditions, ['MemoryPressure'])
  assert.deepEqual(await check(59_000), [])
  free.memory = 400
  assert.deepEqual(await check(60_000), [])
  free.memory = 200
  assert.deepEqual(await check(70_000), [])
  const steps = await check(130_000)
  assert.equal(steps.at(-1), 'ends large in 30s')
})

test('pressure is reported for the transition period after it has gone', async () => {
  const { free, state, check } = setUp({ evictionHard: { 'pid.available': '10%' } })
  free.processes = 50
  const steps = await check(0)
  assert.match(steps.at(-1) ?? '', /^ends (small|large) in 1s$/)
  free.processes = 500
  assert.deepEqual(await check(299_000), [])
  assert.deepEqual(state.conditions, ['PIDPressure'])
  await check(300_000)
  assert.deepEqual(state.conditions, [])
})

test('a node short of disk removes containers and images first, and evicts if that does not help', async () => {
  let after = 50
  const { free, check, state } = setUp(
    { evictionHard: { 'nodefs.available': '10%' } },
    {
      async removeUnusedImages() {
        free.disk = after
      },
    },
  )
  free.disk = 50
  const evicting = await check(0)
  assert.deepEqual(evicting.slice(0, 2), ['node EvictionThresholdMet', 'removes containers'])
  assert.match(evicting.at(-1) ?? '', /^ends /)
  after = 500
  assert.deepEqual(await check(10_000), ['node EvictionThresholdMet', 'removes containers'])
  assert.deepEqual(state.conditions, ['DiskPressure'])
})

test('images on a disk of their own do not help a full disk of the kubelet', async () => {
  const { free, check } = setUp({ evictionHard: { 'nodefs.available': '10%', 'imagefs.available': '15%' } })
  Object.assign(free, { disk: 50, imageDisk: 900 })
  assert.ok(!(await check(0)).includes('removes images'))
  Object.assign(free, { disk: 900, imageDisk: 100 })
  assert.ok((await check(10_000)).includes('removes images'))
})

test('evictions go on until the minimum is reclaimed', async () => {
  const { free, check } = setUp({
    evictionHard: { 'memory.available': '100Mi' },
    evictionMinimumReclaim: { 'memory.available': '200Mi' },
  })
  free.memory = 50
  assert.equal((await check(0)).at(-1), 'ends large in 1s')
  free.memory = 250
  assert.equal((await check(10_000)).at(-1), 'ends large in 1s')
  free.memory = 310
  assert.deepEqual(await check(20_000), [])
})
