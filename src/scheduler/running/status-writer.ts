/**
 * Writes what the scheduler says in the status of pods: one write a pod at a time, the newest alone if several wait.
 * Who schedules never waits for it.
 */
import { RequestCanceled } from '../../client/connection/connection-lost.ts'
import { type Pod, pods } from '../../client/kinds.ts'
import { isGoneOrChanged } from '../../client/rest/refusals.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { PodInfo } from '../framework/pods/pod-info.ts'

type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number]

export interface StatusChange {
  readonly condition?: Condition
  /** Empty takes it away, undefined leaves it. */
  readonly nominatedNode?: string
}

interface Write {
  readonly pod: PodInfo
  change: StatusChange
}

const mostAtOnce = 64

export class StatusWriter {
  readonly #client: RestClient
  readonly #log: (line: string) => void
  /** By uid, in the order in which they were wanted. */
  readonly #waiting = new Map<string, Write>()
  readonly #writing = new Set<string>()

  constructor(client: RestClient, log: (line: string) => void) {
    this.#client = client
    this.#log = log
  }

  write(pod: PodInfo, change: StatusChange): void {
    const waiting = this.#waiting.get(pod.uid)
    if (waiting)
      waiting.change = {
        condition: change.condition ?? waiting.change.condition,
        nominatedNode: change.nominatedNode ?? waiting.change.nominatedNode,
      }
    else this.#waiting.set(pod.uid, { pod, change })
    this.#begin()
  }

  #begin(): void {
    for (const [uid, write] of this.#waiting) {
      if (this.#writing.size >= mostAtOnce) return
      if (this.#writing.has(uid)) continue
      this.#waiting.delete(uid)
      this.#writing.add(uid)
      void this.#written(write).finally(() => {
        this.#writing.delete(uid)
        this.#begin()
      })
    }
  }

  async #written({ pod: { pod, namespace, name, key }, change: { condition, nominatedNode } }: Write): Promise<void> {
    const status = {
      ...(condition && { conditions: [condition] }),
      ...(nominatedNode !== undefined && { nominatedNodeName: nominatedNode || null }),
    }
    try {
      await this.#client.patch(
        pods,
        namespace,
        name,
        { metadata: { uid: pod.metadata.uid }, status },
        'strategic',
        'status',
      )
    } catch (error) {
      // Who has gone, or is another by now, needs no status.
      const isGone = isGoneOrChanged(error)
      if (!isGone && !(error instanceof RequestCanceled))
        this.#log(
          `the status of pod ${key} could not be written: ${error instanceof Error ? error.message : String(error)}`,
        )
    }
  }
}
