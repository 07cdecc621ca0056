/** The real node of a cluster: this machine, whose kubelet runs in this process, on a thread of its own or not. */
import { join } from 'node:path'
import type { ComponentRights } from '../../apiserver/bootstrap/roles/component-rights.ts'
import { Connection } from '../../client/connection/connection.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { PortMapping } from '../../network/ports/port-mapping.ts'
import { addMappings } from '../../network/ports/stored-mappings.ts'
import type { RegistrySettings } from '../../runtime/images/index.ts'
import type { ServerEndpoint } from '../controllers/messages.ts'
import { dnsRights } from '../dns/cluster-dns.ts'
import { type NodeDns, type NodeDnsOptions, nodeDns } from '../dns/node-dns.ts'
import type { NetworkPlan } from '../flannel/net-conf.ts'
import { flannelRights } from '../flannel/rights.ts'
import type { ClusterPki } from '../pki/pki.ts'
import { policyRights } from '../policy/cluster-policy.ts'
import type { PolicyMode } from '../policy/policy-mode.ts'
import { portsRights } from '../ports/rights.ts'
import { reasonIn, simulatedLine } from './checks/decision.ts'
import type { CheckedNode } from './checks/requirements.ts'
import { gatewayOf } from './services/api-gateway.ts'
import { instanceOf } from './settings/embedded-runtime.ts'
import { type NodeCertificates, nodeCertificates } from './settings/node-certificates.ts'
import { nodeIps } from './settings/node-ips.ts'
import { podRanges } from './settings/pod-range.ts'
import type { ProxyChoice } from './settings/proxy-choice.ts'
import type { PeerNetwork, RealNodeTask } from './thread/messages.ts'
import type { NodeRunner } from './thread/node-runner.ts'

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
  /** How Services work; `none`: the cluster has another proxy. Default: the best mode of the machine. */
  readonly proxyMode?: ProxyChoice
  /**
   * The backend of flannel that connects pods of several nodes: `vxlan`. Default: that of the cluster's network, which
   * is `host-gw` for machines, and else `vxlan` with routes between nodes on one link.
   */
  readonly networkBackend?: string
  /** The place of the rules of network policies. Default: the best mode of the machine. */
  readonly networkPolicyMode?: PolicyMode
  /** Ports of this machine that lead to Services; they are stored, and remain for later starts. Default: none. */
  readonly ports?: readonly PortMapping[]
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
  /** The address by which pods reach an API server that listens on loopback; undefined if they cannot. */
  readonly apiAddress: string | undefined
  /** Names of the API server for its nodes, beside those of this machine. Default: none. */
  readonly serverHosts?: readonly string[]
  /** True if Services do not work on this machine itself. Default: false. */
  readonly isElsewhere?: boolean
  /** True if its proxy serves Services. */
  readonly servesServices: boolean
  /** The rights of its services. */
  readonly rights: readonly ComponentRights[]
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
  /** The address that the API server listens on. */
  readonly bindAddress: string
  /** The ranges of Services' addresses, separated by a comma. */
  readonly serviceRanges: string
  /** The ranges of all pods of the cluster, of which the node takes a part each; none if a controller decides. */
  readonly podClusters: readonly string[]
  /** The network of a cluster with other nodes; undefined for the only node of a cluster. */
  readonly network: NetworkPlan | undefined
  /** True if simulated nodes take its place when it fails. */
  readonly isReplaceable: boolean
  readonly runner: NodeRunner
  readonly log: (line: string) => void
}

export function clusterRealNode({
  node: checked,
  folder,
  bindAddress,
  serviceRanges,
  podClusters,
  network: given,
  isReplaceable,
  runner,
  log,
}: ClusterRealNodeOptions): ClusterRealNode {
  const node = { ...checked, ips: nodeIps(checked, serviceRanges) }
  const podCidrs = podRangesOf(node, podClusters)
  const gateway = podCidrs.map(gatewayOf)[0]
  const apiAddress = isLoopback(bindAddress) ? gateway : undefined
  // Other runtimes have a network of their own.
  const network = node.runtime?.bridge === undefined && given?.backend === undefined ? undefined : given
  return {
    apiAddress,
    servesServices: node.proxyMode !== 'none',
    rights: [dnsRights, policyRights, portsRights, ...(network ? [flannelRights] : [])],
    async begin(server, administrator, pki) {
      const connection = new Connection(administrator)
      const client = new RestClient(connection)
      try {
        const [certificates, dns, config] = await Promise.all([
          nodeCertificates(pki.authority, node),
          prepareObjects(node, { client, gateway, serviceRanges, isReplaceable, log }),
          network && settledNetwork(client, network, log),
        ])
        const peers = network && peerNetwork(network, config, join(folder, 'flannel'), certificates)
        const own = { folder, node, dns, podClusters, podCidrs, apiAddress, peers }
        await runner.start(taskOf({ ...own, certificates, server, pki }))
        return true
      } catch (error) {
        if (isReplaceable) log(simulatedLine(reasonIn(error)))
        else log(`the node ${node.name} does not run: ${messageOf(error)}`)
        await runner.stop()
        return !isReplaceable
      } finally {
        connection.close()
      }
    },
    stop: () => runner.stop(),
  }
}

