/** Validation of device requests in claims, templates and classes (KEP-4381). */

import type { V1DeviceClaim } from '@kubernetes/client-node'
import { costLimit, deviceSelector } from '../../../cel/devices/device-selector.ts'
import { writeJson } from '../../../lib/exact-json.ts'
import type { Wire } from '../../../machinery/object.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  required,
  tooLong,
} from '../../../machinery/validation/field-error.ts'
import { all, follows, oneOf, requiredRule, valid } from '../../../machinery/validation/field-rules.ts'
import { dnsLabel, dnsSubdomain } from '../../../machinery/validation/names.ts'
import { limitedList, limitedSet } from './lists.ts'
import { driverName, fullAttributeName } from './names.ts'
import { deviceTolerations } from './taints.ts'

export type DeviceClaim = Wire<V1DeviceClaim>
type Request = NonNullable<DeviceClaim['requests']>[number]
type ExactRequest = NonNullable<Request['exactly']>
type Selector = NonNullable<ExactRequest['selectors']>[number]
type Constraint = NonNullable<DeviceClaim['constraints']>[number]
type Configuration = Pick<NonNullable<DeviceClaim['config']>[number], 'opaque'>

const maxItems = 32
const maxAlternatives = 8
const maxExpressionBytes = 10 * 1024
const maxParameterBytes = 10 * 1024

/** Validates `devices` of a claim or template. */
export function deviceClaimRules(devices: DeviceClaim | undefined, path: string): readonly FieldError[] {
  const { requests, constraints, config } = devices ?? {}
  const names = requestNames(requests)
  return all(
    limitedSet(requests, maxItems, `${path}.requests`, requestRules, ({ name }) => name),
    limitedList(constraints, maxItems, `${path}.constraints`, (constraint, at) =>
      all(requestReferences(constraint.requests, `${at}.requests`, names), constraintRules(constraint, at)),
    ),
    limitedList(config, maxItems, `${path}.config`, (one, at) =>
      all(requestReferences(one.requests, `${at}.requests`, names), configurationRules(one, at)),
    ),
  )
}

/** Returns the names of requests and their alternatives (`request/alternative`). */
export const requestNames = (requests: readonly Request[] = []): ReadonlySet<string> =>
  new Set(
    requests.flatMap(({ name, firstAvailable }) => [
      name,
      ...(firstAvailable ?? []).map((alternative) => `${name}/${alternative.name}`),
    ]),
  )

const referenceWords =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

/** Validates a reference to a request or one of its alternatives. */
export function requestReference(name: string, path: string, names: ReadonlySet<string>): readonly FieldError[] {
  const parts = name.split('/')
  const unknown = names.has(name) ? valid : [invalidValue(path, name, referenceWords)]
  if (parts.length > 2) return unknown
  return all(
    parts.flatMap((part) => follows(part, path, dnsLabel)),
    unknown,
  )
}

/** Validates a list of references to requests. */
export const requestReferences = (
  list: readonly string[] | undefined,
  path: string,
  names: ReadonlySet<string>,
): readonly FieldError[] =>
  limitedSet(
    list,
    maxItems,
    path,
    (name, at) => requestReference(name, at, names),
    (name) => name,
  )

function requestRules({ name, exactly, firstAvailable }: Request, path: string): readonly FieldError[] {
  const wanted = 'exactly one of `exactly` or `firstAvailable` is required'
  const ofName = follows(name ?? '', `${path}.name`, dnsLabel)
  const hasAlternatives = (firstAvailable?.length ?? 0) > 0
  if (exactly && hasAlternatives) return [...ofName, invalidValue(path, null, `${wanted}, but multiple fields are set`)]
  if (exactly) return all(ofName, exactRequestRules(exactly, `${path}.exactly`))
  if (!hasAlternatives) return [...ofName, required(path, wanted)]
  return all(
    ofName,
    limitedSet(
      firstAvailable,
      maxAlternatives,
      `${path}.firstAvailable`,
      (alternative, at) =>
        all(follows(alternative.name ?? '', `${at}.name`, dnsLabel), exactRequestRules(alternative, at)),
      (alternative) => alternative.name,
    ),
  )
}

function exactRequestRules(
  { deviceClassName, selectors, allocationMode: mode, count = 0, tolerations }: ExactRequest,
  path: string,
): readonly FieldError[] {
  return all(
    requiredRule(deviceClassName, `${path}.deviceClassName`, dnsSubdomain),
    selectorRules(selectors, `${path}.selectors`),
    oneOf(mode ?? '', `${path}.allocationMode`, ['All', 'ExactCount']),
    mode === 'ExactCount' && count <= 0 ? [invalidValue(`${path}.count`, count, 'must be greater than zero')] : valid,
    mode === 'All' && count
      ? [invalidValue(`${path}.count`, count, "must not be specified when allocationMode is 'All'")]
      : valid,
    deviceTolerations(tolerations, `${path}.tolerations`),
  )
}

/** Validates `selectors`: CEL expressions about a device. */
export const selectorRules = (selectors: readonly Selector[] | undefined, path: string): readonly FieldError[] =>
  limitedList(selectors, maxItems, path, ({ cel }, at) =>
    cel ? expressionRules(cel.expression ?? '', `${at}.cel.expression`) : [required(`${at}.cel`)],
  )

function expressionRules(expression: string, path: string): readonly FieldError[] {
  if (Buffer.byteLength(expression) > maxExpressionBytes) return [tooLong(path, maxExpressionBytes)]
  try {
    return deviceSelector(expression).estimatedCost > costLimit
      ? [forbiddenField(path, 'too complex, exceeds cost limit')]
      : valid
  } catch (error) {
    return [invalidValue(path, expression, error instanceof Error ? error.message : String(error))]
  }
}

function constraintRules({ matchAttribute, distinctAttribute }: Constraint, path: string): readonly FieldError[] {
  if (matchAttribute !== undefined) return fullAttributeName(matchAttribute, `${path}.matchAttribute`)
  if (distinctAttribute !== undefined) return fullAttributeName(distinctAttribute, `${path}.distinctAttribute`)
  // Upstream's message, although none is set.
  return [
    required(path, 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'),
  ]
}

/** Validates a configuration, which has opaque parameters for a driver. */
export function configurationRules({ opaque }: Configuration, path: string): readonly FieldError[] {
  if (!opaque) return [required(`${path}.opaque`)]
  return all(
    driverName(opaque.driver, `${path}.opaque.driver`),
    parameterRules(opaque.parameters, `${path}.opaque.parameters`),
  )
}

/** Validates opaque parameters: a JSON object. */
export function parameterRules(parameters: unknown, path: string): readonly FieldError[] {
  if (parameters === undefined || parameters === null) return [required(path)]
  if (Buffer.byteLength(writeJson(parameters)) > maxParameterBytes) return [tooLong(path, maxParameterBytes)]
  return typeof parameters === 'object' && !Array.isArray(parameters)
    ? valid
    : [invalidValue(path, '<value omitted>', 'must be a valid JSON object')]
}

/** Validates `config` of a class. */
export const classConfigurations = (list: readonly Configuration[] | undefined, path: string): readonly FieldError[] =>
  limitedList(list, maxItems, path, configurationRules)
