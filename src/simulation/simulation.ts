/** Simulated nodes: assembles the fleet, the node and pod runners, and the kubelet server. They use only the API. */
import { Connection, type ServerAccess } from '../client/connection/connection.ts'
import { configMaps } from '../client/kinds.ts'
import { RestClient } from '../client/rest/rest-client.ts'
import { KubeletServer } from './kubelet/kubelet-server.ts'
import { kubeletPage } from './kubelet/pages.ts'
import { KubeletEvents } from './kubelet-events.ts'
import { agentName } from './names.ts'
import { Adoption } from './nodes/adoption.ts'
import { Fleet, type WantedFleet } from './nodes/fleet.ts'
import type { KubeletEndpoint } from './nodes/node-object.ts'
import { NodeRunner, type NodeStages } from './nodes/node-runner.ts'
import { Evictor } from './pods/eviction/evictor.ts'
import { PodRunner, type PodStages } from './pods/pod-runner.ts'
import { parseStages } from './stages/stage.ts'
import { nodeStages, podStages } from './stages/stage-runner.ts'
import { metricsApi } from './usage/metrics-api.ts'
import { registerMetrics, unregisterMetrics } from './usage/register.ts'

export interface SimulationOptions {
  /** The name of the fleet. Nodes of other owners are ignored. */
  readonly owner: string
  readonly fleet: WantedFleet
  readonly kubelet: KubeletSettings
  /** The text of a file of stages (see `parseStages`). */
  readonly stages?: string
}

/** The addresses and certificates of the kubelets' server. */
export interface KubeletSettings {
  /** The address at which API servers reach it. */
  readonly address: string
  /** The address to listen on. Default: `address`. */
  readonly bindAddress?: string
  /** Default: any free port. */
  readonly port?: number
  readonly tls: { readonly cert: string; readonly key: string }
  /** The CA of its certificate in PEM. The certificate must also be valid for `metrics-server.kube-system.svc`. */
  readonly ca: string
  /** A PEM bundle of CAs for client certificates. Default: the one that the API server publishes. */
  readonly clientCA?: string
}

export interface RunningSimulation {
  /** Resolves when the nodes exist and their pods run. Rejects if that fails. */
  readonly started: Promise<void>
  /** Resolves when work in progress has ended. The nodes remain, and become NotReady after a while. */
  stop(): Promise<void>
}

/** Runs simulated nodes against any API server. */
export function runSimulation(
  options: SimulationOptions,
  server: ServerAccess,
  log: (line: string) => void,
): RunningSimulation {
  const connection = new Connection({ ...server, userAgent: agentName })
  const parts = start(options, new RestClient(connection), log)
  return {
    started: parts.then(() => {}),
    async stop() {
      await parts.then((running) => running.stop()).catch(() => {})
      connection.close()
    },
  }
}

async function start(
  { owner, fleet: wanted, kubelet, stages: stageFile }: SimulationOptions,
  client: RestClient,
  log: (line: string) => void,
): Promise<{ stop(): Promise<void> }> {
  const events = new KubeletEvents(client, log)
  const published = await publishedAuthorities(client)
  const now = Date.now
  const defaults = (nodeName: string) => fleet.groupOf(nodeName)?.pods ?? {}
  const agent = (name: string) => keeper.agent(name)
  const podsOf = (nodeName: string) => pods.ofNode(nodeName)
  const sources = {
    agent,
    agents: () => keeper.agents,
    pod: (namespace: string, name: string) => pods.find(namespace, name),
    pods: (namespace: string) => pods.all(namespace),
    podsOf,
    defaults,
    now,
  }
  const stages = stagesOf(stageFile, client, events, log)
  const pods = new PodRunner({ client, events, agent, defaults, stages: stages.pods, log })
  const http = new KubeletServer({
    client,
    address: kubelet.bindAddress ?? kubelet.address,
    port: kubelet.port ?? 0,
    tls: kubelet.tls,
    clientCA: kubelet.clientCA ?? published['client-ca-file'] ?? '',
    frontProxyCA: published['requestheader-client-ca-file'] ?? '',
    agent,
    pods,
    pages: (path, of) => kubeletPage(sources, path, of),
    api: (path, query, accept) => metricsApi(sources, path, query, accept),
    log,
  })
  const place: KubeletEndpoint = { address: kubelet.address, port: await http.listen() }
  const changed: ConstructorParameters<typeof NodeRunner>[0]['onNodeChange'] = (of, isDeleted) => {
    if (!isDeleted) pods.nodeChanged(of)
    evictor.nodeChanged(of, isDeleted)
  }
  const evictor = new Evictor({ events, agent, podsOf, defaults, evict: (pod, message) => pods.evict(pod, message) })
  const keeper = new NodeRunner({ client, owner, events, place, onNodeChange: changed, stages: stages.nodes, log })
  const fleet = new Fleet({ client, owner, place, wanted, log })
  const adoption = new Adoption({ client, owner, log })
  const stop = async (): Promise<void> => {
    evictor.stop()
    await Promise.all([adoption.stop(), fleet.stop(), keeper.stop(), pods.stop(), http.close()])
    events.stop()
  }
  try {
    await adoption.start()
    await keeper.start()
    await Promise.all([fleet.start(), pods.start()])
    await registerMetricsApi(client, owner, kubelet, place.port, wanted.size === 0, log)
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

function stagesOf(
  text: string | undefined,
  client: RestClient,
  events: KubeletEvents,
  log: (line: string) => void,
): { readonly pods?: PodStages; readonly nodes?: NodeStages } {
  if (text === undefined) return {}
  const { pods, nodes, others } = parseStages(text)
  if (others.length > 0) log(`stages of other kinds than Pod and Node are ignored: ${others.join(', ')}`)
  return {
    ...(pods.length > 0 && { pods: podStages({ client, events, stages: pods, log }) }),
    ...(nodes.length > 0 && { nodes: nodeStages({ client, events, stages: nodes, log }) }),
  }
}

/** The CAs of clients and of front proxies that API servers publish; empty if they do not. */
async function publishedAuthorities(client: RestClient): Promise<Readonly<Record<string, string>>> {
  const published = await client
    .find(configMaps, 'kube-system', 'extension-apiserver-authentication')
    .catch(() => undefined)
  return published?.data ?? {}
}

async function registerMetricsApi(
  client: RestClient,
  owner: string,
  { address, ca }: KubeletSettings,
  port: number,
  isEmpty: boolean,
  log: (line: string) => void,
): Promise<void> {
  try {
    if (isEmpty) await unregisterMetrics(client, owner)
    else if (
      !(await registerMetrics(client, owner, { host: address === '127.0.0.1' ? 'localhost' : address, port, ca }))
    )
      log('metrics.k8s.io is served by another service: simulated usage is not available')
  } catch (error) {
    log(`cannot register metrics.k8s.io: ${error instanceof Error ? error.message : String(error)}`)
  }
}
