/**
 * `npm run bench -- --scheduler`: the scheduler with clusters in memory: pods per second, compared with the thresholds
 * of upstream's scheduler_perf, which are for larger machines. Asserts nothing.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Pod } from '../../src/client/kinds.ts'
import { MemoryCluster } from '../../src/scheduler/testing/memory-cluster.fixture.ts'
import { memoryScheduler } from '../../src/scheduler/testing/memory-scheduler.fixture.ts'
import { aNode, aPod, withRequests } from '../../src/scheduler/testing/objects.fixture.ts'

interface Workload {
  readonly name: string
  readonly nodes: number
  /** Number of pods that exist before. */
  readonly before: number
  readonly pods: number
  /** Pods per second: upstream's threshold of the nearest workload in scheduler_perf, and our target. */
  readonly upstream: number
  readonly wanted: number
  pod(name: string): Pod
}

const zones = 10
const requests = withRequests({ cpu: '100m', memory: '500Mi' })
const labels = { color: 'blue' }
const labelSelector = { matchLabels: labels }

const plain = (name: string): Pod => aPod(name, requests)
const apart = (name: string): Pod => {
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector, namespaces: ['default'] }
  return aPod(
    name,
    { ...requests, affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
    { labels },
  )
}
const together = (name: string): Pod => {
  const term = { topologyKey: 'topology.kubernetes.io/zone', labelSelector, namespaces: ['default'] }
  return aPod(
    name,
    { ...requests, affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
    { labels },
  )
}
const spread =
  (whenUnsatisfiable: string) =>
  (name: string): Pod => {
    const constraint = { maxSkew: 5, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable, labelSelector }
    return aPod(name, { ...requests, topologySpreadConstraints: [constraint] }, { labels })
  }

const workloads: readonly Workload[] = [
  { name: 'plain pods', nodes: 1000, before: 1000, pods: 5000, upstream: 680, wanted: 2000, pod: plain },
  { name: 'plain pods', nodes: 5000, before: 1000, pods: 5000, upstream: 270, wanted: 1000, pod: plain },
  { name: 'anti-affinity', nodes: 1000, before: 100, pods: 800, upstream: 60, wanted: 300, pod: apart },
  { name: 'anti-affinity', nodes: 5000, before: 1000, pods: 2000, upstream: 60, wanted: 300, pod: apart },
  { name: 'affinity', nodes: 5000, before: 1000, pods: 2000, upstream: 35, wanted: 300, pod: together },
  { name: 'spreading', nodes: 1000, before: 1000, pods: 2000, upstream: 85, wanted: 300, pod: spread('DoNotSchedule') },
  { name: 'spreading', nodes: 5000, before: 5000, pods: 2000, upstream: 85, wanted: 300, pod: spread('DoNotSchedule') },
  {
    name: 'preferred spreading',
    nodes: 5000,
    before: 5000,
    pods: 2000,
    upstream: 125,
    wanted: 300,
    pod: spread('ScheduleAnyway'),
  },
]

export async function benchScheduler(): Promise<void> {
  console.log('workload                 nodes   pods/s  upstream  wanted  CPU ms per pod')
  for (const workload of workloads) {
    const { perSecond, cpuMs } = await measured(workload)
    const { name, nodes, upstream, wanted } = workload
    const columns = [
      `${Math.round(perSecond)}`.padStart(8),
      `${upstream}`.padStart(9),
      `${wanted}`.padStart(7),
      cpuMs.toFixed(3).padStart(13),
    ]
    console.log(`${name.padEnd(22)}${`${nodes}`.padStart(8)}${columns.join(' ')}`)
  }
}

async function measured({
  nodes,
  before,
  pods,
  pod,
}: Workload): Promise<{ readonly perSecond: number; readonly cpuMs: number }> {
  const cluster = new MemoryCluster()
  for (let at = 0; at < nodes; at++) {
    const allocatable = { cpu: '4', memory: '32Gi' }
    cluster.put(aNode(`node-${at}`, { allocatable, labels: { 'topology.kubernetes.io/zone': `zone-${at % zones}` } }))
  }
  const { scheduler } = await memoryScheduler({}, cluster)
  await schedule(cluster, 'before', before, pod)
  const cpu = process.cpuUsage()
  const began = performance.now()
  await schedule(cluster, 'pod', pods, pod)
  const ms = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  await scheduler.stop()
  return { perSecond: (pods * 1000) / ms, cpuMs: (user + system) / 1000 / pods }
}

/** Creates the pods, and resolves when all of them have a node. */
async function schedule(
  cluster: MemoryCluster,
  prefix: string,
  count: number,
  pod: (name: string) => Pod,
): Promise<void> {
  const names = Array.from({ length: count }, (_, at) => `${prefix}-${at}`)
  cluster.put(...names.map(pod))
  for (const name of names) while (!cluster.pod(name)?.spec?.nodeName) await nextTurn()
}
