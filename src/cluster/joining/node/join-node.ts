/** Makes this machine a node of a cluster (`t8s join`): kubelet, runtime and services in this process. */
import { existsSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { connectTo } from '../../../client/connection/connect-to.ts'
import { ConnectionLost } from '../../../client/connection/connection-lost.ts'
import type { LoadedAccess } from '../../../client/connection/load-access.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { makeDirectory } from '../../../lib/files/make-directory.ts'
import { Lifetime } from '../../../lib/lifetime/lifetime.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { machineHosts } from '../../addresses/addresses.ts'
import { nodeAccess } from '../../kubelet/node-access.ts'
import { servingCredentials } from '../../kubelet/serving-credentials.ts'
import { ObstacleError } from '../../real-node/checks/obstacle-error.ts'
import { machineObstacle, thisMachine } from '../../real-node/checks/obstacles.ts'
import { type CheckedNode, checkRealNode } from '../../real-node/checks/requirements.ts'
import type { RealNode } from '../../real-node/index.ts'
import { startRealNode } from '../../real-node/thread/start.ts'
import { clusterSettings, kubeletFields } from './cluster-settings.ts'
import { firstAccess, type JoinCredentials, serverUrl } from './first-access.ts'
import { joinedNetwork } from './joined-network.ts'
import { joinedTask } from './joined-task.ts'
import { type KnownCluster, type NodeFolder, nodeFolder, readKnownCluster, writeKnownCluster } from './node-folder.ts'
import { lockNode } from './node-lock.ts'

export interface JoinOptions {
  readonly credentials: JoinCredentials
  /** The folder of the node's files. */
  readonly directory: string
  readonly node: RealNode
  readonly log: (line: string) => void
  /** Cancels the start. */
  readonly signal: AbortSignal
}

export interface JoinedNode {
  readonly nodeName: string
  /** True if it had joined before. */
  readonly hasContinued: boolean
  /** Ends the pods and the node; its Node object remains. */
  stop(): Promise<void>
}

/** Time in ms for the first certificate. */
const certificateMs = 60_000

/** Resolves when the node is registered. Rejects with an ExplainedError. */
export async function joinNode(options: JoinOptions): Promise<JoinedNode> {
  const lifetime = new Lifetime()
  try {
    return await start(options, lifetime)
  } catch (error) {
    await lifetime.end()
    throw error instanceof ObstacleError ? noNode(error) : error
  }
}

function noNode({ obstacle: { reason, remedy } }: ObstacleError): ExplainedError {
  return new ExplainedError(`this machine cannot be a node, because ${reason}: ${remedy}`)
}

async function start(options: JoinOptions, lifetime: Lifetime): Promise<JoinedNode> {
  const { directory, node, log, signal } = options
  const obstacle = machineObstacle(thisMachine())
  if (obstacle) throw new ObstacleError(obstacle)
  const folder = nodeFolder(directory)
  makeDirectory(folder.path, 0o700)
  const unlock = await lockNode(folder)
  lifetime.onEnd(unlock)
  const known = readKnownCluster(folder)
  const nodeName = nameOf(node, known)
  const hasContinued = known !== undefined && existsSync(folder.kubeconfig)
  if (hasContinued) checkSameCluster(options.credentials.url, known)
  const found = hasContinued ? known : await firstAccess({ ...options, folder, nodeName })
  if (!hasContinued) joinedNetwork(found, node.networkBackend)
  if (!hasContinued) writeKnownCluster(folder, found)
  const metrics = new MetricsRegistry()
  const access = await accessOf(folder, { nodeName, metrics, hasContinued, log, signal }, lifetime)
  const cluster = hasContinued ? await refreshed(found, access, log) : found
  const network = joinedNetwork(cluster, node.networkBackend)
  writeKnownCluster(folder, cluster)
  const checked = await checkRealNode(
    { ...node, name: nodeName },
    folder.node,
    log,
    thisMachine(),
    kubeletFields(cluster.kubelet),
  )
  const serving = await servingOf(checked, folder, { access, metrics, log }, lifetime)
  const running = await startRealNode(joinedTask({ node: checked, folder, cluster, network, access, serving }), log)
  lifetime.onEnd(() => running.stop())
  await running.started
  return { nodeName, hasContinued, stop: () => lifetime.end() }
}

/** The name stays the same: certificates have it. */
function nameOf({ name }: RealNode, known: KnownCluster | undefined): string {
  const own = name ?? known?.nodeName ?? hostname().trim().toLowerCase()
  if (known && known.nodeName !== own)
    throw new ExplainedError(
      `this machine has joined as ${known.nodeName}: t8s leave ends that, before it gets another name`,
    )
  return own
}

function checkSameCluster(url: string | undefined, known: KnownCluster): void {
  if (url === undefined || serverUrl(url) === known.url) return
  throw new ExplainedError(
    `this machine is a node of the cluster at ${known.url}: t8s leave ends that, before it joins another`,
  )
}

interface AccessOptions {
  readonly nodeName: string
  readonly metrics: MetricsRegistry
  readonly hasContinued: boolean
  readonly log: (line: string) => void
  readonly signal: AbortSignal
}

const schedule = (callback: () => void, ms: number): (() => void) => {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}

/** The node's access, by a certificate that is renewed. The bootstrap token is forgotten when there is one. */
async function accessOf(
  { bootstrapKubeconfig, kubeconfig, pki }: NodeFolder,
  { nodeName, metrics, hasContinued, log, signal }: AccessOptions,
  lifetime: Lifetime,
): Promise<LoadedAccess> {
  const timeout = AbortSignal.timeout(certificateMs)
  try {
    const access = await nodeAccess(
      {
        kubeconfig,
        ...(!hasContinued && { bootstrapKubeconfig }),
        pkiFolder: pki,
        nodeName,
        rotates: true,
        metrics,
        schedule,
        log: hasContinued ? log : () => {},
        signal: AbortSignal.any([signal, timeout]),
      },
      lifetime,
    )
    if (!hasContinued) log(`certificate: the cluster has signed one for system:node:${nodeName}`)
    rmSync(bootstrapKubeconfig, { force: true })
    return access
  } catch (error) {
    if (!timeout.aborted || signal.aborted) throw error
    throw new ExplainedError(
      `the cluster did not sign a certificate within ${certificateMs / 1000} s: its controllers must run ` +
        '(certificatesigningrequest-approving and -signing); kubectl get csr shows the request',
      { cause: error },
    )
  }
}

/** The settings may have changed; a node also starts while its server does not answer. */
async function refreshed(
  known: KnownCluster,
  access: LoadedAccess,
  log: (line: string) => void,
): Promise<KnownCluster> {
  const client = await connectTo({ access })
  try {
    return { ...known, ...(await clusterSettings(client)) }
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error
    log(`continuing with the settings of the last start: ${messageOf(error)}`)
    return known
  } finally {
    client.close()
  }
}

interface ServingOptions {
  readonly access: LoadedAccess
  readonly metrics: MetricsRegistry
  readonly log: (line: string) => void
}

function servingOf(
  { name: nodeName, ips, configuration }: CheckedNode,
  { pki: pkiFolder }: NodeFolder,
  { access, metrics, log }: ServingOptions,
  lifetime: Lifetime,
) {
  const nodeHosts = [nodeName, ...ips]
  return servingCredentials(
    {
      configuration,
      pkiFolder: join(pkiFolder),
      nodeName,
      nodeHosts,
      machineHosts: machineHosts(configuration.address),
      access,
      metrics,
      schedule,
      log,
    },
    lifetime,
  )
}
