/** Detects pods that the selectors of several autoscalers match, which is an error. */
import type { Pod } from '../../client/kinds.ts'
import type { Selector } from '../../machinery/selectors/label-selector.ts'

export class Selectors {
  readonly #known = new Map<string, Selector>()

  /** Records a selector; returns the sorted keys of all autoscalers in the namespace that match one of its pods. */
  autoscalersOf(key: string, selector: Selector, pods: readonly Pod[]): string[] {
    this.#known.set(key, selector)
    const namespace = key.slice(0, key.indexOf('/') + 1)
    return [...this.#known]
      .filter(
        ([other, { matches }]) =>
          other === key || (other.startsWith(namespace) && pods.some(({ metadata }) => matches(metadata.labels))),
      )
      .map(([other]) => other)
      .sort()
  }

  forget(key: string): void {
    this.#known.delete(key)
  }
}
