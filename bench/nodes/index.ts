/**
 * `npm run bench -- --nodes`: resources of clusters of simulated nodes: 5,000 at rest, and the start of pods on 1,000.
 * `--pods 100000` adds that many pods on 1,000 nodes, listed in pages, watched, and partly replaced. Asserts nothing.
 */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { deployments, pods } from '../../src/client/index.ts'
import { print } from '../report.ts'
import { cpuMs, memoryOf, type Server, stopServer } from '../server/server.ts'
import { type Cluster, deploymentOf, namespace, peakMegabytes, rollOut, startFleet, until } from './fleet.ts'
import type { GetTask } from './get-times.ts'

export interface NodesBench {
  /** For the data of the clusters. */
  readonly directory: string
  /** Pods of the large cluster; 0 to skip it. */
  readonly pods: number
}

const idleNodes = 5000
const busyNodes = 1000
/** Pause before a cluster is measured, and the duration of the measurement: leases are renewed every 25 s. */
const restMs = 60_000
const idleMs = 50_000
const ratePods = 3000
const perDeployment = 5000
const pageSize = 500
const hourMs = 3_600_000

type Row = readonly [name: string, value: string, target: string]

export async function benchNodes({ directory, pods: count }: NodesBench): Promise<void> {
  const rows: Row[] = [...(await idle(directory)), ...(await busy(directory, count))]
  print([['', 'value', 'target'], ...rows])
}

const whole = (value: number): string => String(Math.round(value))
function megabytes(cluster: Cluster): string {
  const { resident, file } = memoryOf(serverOf(cluster))
  return `${whole(resident)} MB, ${whole(file)} of them file-backed`
}
const serverOf = ({ process, readyMs }: Cluster): Server => ({ process, readyMs, url: '' })

async function withFleet(
  directory: string,
  size: number,
  measure: (cluster: Cluster) => Promise<Row[]>,
): Promise<Row[]> {
  const cluster = await startFleet(directory, size)
  try {
    const rows = await measure(cluster)
    return [[`${size} nodes: start until all are Ready`, `${(cluster.readyMs / 1000).toFixed(1)} s`, ''], ...rows]
  } finally {
    cluster.client.close()
    await stopServer(serverOf(cluster))
  }
}

const idle = (directory: string): Promise<Row[]> =>
  withFleet(directory, idleNodes, async (cluster) => {
    await delay(restMs)
    const before = cpuMs(serverOf(cluster)) ?? 0
    await delay(idleMs)
    const share = ((cpuMs(serverOf(cluster)) ?? 0) - before) / idleMs
    return [
      [`${idleNodes} nodes at rest: share of a core`, `${(share * 100).toFixed(1)} %`, '≤ 15 %'],
      [`${idleNodes} nodes at rest: resident memory`, megabytes(cluster), '≤ 400 MB'],
    ]
  })

const busy = (directory: string, count: number): Promise<Row[]> =>
  withFleet(directory, busyNodes, async (cluster) => {
    const ms = await rollOut(cluster, [deploymentOf('rate', ratePods)], hourMs)
    const rows: Row[] = [
      [
        `${ratePods} pods on ${busyNodes} nodes: from creation until running`,
        `${whole((ratePods * 1000) / ms)} pods/s`,
        '≥ 300',
      ],
    ]
    if (count > 0) {
      await cluster.client.delete(deployments, namespace, 'rate', { propagationPolicy: 'Foreground' })
      await until(
        hourMs,
        'the deletion of the first pods',
        async () => !(await cluster.client.find(deployments, namespace, 'rate')),
      )
      rows.push(...(await many(cluster, count)))
    }
    return rows
  })

async function many(cluster: Cluster, count: number): Promise<Row[]> {
  const wanted = Array.from({ length: Math.ceil(count / perDeployment) }, (_, at) =>
    deploymentOf(`web-${at}`, Math.min(perDeployment, count - at * perDeployment)),
  )
  const before = cpuMs(serverOf(cluster)) ?? 0
  const ms = await rollOut(cluster, wanted, 4 * hourMs)
  const cpu = (cpuMs(serverOf(cluster)) ?? 0) - before
  const rows: Row[] = [
    [
      `${count} pods: from creation until running`,
      `${whole((count * 1000) / ms)} pods/s, ${(cpu / count).toFixed(1)} ms CPU each`,
      '',
    ],
    [`${count} pods: resident memory when running`, megabytes(cluster), '≤ 2000 MB'],
  ]
  rows.push(...(await pages(cluster, count)), ...(await restart(cluster)))
  rows.push([`${count} pods: maximum resident memory`, `${whole(peakMegabytes(cluster))} MB`, '≤ 2000 MB'])
  return rows
}

/** Reads the whole list in pages, as kubectl does. */
async function pages({ client }: Cluster, count: number): Promise<Row[]> {
  const times: number[] = []
  let seen = 0
  const began = performance.now()
  let last = began
  for await (const { items } of client.pages(pods, { limit: pageSize })) {
    const now = performance.now()
    times.push(now - last)
    last = now
    seen += items.length
  }
  const problem = seen === count ? '' : `, ${seen} of ${count} pods`
  return [
    [
      `list in pages of ${pageSize}`,
      `${((last - began) / 1000).toFixed(1)} s, p99 of a page ${whole(percentile(times, 0.99))} ms${problem}`,
      '',
    ],
  ]
}

/** Restarts a Deployment, with a watch on all pods and concurrent reads. */
async function restart({ client, kubeconfig }: Cluster): Promise<Row[]> {
  const name = 'web-0'
  const stopping = new AbortController()
  const { items, resourceVersion } = await client.list(pods, {
    namespace,
    labelSelector: `app=${name}`,
    metadataOnly: true,
  })
  let events = 0
  const watching = (async () => {
    for await (const { type } of client.watch(pods, {
      resourceVersion,
      signal: stopping.signal,
      metadataOnly: true,
      timeoutSeconds: hourMs / 1000,
    }))
      if (type === 'ADDED' || type === 'DELETED') events++
  })().catch((error: Error) => (stopping.signal.aborted ? undefined : `, the watch ended: ${error.message}`))
  const task: GetTask = { kubeconfig, namespace, name }
  const getting = new Worker(new URL('./get-times.ts', import.meta.url), { workerData: task })
  const began = performance.now()
  const template = { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() } } }
  await client.patch(deployments, namespace, name, { spec: { template } })
  await until(hourMs, 'the Deployment is replaced', async () => {
    const { metadata, spec, status } = await client.get(deployments, namespace, name)
    const isAll =
      status?.updatedReplicas === spec?.replicas &&
      status?.availableReplicas === spec?.replicas &&
      status?.replicas === spec?.replicas
    return isAll && status?.observedGeneration === metadata.generation
  })
  const seconds = (performance.now() - began) / 1000
  getting.postMessage('done')
  const [times] = (await once(getting, 'message')) as [number[]]
  // The last pods may still be terminating.
  await until(hourMs, 'all events of the watch', async () => events >= 2 * items.length)
  stopping.abort()
  const problem = (await watching) ?? ''
  return [
    [
      `rolling restart of ${items.length} pods`,
      `${seconds.toFixed(0)} s, ${events} pods came and went on the watch${problem}`,
      '',
    ],
    [
      'concurrent GETs: p50, p99, max',
      [0.5, 0.99, 1].map((part) => `${percentile(times, part).toFixed(1)} ms`).join(', '),
      'p99 ≤ 50 ms',
    ],
  ]
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}
