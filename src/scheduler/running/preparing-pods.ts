/** Pods that PreBind prepares: until that is done it can be called off, and the pod looks for a place again. */
import type { PreparingPod } from '../framework/handle.ts'

export class PreparingPods {
  readonly #preparing = new Map<string, AbortController>()

  get(uid: string): PreparingPod | undefined {
    const controller = this.#preparing.get(uid)
    return controller && { cancel: (why) => controller.abort(new Error(why)) }
  }

  /** Does the work, whose signal is aborted when it is called off. */
  async prepare<T>(uid: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    this.#preparing.set(uid, controller)
    try {
      return await work(controller.signal)
    } finally {
      this.#preparing.delete(uid)
    }
  }
}
