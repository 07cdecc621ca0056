/** The enabled features: the defaults of 1.36 and the changes by `--feature-gates`. Does not parse that flag. */
import { dependencies, type Gate, knownGates } from './gates.ts'

/**
 * Settings by gate name: `{ ContainerStopSignals: true, AllBeta: true }`. Plain data, which can be sent to another
 * thread.
 */
export type FeatureSettings = Readonly<Record<string, boolean>>

/** Gates that set the default of all gates of a stage. */
const stageGates: Readonly<Partial<Record<Gate['stage'], string>>> = { ALPHA: 'AllAlpha', BETA: 'AllBeta' }

export class FeatureGates {
  /** The explicit settings. */
  readonly settings: FeatureSettings
  readonly #settings: ReadonlyMap<string, boolean>

  constructor(settings: FeatureSettings = {}) {
    this.settings = settings
    this.#settings = new Map(Object.entries(settings))
  }

  /** True if there are no settings. */
  get areDefault(): boolean {
    return this.#settings.size === 0
  }

  /** Returns true if the gate is enabled. Its own setting overrides that of its stage. Unknown gates are off. */
  isEnabled(name: string): boolean {
    const gate = knownGates.get(name)
    const stageGate = gate && !gate.isLocked ? stageGates[gate.stage] : undefined
    return this.#settings.get(name) ?? (stageGate ? this.#settings.get(stageGate) : undefined) ?? gate?.isOn ?? false
  }

  /** Returns enabled gates with a disabled dependency, and these dependencies. */
  unmetDependencies(): (readonly [name: string, lacking: readonly string[]])[] {
    return Object.entries(dependencies).flatMap(([name, needed]) => {
      const off = this.isEnabled(name) ? needed.filter((each) => !this.isEnabled(each)) : []
      return off.length > 0 ? [[name, off] as const] : []
    })
  }
}

/** The default features of 1.36. */
export const defaultFeatures = new FeatureGates()
