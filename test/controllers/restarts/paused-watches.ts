/** Controllers whose watches of one kind a test can pause and resume. */
import type { TestContext } from 'node:test'
import type { ServerAccess } from '../../../src/client/connection/connection.ts'
import type { Controller } from '../../../src/client/controller/controller.ts'
import type { Resource } from '../../../src/client/resource.ts'
import { LateClient } from './late-client.ts'
import { RestartedControllers } from './restarted-controllers.ts'

export class PausedWatches {
  #paused: Promise<void> | undefined
  resume = (): void => {}

  /** Starts controllers, which run until the test ends. */
  static of(t: TestContext, access: ServerAccess, kind: Resource, make: () => readonly Controller[]): PausedWatches {
    const watches = new PausedWatches()
    const late = ({ plural }: Resource): Promise<void> | undefined =>
      plural === kind.plural ? watches.#paused : undefined
    const controllers = new RestartedControllers(access, make, (connection) => new LateClient(connection, late))
    t.after(async () => {
      watches.resume()
      await controllers.stop()
    })
    return watches
  }

  pause(): void {
    this.#paused = new Promise((resolve) => {
      this.resume = resolve
    })
  }
}
