/**
 * Expressions that select devices (dynamic resource allocation, KEP-4381): what they see, and whether a device is
 * meant.
 */
import { type Environment, environment } from '../environment.ts'
import { typeOf } from '../evaluation/type-of.ts'
import { bindingsLibrary } from '../libraries/bindings.ts'
import { kubernetesLibraries } from '../libraries/index.ts'
import { quantityOf, quantityType } from '../libraries/quantity.ts'
import { semverOf } from '../libraries/semver.ts'
import type { Program } from '../program.ts'
import {
  boolType,
  dynType,
  formatType,
  mapType,
  type ObjectType,
  objectType,
  runtimeTypeName,
  sized,
  stringType,
} from '../types.ts'
import { CelMap, type Value } from '../values.ts'

/** A device, as slices tell of it. */
export interface SelectedDevice {
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>
  readonly capacity?: Readonly<Record<string, { readonly value: string }>>
  readonly allowMultipleAllocations?: boolean
}

/** One of its members is set. */
export interface DeviceAttribute {
  readonly bool?: boolean
  readonly int?: number
  readonly string?: string
  readonly version?: string
}

export interface DeviceSelector {
  /** What the evaluation for one device costs at most, by estimate. */
  readonly estimatedCost: number
  /** Throws an Error where the expression fails for this device. */
  matches(device: SelectedDevice, driver: string): boolean
}

/** What the evaluation for one device may cost. */
export const costLimit = 1_000_000
const mostAttributes = 32

/** How long names and values may be: slices with longer ones are refused, so estimates may count on it. */
const domain = sized(stringType, 63)
const identifier = sized(stringType, 32)
const attribute = { ...sized(dynType, 64), shownAs: 'any' }

const deviceType = objectType('kubernetes.DRADevice', {
  driver: domain,
  attributes: mapType(
    domain,
    { ...mapType(identifier, attribute, mostAttributes), membersAsFields: true },
    mostAttributes,
  ),
  capacity: mapType(domain, mapType(identifier, quantityType, mostAttributes), mostAttributes),
  allowMultipleAllocations: boolType,
})

let shared: Environment | undefined
const ofDevices = (): Environment =>
  (shared ??= environment({ libraries: [...kubernetesLibraries, bindingsLibrary], variables: { device: deviceType } }))

/** Throws an Error in upstream's words where the expression is not valid. */
export function deviceSelector(expression: string): DeviceSelector {
  const compiled = ofDevices().compile(expression)
  if (!('program' in compiled)) throw new Error(`compilation failed: ${compiled.errors}`)
  const { program } = compiled
  if (program.type.kind !== 'bool' && program.type.kind !== 'dyn')
    throw new Error(`must evaluate to bool or the unknown type, not ${formatType(program.type)}`)
  return { estimatedCost: program.estimatedCost.max, matches: (device, driver) => evaluate(program, device, driver) }
}

function evaluate(program: Program, device: SelectedDevice, driver: string): boolean {
  const outcome = program.evaluate({ device: new DeviceValue(device, driver) }, costLimit)
  if ('error' in outcome) throw new Error(outcome.error)
  if (typeof outcome.value !== 'boolean')
    throw new Error(`CEL result of type ${runtimeTypeName(typeOf(outcome.value))} could not be converted to bool`)
  return outcome.value
}

class DeviceValue extends CelMap {
  override readonly objectType: ObjectType = deviceType
  readonly size = 4
  readonly #device: SelectedDevice
  readonly #driver: string

  constructor(device: SelectedDevice, driver: string) {
    super()
    this.#device = device
    this.#driver = driver
  }
  get(key: Value): Value | undefined {
    const { attributes = {}, capacity = {}, allowMultipleAllocations = false } = this.#device
    switch (key) {
      case 'driver':
        return this.#driver
      case 'attributes':
        return byDomain(attributes, this.#driver, attributeValue)
      case 'capacity':
        return byDomain(capacity, this.#driver, ({ value }) => quantityOf(value))
      case 'allowMultipleAllocations':
        return allowMultipleAllocations
      default:
        return undefined
    }
  }
  keys(): Iterable<Value> {
    return ['driver', 'attributes', 'capacity', 'allowMultipleAllocations']
  }
}

function attributeValue({ bool, int, string, version }: DeviceAttribute): Value {
  if (int !== undefined) return BigInt(int)
  return bool ?? string ?? (version === undefined ? null : semverOf(version))
}

/** A name without a domain is one of the driver's. */
function byDomain<T>(members: Readonly<Record<string, T>>, driver: string, toValue: (member: T) => Value): CelMap {
  const domains = new Map<string, Map<string, T>>()
  for (const [name, member] of Object.entries(members)) {
    const slash = name.indexOf('/')
    const domain = slash < 0 ? driver : name.slice(0, slash)
    const found = domains.get(domain) ?? new Map<string, T>()
    domains.set(domain, found.set(name.slice(slash + 1), member))
  }
  return new Domains(new Map([...domains].map(([domain, found]) => [domain, new Members(found, toValue)])))
}

class Members<T> extends CelMap {
  readonly #members: ReadonlyMap<string, T>
  readonly #toValue: (member: T) => Value

  constructor(members: ReadonlyMap<string, T>, toValue: (member: T) => Value) {
    super()
    this.#members = members
    this.#toValue = toValue
  }
  get size(): number {
    return this.#members.size
  }
  get(key: Value): Value | undefined {
    const found = typeof key === 'string' ? this.#members.get(key) : undefined
    return found === undefined ? undefined : this.#toValue(found)
  }
  keys(): Iterable<Value> {
    return this.#members.keys()
  }
}

const noMembers = new Members<null>(new Map(), () => null)

/**
 * A domain that there is not has nothing: expressions need not ask for it first. Those that do are told that it is not
 * there.
 */
class Domains extends CelMap {
  readonly #domains: ReadonlyMap<string, CelMap>

  constructor(domains: ReadonlyMap<string, CelMap>) {
    super()
    this.#domains = domains
  }
  get size(): number {
    return this.#domains.size
  }
  get(key: Value): Value | undefined {
    return (typeof key === 'string' ? this.#domains.get(key) : undefined) ?? noMembers
  }
  override has(key: Value): boolean {
    return typeof key === 'string' && this.#domains.has(key)
  }
  keys(): Iterable<Value> {
    return this.#domains.keys()
  }
}
