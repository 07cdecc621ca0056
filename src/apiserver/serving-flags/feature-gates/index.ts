/**
 * `--feature-gates`: what is wrong with the features that a command line turns on or off, in the words of component-base. Only names and
 * values are looked at: the server behaves as a 1.36 without the flag.
 */
import { goBool, ValueError } from '../go-values.ts'
import { dependencies, type Gate, knownGates } from './gates.ts'

/** The only component of these programs; a gate may name it before a colon. */
const component = 'kube'

/** Why the values of the flag, of all times that it was given, cannot be taken; undefined if they can. */
export function featureGateFault(values: readonly string[]): string | undefined {
  const byComponent = Map.groupBy(values.flatMap(pairsOf), ({ owner }) => owner)
  for (const [owner, pairs] of byComponent) {
    if (owner === '' && byComponent.has(component)) return 'set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use'
    if (owner !== '' && owner !== component) return `component not registered: ${owner}`
    const fault = gatesFault(pairs.map(({ setting }) => setting))
    if (fault) return fault
  }
  return undefined
}

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
  const wanted = new Map<string, boolean>()
  for (const setting of settings) {
    const [name, value] = splitOnce(setting, '=')
    if (value === undefined) return `missing bool value for ${name}`
    try {
      wanted.set(name, goBool(value))
    } catch (error) {
      if (error instanceof ValueError) return `invalid value of ${name}=${value}, err: ${error.message}`
      throw error
    }
  }
  const faults: string[] = []
  for (const [name, isOn] of wanted) {
    const gate = knownGates.get(name)
    if (!gate) return aggregate([...faults, `unrecognized feature gate: ${name}`])
    if (gate.isLocked && gate.isOn !== isOn) faults.push(`cannot set feature gate ${name} to ${isOn}, feature is locked to ${gate.isOn}`)
  }
  return aggregate(faults.length > 0 ? faults : dependencyFaults(wanted))
}

/** As Go tells several errors. */
const aggregate = (faults: readonly string[]): string | undefined => (faults.length > 1 ? `[${faults.join(', ')}]` : faults[0])

function dependencyFaults(wanted: ReadonlyMap<string, boolean>): string[] {
  return Object.entries(dependencies).flatMap(([name, needed]) => {
    if (!isOn(name, wanted)) return []
    const off = needed.filter((each) => !isOn(each, wanted))
    return off.length > 0 ? [`${name} is enabled, but depends on features that are disabled: [${off.join(' ')}]`] : []
  })
}

const together: Readonly<Partial<Record<Gate['stage'], string>>> = { ALPHA: 'AllAlpha', BETA: 'AllBeta' }

/** What is said of the gate itself counts before what is said of all of its stage. */
function isOn(name: string, wanted: ReadonlyMap<string, boolean>): boolean {
  const gate = knownGates.get(name)
  const all = gate && together[gate.stage]
  return wanted.get(name) ?? (all ? wanted.get(all) : undefined) ?? gate?.isOn ?? false
}
