/** Flags of controllers, as data: kube-controller-manager's, by its names. */
import { ExplainedError } from '../lib/explained-error.ts'
import { goDurationMs } from '../lib/go/go-duration.ts'

export interface ControllerFlag {
  /** Without dashes. */
  readonly name: string
  readonly type: 'number' | 'duration' | 'boolean' | 'text'
  readonly help: string
  readonly fallback: string
}

/** How many keys a controller works on at once. */
export const concurrencyFlag = (name: string, of: string, fallback: number): ControllerFlag => ({
  name,
  type: 'number',
  help: `how many ${of} are worked on at once`,
  fallback: `${fallback}`,
})

/** What the flags of one controller say. Asking for a flag that its descriptor does not have is an error. */
export class FlagValues {
  readonly #flags: ReadonlyMap<string, ControllerFlag>
  readonly #given: Readonly<Record<string, string>>

  /** `given`: values by the names of flags; of other controllers too. */
  constructor(flags: readonly ControllerFlag[], given: Readonly<Record<string, string>> = {}) {
    this.#flags = new Map(flags.map((flag) => [flag.name, flag]))
    this.#given = given
  }

  /** Throws an ExplainedError for a value that is none of its flag's. */
  check(): void {
    for (const { name, type } of this.#flags.values()) this[type](name)
  }

  text(name: string): string {
    const flag = this.#flags.get(name)
    if (!flag) throw new Error(`${name} is no flag of this controller`)
    return this.#given[name] ?? flag.fallback
  }

  number(name: string): number {
    const text = this.text(name)
    const value = Number(text)
    if (text.trim() === '' || Number.isNaN(value))
      throw new ExplainedError(`--${name} has to be a number, not ${JSON.stringify(text)}`)
    return value
  }

  boolean(name: string): boolean {
    const text = this.text(name)
    if (text !== 'true' && text !== 'false')
      throw new ExplainedError(`--${name} has to be true or false, not ${JSON.stringify(text)}`)
    return text === 'true'
  }

  /** Milliseconds. */
  duration(name: string): number {
    try {
      return goDurationMs(this.text(name))
    } catch (error) {
      throw new ExplainedError(`--${name} has to be a duration such as 30s: ${(error as Error).message}`)
    }
  }
}
