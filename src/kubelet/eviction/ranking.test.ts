import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod-types.ts'
import type { PodUsage } from '../stats/usage/usage-snapshot.ts'
import { evictionAnnotations, evictionMessage } from './messages.ts'
import { NodePressure } from './node-pressure.ts'
import { rankPods } from './ranking.ts'
import type { Signal } from './signals.ts'
import { exceededLimit } from './storage-limits.ts'

const mebi = 1024 * 1024

interface Facts {
  readonly priority?: number
  readonly request?: Readonly<Record<string, string>>
  /** In MiB. */
  readonly memory?: number
  readonly layer?: number
  readonly logs?: number
  readonly volume?: number
  readonly processes?: number
  readonly hasNoUsage?: boolean
}

const podOf = (name: string, { priority, request }: Facts): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: name },
  spec: {
    ...(priority !== undefined && { priority }),
    containers: [{ name: 'c', resources: { requests: request ?? {} } }],
    volumes: [{ name: 'v', emptyDir: {} }],
  },
})

const part = (size = 0) => ({ usedBytes: size * mebi, inodesUsed: size })

const usageOf = ({ memory = 0, layer, logs, volume, processes = 0 }: Facts): PodUsage =>
  ({
    usage: { memory: { workingSet: memory * mebi }, processes },
    containers: [
      { name: 'c', usage: { memory: { workingSet: memory * mebi } }, writableLayer: part(layer), logs: part(logs) },
    ],
    volumes: [{ name: 'v', isEphemeral: true, ...part(volume) }],
  }) as unknown as PodUsage

const memoryPods: Readonly<Record<string, Facts>> = {
  modest: { memory: 50, request: { memory: '100Mi' } },
  important: { memory: 400, priority: 10 },
  large: { memory: 60 },
  larger: { memory: 70 },
  requesting: { memory: 100, request: { memory: '35Mi' } },
  unknown: { hasNoUsage: true, priority: 20 },
}
const diskPods: Readonly<Record<string, Facts>> = {
  layer: { layer: 30 },
  logs: { logs: 20 },
  volume: { volume: 10, request: { 'ephemeral-storage': '1Mi' } },
}
const processPods: Readonly<Record<string, Facts>> = {
  few: { processes: 1 },
  many: { processes: 9 },
  low: { processes: 0, priority: -1 },
}

for (const [signal, pods, hasImageFileSystem, expected] of [
  ['memory.available', memoryPods, false, 'unknown larger requesting large important modest'],
  ['nodefs.available', diskPods, false, 'layer logs volume'],
  ['nodefs.available', diskPods, true, 'logs volume layer'],
  ['imagefs.available', diskPods, true, 'layer logs volume'],
  ['nodefs.inodesFree', diskPods, true, 'logs volume layer'],
  ['pid.available', processPods, false, 'low many few'],
] satisfies readonly (readonly [Signal, Readonly<Record<string, Facts>>, boolean, string])[])
  test(`pods are ranked for ${signal}${hasImageFileSystem ? ' with a file system for images' : ''}`, () => {
    const all = Object.entries(pods).map(([name, facts]) => podOf(name, facts))
    const find = ({ metadata: { name = '' } }: Pod) => (pods[name]?.hasNoUsage ? undefined : usageOf(pods[name] ?? {}))
    const ranked = rankPods(all, signal, find, hasImageFileSystem)
    assert.equal(ranked.map(({ metadata }) => metadata.name).join(' '), expected)
  })

test('the message of an eviction names the containers above their requests', () => {
  const thresholds = [{ signal: 'memory.available', value: { quantity: '100Mi' }, graceMs: 0 }] as const
  const observations = new Map([['memory.available', { available: 64 * mebi, capacity: 1024 * mebi }]] as const)
  const message = (facts: Facts) =>
    evictionMessage(podOf('p', facts), usageOf(facts), { resource: 'memory', thresholds, observations })
  const low = 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 64Mi. '
  assert.equal(
    message({ memory: 60 }),
    `${low}Container c was using 60Mi, request is 0, has larger consumption of memory. `,
  )
  assert.equal(message({ memory: 60, request: { memory: '64Mi' } }), low)
})

test('the annotations of an eviction name the resource, and the containers above their requests', () => {
  const pod = podOf('p', { memory: 60 })
  assert.deepEqual(evictionAnnotations(pod, usageOf({ memory: 60 }), 'memory'), {
    starved_resource: 'memory',
    offending_containers: 'c',
    offending_containers_usage: '60Mi',
  })
  assert.deepEqual(evictionAnnotations(pod, usageOf({ processes: 9 }), 'pids'), {
    starved_resource: 'pids',
    offending_containers: '',
    offending_containers_usage: '',
  })
  assert.deepEqual(evictionAnnotations(pod, undefined, 'memory'), { starved_resource: 'memory' })
})

test('a volume that exceeds its limit is named', () => {
  const pod: Pod = {
    ...podOf('p', {}),
    spec: { containers: [{ name: 'c' }], volumes: [{ name: 'v', emptyDir: { sizeLimit: '5Mi' } }] },
  }
  assert.equal(exceededLimit(pod, usageOf({ volume: 5 }), false), undefined)
  assert.deepEqual(exceededLimit(pod, usageOf({ volume: 6 }), false), {
    signal: 'emptydirfs.limit',
    message: 'Usage of EmptyDir volume "v" exceeds the limit "5Mi". ',
  })
})

test('under memory pressure pods without requests are rejected, and under others all that are not critical', () => {
  const pressure = new NodePressure()
  const pod = (qosClass: string, spec: object = {}): Pod => ({
    ...podOf('p', {}),
    spec: { containers: [], ...spec },
    status: { qosClass },
  })
  const tolerant = pod('BestEffort', {
    tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists' }],
  })
  const critical = pod('BestEffort', { priority: 2_000_000_000 })
  const all = [pod('BestEffort'), pod('Burstable'), tolerant, critical]
  const rejected = () => all.map((one) => pressure.check(one)?.message)
  assert.deepEqual(rejected(), [undefined, undefined, undefined, undefined])
  assert.equal(pressure.set(['MemoryPressure']), true)
  assert.equal(pressure.set(['MemoryPressure']), false)
  const short = 'The node had condition: [MemoryPressure]. '
  assert.deepEqual(rejected(), [short, undefined, undefined, undefined])
  pressure.set(['PIDPressure'])
  const processes = 'The node had condition: [PIDPressure]. '
  assert.deepEqual(rejected(), [processes, processes, processes, undefined])
})
