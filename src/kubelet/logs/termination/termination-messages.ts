/** The messages of containers that have ended. Each is read once, since it does not change. */
import { ContainerState, type ContainerStatus } from '#protobuf/cri-runtime_pb.js'
import { terminationMessage } from './termination-message.ts'

/** More messages than the runtime keeps containers; the oldest are read again. */
const maxMessages = 2_000

export class TerminationMessages {
  readonly #logRoots: readonly string[]
  /** By ID of the container. */
  readonly #known = new Map<string, string>()

  constructor(logRoots: readonly string[]) {
    this.#logRoots = logRoots
  }

  /** Reads the messages of containers that have ended since the last call. */
  async read(containers: readonly ContainerStatus[]): Promise<void> {
    const ended = containers.filter(
      ({ id, state }) => state === ContainerState.CONTAINER_EXITED && !this.#known.has(id),
    )
    await Promise.all(
      ended.map(async (status) => this.#known.set(status.id, await terminationMessage(status, this.#logRoots))),
    )
    for (const id of this.#known.keys()) {
      if (this.#known.size <= maxMessages) break
      this.#known.delete(id)
    }
  }

  /** The message of a container; undefined if it has none. */
  of({ id, message }: ContainerStatus): string | undefined {
    const own = this.#known.get(id)
    if (!own) return undefined
    return message ? `${message}: ${own}` : own
  }
}
