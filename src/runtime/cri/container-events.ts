/** Changes of containers, as a stream for each client. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import { type ContainerEventResponseSchema, ContainerEventType } from '#protobuf/cri-runtime_pb.js'
import type { Container } from '../containers/container.ts'
import { nowNs } from '../containers/container.ts'
import type { ContainerChange, Containers } from '../containers/containers.ts'
import type { Sandboxes } from '../sandboxes/sandboxes.ts'
import { containerStatus, sandboxStatus } from './messages.ts'

type Event = MessageInitShape<typeof ContainerEventResponseSchema>

const types = {
  created: ContainerEventType.CONTAINER_CREATED_EVENT,
  started: ContainerEventType.CONTAINER_STARTED_EVENT,
  stopped: ContainerEventType.CONTAINER_STOPPED_EVENT,
  deleted: ContainerEventType.CONTAINER_DELETED_EVENT,
} as const

/** A client that does not read loses its stream, and lists when it connects again. */
const maxQueued = 1_000

export class ContainerEvents {
  readonly #clients = new Set<EventQueue>()

  notify(container: Container, change: ContainerChange, sandboxes: Sandboxes, containers: Containers): void {
    if (this.#clients.size === 0) return
    const { sandboxId } = container.record
    const sandbox = sandboxes.find(sandboxId)
    const event: Event = {
      containerId: container.id,
      containerEventType: types[change],
      createdAt: nowNs(),
      ...(sandbox && { podSandboxStatus: sandboxStatus(sandbox, sandboxes.isReady(sandbox)) }),
      containersStatuses: containers.ofSandbox(sandboxId).map(containerStatus),
    }
    for (const client of this.#clients) client.add(event)
  }

  /** All events from now on, until the signal is aborted. */
  async *stream(signal: AbortSignal): AsyncGenerator<Event> {
    const queue = new EventQueue()
    this.#clients.add(queue)
    const stop = (): void => queue.end()
    signal.addEventListener('abort', stop, { once: true })
    try {
      for (;;) {
        const event = await queue.next()
        if (!event) return
        yield event
      }
    } finally {
      this.#clients.delete(queue)
    }
  }
}

class EventQueue {
  readonly #events: Event[] = []
  #waiting: (() => void) | undefined
  #isOver = false

  add(event: Event): void {
    if (this.#events.length >= maxQueued) this.#isOver = true
    else this.#events.push(event)
    this.#wake()
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }

  /** Resolves with undefined at the end. */
  async next(): Promise<Event | undefined> {
    while (this.#events.length === 0 && !this.#isOver)
      await new Promise<void>((resolve) => {
        this.#waiting = resolve
      })
    return this.#isOver ? undefined : this.#events.shift()
  }

  #wake(): void {
    this.#waiting?.()
    this.#waiting = undefined
  }
}
