/** The task of the node of a machine. */
import { join } from 'node:path'
import type { NodeDns } from '../dns/node-dns.ts'
import type { NetworkPlan } from '../flannel/net-conf.ts'
import { peerNetwork } from '../real-node/index.ts'
import { instanceOf } from '../real-node/settings/embedded-runtime.ts'
import type { NodeCertificates } from '../real-node/settings/node-certificates.ts'
import type { RealNodeTask } from '../real-node/thread/messages.ts'
import type { PlannedMachine } from './plan-machines.ts'

export interface MachineTaskOptions {
  readonly machine: PlannedMachine
  readonly certificates: NodeCertificates
  readonly dns: NodeDns
  readonly podCidrs: readonly string[]
  readonly podClusters: readonly string[]
  readonly network: NetworkPlan | undefined
  /** The text of net-conf.json. */
  readonly networkConfig: string | undefined
  readonly server: { readonly url: string; readonly ca: string }
  readonly clientCA: string
}

export function machineTask(options: MachineTaskOptions): RealNodeTask {
  const { machine, certificates, dns, podCidrs, podClusters, network, networkConfig, server, clientCA } = options
  const { node, folder } = machine
  const { name, ips, runtime } = node
  const instance = instanceOf(folder)
  const { clusterDNS, clusterDomain } = dns.configuration
  return {
    name,
    ips,
    configuration: { ...node.configuration, clusterDNS, clusterDomain },
    runtime,
    proxy: {
      choice: node.proxyMode,
      client: certificates.proxy,
      instance,
      bridge: runtime?.bridge,
      record: join(folder, 'proxy-mode'),
    },
    apiGateway: undefined,
    policy: { client: certificates.policy, instance, mode: node.networkPolicyMode },
    dns:
      dns.gateway === undefined
        ? undefined
        : {
            client: certificates.dns,
            gateway: dns.gateway,
            ranges: podClusters,
            servesNeighbours: true,
            domain: clusterDomain,
          },
    ports: undefined,
    peers: network && peerNetwork(network, networkConfig, join(folder, 'flannel'), certificates),
    endsPods: true,
    podCidrs,
    root: join(folder, 'kubelet'),
    podLogs: node.podLogs ?? join(folder, 'logs', 'pods'),
    server: { ...server, ...certificates.kubelet },
    serving: certificates.serving,
    clientCA,
  }
}
