/** Checks one write against the quotas of its namespace. */
import type { ResourceList } from '../../../api/core/quota/resource-list.ts'
import {
  exceeding,
  formatResources,
  onlyNamed,
  positiveDifference,
  sum,
  withoutZeros,
} from '../../../api/core/quota/resource-lists.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { internal } from '../../../machinery/status-error.ts'
import { signOf } from '../../../machinery/values/quantity.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { LimitedResource } from './configuration.ts'
import { coversObject, type Quota } from './quota.ts'
import type { Evaluator, Scope } from './usage/evaluators.ts'

/** The increase of usage per quota. Contains only quotas that the write affects. */
export type Charges = ReadonlyMap<Quota, ResourceList>

/**
 * Throws a 403 if a quota would be exceeded or has no usage count yet; as upstream, a 500 if no quota covers a limited
 * scope.
 */
export function checkRequest(
  quotas: readonly Quota[],
  attributes: AdmissionAttributes,
  evaluator: Evaluator,
  limited: readonly LimitedResource[] = [],
): Charges {
  const object = attributes.object!
  const rejection = (why: string) => forbiddenWrite(attributes, why)
  const affected: Quota[] = []
  const restricted = new Set<string>()
  for (const quota of quotas) {
    const names = evaluator.matching(Object.keys(quota.hard))
    if (names.length === 0 || !coversObject(quota, evaluator, object)) continue
    const missing = evaluator.missing?.(names, object)
    if (missing !== undefined) throw rejection(`failed quota: ${quota.name}: ${missing}`)
    if (!names.every((name) => Object.hasOwn(quota.used, name))) {
      throw rejection(`status unknown for quota: ${quota.name}, resources: ${[...names].sort().join(',')}`)
    }
    affected.push(quota)
    for (const name of names) restricted.add(name)
  }
  if (affected.length === 0 && limited.length === 0) return new Map()

  const usage = evaluator.usage(object)
  const negative = Object.keys(usage).filter((name) => signOf(usage[name]!) < 0)
  if (negative.length > 0) throw rejection(`quota usage is negative for resource(s): ${negative.sort().join(',')}`)
  const increase = increaseOf(attributes.old, evaluator, usage)
  const charges = new Map<Quota, ResourceList>()
  let changes = affected.length === 0 && !isNothing(increase)
  for (const quota of affected) {
    const charged = isChargedInFull(quota, attributes, evaluator) ? usage : increase
    // Even if this quota does not limit it, another quota may be required to cover it.
    if (!isNothing(charged)) changes = true
    const charge = withoutZeros(onlyNamed(charged, Object.keys(quota.hard)))
    if (Object.keys(charge).length > 0) charges.set(quota, charge)
  }
  if (!changes) return charges
  if (limited.length > 0) checkLimited(quotas, attributes, evaluator, limited, usage, restricted)
  for (const [quota, charge] of charges) checkExceeded(quota, charge, attributes)
  return charges
}

const increaseOf = (old: KubeObject | undefined, evaluator: Evaluator, usage: ResourceList): ResourceList =>
  old ? positiveDifference(usage, evaluator.usage(old)) : usage

/** An update is charged for the increase, or in full if the object was not in the quota's scopes before. */
const isChargedInFull = (quota: Quota, { old }: AdmissionAttributes, evaluator: Evaluator): boolean =>
  !old || !coversObject(quota, evaluator, old)

const isNothing = (list: ResourceList): boolean => Object.keys(withoutZeros(list)).length === 0

function checkExceeded(quota: Quota, charge: ResourceList, attributes: AdmissionAttributes): void {
  // A status reports what has already happened.
  if (attributes.subresource === 'status') return
  const exceeded = exceeding(onlyNamed(sum(quota.used, charge), Object.keys(charge)), quota.hard)
  if (exceeded.length === 0) return
  const part = (list: ResourceList): string => formatResources(onlyNamed(list, exceeded))
  throw forbiddenWrite(
    attributes,
    `exceeded quota: ${quota.name}, requested: ${part(charge)}, used: ${part(quota.used)}, limited: ` +
      `${part(quota.hard)}`,
  )
}

/** Throws if the write uses a limited resource that no quota covers. */
function checkLimited(
  quotas: readonly Quota[],
  attributes: AdmissionAttributes,
  evaluator: Evaluator,
  limited: readonly LimitedResource[],
  usage: ResourceList,
  restricted: ReadonlySet<string>,
): void {
  const { groupResource } = attributes.resource
  const object = attributes.object!
  const relevant = limited.filter(
    ({ apiGroup = '', resource }) => apiGroup === groupResource.group && resource === groupResource.name,
  )
  const names = Object.keys(usage).filter(
    (name) =>
      signOf(usage[name]!) > 0 &&
      relevant.some(({ matchContains = [] }) => matchContains.some((part) => name.includes(part))),
  )
  const uncovered = names.filter((name) => !restricted.has(name)).sort()
  if (uncovered.length > 0) throw forbiddenWrite(attributes, `insufficient quota to consume: ${uncovered.join(',')}`)

  const matching = (scopes: readonly Scope[]): Scope[] =>
    scopes.filter((scope) => evaluator.inScope?.(scope, object) ?? false)
  const covered = new Set(quotas.flatMap(({ scopes }) => matching(scopes).map(({ scopeName }) => scopeName)))
  const uncoveredScopes = limited
    .flatMap(({ matchScopes = [] }) => matching(matchScopes))
    .filter(({ scopeName }) => !covered.has(scopeName))
  if (uncoveredScopes.length > 0)
    throw internal(`insufficient quota to match these scopes: [${uncoveredScopes.map(scopeText).join(' ')}]`)
}

/** Formats a scope as Go prints the struct. */
const scopeText = ({ scopeName, operator, values = [] }: Scope): string =>
  `{${scopeName} ${operator} [${values.join(' ')}]}`
