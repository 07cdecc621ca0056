/** Controllers that are ended and started again as often as one likes. */
import { Connection, type ServerAccess } from '../../src/client/connection/connection.ts'
import { type Controller, type RunningController, runController } from '../../src/client/controller/controller.ts'
import { SharedInformers } from '../../src/client/informers/shared-informers.ts'
import { RestClient } from '../../src/client/rest/rest-client.ts'

interface Run {
  readonly connection: Connection
  readonly informers: SharedInformers
  readonly controllers: readonly RunningController[]
}

/** Who is ended has requests under way, and says so. */
const silent = (): void => {}

export class RestartedControllers {
  readonly #access: ServerAccess
  readonly #make: () => readonly Controller[]
  readonly #clientOf: (connection: Connection) => RestClient
  #run: Run

  /**
   * `make` makes them with a state of their own, each time; `clientOf` the client by which they see and do everything.
   */
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

  /** Others take over when what is under way has been answered. */
  async replace(): Promise<void> {
    await this.stop()
    this.#run = this.#start()
  }

  /** Others take over at once: what is under way may or may not reach the server, and nobody hears of it. */
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
