/** The task of a node that has joined: all of its services use the node's own certificate. */
import { join } from 'node:path'
import type { LoadedAccess } from '../../../client/connection/load-access.ts'
import type { ServingCredentials } from '../../../kubelet/options.ts'
import type { CheckedNode } from '../../real-node/checks/requirements.ts'
import { nodeIps } from '../../real-node/settings/node-ips.ts'
import type { RealNodeTask } from '../../real-node/thread/messages.ts'
import type { KnownCluster, NodeFolder } from './node-folder.ts'

export interface JoinedTaskOptions {
  readonly node: CheckedNode
  readonly folder: NodeFolder
  readonly cluster: Pick<KnownCluster, 'podRanges'>
  /** The text of net-conf.json. */
  readonly network: string | undefined
  readonly access: LoadedAccess
  readonly serving: ServingCredentials
}

/** The files of a node in its folder. */
export const nodeFiles = (folder: string) => ({
  proxyRecord: join(folder, 'proxy-mode'),
  flannel: join(folder, 'flannel'),
  kubelet: join(folder, 'kubelet'),
  podLogs: join(folder, 'logs', 'pods'),
})

export function joinedTask({ node, folder, cluster, network, access, serving }: JoinedTaskOptions): RealNodeTask {
  const { name, configuration, runtime, proxyMode: choice, networkPolicyMode: mode } = node
  const { url, ca = '', cert, key, credentials } = access
  const { instance } = folder
  const client = { cert, key, credentials }
  const bridge = runtime && runtime.docker === undefined ? runtime.bridge : undefined
  const files = nodeFiles(folder.node)
  const flannel =
    network === undefined ? undefined : { config: network, folder: files.flannel, access: folder.kubeconfig }
  return {
    name,
    ips: nodeIps(node, cluster.podRanges.join()),
    configuration,
    runtime,
    proxy: { choice, client, instance, bridge, record: files.proxyRecord },
    apiGateway: undefined,
    policy: bridge === undefined ? undefined : { client, instance, mode },
    dns: undefined,
    ports: undefined,
    peers:
      bridge === undefined
        ? undefined
        : {
            ranges: cluster.podRanges,
            flannel,
          },
    endsPods: true,
    podCidrs: [],
    root: files.kubelet,
    podLogs: node.podLogs ?? files.podLogs,
    server: { url, ca, ...client },
    serving,
    clientCA: ca,
  }
}
