/** A Job controller that crashes between two of its writes and is replaced by a new one without its memory. */
import { Connection } from '../../../src/client/connection/connection.ts'
import { type RunningController, runController } from '../../../src/client/controller/controller.ts'
import { SharedInformers } from '../../../src/client/informers/shared-informers.ts'
import { events } from '../../../src/client/kinds.ts'
import type { Resource } from '../../../src/client/resource.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'
import { jobController } from '../../../src/controllers/jobs/job/job-controller.ts'
import type { KubeObject } from '../../../src/machinery/object.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'

/** Allows a number of writes. The last one may succeed without a response. */
class CrashingClient extends RestClient {
  #left: number
  #isDead = false
  readonly #died: () => void

  constructor(connection: Connection, writes: number, died: () => void) {
    super(connection)
    this.#left = writes
    this.#died = died
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    this.#left--
    if (this.#left < 0) throw this.#dead()
    try {
      const answer = await write()
      if (this.#left > 0) return answer
    } catch (error) {
      if (this.#left > 0) throw error
    }
    throw this.#dead()
  }

  /** Several writes may be pending, but a crashed controller is replaced once. */
  #dead(): Error {
    if (!this.#isDead) this.#died()
    this.#isDead = true
    return new Error('the controller has died')
  }

  override create<T extends KubeObject>(of: Resource<T>, object: T): Promise<T> {
    return of.plural === events.plural ? super.create(of, object) : this.#write(() => super.create(of, object))
  }

  override update<T extends KubeObject>(of: Resource<T>, object: T, subresource = ''): Promise<T> {
    return this.#write(() => super.update(of, object, subresource))
  }

  override patch<T extends KubeObject>(...given: Parameters<RestClient['patch']>): Promise<T> {
    return this.#write(() => super.patch(...given) as unknown as Promise<T>)
  }

  override delete(...given: Parameters<RestClient['delete']>): Promise<void> {
    return this.#write(() => super.delete(...given))
  }
}

export interface Succession {
  /** Number of crashes. */
  readonly deaths: () => number
  /** Disables further crashes. */
  live(): void
  stop(): Promise<void>
}

/** Runs one controller after another; `lifespan` returns the number of writes until the next crash. */
export async function succession({ client }: ReachableCluster, lifespan: () => number): Promise<Succession> {
  let deaths = 0
  let canCrash = true
  let isOver = false
  let current: Promise<void> = Promise.resolve()
  let stopCurrent: () => Promise<void> = async () => {}

  async function next(): Promise<void> {
    if (isOver) return
    const connection = new Connection(client)
    const informers = new SharedInformers(new RestClient(connection), () => {})
    let running: RunningController
    const died = (): void => {
      deaths++
      current = current.then(() => stop()).then(next)
    }
    const stop = async (): Promise<void> => {
      const stopped = Promise.all([running.stop(), informers.stop()])
      connection.close()
      await stopped
    }
    const writes = canCrash ? lifespan() : Number.POSITIVE_INFINITY
    running = runController(
      jobController({ concurrency: 2 }),
      { informers, client: new CrashingClient(connection, writes, died) },
      () => {},
    )
    stopCurrent = stop
    await running.synced
  }

  await next()
  return {
    deaths: () => deaths,
    live() {
      canCrash = false
    },
    async stop() {
      isOver = true
      await current
      await stopCurrent()
    },
  }
}
