/** Mirror pods: create, replace and delete the objects of the API that represent static pods. */
import { type Node, pods } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { Pod } from '../pod-types.ts'
import type { DesiredPods } from './desired-pods.ts'
import { hashOfMirror, hashOfStatic, staticAnnotations } from './static-pods/annotations.ts'

export interface MirrorPodsOptions {
  readonly client: Pick<RestClient, 'create' | 'delete'>
  readonly desired: Pick<DesiredPods, 'staticNamed' | 'mirrorNamed'>
  /** The node, once it is registered: it owns the mirror pods. */
  readonly node: () => Node | undefined
  /** True as long as something of a static pod of this namespace and name runs. */
  readonly isRunning: (key: string) => boolean
  readonly log: (line: string) => void
  readonly schedule: (callback: () => void, ms: number) => () => void
}

/** The delay in ms before a failed write is repeated. */
const retryMs = 5_000

export class MirrorPods {
  readonly #options: MirrorPodsOptions
  /** Keys whose write runs; true if something has changed since it began. */
  readonly #busy = new Map<string, boolean>()
  readonly #timers = new Map<string, () => void>()
  #isStarted = false
  #isStopped = false

  constructor(options: MirrorPodsOptions) {
    this.#options = options
  }

  /** Begins to write: the API's pods are known. */
  start(keys: Iterable<string>): void {
    this.#isStarted = true
    for (const key of keys) this.reconcile(key)
  }

  stop(): void {
    this.#isStopped = true
    for (const cancel of this.#timers.values()) cancel()
  }

  /** Brings the mirror pod of this namespace and name up to date. */
  reconcile(key: string): void {
    if (!this.#isStarted || this.#isStopped) return
    if (this.#busy.has(key)) {
      this.#busy.set(key, true)
      return
    }
    this.#busy.set(key, false)
    this.#write(key)
      .catch((error: Error) => {
        if (this.#isStopped) return
        this.#options.log(`cannot write the mirror pod ${key}: ${error.message}`)
        this.#retry(key)
      })
      .finally(() => {
        const isDirty = this.#busy.get(key)
        this.#busy.delete(key)
        if (isDirty) this.reconcile(key)
      })
  }

  async #write(key: string): Promise<void> {
    const { desired, node, isRunning } = this.#options
    const pod = desired.staticNamed(key)
    const mirror = desired.mirrorNamed(key)
    if (!pod) {
      if (mirror && !isRunning(key)) await this.#delete(mirror)
      return
    }
    // The deletion of an outdated mirror pod is a change, too: the new one follows it.
    if (mirror) {
      if (mirror.metadata.deletionTimestamp || hashOfMirror(mirror) !== hashOfStatic(pod)) await this.#delete(mirror)
      return
    }
    const owner = node()
    if (!owner?.metadata.uid) return this.#retry(key)
    await this.#create(pod, owner)
  }

  async #create(pod: Pod, owner: Node): Promise<void> {
    const { client } = this.#options
    const { namespace, name, labels, annotations } = pod.metadata
    const { name: nodeName = '', uid = '' } = owner.metadata
    try {
      await client.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name,
          namespace,
          ...(labels && { labels }),
          annotations: { ...annotations, [staticAnnotations.mirror]: hashOfStatic(pod) },
          ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid, controller: true }],
        },
        spec: pod.spec,
      })
    } catch (error) {
      // The watch has not delivered it yet, or another pod has its name until it is deleted.
      if (!(error instanceof StatusError) || error.code !== 409) throw error
      this.#retry(`${namespace}/${name}`)
    }
  }

  async #delete({ metadata: { namespace = '', name = '', uid } }: Pod): Promise<void> {
    try {
      await this.#options.client.delete(pods, namespace, name, { gracePeriodSeconds: 0, uid })
    } catch (error) {
      if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error
    }
  }

  #retry(key: string): void {
    this.#timers.get(key)?.()
    const again = (): void => {
      this.#timers.delete(key)
      this.reconcile(key)
    }
    if (!this.#isStopped) this.#timers.set(key, this.#options.schedule(again, retryMs))
  }
}
