/** The controllers of a manager: they run while it leads, or always without leader election. */
import type { ControllerClients, RunningControllers } from '../../controllers/index.ts'

export interface LeadingControllersOptions {
  /** Starts the controllers. */
  readonly start: () => RunningControllers
  /** The controllers' clients. */
  readonly clients: ControllerClients
  /** Aborted when the manager stops by itself. */
  readonly stopping: AbortSignal
  readonly log: (line: string) => void
}

export class LeadingControllers {
  readonly #options: LeadingControllersOptions
  #running: RunningControllers | undefined
  #isLost = false

  constructor(options: LeadingControllersOptions) {
    this.#options = options
  }

  /** Undefined before the manager leads. */
  get running(): RunningControllers | undefined {
    return this.#running
  }

  /** True if the manager led and another one may lead now. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** Runs the controllers until `signal` is aborted; resolves when they have stopped. */
  async run(signal: AbortSignal): Promise<void> {
    const { start, clients, stopping, log } = this.#options
    const running = start()
    this.#running = running
    void running.synced.then(() => signal.aborted || log('all controllers have synced'))
    if (!signal.aborted) await new Promise((aborted) => signal.addEventListener('abort', aborted, { once: true }))
    this.#isLost = !stopping.aborted
    // Another manager may lead, so running work must not write any more.
    if (this.#isLost) clients.close()
    await running.stop()
  }
}
