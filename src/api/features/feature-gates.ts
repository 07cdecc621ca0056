/**
 * Which features of Kubernetes are on: the defaults of 1.36 and what `--feature-gates` changes. Not for the syntax of
 * that flag.
 */
import { dependencies, type Gate, knownGates } from './gates.ts'

/**
 * What was asked for, by the gates' names: `{ ContainerStopSignals: true, AllBeta: true }`. Plain data: it may be sent
 * to another thread.
 */
export type FeatureSettings = Readonly<Record<string, boolean>>

/** These two gates stand for all of their stage. */
const stageGates: Readonly<Partial<Record<Gate['stage'], string>>> = { ALPHA: 'AllAlpha', BETA: 'AllBeta' }

export class FeatureGates {
  /** What differs from the defaults may be in it. */
  readonly settings: FeatureSettings
  readonly #settings: ReadonlyMap<string, boolean>

  constructor(settings: FeatureSettings = {}) {
    this.settings = settings
    this.#settings = new Map(Object.entries(settings))
  }

  /** True if nothing was asked for. */
  get areDefault(): boolean {
    return this.#settings.size === 0
  }

  /** A setting of the gate itself counts before one of its whole stage. Unknown gates are off. */
  isOn(name: string): boolean {
    const gate = knownGates.get(name)
    const stageGate = gate && !gate.isLocked ? stageGates[gate.stage] : undefined
    return this.#settings.get(name) ?? (stageGate ? this.#settings.get(stageGate) : undefined) ?? gate?.isOn ?? false
  }

  /** Gates that are on though one that they need is off: the gate, and those that it lacks. */
  unmetDependencies(): (readonly [name: string, lacking: readonly string[]])[] {
    return Object.entries(dependencies).flatMap(([name, needed]) => {
      const off = this.isOn(name) ? needed.filter((each) => !this.isOn(each)) : []
      return off.length > 0 ? [[name, off] as const] : []
    })
  }
}

/** The features of a 1.36 without flags. */
export const defaultFeatures = new FeatureGates()
