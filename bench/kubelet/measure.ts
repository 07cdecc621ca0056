/** The measurements of `--kubelet`. Runs in namespaces of its own (`index.ts`). */
import { mkdtempSync } from 'node:fs'
import { tmpdir, uptime } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection } from '../../src/client/connection/connection.ts'
import { deployments, type Node, nodes, type Pod, pods } from '../../src/client/kinds.ts'
import { waitFor } from '../../src/client/objects/wait-for.ts'
import { RestClient } from '../../src/client/rest/rest-client.ts'
import { type Cluster, startCluster } from '../../src/cluster/start-cluster.ts'
import { startContainerd } from '../../test/kubelet/support/runtimes/containerd.ts'
import { images } from '../../test/kubelet/support/runtimes/test-images.ts'
import { installedKubectls, Kubectl } from '../../test/support/kubectl.ts'
import { median, print } from '../report.ts'
import { cpuMs, memoryOf, type Server } from '../server/server.ts'
import { containerdShare } from './containerd-share.ts'
import { startKubeletProcess, stopProcess } from './kubelet-process.ts'

type Row = readonly [name: string, value: string, target: string, upstream: string, containerd: string]

const [runs, replicas, idleMs] = [20, 50, 30_000]
const ms = (value: number): string => `${Math.round(value)} ms`

const isReady = (object: Pod | Node | undefined): boolean =>
  (object?.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')

const container = { name: 'main', image: images.busybox, command: ['sleep', '100000'] }
const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 0, containers: [container] }

async function measureStarts(client: RestClient): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < runs; i++) {
    const name = `run-${i}`
    const started = performance.now()
    await client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name }, spec })
    await waitFor(client, pods, { namespace: 'default', name }, isReady, { timeoutMs: 60_000 })
    times.push(performance.now() - started)
    await client.delete(pods, 'default', name)
    await waitFor(client, pods, { namespace: 'default', name }, (pod) => pod === undefined, { timeoutMs: 60_000 })
  }
  return median(times)
}

/** kubectl exec of a command that does nothing. */
async function measureExecs(kubectl: Kubectl, name: string): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < runs; i++) {
    const started = performance.now()
    await kubectl.ok(`exec ${name} -- true`)
    times.push(performance.now() - started)
  }
  return median(times)
}

/** The time from the write of a line, which contains the uptime in s, to its arrival at a client that follows. */
async function measureLogs(kubectl: Kubectl, client: RestClient): Promise<number> {
  const command = ['sh', '-c', 'while true; do cat /proc/uptime; sleep 0.2; done']
  const metadata = { namespace: 'default', name: 'talks' }
  await client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { ...spec, containers: [{ ...container, command }] },
  })
  await waitFor(client, pods, metadata, isReady, { timeoutMs: 60_000 })
  const child = kubectl.spawn('logs -f talks --tail 0')
  const times: number[] = []
  child.stdout?.setEncoding('utf8').on('data', (line: string) => {
    const written = Number.parseFloat(line.trim().split('\n').at(-1) ?? '')
    times.push((uptime() - written) * 1000)
  })
  while (times.length < 2 * runs) await delay(50)
  child.kill()
  await client.delete(pods, 'default', 'talks')
  return median(times)
}

async function measureDeployment(client: RestClient): Promise<number> {
  const labels = { app: 'many' }
  const started = performance.now()
  await client.create(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'default', name: 'many' },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  })
  const hasAll = (one: { status?: { readyReplicas?: number } } | undefined): boolean =>
    one?.status?.readyReplicas === replicas
  await waitFor(client, deployments, { namespace: 'default', name: 'many' }, hasAll, { timeoutMs: 300_000 })
  return performance.now() - started
}

async function measureAll(cluster: Cluster, endpoint: string, folder: string): Promise<Row[]> {
  const connection = new Connection(cluster.client)
  const client = new RestClient(connection)
  const share = await containerdShare({ endpoint, logDirectory: folder, count: runs, many: replicas })
  const kubelet = startKubeletProcess(cluster, endpoint, folder)
  try {
    await waitForNode(client)
    const kubectl = new Kubectl(installedKubectls().at(-1)!, join(folder, 'kubeconfig'), folder)
    const start = await measureStarts(client)
    const log = await measureLogs(kubectl, client)
    const many = await measureDeployment(client)
    const [one] = (await client.list(pods, { namespace: 'default' })).items
    const exec = await measureExecs(kubectl, one?.metadata.name ?? '')
    await delay(idleMs / 2)
    const server: Server = { process: kubelet, readyMs: 0, url: '' }
    const before = cpuMs(server) ?? 0
    await delay(idleMs)
    const idle = (((cpuMs(server) ?? 0) - before) / idleMs) * 100
    const { resident } = memoryOf(server)
    await deleteAll(client)
    return [
      ['a pod, created until Ready (median of 20)', ms(start), '≤ 400 ms', '1,001 ms', ms(median(share.startsMs))],
      [`${replicas} pods of a Deployment Ready`, ms(many), '≤ 6,000 ms', '12,200 ms', ms(share.manyMs)],
      ['kubectl exec POD -- true', ms(exec), '≤ 90 ms', '120 ms', ms(median(share.execsMs))],
      ['a line of a followed log, in steps of 10 ms', ms(log), '≤ 50 ms', '', ''],
      [`memory with ${replicas} idle pods`, `${Math.round(resident)} MB`, '≤ 100 MB', '≤ 100 MB', ''],
      [`CPU with ${replicas} idle pods`, `${idle.toFixed(1)} % of a core`, '≤ 2 %', '≤ 50 %', ''],
    ]
  } finally {
    connection.close()
    await stopProcess(kubelet)
  }
}

/** Pods can be created once the node is ready. */
async function waitForNode(client: RestClient): Promise<void> {
  await waitFor(client, nodes, { name: 'n1' }, isReady, { timeoutMs: 60_000 })
}

/** Ends all pods, so that containerd has no mounts left. */
async function deleteAll(client: RestClient): Promise<void> {
  await client.delete(deployments, 'default', 'many')
  const count = async (): Promise<number> => (await client.list(pods, { namespace: 'default' })).items.length
  while ((await count()) > 0) await delay(200)
}

const folder = mkdtempSync(join(tmpdir(), 't8s-bench-kubelet-'))
const containerd = await startContainerd()
const cluster = await startCluster({ storage: 'memory' })
try {
  const rows = await measureAll(cluster, containerd.endpoint, folder)
  print([['', 'value', 'target', 'upstream', 'containerd alone'], ...rows])
} finally {
  await cluster.stop({ graceMs: 0 })
  await containerd.stop().catch(() => {})
}
process.exit(0)
