/**
 * The two rounds of plug-ins that ask others to change an object: who may be asked again is asked again, if something
 * that came later has changed the object. Upstream's rules: what was not asked in the first round is not asked in the
 * second.
 */
import { jsonEqual } from '../../../machinery/fields/json.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import type { AdmissionAttributes, Reinvocation } from '../../registry/write/admission.ts'

interface State {
  /** Were asked, and may be asked again. */
  readonly repeatable: Set<string>
  /** Are to be asked again. */
  readonly due: Set<string>
  /** The object at the end of the round. */
  last?: KubeObject
}

/** One plug-in's part in one round. */
export class Reinvoked {
  readonly #attributes: AdmissionAttributes
  readonly #reinvocation: Reinvocation
  readonly #state: State

  constructor(plugin: string, attributes: AdmissionAttributes) {
    this.#attributes = attributes
    this.#reinvocation = attributes.reinvocation ??= { round: 0, wanted: false, states: new Map() }
    const { states, round } = this.#reinvocation
    let state = states.get(plugin) as State | undefined
    if (!state) states.set(plugin, (state = { repeatable: new Set(), due: new Set() }))
    this.#state = state
    // What the others have changed in between counts too.
    if (round === 1 && !jsonEqual(state.last, attributes.object)) this.#allAreDue()
  }

  get round(): 0 | 1 {
    return this.#reinvocation.round
  }

  /** Whether something is to be asked in this round. */
  isDue(key: string): boolean {
    return this.round === 0 || this.#state.due.has(key)
  }

  /** The object has been changed: those who were asked before may want to know. */
  changed(): void {
    this.#allAreDue()
    this.#reinvocation.wanted = true
  }

  /** Notes what was asked and may be asked again. */
  mayRepeat(key: string): void {
    this.#state.repeatable.add(key)
  }

  end(): void {
    const { repeatable, due } = this.#state
    if (this.round === 0 && repeatable.size + due.size > 0 && this.#attributes.object)
      this.#state.last = structuredClone(this.#attributes.object)
  }

  #allAreDue(): void {
    const { repeatable, due } = this.#state
    for (const key of repeatable) due.add(key)
    repeatable.clear()
  }
}
