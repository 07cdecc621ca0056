/**
 * The two rounds of plug-ins that call webhooks or policies to mutate an object. A webhook or policy with a
 * reinvocation policy is called again if a later one changed the object. As upstream, one that was not called in the
 * first round is not called in the second.
 */
import { jsonEqual } from '../../../machinery/fields/json.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import type { AdmissionAttributes, Reinvocation } from '../../registry/write/admission.ts'

interface State {
  /** Keys of webhooks or policies that were called and may be called again. */
  readonly repeatable: Set<string>
  /** Keys of those that the second round calls. */
  readonly due: Set<string>
  /** The object at the end of the first round. */
  last?: KubeObject
}

/** The state of one plug-in in one round. */
export class ReinvocationRound {
  readonly #attributes: AdmissionAttributes
  readonly #reinvocation: Reinvocation
  readonly #state: State

  constructor(plugin: string, attributes: AdmissionAttributes) {
    this.#attributes = attributes
    this.#reinvocation = attributes.reinvocation ??= { round: 0, shouldReinvoke: false, states: new Map() }
    const { states, round } = this.#reinvocation
    let state = states.get(plugin) as State | undefined
    if (!state) states.set(plugin, (state = { repeatable: new Set(), due: new Set() }))
    this.#state = state
    // Changes by other plug-ins between the rounds count too.
    if (round === 1 && !jsonEqual(state.last, attributes.object)) this.#scheduleAll()
  }

  /** The number of the round. */
  get number(): 0 | 1 {
    return this.#reinvocation.round
  }

  /** Returns true if the webhook or policy is to be called in this round. */
  isDue(key: string): boolean {
    return this.number === 0 || this.#state.due.has(key)
  }

  /** Call after a change of the object: schedules the webhooks or policies that were called before. */
  objectChanged(): void {
    this.#scheduleAll()
    this.#reinvocation.shouldReinvoke = true
  }

  /** Records a call that may be repeated. */
  allowReinvocation(key: string): void {
    this.#state.repeatable.add(key)
  }

  end(): void {
    const { repeatable, due } = this.#state
    if (this.number === 0 && repeatable.size + due.size > 0 && this.#attributes.object)
      this.#state.last = structuredClone(this.#attributes.object)
  }

  #scheduleAll(): void {
    const { repeatable, due } = this.#state
    for (const key of repeatable) due.add(key)
    repeatable.clear()
  }
}
