/** A cluster of simulated nodes: `./t8s up` as a child process, and a client. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Client, connectTo, type Deployment, deployments, nodes } from '../../src/client/index.ts'
import { launcher } from '../server/server.ts'

export interface Cluster {
  readonly process: ChildProcess
  readonly kubeconfig: string
  readonly client: Client
  /** Time in ms from the start of the process until all nodes were Ready. */
  readonly readyMs: number
}

const lookMs = 500
const nodesMs = 600_000

/** Starts a cluster of `size` nodes with its data below `directory`; resolves when all are Ready. */
export async function startFleet(directory: string, size: number): Promise<Cluster> {
  const data = join(directory, `fleet-${size}`)
  const began = performance.now()
  const child = spawn(launcher, ['up', '--nodes', `${size}`, '--data-dir', data, '--secure-port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const kubeconfig = join(data, 'kubeconfig')
  await isReady(child)
  const client = await connectTo({ kubeconfig })
  await until(nodesMs, `${size} nodes are Ready`, async () => (await readyNodes(client)) >= size)
  return { process: child, kubeconfig, client, readyMs: performance.now() - began }
}

function isReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    createInterface(child.stdout!).on('line', (line) => line.startsWith('ready in') && resolve())
    child.once('exit', (code) => reject(new Error(`t8s up ended with ${code}`)))
  })
}

async function readyNodes(client: Client): Promise<number> {
  let count = 0
  for await (const { status } of client.items(nodes))
    if (status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) count++
  return count
}

/** Polls until `isSo` returns true. Rejects after `maxMs`. */
export async function until(maxMs: number, what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + maxMs
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within ${maxMs / 1000} s: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}

export const namespace = 'default'

/** A Deployment of small pods. */
export const deploymentOf = (name: string, replicas: number): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'web', image: 'registry.example/web:1', resources: { requests: { cpu: '10m' } } }] },
    },
  },
})

/** Creates Deployments and resolves to the time in ms until all their pods were running and ready. */
export async function rollOut({ client }: Cluster, wanted: readonly Deployment[], maxMs: number): Promise<number> {
  const names = new Set(wanted.map(({ metadata }) => metadata.name))
  const replicas = wanted.reduce((sum, { spec }) => sum + (spec?.replicas ?? 0), 0)
  const began = performance.now()
  for (const one of wanted) await client.create(deployments, one)
  await until(maxMs, `${replicas} pods run`, async () => {
    const { items } = await client.list(deployments, { namespace })
    const ready = items.reduce(
      (sum, { metadata, status }) => sum + (names.has(metadata.name) ? (status?.readyReplicas ?? 0) : 0),
      0,
    )
    return ready >= replicas
  })
  return performance.now() - began
}

/** Maximum resident memory of the process so far, in MB. Linux only. */
export function peakMegabytes({ process: { pid } }: Cluster): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024
}
