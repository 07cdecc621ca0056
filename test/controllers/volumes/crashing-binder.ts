/** The controllers of volumes and claims with a client that crashes after some writes. */
import { Connection, type ServerAccess } from '../../../src/client/connection/connection.ts'
import { type RunningController, runController } from '../../../src/client/controller/controller.ts'
import { SharedInformers } from '../../../src/client/informers/shared-informers.ts'
import type { Resource } from '../../../src/client/resource.ts'
import { volumeBinder } from '../../../src/controllers/volumes/binder/controller.ts'
import { claimProtection } from '../../../src/controllers/volumes/protection/claims.ts'
import { volumeProtection } from '../../../src/controllers/volumes/protection/volumes.ts'
import type { KubeObject } from '../../../src/machinery/object.ts'
import { type Late, LateClient } from '../restarts/late-client.ts'

class CrashingClient extends LateClient {
  writesLeft = Number.POSITIVE_INFINITY

  override async update<T extends KubeObject>(of: Resource<T>, object: T, subresource = ''): Promise<T> {
    if (this.writesLeft-- <= 0) throw new Error('this process has ended')
    return super.update(of, object, subresource)
  }
}

const options = {
  syncPeriodMs: 50,
  dynamicProvisioning: true,
  hostPath: { enabled: false, directory: '/nowhere' },
  now: Date.now,
}

export class CrashingBinder {
  readonly #connection: Connection
  readonly #client: CrashingClient
  readonly #informers: SharedInformers
  readonly #controllers: readonly RunningController[]

  private constructor(access: ServerAccess, late: Late) {
    this.#connection = new Connection(access)
    this.#client = new CrashingClient(this.#connection, late)
    this.#informers = new SharedInformers(this.#client, () => {})
    const clients = { informers: this.#informers, client: this.#client }
    this.#controllers = [volumeBinder(options), claimProtection, volumeProtection].map((controller) =>
      runController(controller, clients, () => {}),
    )
  }

  /** Resolves when the caches are synced. */
  static async start(access: ServerAccess, late: Late): Promise<CrashingBinder> {
    const binder = new CrashingBinder(access, late)
    await Promise.all(binder.#controllers.map(({ synced }) => synced))
    return binder
  }

  /** Lets all writes fail after this number of further ones. */
  crashAfter(writes: number): void {
    this.#client.writesLeft = writes
  }

  async stop(): Promise<void> {
    await Promise.all([this.#informers.stop(), ...this.#controllers.map((controller) => controller.stop())])
    this.#connection.close()
  }
}
