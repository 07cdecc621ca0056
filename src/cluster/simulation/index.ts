/** The simulated nodes of a cluster, in this thread or on their own. */
import { randomBytes } from 'node:crypto'
import type { TokenUser } from '../../apiserver/authentication/tokens/static-tokens.ts'
import { Connection } from '../../client/connection/connection.ts'
import { bearerToken } from '../../client/connection/credentials/credentials.ts'
import { configMaps } from '../../client/kinds.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import type { MovableClock } from '../../lib/clock/movable-clock.ts'
import type { NodeGroup, RunningSimulation } from '../../simulation/index.ts'
import type { ServerEndpoint } from '../controllers/messages.ts'
import type { ClusterPki } from '../pki/pki.ts'
import { simulationUser } from './messages.ts'

/** The options of simulated nodes. */
export interface SimulatedNodes {
  /** Number of nodes. Default: as many as the cluster had before, or one. */
  readonly count?: number
  /** The smallest number of nodes that the cluster had before. Default: 0. */
  readonly atLeast?: number
  /** Groups of nodes and their properties. Default: the previous ones. */
  readonly groups?: readonly NodeGroup[]
  /** Stages of pods in kwok's format: the text of a file. */
  readonly stages?: string
}

export interface ClusterSimulation {
  /** The user of the simulation, which the server must accept. */
  readonly user: TokenUser | undefined
  /**
   * Starts in the background once the server runs, with other nodes than those of the options if there are any.
   * Resolves when the nodes exist or have failed; never rejects.
   */
  begin(server: ServerEndpoint, administrator: Access, pki: ClusterPki, others?: SimulatedNodes): Promise<void>
  stop(): Promise<void>
}

export interface ClusterSimulationOptions {
  readonly nodes: SimulatedNodes | undefined
  /** True if the cluster may have had nodes before. */
  readonly mayHaveNodes: boolean
  /** True if other processes may simulate the nodes of the cluster: this one does while it holds the lease. */
  readonly isElected: boolean
  readonly onThread: boolean
  readonly clock: MovableClock
  readonly log: (line: string) => void
}

const areWanted = (nodes: SimulatedNodes | undefined): boolean => nodes !== undefined && nodes.count !== 0

/** Loads nothing and has no user if no nodes are requested and there were none before. */
export function clusterSimulation({
  nodes: usual,
  mayHaveNodes: hasPast,
  isElected,
  onThread,
  clock,
  log,
}: ClusterSimulationOptions): ClusterSimulation {
  if (!areWanted(usual) && !hasPast) return { user: undefined, begin: async () => {}, stop: async () => {} }
  const token = randomBytes(32).toString('base64url')
  const failed = (error: Error): void => log(`nodes are not simulated: ${error.message}`)
  let begun: Promise<RunningSimulation | undefined> | undefined
  let isStopped = false

  async function start(
    server: ServerEndpoint,
    administrator: Access,
    pki: ClusterPki,
    nodes: SimulatedNodes | undefined,
  ): Promise<RunningSimulation | undefined> {
    const isWanted = areWanted(nodes)
    const { fleetConfigMapOf, runSimulation, upOwner } = await import('../../simulation/index.ts')
    const connection = new Connection(administrator)
    try {
      const client = new RestClient(connection)
      // Nodes of an earlier start are removed if none are requested.
      const { namespace, name } = fleetConfigMapOf(upOwner)
      if (!isWanted && !(await client.find(configMaps, namespace, name))) return undefined
      await (await import('./rights.ts')).grantSimulation(client)
    } finally {
      connection.close()
    }
    const kubelet = { address: '127.0.0.1', tls: await pki.kubeletServer(), clientCA: pki.authority.cert }
    const options = {
      owner: upOwner,
      fleet: { size: isWanted ? nodes?.count : 0, atLeast: nodes?.atLeast, groups: nodes?.groups },
      stages: nodes?.stages,
      kubelet,
    }
    const task = { options, server: { ...server, token }, clockBuffer: clock.memory.buffer }
    const launch = async (): Promise<RunningSimulation> =>
      onThread
        ? (await import('./thread.ts')).simulationOnThread(task, log)
        : runSimulation({ ...options, clock }, { ...server, credentials: bearerToken(token) }, log)
    return isElected ? (await import('./elected.ts')).electedSimulation(administrator, launch, log) : launch()
  }

  return {
    user: { token, user: { name: simulationUser, groups: [] } },
    async begin(server, administrator, pki, others) {
      if (isStopped) return
      begun = start(server, administrator, pki, others ?? usual)
      await begun.then((running) => running?.started).catch(failed)
    },
    async stop() {
      isStopped = true
      await (await begun?.catch(() => undefined))?.stop()
    },
  }
}
