/**
 * Events of kubelets. Like a kubelet, it limits the rate of events, here for the whole fleet: otherwise they would fill
 * the store.
 */
import { TokenBucket } from '../client/connection/pacing/token-bucket.ts'
import { EventRecorder, type EventType } from '../client/events/event-recorder.ts'
import type { Node, Pod } from '../client/kinds.ts'
import type { RestClient } from '../client/rest/rest-client.ts'

/** A kubelet's own limits are 50 and 100. */
const limit = { qps: 50, burst: 500 }

export class KubeletEvents {
  readonly #recorder: EventRecorder
  readonly #bucket = new TokenBucket(limit)

  /** `now` returns ms since 1970. */
  constructor(client: RestClient, log: (line: string) => void, now: () => number) {
    this.#recorder = new EventRecorder(client, 'kubelet', log, now)
  }

  /** Records an event for a pod, or for one of its containers (`spec.containers{web}`). */
  ofPod({ metadata, spec }: Pod, type: EventType, reason: string, message: string, fieldPath?: string): void {
    if (!this.#bucket.tryTake()) return
    const { namespace, name, uid, resourceVersion } = metadata
    this.#recorder.record(
      { apiVersion: 'v1', kind: 'Pod', namespace, name, uid, resourceVersion, fieldPath },
      type,
      reason,
      message,
      spec?.nodeName,
    )
  }

  ofNode({ metadata: { name } }: Node, type: EventType, reason: string, message: string): void {
    if (!this.#bucket.tryTake()) return
    // As a kubelet, which does not know the uid of its node.
    this.#recorder.record({ kind: 'Node', name, uid: name }, type, reason, message, name)
  }

  stop(): void {
    this.#recorder.stop()
  }
}