type ObjectsOptions = Pick<NodeDnsOptions, 'client' | 'gateway' | 'serviceRanges' | 'log'> &
  Pick<ClusterRealNodeOptions, 'isReplaceable'>

/** The objects that the node needs. Rejects with an ObstacleError if simulated nodes take precedence. */
async function prepareObjects(
  { name, configuration, ports }: CheckedNode,
  { client, gateway, serviceRanges, isReplaceable, log }: ObjectsOptions,
): Promise<NodeDns> {
  const { prepareNodes } = await import('./thread/prepare-nodes.ts')
  await prepareNodes(name, { isReplaceable, client, log })
  const [dns] = await Promise.all([
    nodeDns({ configuration, gateway, serviceRanges, client, log }),
    addMappings(client, ports),
  ])
  return dns
}

const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.')

/** None if a controller chooses them, or another runtime connects the pods. */
const podRangesOf = ({ runtime }: CheckedNode, podClusters: readonly string[]): readonly string[] =>
  runtime?.docker === undefined && runtime && podClusters.length > 0 ? podRanges(runtime, podClusters) : []

/** Resolves with undefined, after a line in the log, if the network cannot be used: nodes run without it. */
export const settledNetwork = (
  client: RestClient,
  network: NetworkPlan,
  log: (line: string) => void,
): Promise<string | undefined> =>
  import('../flannel/stored-network.ts')
    .then(({ settleNetwork }) => settleNetwork(client, network, log))
    .catch((error) => void log(`pods do not reach other nodes: ${messageOf(error)}`))

/** The part of a node's task. `folder` is for the files of flannel. */
export const peerNetwork = (
  { ranges }: Pick<NetworkPlan, 'ranges'>,
  config: string | undefined,
  folder: string,
  { flannel: access }: Pick<NodeCertificates, 'flannel'>,
): PeerNetwork => ({ ranges, flannel: config === undefined ? undefined : { config, folder, access } })

interface TaskOptions extends Pick<ClusterRealNodeOptions, 'folder' | 'node' | 'podClusters'> {
  readonly podCidrs: readonly string[]
  readonly apiAddress: string | undefined
  readonly peers: PeerNetwork | undefined
  readonly dns: NodeDns
  readonly certificates: NodeCertificates
  readonly server: ServerEndpoint
  readonly pki: ClusterPki
}

function taskOf(options: TaskOptions): RealNodeTask {
  const { folder, node, dns, podClusters, podCidrs, apiAddress, peers, certificates, server, pki } = options
  const { name, ips, runtime, networkPolicyMode: policyMode, podLogs = join(folder, 'logs', 'pods') } = node
  const { configuration, gateway } = dns
  const { url, ca } = server
  const instance = instanceOf(folder)
  const bridge = runtime && runtime.docker === undefined ? runtime.bridge : undefined
  const { hostname: host, port } = new URL(url)
  return {
    name,
    ips,
    configuration,
    runtime,
    proxy: {
      choice: node.proxyMode,
      client: certificates.proxy,
      instance,
      bridge,
      record: join(folder, 'proxy-mode'),
    },
    apiGateway:
      bridge && apiAddress
        ? { range: podCidrs[0]!, port: Number(port), host: host.replace(/^\[|\]$/g, '') }
        : undefined,
    policy: bridge === undefined ? undefined : { client: certificates.policy, instance, mode: policyMode },
    dns:
      gateway === undefined
        ? undefined
        : {
            client: certificates.dns,
            gateway,
            ranges: apiAddress ? podCidrs.slice(0, 1) : podClusters,
            servesNeighbours: apiAddress === undefined,
            domain: configuration.clusterDomain,
          },
    peers,
    endsPods: false,
    ports: { client: certificates.ports },
    podCidrs,
    root: join(folder, 'kubelet'),
    podLogs,
    server: { url, ca, ...certificates.kubelet },
    serving: certificates.serving,
    clientCA: pki.authority.cert,
  }
}
