/**
 * Property test: for random pods, nodes and affinities, every placement follows plainly written rules, and no pod is
 * pending that fits.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Node, Pod } from '../client/kinds.ts'
import { nodes, pods } from '../client/kinds.ts'
import { MemoryCluster } from './testing/memory-cluster.fixture.ts'
import { memoryScheduler } from './testing/memory-scheduler.fixture.ts'
import { aNode, aPod } from './testing/objects.fixture.ts'
import { type PlainCluster, violatedRule } from './testing/plain-rules.fixture.ts'

/** A random number generator with a seed (mulberry32). Returns numbers from 0 to 1. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

class RandomCluster {
  readonly #random: () => number
  readonly #hasPriorities: boolean

  constructor(random: () => number, hasPriorities: boolean) {
    this.#random = random
    this.#hasPriorities = hasPriorities
  }

  chance(of: number): boolean {
    return this.#random() < of
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!
  }

  node(name: string): Node {
    return aNode(name, {
      labels: { ...(this.chance(0.9) && { zone: this.pick(['a', 'b', 'c']) }), disk: this.pick(['ssd', 'hdd']) },
      allocatable: { cpu: this.pick(['1000m', '2000m', '4000m']), pods: this.pick(['3', '8', '20']) },
      spec: {
        ...(this.chance(0.1) && { unschedulable: true }),
        ...(this.chance(0.2) && {
          taints: [
            { key: 'dedicated', value: this.pick(['x', 'y']), effect: this.pick(['NoSchedule', 'PreferNoSchedule']) },
          ],
        }),
      },
    })
  }

  pod(name: string): Pod {
    const labels = { app: this.pick(['web', 'db', 'job']), tier: this.pick(['1', '2']) }
    const spec: Partial<NonNullable<Pod['spec']>> = {
      containers: [
        {
          name: 'c',
          image: 'i',
          resources: { requests: { cpu: this.pick(['0m', '100m', '500m', '900m']) } },
          ...(this.chance(0.1) && { ports: [{ containerPort: 80, hostPort: this.pick([80, 81]) }] }),
        },
      ],
      ...(this.#hasPriorities && { priority: this.pick([0, 0, 5, 10]) }),
      ...(this.chance(0.3) && { tolerations: [{ key: 'dedicated', operator: 'Equal', value: this.pick(['x', 'y']) }] }),
      ...(this.chance(0.2) && { nodeSelector: { disk: 'ssd' } }),
      ...(this.chance(0.4) && { affinity: this.#affinity() }),
      ...(this.chance(0.25) && {
        topologySpreadConstraints: [
          {
            maxSkew: this.pick([1, 2]),
            topologyKey: this.pick(['zone', 'kubernetes.io/hostname']),
            whenUnsatisfiable: this.pick(['DoNotSchedule', 'DoNotSchedule', 'ScheduleAnyway']),
            labelSelector: { matchLabels: { app: labels.app } },
          },
        ],
      }),
    }
    return aPod(name, spec, { labels, uid: `${name}-${this.#random()}` })
  }

  #labels(): Record<string, string> {
    return this.chance(0.7) ? { app: this.pick(['web', 'db', 'job']) } : { tier: this.pick(['1', '2']) }
  }

  #affinity(): NonNullable<Pod['spec']>['affinity'] {
    const term = () => ({
      topologyKey: this.pick(['zone', 'kubernetes.io/hostname']),
      labelSelector: { matchLabels: this.#labels() },
    })
    const terms = { requiredDuringSchedulingIgnoredDuringExecution: [term()] }
    return this.chance(0.5) ? { podAffinity: terms } : { podAntiAffinity: terms }
  }
}

async function play(seed: number, hasPriorities: boolean): Promise<void> {
  const random = seeded(seed)
  const make = new RandomCluster(random, hasPriorities)
  const cluster = new MemoryCluster()
  const allNodes = cluster.lister(nodes)
  const allPods = cluster.lister(pods)
  const now = (): PlainCluster => ({
    nodes: [...allNodes.all()],
    pods: [...allPods.all()].filter(({ spec }) => spec?.nodeName),
  })
  const wrong: string[] = []
  cluster.onBind = (pod, name) => {
    const plain = now()
    const node = plain.nodes.find(({ metadata }) => metadata.name === name)
    const why = node ? violatedRule(pod, node, plain) : 'no such node'
    if (why) wrong.push(`${pod.metadata.name} went to ${name} against ${why}`)
  }
  const { scheduler, until } = await memoryScheduler({ random }, cluster)
  const isSettled = (): boolean => {
    const { active, backoff } = scheduler.queue.sizes()
    return active + backoff + scheduler.cache.assumedCount === 0
  }
  const settled = async (): Promise<void> => {
    // Events that wake pods may be under way, so the queue has to stay empty for some turns.
    for (let quiet = 0; quiet < 10; quiet++) {
      await nextTurn()
      if (isSettled()) continue
      quiet = 0
      await until('the queue is empty', isSettled)
    }
  }
  let made = 0
  for (let step = 0; step < 60; step++) {
    const node = `n${Math.floor(random() * 8)}`
    const placed = [...allPods.all()]
    if (make.chance(0.2)) cluster.put(make.node(node))
    else if (make.chance(0.05)) {
      cluster.remove('Node', node)
      for (const pod of now().pods)
        if (pod.spec?.nodeName === node) cluster.remove('Pod', `default/${pod.metadata.name}`)
    } else if (make.chance(0.35) && placed.length > 0)
      cluster.remove('Pod', `default/${make.pick(placed).metadata.name}`)
    else for (let count = 0; count < 3; count++) cluster.put(make.pod(`p${made++}`))
    if (make.chance(0.3)) await settled()
  }
  await settled()
  assert.deepEqual(wrong, [], `seed ${seed}`)
  const plain = now()
  for (const pod of allPods.all()) {
    if (pod.spec?.nodeName) continue
    const fitting = plain.nodes.find((node) => !violatedRule(pod, node, plain))
    assert.equal(
      fitting?.metadata.name,
      undefined,
      `seed ${seed}: ${pod.metadata.name} is pending, but fits: ${JSON.stringify(pod)}`,
    )
  }
  await scheduler.stop()
}

test('random pods without priorities are placed according to the plain rules', async () => {
  for (let seed = 1; seed <= 12; seed++) await play(seed, false)
})

test('random pods with priorities are placed according to the plain rules, and preempt', async () => {
  for (let seed = 101; seed <= 112; seed++) await play(seed, true)
})
