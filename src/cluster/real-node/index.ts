/** The real node of a cluster: this machine, whose kubelet runs in this process, on a thread of its own or not. */
import { join } from 'node:path'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { RegistrySettings } from '../../runtime/images/index.ts'
import type { ServerEndpoint } from '../controllers/messages.ts'
import type { ClusterPki } from '../pki/pki.ts'
import { reasonIn, simulatedLine } from './decision.ts'
import type { RealNodeTask } from './messages.ts'
import { runnerOnOwnThread, runnerOnThisThread } from './node-runner.ts'
import type { CheckedNode } from './requirements.ts'

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
  /** Mirrors, and registries without TLS, of the runtime in this process. Default: none. */
  readonly registries?: RegistrySettings
  /** A file with a KubeletConfiguration. */
  readonly configurationFile?: string
  /** A folder of files `*.conf` whose fields override those of the file. */
  readonly configurationFolder?: string
  /**
   * `simulated`: if this machine cannot be a real node, the cluster has a simulated one, and the log names the reason.
   * So does a cluster that had several simulated nodes before. Default: the start fails.
   */
  readonly fallback?: 'simulated'
}

export interface ClusterRealNode {
  /**
   * Starts in the background. Resolves when the node exists or has failed, with false if simulated nodes take its
   * place; never rejects.
   */
  begin(server: ServerEndpoint, administrator: Access, pki: ClusterPki): Promise<boolean>
  /** Stops the kubelet; containers continue. */
  stop(): Promise<void>
}

export interface ClusterRealNodeOptions {
  readonly node: CheckedNode
  /** The folder of the kubelet's files. */
  readonly folder: string
  /** The range of all pods of the cluster, of which the node takes a part; undefined if a controller decides. */
  readonly podCluster: string | undefined
  /** True if simulated nodes take its place when it fails. */
  readonly isReplaceable: boolean
  readonly onThread: boolean
  readonly log: (line: string) => void
}

export function clusterRealNode({
  node,
  folder,
  podCluster,
  isReplaceable,
  onThread,
  log,
}: ClusterRealNodeOptions): ClusterRealNode {
  const runner = onThread ? runnerOnOwnThread(node.runtime !== undefined, log) : runnerOnThisThread(log)
  return {
    async begin(server, administrator, pki) {
      try {
        const { prepareNodes } = await import('./prepare-nodes.ts')
        await prepareNodes(node.name, { isReplaceable, administrator, log })
        await runner.start(await taskOf({ folder, node, podCluster, server, pki }))
        return true
      } catch (error) {
        if (isReplaceable) log(simulatedLine(reasonIn(error)))
        else log(`the node ${node.name} does not run: ${messageOf(error)}`)
        await runner.stop()
        return !isReplaceable
      }
    },
    stop: () => runner.stop(),
  }
}

interface TaskOptions extends Pick<ClusterRealNodeOptions, 'folder' | 'node' | 'podCluster'> {
  readonly server: ServerEndpoint
  readonly pki: ClusterPki
}

/** Issues the kubelet's certificates, which are valid for a year and are not stored. */
async function taskOf({ folder, node, podCluster, server: { url, ca }, pki }: TaskOptions): Promise<RealNodeTask> {
  const { name, ips, configuration, runtime, podLogs = join(folder, 'logs', 'pods') } = node
  const [{ issueCertificate }, { podRanges }] = await Promise.all([
    import('../../lib/x509/certificates.ts'),
    import('./pod-range.ts'),
  ])
  const { authority } = pki
  const identity = { commonName: `system:node:${name}`, organizations: ['system:nodes'] }
  const hosts = [...new Set([name, ...ips, 'localhost', '127.0.0.1'])]
  const now = new Date()
  const [client, serving] = await Promise.all([
    issueCertificate(authority, { ...identity, usage: 'client' }, now),
    issueCertificate(authority, { ...identity, usage: 'server', hosts }, now),
  ])
  return {
    name,
    ips,
    configuration,
    runtime,
    podCidrs: runtime?.docker === undefined && runtime && podCluster ? podRanges(runtime, podCluster) : [],
    root: join(folder, 'kubelet'),
    podLogs,
    server: { url, ca, ...client },
    serving,
    clientCA: authority.cert,
  }
}
