/** The machines of a cluster: nodes in namespaces of this machine, in the place of its real node. */
import { mkdirSync } from 'node:fs'
import { Connection } from '../../client/connection/connection.ts'
import { nodes } from '../../client/kinds.ts'
import { ignoreNotFound } from '../../client/rest/api-errors.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import { Lifetime } from '../../lib/lifetime/lifetime.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { ServerEndpoint } from '../controllers/messages.ts'
import { dnsRights } from '../dns/cluster-dns.ts'
import { nodeDns } from '../dns/node-dns.ts'
import type { NetworkPlan } from '../flannel/net-conf.ts'
import { flannelRights } from '../flannel/rights.ts'
import type { ClusterPki } from '../pki/pki.ts'
import { policyRights } from '../policy/cluster-policy.ts'
import { type ClusterRealNode, settledNetwork } from '../real-node/index.ts'
import { gatewayOf, startApiGateway } from '../real-node/services/api-gateway.ts'
import { instanceOf } from '../real-node/settings/embedded-runtime.ts'
import { nodeCertificates } from '../real-node/settings/node-certificates.ts'
import { freePodRange, machineNetworks } from '../real-node/settings/pod-range.ts'
import { prepareNodes } from '../real-node/thread/prepare-nodes.ts'
import { keepHostRoutes } from './host-routes.ts'
import { recordProcesses, removeLeftovers } from './leftovers.ts'
import { MachineNetwork } from './machine-network.ts'
import { MachineProcess } from './machine-process.ts'
import { machineTask } from './machine-task.ts'
import { type MachinesPlan, planForFamilies } from './plan-machines.ts'

export interface ClusterMachinesOptions {
  readonly plan: MachinesPlan
  /** The address that the API server listens on. */
  readonly bindAddress: string
  /** The ranges of Services' addresses, separated by a comma. */
  readonly serviceRanges: string
  /** The ranges of all pods; none if a controller decides. */
  readonly podClusters: readonly string[]
  /** The network of the pods; undefined if nobody gives ranges to nodes. */
  readonly network: NetworkPlan | undefined
  readonly log: (line: string) => void
}

export function clusterMachines(given: ClusterMachinesOptions): ClusterRealNode {
  const plan = planForFamilies(given.plan, given.serviceRanges)
  const options = { ...given, plan }
  const { log } = options
  const apiAddress = gatewayOf(plan.lans[0]!)
  const lifetime = new Lifetime()
  let starting: Promise<void> | undefined
  return {
    apiAddress,
    serverHosts: apiAddress === undefined ? [] : [apiAddress],
    servesServices: true,
    isElsewhere: true,
    rights: [dnsRights, policyRights, flannelRights],
    async begin(server, administrator, pki) {
      starting = start(options, { server, administrator, pki }, lifetime)
      try {
        await starting
      } catch (error) {
        log(`the machines do not run: ${messageOf(error)}`)
        await lifetime.end()
      }
      return true
    },
    async stop() {
      await starting?.catch(() => {})
      await lifetime.end()
    },
  }
}

interface Cluster {
  readonly server: ServerEndpoint
  readonly administrator: Access
  readonly pki: ClusterPki
}

async function start(options: ClusterMachinesOptions, cluster: Cluster, lifetime: Lifetime): Promise<void> {
  const { plan, bindAddress, podClusters, log } = options
  const { folder, machines, lans, bridge } = plan
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const network = new MachineNetwork(plan, podClusters)
  lifetime.onEnd(() => network.close())
  await removeLeftovers(folder)
  await network.clear()
  lifetime.onEnd(async () => {
    await network.clear()
    await removeLeftovers(folder)
  })
  // Machines use it until they have ended.
  let gateway: (() => Promise<void>) | undefined
  lifetime.onEnd(() => gateway?.())
  const processes = machines.map(({ node }) => new MachineProcess(node.name, log))
  lifetime.onEnd(async () => void (await Promise.all(processes.map((machine) => machine.stop()))))
  recordProcesses(
    folder,
    processes.flatMap(({ pid }) => pid ?? []),
  )
  const prepared = prepare(options, cluster)
  prepared.catch(() => {})
  for (const [index, machine] of processes.entries()) {
    await machine.ready
    await network.connect(machine.name, machine.pid ?? 0, machines[index]!.node.ips)
  }
  const { hostname: host, port } = new URL(cluster.server.url)
  if (!isEverywhere(bindAddress))
    gateway = await startApiGateway({ range: lans[0]!, port: Number(port), host: host.replace(/^\[|\]$/g, '') })
  const tasks = await prepared
  await Promise.all(processes.map((machine, index) => machine.start(tasks[index]!)))
  for (const [index, { name, pid }] of processes.entries())
    log(`${name} is a node: ${machines[index]!.node.ips.join(', ')} (nsenter --target ${pid} --net ip address)`)
  lifetime.onEnd(keepHostRoutes({ server: cluster.administrator, bridge, lans, log }))
}

/** True for a server that listens on the bridge of the machines, too. */
const isEverywhere = (bindAddress: string): boolean => bindAddress === '0.0.0.0' || bindAddress === '::'

/** The tasks of the machines. Nodes of earlier starts that had more machines are deleted. */
async function prepare(options: ClusterMachinesOptions, cluster: Cluster) {
  const { plan, serviceRanges, podClusters, network, log } = options
  const { machines, lans } = plan
  const { server, administrator, pki } = cluster
  const ranges = podRangesOf(plan, podClusters)
  const connection = new Connection(administrator)
  const client = new RestClient(connection)
  try {
    const [first] = machines
    const gateway = gatewayOf(ranges[0]?.[0] ?? '')
    const dns = await nodeDns({ configuration: first!.node.configuration, gateway, serviceRanges, client, log })
    await deleteFormer(client, machines.length)
    for (const { node } of machines) await prepareNodes(node.name, { isReplaceable: false, client, log })
    const [networkConfig, ...certificates] = await Promise.all([
      network && settledNetwork(client, network, log),
      ...machines.map(({ node }) => nodeCertificates(pki.authority, node)),
    ])
    const address = gatewayOf(lans[0]!) ?? ''
    const url = `https://${address}:${new URL(server.url).port}`
    return machines.map((machine, index) =>
      machineTask({
        machine,
        certificates: certificates[index]!,
        // One of them has the server.
        dns: index === 0 ? dns : { ...dns, gateway: undefined },
        podCidrs: ranges[index]!,
        podClusters,
        network,
        networkConfig,
        server: { url, ca: server.ca },
        clientCA: pki.authority.cert,
      }),
    )
  } finally {
    connection.close()
  }
}

/** A range of pods for each machine, of each family; none if a controller chooses them. */
function podRangesOf({ machines, folder, bridge }: MachinesPlan, podClusters: readonly string[]): string[][] {
  const used = machineNetworks(bridge)
  return machines.map(({ node }) =>
    podClusters.map((cluster) => {
      const range = freePodRange(cluster, `${instanceOf(folder)}-${node.name}`, used)
      used.push(range)
      return range
    }),
  )
}

async function deleteFormer(client: RestClient, count: number): Promise<void> {
  const { items } = await client.list(nodes)
  for (const { metadata } of items) {
    const [, index = '0'] = /^machine-(\d+)$/.exec(metadata.name ?? '') ?? []
    if (Number(index) > count) await client.delete(nodes, '', metadata.name ?? '').catch(ignoreNotFound)
  }
}
