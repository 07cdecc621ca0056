/** Simulated nodes of a cluster that several processes share: the one that holds the lease simulates them. */
import { Connection } from '../../client/connection/connection.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { RunningSimulation } from '../../simulation/index.ts'
import { runElected } from '../threads/elected.ts'
import { simulationUser } from './messages.ts'

const lease = { namespace: 'kube-system', name: 'simulated-nodes' }

/** `launch` starts the simulation, once for each term. */
export function electedSimulation(
  administrator: Access,
  launch: () => Promise<RunningSimulation>,
  log: (line: string) => void,
): RunningSimulation {
  const connection = new Connection(administrator)
  const { synced, stop } = runElected({
    ...lease,
    client: new RestClient(connection),
    component: simulationUser,
    async start() {
      const running = await launch()
      const failed = (error: unknown): void => log(`nodes are not simulated: ${messageOf(error)}`)
      return { synced: running.started.catch(failed), stop: () => running.stop() }
    },
    log,
  })
  return { started: synced, stop: () => stop().finally(() => connection.close()) }
}
