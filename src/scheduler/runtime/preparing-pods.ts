/** Pods in PreBind. Until it is done, it can be cancelled, and the pod is scheduled once more. */
import type { PreparingPod } from '../framework/handle.ts'

export class PreparingPods {
  readonly #preparing = new Map<string, AbortController>()

  get(uid: string): PreparingPod | undefined {
    const controller = this.#preparing.get(uid)
    return controller && { cancel: (why) => controller.abort(new Error(why)) }
  }

  /** Does the work, whose signal is aborted on cancel. */
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
