/** Signals that something of a pod has changed, from parts that start before the workers. */
export interface PodListener {
  /** Something has changed, as the result of a probe. */
  changed(uid: string): void
  /** The runtime has another state of the pod. */
  runtimeChanged(uid: string): void
}

export class PodSignals implements PodListener {
  #listener: PodListener = { changed() {}, runtimeChanged() {} }

  /** Calls back with the UID of each pod that has changed from now on. */
  listen(listener: PodListener): void {
    this.#listener = listener
  }

  changed(uid: string): void {
    this.#listener.changed(uid)
  }

  runtimeChanged(uid: string): void {
    this.#listener.runtimeChanged(uid)
  }
}
