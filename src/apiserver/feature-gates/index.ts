/**
 * Parses `--feature-gates`, which enables and disables features. Errors are those of component-base.
 */
import { FeatureGates, type FeatureSettings } from '../../api/features/feature-gates.ts'
import { knownGates } from '../../api/features/gates.ts'
import { goBool, ValueError } from '../../lib/go/flag-values.ts'

/** The only component of these programs; the prefix of a gate (`kube:Name=true`) may name it. */
const component = 'kube'

/** Returns the error of all values of the flag; undefined if they are valid. */
export function featureGateFault(values: readonly string[]): string | undefined {
  const byComponent = Map.groupBy(values.flatMap(pairsOf), ({ owner }) => owner)
  for (const [owner, pairs] of byComponent) {
    if (owner === '' && byComponent.has(component))
      return 'set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use'
    if (owner !== '' && owner !== component) return `component not registered: ${owner}`
    const fault = gatesFault(pairs.map(({ setting }) => setting))
    if (fault) return fault
  }
  return undefined
}

/**
 * The settings of values that `featureGateFault` has validated. The last value of a gate wins.
 */
export const featureSettings = (values: readonly string[]): FeatureSettings =>
  Object.fromEntries(
    values.flatMap(pairsOf).map(({ setting }) => {
      const [name, value = ''] = splitOnce(setting, '=')
      return [name, goBool(value)]
    }),
  )

interface Pair {
  readonly owner: string
  /** `Name=true`. */
  readonly setting: string
}

const pairsOf = (value: string): Pair[] =>
  value
    .split(',')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [before = '', after] = splitOnce(pair, ':')
      return after === undefined ? { owner: '', setting: before } : { owner: before, setting: after }
    })

function splitOnce(text: string, separator: string): readonly [string, string?] {
  const at = text.indexOf(separator)
  return at < 0 ? [text.trim()] : [text.slice(0, at).trim(), text.slice(at + separator.length).trim()]
}

function gatesFault(settings: readonly string[]): string | undefined {
  const requested = new Map<string, boolean>()
  for (const setting of settings) {
    const [name, value] = splitOnce(setting, '=')
    if (value === undefined) return `missing bool value for ${name}`
    try {
      requested.set(name, goBool(value))
    } catch (error) {
      if (error instanceof ValueError) return `invalid value of ${name}=${value}, err: ${error.message}`
      throw error
    }
  }
  const faults: string[] = []
  for (const [name, isOn] of requested) {
    const gate = knownGates.get(name)
    if (!gate) return aggregate([...faults, `unrecognized feature gate: ${name}`])
    if (gate.isLocked && gate.isOn !== isOn)
      faults.push(`cannot set feature gate ${name} to ${isOn}, feature is locked to ${gate.isOn}`)
  }
  return aggregate(faults.length > 0 ? faults : dependencyFaults(Object.fromEntries(requested)))
}

/** Joins errors as Go does. */
const aggregate = (faults: readonly string[]): string | undefined =>
  faults.length > 1 ? `[${faults.join(', ')}]` : faults[0]

const dependencyFaults = (settings: FeatureSettings): string[] =>
  new FeatureGates(settings)
    .unmetDependencies()
    .map(([name, off]) => `${name} is enabled, but depends on features that are disabled: [${off.join(' ')}]`)
