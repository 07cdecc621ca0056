/** A cluster with a real node: `t8s up` with its own runtime, as a process. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection, type ServerAccess } from '../../src/client/connection/connection.ts'
import { loadAccess } from '../../src/client/connection/load-access.ts'
import { deployments, type Node, nodes, type Pod, pods } from '../../src/client/kinds.ts'
import { waitFor } from '../../src/client/objects/wait-for.ts'
import { RestClient } from '../../src/client/rest/rest-client.ts'
import { images } from '../../test/kubelet/support/runtimes/test-images.ts'
import { waitFor as waitUntil } from '../../test/support/wait-for.ts'
import { stopProcess } from '../kubelet/kubelet-process.ts'
import { median } from '../report.ts'
import { cpuMs, launcher, memoryOf, type Server } from '../server/server.ts'

export interface RealNode {
  /** From the start of the process until the node is Ready. */
  readonly readyMs: number
  readonly readyMegabytes: number
  /** A pod from its creation until it is Ready: the median. */
  readonly podMs: number
  /** 50 pods of a Deployment, until all are ready. */
  readonly fiftyMs: number
  /** The growth of the process by 100 pods, and the memory of the processes that keep containers. */
  readonly hundredMegabytes: number
  readonly keeperMegabytes: number
  /** With 100 pods at rest, in percent of a core. */
  readonly idlePercent: number
}

const [starts, idleMs, timeoutMs] = [20, 20_000, 300_000]
const container = { name: 'main', image: images.busybox, command: ['sleep', '100000'] }
const spec = { terminationGracePeriodSeconds: 0, containers: [container] }

const isReady = (object: Pod | Node | undefined): boolean =>
  (object?.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')

/** Measures in the namespaces of this process; `archives` are files of images. */
export async function measureRealNode(folder: string, archives: readonly string[]): Promise<RealNode> {
  for (const archive of archives) execFileSync(launcher, ['image', 'import', archive], { stdio: 'ignore' })
  const flags = ['--node-type=real', '--secure-port=0', '--data-dir', join(folder, 'data')]
  const started = performance.now()
  const child = spawn(launcher, ['up', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const connection = new Connection(await accessOf(child))
    const client = new RestClient(connection)
    await waitUntil('the node is Ready', async () => (await client.list(nodes)).items.some(isReady))
    const readyMs = performance.now() - started
    const server: Server = { process: child, readyMs, url: '' }
    const readyMegabytes = memoryOf(server).resident
    const podMs = await measurePods(client)
    const fiftyMs = await scale(client, 50)
    const before = memoryOf(server).resident
    await scale(client, 100)
    await delay(idleMs / 2)
    const cpuBefore = cpuMs(server) ?? 0
    await delay(idleMs)
    const idlePercent = (((cpuMs(server) ?? 0) - cpuBefore) / idleMs) * 100
    const hundredMegabytes = memoryOf(server).resident - readyMegabytes
    console.log(`with 50 pods: ${Math.round(before)} MB, with 100: ${Math.round(memoryOf(server).resident)} MB`)
    const keeperMegabytes = keepersMegabytes()
    await deleteAll(client)
    connection.close()
    return { readyMs, readyMegabytes, podMs, fiftyMs, hundredMegabytes, keeperMegabytes, idlePercent }
  } finally {
    await stopProcess(child)
  }
}

const kubeconfigLine = /^kubeconfig written to (.+)$/m

/** Resolves when the process has written its kubeconfig. */
async function accessOf(child: ChildProcess): Promise<ServerAccess> {
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await waitUntil('the kubeconfig is written', () => kubeconfigLine.test(output))
  return loadAccess({ kubeconfig: kubeconfigLine.exec(output)?.[1] ?? '' })
}

async function measurePods(client: RestClient): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < starts; i++) {
    const metadata = { namespace: 'default', name: `run-${i}` }
    const started = performance.now()
    await client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec })
    await waitFor(client, pods, metadata, isReady, { timeoutMs })
    times.push(performance.now() - started)
    await client.delete(pods, 'default', metadata.name)
    await waitFor(client, pods, metadata, (pod) => pod === undefined, { timeoutMs })
  }
  return median(times)
}

async function scale(client: RestClient, replicas: number): Promise<number> {
  const name = `many-${replicas}`
  const labels = { app: name }
  const before = (await client.list(pods, { namespace: 'default' })).items.length
  const metadata = { namespace: 'default', name }
  const started = performance.now()
  await client.create(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: replicas - before,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec },
    },
  })
  const hasAll = (one: { status?: { readyReplicas?: number } } | undefined): boolean =>
    one?.status?.readyReplicas === replicas - before
  await waitFor(client, deployments, metadata, hasAll, { timeoutMs })
  return performance.now() - started
}

/** Ends all pods, so that no container is left. */
async function deleteAll(client: RestClient): Promise<void> {
  for (const { metadata } of (await client.list(deployments, { namespace: 'default' })).items)
    await client.delete(deployments, 'default', metadata.name ?? '')
  const count = async (): Promise<number> => (await client.list(pods, { namespace: 'default' })).items.length
  await waitUntil('no pod is left', async () => (await count()) === 0, { deadlineMs: timeoutMs })
}

/** The memory that only the keepers of containers and their executors use, in MB. */
function keepersMegabytes(): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const bytes = pids.map((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      if (!/t8s-keeper|^crun/.test(words)) return 0
      const pages = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
      return Number(/^Pss:\s+(\d+) kB$/m.exec(pages)?.[1] ?? 0) * 1024
    } catch {
      return 0
    }
  })
  return bytes.reduce((sum, one) => sum + one, 0) / 1024 / 1024
}
