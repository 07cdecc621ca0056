/** The times that image pulls take: a metric by size, and a sum for each pod. */
import type { KubeletMetrics } from './kubelet-metrics.ts'
import { imageSizeGroup } from './kubelet-metrics.ts'
import type { RuntimeCall } from './runtime-observer.ts'

export interface PullTimesOptions {
  readonly metrics: KubeletMetrics
  /** The size of a present image in bytes; 0 if it is unknown. */
  readonly sizeOf: (image: string) => Promise<number>
}

/** Pods beyond these are forgotten, the oldest first. */
const maxPods = 1_000

export class PullTimes {
  readonly #options: PullTimesOptions
  /** In ms, by pod UID. */
  readonly #byPod = new Map<string, number>()

  constructor(options: PullTimesOptions) {
    this.#options = options
  }

  /** The time of a pod's pulls in ms. */
  ofPod(uid: string): number {
    return this.#byPod.get(uid) ?? 0
  }

  /** Takes each call of the image service; those that are no successful pulls are ignored. */
  observe({ method, request, ms, error }: RuntimeCall): void {
    if (method !== 'PullImage' || error !== undefined) return
    const { image, sandboxConfig } = request as {
      readonly image?: { readonly image?: string }
      readonly sandboxConfig?: { readonly metadata?: { readonly uid?: string } }
    }
    const uid = sandboxConfig?.metadata?.uid
    if (uid) this.#add(uid, ms)
    const { metrics, sizeOf } = this.#options
    void sizeOf(image?.image ?? '').then((bytes) => metrics.imagePull([imageSizeGroup(bytes)]).observe(ms / 1000))
  }

  #add(uid: string, ms: number): void {
    this.#byPod.set(uid, this.ofPod(uid) + ms)
    const oldest = this.#byPod.keys().next().value
    if (this.#byPod.size > maxPods && oldest !== undefined) this.#byPod.delete(oldest)
  }
}
