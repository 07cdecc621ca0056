/** CEL expressions that select devices (dynamic resource allocation, KEP-4381). */
import { type Environment, environment } from '../environment.ts'
import { typeOf } from '../evaluation/type-of.ts'
import { bindingsLibrary } from '../libraries/bindings.ts'
import { kubernetesLibraries } from '../libraries/index.ts'
import { parseQuantityValue, quantityType } from '../libraries/quantity.ts'
import { parseSemver } from '../libraries/semver.ts'
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

/** A device in a ResourceSlice. */
export interface SelectedDevice {
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>
  readonly capacity?: Readonly<Record<string, { readonly value: string }>>
  readonly allowMultipleAllocations?: boolean
}

/** Exactly one of the members is set. */
export interface DeviceAttribute {
  readonly bool?: boolean
  readonly int?: number
  readonly string?: string
  readonly version?: string
}

export interface DeviceSelector {
  /** The maximum estimated cost of an evaluation for one device. */
  readonly estimatedCost: number
  /** Returns true if the device matches. Throws an Error if the expression fails for this device. */
  matches(device: SelectedDevice, driver: string): boolean
}

/** The cost limit of an evaluation for one device. */
export const costLimit = 1_000_000
const maxAttributes = 32

/** Estimates use the maximum lengths of names and values: slices with longer ones are rejected. */
const domain = sized(stringType, 63)
const identifier = sized(stringType, 32)
const attribute = { ...sized(dynType, 64), shownAs: 'any' }

const deviceType = objectType('kubernetes.DRADevice', {
  driver: domain,
  attributes: mapType(
    domain,
    { ...mapType(identifier, attribute, maxAttributes), membersAsFields: true },
    maxAttributes,
  ),
  capacity: mapType(domain, mapType(identifier, quantityType, maxAttributes), maxAttributes),
  allowMultipleAllocations: boolType,
})

let cached: Environment | undefined
const deviceEnvironment = (): Environment =>
  (cached ??= environment({ libraries: [...kubernetesLibraries, bindingsLibrary], variables: { device: deviceType } }))

/** Compiles an expression. Throws an Error with upstream's message if it is invalid. */
export function deviceSelector(expression: string): DeviceSelector {
  const compiled = deviceEnvironment().compile(expression)
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
        return byDomain(capacity, this.#driver, ({ value }) => parseQuantityValue(value))
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
  return bool ?? string ?? (version === undefined ? null : parseSemver(version))
}

/** Groups members by domain. A name without a domain belongs to the driver. */
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
 * A missing domain is an empty map, so that expressions do not have to check that it exists; `in` returns false for it.
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
