/** Simulated nodes: puts the fleet, what keeps its nodes alive and what runs their pods together. They know nothing but the API. */
import { Connection, type ServerAccess } from '../client/connection/connection.ts'
import { RestClient } from '../client/rest/rest-client.ts'
import { agentName } from './names.ts'
import { Fleet, type WantedFleet } from './nodes/fleet.ts'
import { NodeKeeper } from './nodes/node-keeper.ts'
import type { KubeletPlace } from './nodes/node-object.ts'
import { PodRunner } from './pods/pod-runner.ts'
import { ToldEvents } from './told-events.ts'

export interface SimulationOptions {
  readonly fleet: WantedFleet
  readonly kubelet: KubeletPlace
}

export interface RunningSimulation {
  /** Resolves when the nodes are there and their pods are looked after. Rejects when that cannot be. */
  readonly started: Promise<void>
  /** Resolves when what is under way is done. The nodes stay, and are missed by controllers after a while. */
  stop(): Promise<void>
}

/** Runs simulated nodes against any API server. */
export function runSimulation({ fleet: wanted, kubelet: place }: SimulationOptions, server: ServerAccess, log: (line: string) => void): RunningSimulation {
  const connection = new Connection({ ...server, userAgent: agentName })
  const client = new RestClient(connection)
  const events = new ToldEvents(client, log)
  const fleet = new Fleet({ client, place, wanted, log })
  const keeper: NodeKeeper = new NodeKeeper({
    client,
    events,
    place,
    changed: (agent, isGone) => {
      if (!isGone) pods.nodeChanged(agent)
    },
    log,
  })
  const pods = new PodRunner({ client, events, agent: (name) => keeper.agent(name), defaults: (name) => fleet.groupOf(name)?.pods ?? {}, log })
  const start = async (): Promise<void> => {
    await keeper.start()
    await Promise.all([fleet.start(), pods.start()])
  }
  return {
    started: start(),
    async stop() {
      await Promise.all([fleet.stop(), keeper.stop(), pods.stop()])
      events.stop()
      connection.close()
    },
  }
}
