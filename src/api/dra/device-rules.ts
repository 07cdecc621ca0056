/** Rules for how devices are asked for, in claims, templates and classes (KEP-4381). */
import type { V1DeviceClaim } from '@kubernetes/client-node'
import { costLimit, deviceSelector } from '../../cel/devices/device-selector.ts'
import type { Wire } from '../../machinery/object.ts'
import {
  duplicate,
  type FieldError,
  fieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../machinery/validation/field-error.ts'
import { all, each, follows, repeats, requiredRule, valid } from '../../machinery/validation/field-rules.ts'
import { dnsLabel, dnsSubdomain } from '../../machinery/validation/names.ts'
import { tolerations } from '../core/pod/validation/scheduling.ts'
import { csiDriver as driverName } from '../core/pod/validation/volumes/volumes.ts'

export type DeviceClaim = Wire<V1DeviceClaim>
type Request = NonNullable<DeviceClaim['requests']>[number]
type Wanted = NonNullable<Request['exactly']>
type Selector = NonNullable<Wanted['selectors']>[number]
type Constraint = NonNullable<DeviceClaim['constraints']>[number]
type Configuration = Pick<NonNullable<DeviceClaim['config']>[number], 'opaque'>

const most = 32
const mostAlternatives = 8
const longestExpression = 10 * 1024
const longestParameters = 10 * 1024
const longestIdentifier = 32

/** `devices` of a claim or of a template for one. */
export function deviceClaimRules(devices: DeviceClaim | undefined, path: string): readonly FieldError[] {
  const { requests, constraints, config } = devices ?? {}
  const names = requestNames(requests)
  const references = (list: readonly string[] | undefined, at: string): readonly FieldError[] =>
    limited(list, most, at, (name, one, isRepeated) => [...reference(name, one, names), ...(isRepeated(name) ? [duplicate(one, name)] : [])])
  return all(
    limited(requests, most, `${path}.requests`, (request, at, isRepeated) => [
      ...(isRepeated(request.name) ? [duplicate(at, request.name)] : []),
      ...requestRules(request, at),
    ]),
    limited(constraints, most, `${path}.constraints`, (constraint, at) =>
      all(references(constraint.requests, `${at}.requests`), constraintRules(constraint, at)),
    ),
    limited(config, most, `${path}.config`, (one, at) => all(references(one.requests, `${at}.requests`), configurationRules(one, at))),
  )
}

/** A rule for each item of a list that may have so many. */
function limited<T>(
  list: readonly T[] | undefined,
  max: number,
  path: string,
  rule: (item: T, path: string, isRepeated: (name: string) => boolean) => readonly FieldError[],
): readonly FieldError[] {
  const isRepeated = repeats<string>()
  return all(
    list && list.length > max ? [tooMany(path, list.length, max)] : valid,
    each(list, path, (item, at) => rule(item, at, isRepeated)),
  )
}

/** Requests, and the alternatives of each: `request/alternative`. */
const requestNames = (requests: readonly Request[] = []): ReadonlySet<string> =>
  new Set(requests.flatMap(({ name, firstAvailable }) => [name, ...(firstAvailable ?? []).map((alternative) => `${name}/${alternative.name}`)]))

const referenceWords = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

function reference(name: string, path: string, names: ReadonlySet<string>): readonly FieldError[] {
  const parts = name.split('/')
  if (parts.length > 2) return [invalidValue(path, name, referenceWords)]
  const errors = parts.flatMap((part) => requiredRule(part, path, dnsLabel))
  return errors.length > 0 || names.has(name) ? errors : [invalidValue(path, name, referenceWords)]
}

function requestRules({ name, exactly, firstAvailable }: Request, path: string): readonly FieldError[] {
  const wanted = 'exactly one of `exactly` or `firstAvailable` is required'
  const hasAlternatives = (firstAvailable?.length ?? 0) > 0
  return all(
    requiredRule(name, `${path}.name`, dnsLabel),
    exactly && hasAlternatives ? [invalidValue(path, null, `${wanted}, but multiple fields are set`)] : valid,
    !exactly && !hasAlternatives ? [required(path, wanted)] : valid,
    exactly ? wantedRules(exactly, `${path}.exactly`) : valid,
    limited(firstAvailable, mostAlternatives, `${path}.firstAvailable`, (alternative, at, isRepeated) =>
      all(
        requiredRule(alternative.name, `${at}.name`, dnsLabel),
        isRepeated(alternative.name) ? [duplicate(`${at}.name`, alternative.name)] : valid,
        wantedRules(alternative, at),
      ),
    ),
  )
}

function wantedRules({ deviceClassName, selectors, allocationMode: mode, count = 0, tolerations: tolerated }: Wanted, path: string): readonly FieldError[] {
  return all(
    requiredRule(deviceClassName, `${path}.deviceClassName`, dnsSubdomain),
    selectorRules(selectors, `${path}.selectors`),
    mode !== 'All' && mode !== 'ExactCount' ? [notSupported(`${path}.allocationMode`, mode ?? '', ['All', 'ExactCount'])] : valid,
    mode === 'ExactCount' && count <= 0 ? [invalidValue(`${path}.count`, count, 'must be greater than zero')] : valid,
    mode === 'All' && count ? [invalidValue(`${path}.count`, count, "must not be specified when allocationMode is 'All'")] : valid,
    tolerations(tolerated, `${path}.tolerations`),
  )
}

/** `selectors`: expressions about a device. */
export const selectorRules = (selectors: readonly Selector[] | undefined, path: string): readonly FieldError[] =>
  limited(selectors, most, path, ({ cel }, at) => (cel ? expressionRules(cel.expression ?? '', `${at}.cel.expression`) : [required(`${at}.cel`)]))

function expressionRules(expression: string, path: string): readonly FieldError[] {
  if (Buffer.byteLength(expression) > longestExpression) return [tooLong(path, longestExpression)]
  try {
    return deviceSelector(expression).estimatedCost > costLimit ? [forbiddenField(path, 'too complex, exceeds cost limit')] : valid
  } catch (error) {
    return [invalidValue(path, expression, error instanceof Error ? error.message : String(error))]
  }
}

function constraintRules({ matchAttribute, distinctAttribute }: Constraint, path: string): readonly FieldError[] {
  if (matchAttribute !== undefined) return fullName(matchAttribute, `${path}.matchAttribute`)
  return distinctAttribute === undefined ? [required(`${path}.matchAttribute`)] : fullName(distinctAttribute, `${path}.distinctAttribute`)
}

const fullName = (name: string, path: string): readonly FieldError[] =>
  name === '' || name.includes('/') ? attributeName(name, path) : [...attributeName(name, path), invalidValue(path, name, 'must include a domain')]

const identifierWords =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"

/** Names of attributes and capacities: `name`, or `example.com/name`. */
export function attributeName(name: string, path: string): readonly FieldError[] {
  if (name === '') return [required(path, 'name required')]
  const parts = name.split('/')
  const [domain, last] = parts.length === 1 ? [undefined, name] : [parts[0], parts[1] ?? '']
  if (parts.length > 2) return [invalidValue(path, name, 'a valid name consists of a domain and an identifier separated by a slash')]
  return all(
    domain === undefined ? valid : domain === '' ? [required(path, 'the domain must not be empty')] : driverName(domain, path),
    last === '' ? [required(path, 'the name must not be empty')] : identifier(last, path),
  )
}

const identifier = (text: string, path: string): readonly FieldError[] =>
  all(
    text.length > longestIdentifier ? [tooLong(path, longestIdentifier)] : valid,
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) ? valid : [fieldError('FieldValueTypeInvalid', path, `Invalid value: ${JSON.stringify(text)}: ${identifierWords}`)],
  )

