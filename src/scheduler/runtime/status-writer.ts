/**
 * Writes conditions and nominations to the status of pods: one write per pod at a time, later changes are merged.
 * Scheduling never waits for it.
 */
import { RequestCanceled } from '../../client/connection/connection-lost.ts'
import { type Pod, pods } from '../../client/kinds.ts'
import { isNotFoundOrConflict } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { PodInfo } from '../framework/pods/pod-info.ts'

type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number]

export interface StatusChange {
  readonly condition?: Condition
  /** Empty removes it, undefined leaves it unchanged. */
  readonly nominatedNode?: string
}

interface Write {
  readonly pod: PodInfo
  change: StatusChange
}

const maxConcurrentWrites = 64

export class StatusWriter {
  readonly #client: RestClient
  readonly #log: (line: string) => void
  /** By uid, in the order of the calls to `write`. */
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
    this.#startWrites()
  }

  #startWrites(): void {
    for (const [uid, write] of this.#waiting) {
      if (this.#writing.size >= maxConcurrentWrites) return
      if (this.#writing.has(uid)) continue
      this.#waiting.delete(uid)
      this.#writing.add(uid)
      void this.#write(write).finally(() => {
        this.#writing.delete(uid)
        this.#startWrites()
      })
    }
  }

  async #write({ pod: { pod, namespace, name, key }, change: { condition, nominatedNode } }: Write): Promise<void> {
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
      // A pod that was deleted or replaced needs no status.
      const isGone = isNotFoundOrConflict(error)
      if (!isGone && !(error instanceof RequestCanceled))
        this.#log(`cannot write the status of pod ${key}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
