/** Controllers that a test can stop and restart. */
import { Connection, type ServerAccess } from '../../../src/client/connection/connection.ts'
import { type Controller, type RunningController, runController } from '../../../src/client/controller/controller.ts'
import { SharedInformers } from '../../../src/client/informers/shared-informers.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'

interface Run {
  readonly connection: Connection
  readonly informers: SharedInformers
  readonly controllers: readonly RunningController[]
}

/** Ignores log lines about requests that a stop interrupts. */
const silent = (): void => {}

export class RestartedControllers {
  readonly #access: ServerAccess
  readonly #make: () => readonly Controller[]
  readonly #clientOf: (connection: Connection) => RestClient
  #run: Run

  /** `make` creates controllers with a new state at each start; `clientOf` creates their client. */
  constructor(
    access: ServerAccess,
    make: () => readonly Controller[],
    clientOf = (connection: Connection): RestClient => new RestClient(connection),
  ) {
    this.#access = access
    this.#make = make
    this.#clientOf = clientOf
    this.#run = this.#start()
  }

  /** Restarts after pending requests have finished. */
  async replace(): Promise<void> {
    await this.stop()
    this.#run = this.#start()
  }

  /** Restarts immediately: pending requests may or may not reach the server, and their responses are lost. */
  async restart(): Promise<void> {
    await this.kill()
    this.#run = this.#start()
  }

  async stop(): Promise<void> {
    const { connection, informers, controllers } = this.#run
    await Promise.all([informers.stop(), ...controllers.map((controller) => controller.stop())])
    connection.close()
  }

  async kill(): Promise<void> {
    const { connection, informers, controllers } = this.#run
    connection.close()
    await Promise.all([informers.stop(), ...controllers.map((controller) => controller.stop())])
  }

  #start(): Run {
    const connection = new Connection(this.#access)
    const client = this.#clientOf(connection)
    const informers = new SharedInformers(client, silent)
    return {
      connection,
      informers,
      controllers: this.#make().map((controller) => runController(controller, { informers, client }, silent)),
    }
  }
}
