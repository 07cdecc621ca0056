/** Simulated nodes: assembles the fleet, the node and pod runners, and the kubelet server. They use only the API. */
import { Connection, type ServerAccess } from '../client/connection/connection.ts'
import { configMaps } from '../client/kinds.ts'
import { RestClient } from '../client/rest/rest-client.ts'
import { type Clock, systemClock } from '../lib/clock/clock.ts'
import { messageOf } from '../lib/message-of.ts'
import { KubeletServer } from '../node/server/kubelet-server.ts'
import { type KubeletSources, simulatedKubelets } from './kubelet/simulated-kubelets.ts'
import { KubeletEvents } from './kubelet-events.ts'
import { agentName } from './names.ts'
import { Adoption } from './nodes/adoption.ts'
import { Fleet, type WantedFleet } from './nodes/fleet.ts'
import type { KubeletEndpoint } from './nodes/node-object.ts'
import { NodeRunner, type NodeStages } from './nodes/node-runner.ts'
import { NodeTypes } from './nodes/node-types.ts'
import { Evictor } from './pods/eviction/evictor.ts'
import { PodRunner, type PodStages } from './pods/pod-runner.ts'
import { parseStages } from './stages/stage.ts'
import { nodeStages, podStages, type StageRunnerOptions } from './stages/stage-runner.ts'
import { removeOldMetricsApi } from './usage/old-metrics-api.ts'

export interface SimulationOptions {
  /** The name of the fleet. Nodes of other owners are ignored. */
  readonly owner: string
  readonly fleet: WantedFleet
  readonly kubelet: KubeletSettings
  /** The text of a file of stages (see `parseStages`). */
  readonly stages?: string
  /** The clock that the nodes and pods live by. Default: the machine's. */
  readonly clock?: Clock
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
  { owner, fleet: wanted, kubelet, stages: stageFile, clock = systemClock }: SimulationOptions,
  client: RestClient,
  log: (line: string) => void,
): Promise<{ stop(): Promise<void> }> {
  const now = (): number => clock.now()
  const events = new KubeletEvents(client, log, now)
  const published = await publishedAuthorities(client)
  const defaults = (nodeName: string) => fleet.groupOf(nodeName)?.pods ?? {}
  const agent = (name: string) => keeper.agent(name)
  const podsOf = (nodeName: string) => pods.ofNode(nodeName)
  const stages = stagesOf(stageFile, { client, events, now, log })
  const pods = new PodRunner({ client, events, agent, defaults, stages: stages.pods, clock, log })
  const http = kubeletServer(client, kubelet, published, { agent, podsOf, defaults, now, pods })
  const place: KubeletEndpoint = { address: kubelet.address, port: await http.listen() }
  const changed: ConstructorParameters<typeof NodeRunner>[0]['onNodeChange'] = (of, isDeleted) => {
    if (!isDeleted) {
      pods.nodeChanged(of)
      types.check(of)
    }
    evictor.nodeChanged(of, isDeleted)
  }
  const evict: ConstructorParameters<typeof Evictor>[0]['evict'] = (pod, message) => pods.evict(pod, message)
  const evictor = new Evictor({ events, agent, podsOf, defaults, evict, clock })
  const keeper = new NodeRunner({
    client,
    owner,
    events,
    place,
    onNodeChange: changed,
    stages: stages.nodes,
    clock,
    log,
  })
  const types = new NodeTypes({ client, agents: () => keeper.agents, log })
  const fleet = new Fleet({ client, owner, place, wanted, types, now, log })
  const adoption = new Adoption({ client, owner, log })
  const stop = async (): Promise<void> => {
    evictor.stop()
    await Promise.all([adoption.stop(), fleet.stop(), types.stop(), keeper.stop(), pods.stop(), http.close()])
    events.stop()
  }
  try {
    await Promise.all([adoption.start(), types.start()])
    await keeper.start()
    await Promise.all([fleet.start(), pods.start()])
    await removeOldMetricsApi(client, owner).catch((error) =>
      log(`cannot remove the APIService of an earlier release: ${messageOf(error)}`),
    )
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

function kubeletServer(
  client: RestClient,
  { address, bindAddress = address, port = 0, tls, clientCA }: KubeletSettings,
  published: Readonly<Record<string, string>>,
  sources: KubeletSources,
): KubeletServer {
  return new KubeletServer({
    client,
    address: bindAddress,
    port,
    tls,
    clientCA: clientCA ?? published['client-ca-file'] ?? '',
    nodes: simulatedKubelets(sources),
    now: sources.now,
  })
}

function stagesOf(
  text: string | undefined,
  options: Omit<StageRunnerOptions, 'stages'>,
): { readonly pods?: PodStages; readonly nodes?: NodeStages } {
  if (text === undefined) return {}
  const { pods, nodes, others } = parseStages(text)
  if (others.length > 0) options.log(`stages of other kinds than Pod and Node are ignored: ${others.join(', ')}`)
  return {
    ...(pods.length > 0 && { pods: podStages({ ...options, stages: pods }) }),
    ...(nodes.length > 0 && { nodes: nodeStages({ ...options, stages: nodes }) }),
  }
}

/** The CAs of clients that API servers publish; empty if they do not. */
async function publishedAuthorities(client: RestClient): Promise<Readonly<Record<string, string>>> {
  const published = await client
    .find(configMaps, 'kube-system', 'extension-apiserver-authentication')
    .catch(() => undefined)
  return published?.data ?? {}
}
