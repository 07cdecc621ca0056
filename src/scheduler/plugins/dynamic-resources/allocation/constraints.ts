/** Constraints on the devices of a claim: all have the same value of an attribute, or all have different values. */
import { own } from '../../../../lib/own.ts'
import type { Attribute, ClaimDevices, Device } from './devices.ts'

type WireConstraint = NonNullable<ClaimDevices['constraints']>[number]

export interface Constraint {
  /** Adds a device. Returns false without a change if it violates the constraint. */
  add(request: string, subRequest: string | undefined, device: Device, driver: string): boolean
  /** Undoes an `add` that succeeded. */
  remove(request: string, subRequest: string | undefined, device: Device, driver: string): void
}

/** Undefined for an unknown type of constraint. */
export function constraintOf({
  requests = [],
  matchAttribute,
  distinctAttribute,
}: WireConstraint): Constraint | undefined {
  const attribute = matchAttribute ?? distinctAttribute
  if (attribute === undefined) return undefined
  const isSame = matchAttribute !== undefined
  const appliesTo = (request: string, subRequest: string | undefined): boolean =>
    requests.length === 0 ||
    requests.includes(request) ||
    (subRequest !== undefined && requests.includes(`${request}/${subRequest}`))
  const values: string[] = []
  return {
    add(request, subRequest, device, driver) {
      if (!appliesTo(request, subRequest)) return true
      const value = textOf(lookUp(device, driver, attribute))
      if (value === undefined) return false
      if (isSame ? values.some((other) => other !== value) : values.includes(value)) return false
      values.push(value)
      return true
    },
    remove(request, subRequest, device, driver) {
      if (!appliesTo(request, subRequest)) return
      const value = textOf(lookUp(device, driver, attribute))
      const at = value === undefined ? -1 : values.lastIndexOf(value)
      if (at >= 0) values.splice(at, 1)
    },
  }
}

/** An attribute name without a domain belongs to the driver's domain. */
function lookUp({ attributes = {} }: Device, driver: string, name: string): Attribute | undefined {
  const [domain, id = ''] = name.split('/', 2)
  return own(attributes, name) ?? (domain === driver ? own(attributes, id) : undefined)
}

/** The value with its type, for comparison. */
function textOf(attribute: Attribute | undefined): string | undefined {
  if (!attribute) return undefined
  const { string, int, bool, version } = attribute
  if (string !== undefined) return `string ${string}`
  if (int !== undefined) return `int ${int}`
  if (bool !== undefined) return `bool ${bool}`
  return version === undefined ? undefined : `version ${version}`
}