/** What a driver is told beside a request: an object that only it understands. */
export function configurationRules({ opaque }: Configuration, path: string): readonly FieldError[] {
  if (!opaque) return [required(`${path}.opaque`)]
  return all(driverName(opaque.driver, `${path}.opaque.driver`), parameterRules(opaque.parameters, `${path}.opaque.parameters`))
}

function parameterRules(parameters: unknown, path: string): readonly FieldError[] {
  if (parameters === undefined || parameters === null) return [required(path)]
  if (Buffer.byteLength(JSON.stringify(parameters)) > longestParameters) return [tooLong(path, longestParameters)]
  return typeof parameters === 'object' && !Array.isArray(parameters) ? valid : [invalidValue(path, '<value omitted>', 'must be a valid JSON object')]
}

/** `config` of a class. */
export const classConfigurations = (list: readonly Configuration[] | undefined, path: string): readonly FieldError[] =>
  limited(list, most, path, configurationRules)

/** The name of a pool: parts between slashes that are names themselves. */
export function poolName(name: string | undefined, path: string): readonly FieldError[] {
  if (!name) return [required(path)]
  return all(
    name.length > 253 ? [tooLong(path, 253)] : valid,
    name.split('/').flatMap((part) => follows(part, path, dnsSubdomain)),
  )
}
