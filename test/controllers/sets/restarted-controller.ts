/** A controller that is killed and started again: what is under way then may or may not reach the server. */
import { Connection } from '../../../src/client/connection/connection.ts'
import { type Controller, type RunningController, runController } from '../../../src/client/controller/controller.ts'
import { SharedInformers } from '../../../src/client/informers/shared-informers.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'

interface Run {
  readonly connection: Connection
  readonly informers: SharedInformers
  readonly controller: RunningController
}

export class RestartedController {
  readonly #cluster: ReachableCluster
  readonly #make: () => Controller
  #run: Run

  /** `make` makes it with a state of its own, each time. */
  constructor(cluster: ReachableCluster, make: () => Controller) {
    this.#cluster = cluster
    this.#make = make
    this.#run = this.#start()
  }

  async restart(): Promise<void> {
    await this.kill()
    this.#run = this.#start()
  }

  async kill(): Promise<void> {
    const { connection, informers, controller } = this.#run
    connection.close()
    await Promise.all([informers.stop(), controller.stop()])
  }

  #start(): Run {
    const connection = new Connection(this.#cluster.client)
    const client = new RestClient(connection)
    const informers = new SharedInformers(client, () => {})
    return { connection, informers, controller: runController(this.#make(), { informers, client }, () => {}) }
  }
}
