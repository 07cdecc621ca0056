/** The real node of a cluster: this machine, whose kubelet runs in this process, on a thread of its own or not. */
import { join } from 'node:path'
import { nodes } from '../../client/kinds.ts'
import { ignoreNotFound } from '../../client/rest/api-errors.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { ServerEndpoint } from '../controllers/messages.ts'
import type { ClusterPki } from '../pki/pki.ts'
import { embeddedRuntime } from './embedded-runtime.ts'
import type { RealNodeTask, Report } from './messages.ts'
import type { CheckedNode } from './requirements.ts'
import type { RunningNode } from './start.ts'

/** The options of a real node. */
export interface RealNode {
  /** Default: the name of this machine. */
  readonly name?: string
  /** Default: the first external address of this machine. */
  readonly ips?: readonly string[]
  /** The socket of the container runtime. Default: a runtime in this process. */
  readonly containerRuntimeEndpoint?: string
  /** The address of a Docker engine that runs the containers, or true for `$DOCKER_HOST` or the usual socket. */
  readonly docker?: string | true
  /** Other programs whose images the runtime of this process uses, such as `docker`. Default: none. */
  readonly imageSources?: readonly string[]
  /** A file with a KubeletConfiguration. */
  readonly configurationFile?: string
  /** A folder of files `*.conf` whose fields override those of the file. */
  readonly configurationFolder?: string
}

export interface ClusterRealNode {
  /** Starts in the background. Resolves when the node exists or has failed; never rejects. */
  begin(server: ServerEndpoint, administrator: Access, pki: ClusterPki): Promise<void>
  /** Stops the kubelet; containers continue. */
  stop(): Promise<void>
}

export interface ClusterRealNodeOptions {
  readonly node: CheckedNode
  /** The folder of the kubelet's files. */
  readonly folder: string
  readonly onThread: boolean
  readonly log: (line: string) => void
}

/** Throws an ExplainedError for a cluster in memory: containers outlive it, and its next start would not know them. */
export function checkStorage(isInMemory: boolean): void {
  if (!isInMemory) return
  throw new ExplainedError(
    'a real node needs a cluster on disk, since containers continue after its end: set storage to { directory }',
  )
}

export function clusterRealNode({ node, folder, onThread, log }: ClusterRealNodeOptions): ClusterRealNode {
  let begun: Promise<RunningNode> | undefined

  async function start(server: ServerEndpoint, administrator: Access, pki: ClusterPki): Promise<RunningNode> {
    await removeSimulated(node.name, administrator, log)
    const task = await taskOf(folder, node, server, pki)
    if (onThread) return onOwnThread(task, log)
    const { startRealNode } = await import('./start.ts')
    return startRealNode(task, log)
  }

  return {
    begin(server, administrator, pki) {
      begun = start(server, administrator, pki)
      return begun
        .then(({ started }) => started)
        .catch((error: unknown) => log(`the node ${node.name} does not run: ${messageOf(error)}`))
    },
    stop: async () => (await begun?.catch(() => undefined))?.stop(),
  }
}

async function onOwnThread(task: RealNodeTask, log: (line: string) => void): Promise<RunningNode> {
  const { componentThread } = await import('../threads/component-thread.ts')
  const { promise: failure, reject } = Promise.withResolvers<never>()
  // Source in a checkout, built in the bundle.
  const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './real-node-worker.js', import.meta.url)
  const thread = componentThread<Report>({
    name: 'thread of the real node',
    file,
    task,
    log,
    report: (_worker, { failed }) => reject(new Error(failed)),
  })
  return { started: Promise.race([thread.synced, failure]), stop: thread.stop }
}

/** Issues the kubelet's certificates, which are valid for a year and are not stored. */
async function taskOf(
  folder: string,
  node: CheckedNode,
  { url, ca }: ServerEndpoint,
  { authority }: ClusterPki,
): Promise<RealNodeTask> {
  const { name, ips, configuration, isEmbedded, podLogs = join(folder, 'logs', 'pods') } = node
  const { issueCertificate } = await import('../../lib/x509/certificates.ts')
  const identity = { commonName: `system:node:${name}`, organizations: ['system:nodes'] }
  const hosts = [...new Set([name, ...ips, 'localhost', '127.0.0.1'])]
  const now = new Date()
  const [client, serving] = await Promise.all([
    issueCertificate(authority, { ...identity, usage: 'client' }, now),
    issueCertificate(authority, { ...identity, usage: 'server', hosts }, now),
  ])
  const runtime = isEmbedded ? embeddedRuntime(folder, node) : undefined
  return {
    name,
    ips,
    configuration: runtime ? { ...configuration, containerRuntimeEndpoint: runtime.endpoint } : configuration,
    runtime,
    root: join(folder, 'kubelet'),
    podLogs,
    server: { url, ca, ...client },
    serving,
    clientCA: authority.cert,
  }
}

/** Deletes a simulated node of this name, such as `node-1` of an earlier start. */
async function removeSimulated(name: string, administrator: Access, log: (line: string) => void): Promise<void> {
  const [{ Connection }, { RestClient }, { nodeLabel }] = await Promise.all([
    import('../../client/connection/connection.ts'),
    import('../../client/rest/rest-client.ts'),
    import('../../simulation/names.ts'),
  ])
  const connection = new Connection(administrator)
  try {
    const client = new RestClient(connection)
    const known = await client.find(nodes, '', name)
    if (known?.metadata.labels?.[nodeLabel] === undefined) return
    log(`the simulated node ${name} is deleted: the real node has this name`)
    await client.delete(nodes, '', name, { uid: known.metadata.uid }).catch(ignoreNotFound)
  } finally {
    connection.close()
  }
}
