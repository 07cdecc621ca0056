/** Flags of controllers as data, with kube-controller-manager's names. */
import { ExplainedError } from '../lib/explained-error.ts'
import { goDurationMs } from '../lib/go/go-duration.ts'

export interface ControllerFlag {
  /** Without leading dashes. */
  readonly name: string
  readonly type: 'number' | 'duration' | 'boolean' | 'text'
  readonly help: string
  readonly default: string
}

/** The flag for the number of keys that a controller reconciles concurrently. */
export const concurrencyFlag = (name: string, of: string, defaultValue: number): ControllerFlag => ({
  name,
  type: 'number',
  help: `number of ${of} that are reconciled concurrently`,
  default: `${defaultValue}`,
})

/** The flag values of one controller. Reading a flag that its descriptor does not have throws. */
export class FlagValues {
  readonly #flags: ReadonlyMap<string, ControllerFlag>
  readonly #given: Readonly<Record<string, string>>

  /** `given`: values by flag name; may include flags of other controllers. */
  constructor(flags: readonly ControllerFlag[], given: Readonly<Record<string, string>> = {}) {
    this.#flags = new Map(flags.map((flag) => [flag.name, flag]))
    this.#given = given
  }

  /** Throws an ExplainedError if a value does not have the type of its flag. */
  check(): void {
    for (const { name, type } of this.#flags.values()) this[type](name)
  }

  text(name: string): string {
    const flag = this.#flags.get(name)
    if (!flag) throw new Error(`${name} is not a flag of this controller`)
    return this.#given[name] ?? flag.default
  }

  number(name: string): number {
    const text = this.text(name)
    const value = Number(text)
    if (text.trim() === '' || Number.isNaN(value))
      throw new ExplainedError(`--${name} must be a number, not ${JSON.stringify(text)}`)
    return value
  }

  boolean(name: string): boolean {
    const text = this.text(name)
    if (text !== 'true' && text !== 'false')
      throw new ExplainedError(`--${name} must be true or false, not ${JSON.stringify(text)}`)
    return text === 'true'
  }

  /** In ms. */
  duration(name: string): number {
    try {
      return goDurationMs(this.text(name))
    } catch (error) {
      throw new ExplainedError(`--${name} must be a duration such as 30s: ${(error as Error).message}`)
    }
  }
}
