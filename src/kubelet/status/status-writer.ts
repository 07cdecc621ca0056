/**
 * Writes pod statuses to the API: the newest of each pod, one write at a time, repeated after failures, and written
 * again after others have changed it. Removes the object of a deleted pod once nothing of it is left on the node.
 */
import { pods } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { statusPatch } from '../../node/pods/status-patch.ts'
import { isTerminal, type Pod, type PodStatus, statusOf } from '../pod-types.ts'

interface Entry {
  pod: Pod
  status: PodStatus
  /** The time in ms of the first change that is not written; undefined if all are. */
  changedAt: number | undefined
  /** The last written status. */
  written: PodStatus | undefined
  /** The UID of the object that has it: that of a mirror pod for a static pod. */
  writtenUid: string | undefined
  /** The resourceVersion after the last write. */
  version: bigint
  /** The object as the API has it, as far as it is known. */
  observed: Pod | undefined
  /** Cancels the comparison of `observed` with the status. */
  cancelComparison: (() => void) | undefined
  /** True if the object may be removed once the status is written. */
  isReleased: boolean
  writing: Promise<void> | undefined
}

export interface StatusWriterOptions {
  readonly client: RestClient
  readonly log: (line: string) => void
  readonly schedule: (callback: () => void, ms: number) => () => void
  /** The object that gets the status of a pod: for a static pod its mirror pod, undefined as long as there is none. */
  readonly objectOf: (pod: Pod) => Pod | undefined
  /** Observes the time in ms from a change of a status to its write. */
  readonly observeDelay: (ms: number) => void
  readonly now: () => number
}

const retryMs = 2_000
/** The time between a change by others and the write that reverts it, as upstream: a dispute costs few writes. */
const reconcileMs = 10_000

const versionOf = ({ metadata }: Pod): bigint => BigInt(metadata.resourceVersion ?? 0)

const unwritten = {
  written: undefined,
  writtenUid: undefined,
  version: 0n,
  observed: undefined,
  cancelComparison: undefined,
  isReleased: false,
  writing: undefined,
} satisfies Omit<Entry, 'pod' | 'status' | 'changedAt'>

export class StatusWriter {
  readonly #options: StatusWriterOptions
  readonly #entries = new Map<string, Entry>()
  /** By pod UID: cancels the retry of a failed write. */
  readonly #retries = new Map<string, () => void>()
  #isStopped = false

  constructor(options: StatusWriterOptions) {
    this.#options = options
  }

  /** The newest status of a pod, written or not. */
  statusOf(uid: string): PodStatus | undefined {
    return this.#entries.get(uid)?.status
  }

  set(pod: Pod, status: PodStatus): void {
    const uid = pod.metadata.uid ?? ''
    const entry = this.#entries.get(uid)
    const changedAt = this.#options.now()
    if (!entry) this.#entries.set(uid, { ...unwritten, pod, status, changedAt })
    else {
      if (entry.status !== status) entry.changedAt ??= changedAt
      entry.pod = pod
      entry.status = status
    }
    this.#write(uid)
  }

  /** Nothing of a pod is left: its object is removed if it is being deleted. */
  release(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    const entry = this.#entries.get(uid)
    if (!entry) return
    entry.pod = pod
    entry.isReleased = true
    this.#write(uid)
  }

  /** Writes the status of a static pod whose mirror pod has changed. */
  refresh(uid: string): void {
    this.#write(uid)
  }

  /**
   * Takes the object of a pod as the API has it: `uid` is that of the pod, which differs for a static one. If others,
   * such as the node controller, have changed its status, the kubelet's is written again after 10 s.
   */
  observe(uid: string, object: Pod): void {
    const entry = this.#entries.get(uid)
    if (!entry) return
    entry.observed = object
    if (entry.cancelComparison || !statusPatch(statusOf(object), entry.status, 'own')) return
    entry.cancelComparison = this.#options.schedule(() => {
      entry.cancelComparison = undefined
      if (this.#entries.get(uid) === entry) this.#reconcile(uid, entry)
    }, reconcileMs)
  }

  forget(uid: string): void {
    this.#entries.get(uid)?.cancelComparison?.()
    this.#entries.delete(uid)
  }

  stop(): void {
    this.#isStopped = true
    for (const cancel of this.#retries.values()) cancel()
    for (const { cancelComparison } of this.#entries.values()) cancelComparison?.()
  }

  /** An object that is older than the last write has an event to come. A phase that is final stays. */
  #reconcile(uid: string, entry: Entry): void {
    const { observed, writtenUid, version } = entry
    if (!observed || this.#isStopped) return
    if (entry.writing || this.#retries.has(uid)) this.observe(uid, observed)
    else if (observed.metadata.uid === writtenUid && versionOf(observed) >= version) {
      const status = statusOf(observed)
      if (isTerminal(status.phase) && !isTerminal(entry.status.phase)) return
      entry.written = status
      this.#write(uid)
    }
  }

  #write(uid: string): void {
    const entry = this.#entries.get(uid)
    if (!entry || entry.writing || this.#isStopped) return
    entry.writing = this.#writeNewest(entry)
      .catch((error: Error) => this.#retry(uid, error))
      .finally(() => (entry.writing = undefined))
      .then(() => {
        const current = this.#entries.get(uid)
        const object = current && this.#options.objectOf(current.pod)
        if (!object || this.#retries.has(uid)) return
        if (current.status !== current.written || current.writtenUid !== object.metadata.uid) this.#write(uid)
      })
  }

  async #writeNewest(entry: Entry): Promise<void> {
    for (;;) {
      const { pod, status, isReleased } = entry
      const object = this.#options.objectOf(pod)
      if (!object) return
      const { namespace = '', name = '', uid = '' } = object.metadata
      const written = entry.writtenUid === uid ? entry.written : undefined
      const changes = statusPatch(written ?? statusOf(object), status, 'own')
      if (changes) {
        const patch = { metadata: { uid }, status: changes }
        try {
          entry.version = versionOf(
            await this.#options.client.patch(pods, namespace, name, patch, 'strategic', 'status'),
          )
        } catch (error) {
          // The pod is gone, or another one has its name.
          if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error
          if (object === pod) {
            this.#entries.delete(uid)
            return
          }
        }
      }
      entry.written = status
      entry.writtenUid = uid
      if (entry.status === status) this.#observeWritten(entry, changes !== undefined)
      if (isReleased && pod.metadata.deletionTimestamp) {
        await this.#remove(namespace, name, uid)
        this.#entries.delete(uid)
        return
      }
      if (entry.status === status && entry.isReleased === isReleased) return
    }
  }

  #observeWritten(entry: Entry, isChanged: boolean): void {
    const { observeDelay, now } = this.#options
    if (isChanged && entry.changedAt !== undefined) observeDelay(now() - entry.changedAt)
    entry.changedAt = undefined
  }

  async #remove(namespace: string, name: string, uid: string): Promise<void> {
    try {
      await this.#options.client.delete(pods, namespace, name, { gracePeriodSeconds: 0, uid })
    } catch (error) {
      if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error
    }
  }

  #retry(uid: string, error: Error): void {
    const entry = this.#entries.get(uid)
    if (!entry || this.#isStopped) return
    const { namespace, name } = entry.pod.metadata
    this.#options.log(`cannot write the status of the pod ${namespace}/${name}: ${error.message}`)
    this.#retries.get(uid)?.()
    const cancel = this.#options.schedule(() => {
      this.#retries.delete(uid)
      this.#write(uid)
    }, retryMs)
    this.#retries.set(uid, cancel)
  }
}
