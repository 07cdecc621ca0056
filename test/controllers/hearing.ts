/** Controllers that do not hear of one kind for a while: as late as their watches may be, at the will of a test. */
import type { TestContext } from 'node:test'
import type { ServerAccess } from '../../src/client/connection/connection.ts'
import type { Controller } from '../../src/client/controller/controller.ts'
import type { Resource } from '../../src/client/resource.ts'
import { LateClient } from './late-client.ts'
import { RestartedControllers } from './restarted-controllers.ts'

export class Hearing {
  #heard: Promise<void> | undefined
  hear = (): void => {}

  /** Of controllers that run until the test ends. */
  static of(t: TestContext, access: ServerAccess, kind: Resource, make: () => readonly Controller[]): Hearing {
    const hearing = new Hearing()
    const late = ({ plural }: Resource): Promise<void> | undefined =>
      plural === kind.plural ? hearing.#heard : undefined
    const controllers = new RestartedControllers(access, make, (connection) => new LateClient(connection, late))
    t.after(async () => {
      hearing.hear()
      await controllers.stop()
    })
    return hearing
  }

  deafen(): void {
    this.#heard = new Promise((resolve) => {
      this.hear = resolve
    })
  }
}
