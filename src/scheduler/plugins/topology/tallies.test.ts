/** Property test: with random changes of pods and nodes, incremental counts equal those from scratch. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import { type NodeInfo, type Plugin, type PluginFactory, PodInfo } from '../../framework/index.ts'
import { aNode, aPod } from '../../testing/objects.fixture.ts'
import { handleOf, makePlugin, snapshotOf } from '../../testing/try-plugin.fixture.ts'
import { interPodAffinity } from '../inter-pod-affinity/index.ts'
import { podTopologySpread } from '../pod-topology-spread/index.ts'

const zone = 'topology.kubernetes.io/zone'
const hostname = 'kubernetes.io/hostname'

/** A pseudo-random sequence, the same in each run. */
function sequence(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >>> 8) % below
  }
}

function randomPod(at: number, random: (below: number) => number): Pod {
  const app = `a${random(3)}`
  const topologyKey = random(2) ? zone : hostname
  const labelSelector = { matchLabels: { app: `a${random(3)}` } }
  const term = { topologyKey, labelSelector }
  const required = { requiredDuringSchedulingIgnoredDuringExecution: [term] }
  const preferred = {
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 + random(9), podAffinityTerm: term }],
  }
  const whenUnsatisfiable = random(2) ? 'DoNotSchedule' : 'ScheduleAnyway'
  const specs: readonly Pod['spec'][] = [
    { containers: [] },
    { containers: [], affinity: { podAntiAffinity: required } },
    { containers: [], affinity: { podAffinity: required } },
    { containers: [], affinity: { podAffinity: preferred } },
    { containers: [], affinity: { podAntiAffinity: preferred } },
    {
      containers: [],
      topologySpreadConstraints: [{ maxSkew: 1 + random(2), topologyKey, whenUnsatisfiable, labelSelector }],
    },
  ]
  return aPod(`p${at}`, specs[random(specs.length)], { labels: { app } })
}

/** The rejections and scores of a plug-in for a pod on each node. */
function answers(plugin: Plugin, pod: PodInfo, snapshot: ReturnType<typeof snapshotOf>): unknown {
  const filtered = plugin.preFilter?.(pod, snapshot)
  const state = filtered && 'state' in filtered ? filtered.state : undefined
  const rejections =
    state === undefined
      ? 'skipped'
      : snapshot.nodes.map((node) => plugin.filter?.(state, pod, node)?.reasons.join() ?? '')
  const scored = plugin.preScore?.(pod, snapshot.nodes, state)
  if (!scored || 'code' in scored) return [rejections, 'skipped']
  const scores = snapshot.nodes.map((node) => plugin.score?.(scored.state, pod, node) ?? 0)
  plugin.normalize?.(scored.state, pod, scores, snapshot.nodes)
  return [rejections, scores]
}

function check(factory: PluginFactory, seed: number): void {
  const random = sequence(seed)
  const cluster = {
    nodes: Array.from({ length: 7 }, (_, at) => aNode(`n${at}`, at === 0 ? {} : { labels: { [zone]: `z${at % 3}` } })),
  }
  const snapshot = snapshotOf(cluster)
  // Test snapshots are made once; this one is modified in place.
  const nodes = snapshot.nodes as NodeInfo[]
  const live = { ...snapshot, nodesWithAffinity: new Set(nodes), nodesWithRequiredAntiAffinity: new Set(nodes) }
  const plugin = makePlugin(factory, cluster, handleOf(cluster, live))
  for (let step = 0; step < 150; step++) {
    const node = nodes[random(nodes.length)] as NodeInfo
    const action = random(10)
    if (action < 6) node.addPod(new PodInfo(randomPod(step, random)))
    else if (action < 8 && node.pods.length > 0) node.removePod(node.pods[random(node.pods.length)] as PodInfo)
    else if (action === 8) node.setNode(aNode(node.name, { labels: { [zone]: `z${random(3)}` } }))
    else nodes.push(nodes.shift() as NodeInfo)
    const pod = new PodInfo(randomPod(1000 + step, random))
    const fresh = makePlugin(factory, cluster, handleOf(cluster, live))
    assert.deepEqual(
      answers(plugin, pod, live),
      answers(fresh, pod, live),
      `${factory.name}, seed ${seed}, step ${step}`,
    )
  }
}

test('incremental counts per node equal a count from scratch', () => {
  for (let seed = 1; seed <= 20; seed++)
    for (const factory of [interPodAffinity, podTopologySpread]) check(factory, seed)
})
