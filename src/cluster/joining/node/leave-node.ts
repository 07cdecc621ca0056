/** Ends that this machine is a node (`t8s leave`): deletes the Node with its pods, and what is on the machine. */
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, connectTo } from '../../../client/connection/connect-to.ts'
import { ConnectionLost } from '../../../client/connection/connection-lost.ts'
import { loadAccess } from '../../../client/connection/load-access.ts'
import { nodes, type Pod, pods } from '../../../client/kinds.ts'
import { ignoreNotFound } from '../../../client/rest/api-errors.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import { leavingAnnotation } from '../leaving-nodes.ts'
import { type NodeFolder, nodeFolder, readKnownCluster } from './node-folder.ts'
import { lockNode } from './node-lock.ts'
import { removeNodeFiles } from './remove-node-files.ts'

export interface LeaveOptions {
  readonly directory: string
  /** Evicts pods against disruption budgets, and leaves although the server does not answer. */
  readonly isForced: boolean
  /** Does nothing on a machine that has not joined. */
  readonly isReset?: boolean
  readonly log: (line: string) => void
}

/** Rejects with an ExplainedError. */
export async function leaveNode({ directory, isForced, isReset = false, log }: LeaveOptions): Promise<void> {
  const folder = nodeFolder(directory)
  const known = readKnownCluster(folder)
  if (!known && isReset && !existsSync(folder.node)) return
  if (!known && !existsSync(folder.node))
    throw new ExplainedError(`this machine has joined no cluster: ${folder.path} has no files of a node (--data-dir)`)
  const unlock = await lockNode(folder)
  try {
    if (known && existsSync(folder.kubeconfig)) await leaveCluster(folder, known.nodeName, { isForced, log })
    await removeNodeFiles(folder.node, log)
    await removeFolder(folder)
    log(`removed the files in ${folder.path}, and interfaces, rules and cgroups of the node`)
  } finally {
    unlock()
  }
}

async function removeFolder({ path }: NodeFolder): Promise<void> {
  const { rm } = await import('node:fs/promises')
  await rm(path, { recursive: true, force: true })
}

/** Time in ms for the cluster to delete the Node, and between questions. */
const [leavingMs, leavingPollMs] = [10_000, 50]

type ClusterOptions = Pick<LeaveOptions, 'isForced' | 'log'>

async function leaveCluster(folder: NodeFolder, name: string, { isForced, log }: ClusterOptions): Promise<void> {
  const client = await connectTo({ access: await loadAccess({ kubeconfig: folder.kubeconfig }) })
  try {
    const count = await drain(client, name, isForced)
    const pods = count === 1 ? 'pod' : `${count} pods`
    if (await askToLeave(client, name)) log(`deleted the Node ${name}, and its ${pods}`)
    else log(`deleted the ${pods} of the Node ${name}. The Node remains: kubectl delete node ${name} deletes it`)
  } catch (error) {
    const isUnreachable = error instanceof ConnectionLost || (error instanceof StatusError && isDenied(error))
    if (isForced && isUnreachable)
      log(`the Node ${name} remains, delete it with kubectl delete node ${name}: ${messageOf(error)}`)
    else if (isUnreachable)
      throw new ExplainedError(
        `the cluster does not delete the Node ${name}: ${messageOf(error)}: t8s leave --force removes what is on ` +
          `this machine, and kubectl delete node ${name} the Node`,
        { cause: error },
      )
    else throw error
  } finally {
    client.close()
  }
}

/** Resolves with true when the cluster has deleted the Node; false if nobody does, as in a cluster of kubeadm. */
async function askToLeave(client: Client, name: string): Promise<boolean> {
  await client
    .patch(nodes, '', name, { metadata: { annotations: { [leavingAnnotation]: 'true' } } }, 'merge')
    .catch(ignoreNotFound)
  for (const end = performance.now() + leavingMs; performance.now() < end; await delay(leavingPollMs))
    if ((await client.find(nodes, '', name)) === undefined) return true
  return false
}

const isDenied = ({ code }: StatusError): boolean => code === 401 || code === 403

/** Evicts the pods, as `kubectl drain`; their containers have ended before. Returns their number. */
async function drain(client: Client, node: string, isForced: boolean): Promise<number> {
  await client.patch(nodes, '', node, { spec: { unschedulable: true } }, 'merge').catch(ignoreNotFound)
  const { items } = await client.list(pods, { fieldSelector: `spec.nodeName=${node}` })
  for (const pod of items) {
    if (!isForced && !isOfNode(pod)) await evict(client, pod)
    const { namespace = '', name = '', uid } = pod.metadata
    // No kubelet would confirm the end.
    await client.delete(pods, namespace, name, { gracePeriodSeconds: 0, uid }).catch(ignoreNotFound)
  }
  return items.length
}

/** Pods of DaemonSets and static pods belong to the node. */
const isOfNode = ({ metadata: { annotations = {}, ownerReferences = [] } }: Pod): boolean =>
  annotations['kubernetes.io/config.mirror'] !== undefined || ownerReferences.some(({ kind }) => kind === 'DaemonSet')

async function evict(client: Client, { metadata: { namespace = '', name = '' } }: Pod): Promise<void> {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } }
  try {
    await client.createUnder(pods, namespace, name, 'eviction', eviction)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    if (error.code === 404) return
    if (error.code !== 429) throw error
    throw new ExplainedError(
      `the pod ${namespace}/${name} cannot be evicted: ${error.message}; wait until another pod takes its place, or ` +
        'leave with --force',
      { cause: error },
    )
  }
}
