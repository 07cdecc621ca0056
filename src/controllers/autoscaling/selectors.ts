/** The pods that autoscalers count, by their selectors: pods that two of them count belong to neither. */
import type { Pod } from '../../client/kinds.ts'
import type { Selector } from '../../machinery/selectors/label-selector.ts'

export class Selectors {
  readonly #known = new Map<string, Selector>()

  /** The keys of all autoscalers that count one of the pods, which are in the namespace of the first; in order. */
  counting(key: string, selector: Selector, pods: readonly Pod[]): string[] {
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
