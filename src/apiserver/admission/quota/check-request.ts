/** Holds one write against the quotas of its namespace. */
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
import type { Evaluator, Scope } from './evaluators.ts'
import { coversObject, type Quota } from './quota.ts'

/** By quota: what the write uses more of it. Quotas that it does not touch are not in it. */
export type Charges = ReadonlyMap<Quota, ResourceList>

/**
 * Throws 403 if a quota has no room for the write, or cannot tell yet; 500 if no quota covers a limited scope, as
 * upstream does.
 */
export function checkRequest(
  quotas: readonly Quota[],
  attributes: AdmissionAttributes,
  evaluator: Evaluator,
  limited: readonly LimitedResource[] = [],
): Charges {
  const object = attributes.object!
  const refuse = (why: string) => forbiddenWrite(attributes, why)
  const concerned: Quota[] = []
  const restricted = new Set<string>()
  for (const quota of quotas) {
    const names = evaluator.matching(Object.keys(quota.hard))
    if (names.length === 0 || !coversObject(quota, evaluator, object)) continue
    const missing = evaluator.missing?.(names, object)
    if (missing !== undefined) throw refuse(`failed quota: ${quota.name}: ${missing}`)
    if (!names.every((name) => Object.hasOwn(quota.used, name))) {
      throw refuse(`status unknown for quota: ${quota.name}, resources: ${[...names].sort().join(',')}`)
    }
    concerned.push(quota)
    for (const name of names) restricted.add(name)
  }
  if (concerned.length === 0 && limited.length === 0) return new Map()

  const usage = evaluator.usage(object)
  const negative = Object.keys(usage).filter((name) => signOf(usage[name]!) < 0)
  if (negative.length > 0) throw refuse(`quota usage is negative for resource(s): ${negative.sort().join(',')}`)
  const more = moreThanBefore(attributes.old, evaluator, usage)
  const charges = new Map<Quota, ResourceList>()
  let changes = concerned.length === 0 && !isNothing(more)
  for (const quota of concerned) {
    const all = isChargedWhole(quota, attributes, evaluator) ? usage : more
    // Also where the quota does not limit it: something else may have to cover it.
    if (!isNothing(all)) changes = true
    const charge = withoutZeros(onlyNamed(all, Object.keys(quota.hard)))
    if (Object.keys(charge).length > 0) charges.set(quota, charge)
  }
  if (!changes) return charges
  if (limited.length > 0) checkLimited(quotas, attributes, evaluator, limited, usage, restricted)
  for (const [quota, charge] of charges) checkRoom(quota, charge, attributes)
  return charges
}

const moreThanBefore = (old: KubeObject | undefined, evaluator: Evaluator, usage: ResourceList): ResourceList =>
  old ? positiveDifference(usage, evaluator.usage(old)) : usage

/** An update costs what it adds; where the object was not in the quota's scopes before, all of it. */
const isChargedWhole = (quota: Quota, { old }: AdmissionAttributes, evaluator: Evaluator): boolean =>
  !old || !coversObject(quota, evaluator, old)

const isNothing = (list: ResourceList): boolean => Object.keys(withoutZeros(list)).length === 0

function checkRoom(quota: Quota, charge: ResourceList, attributes: AdmissionAttributes): void {
  // What a status says has happened.
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

/** Throws if something is used that nobody may use without a quota, and no quota covers it. */
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
  const own = limited.filter(
    ({ apiGroup = '', resource }) => apiGroup === groupResource.group && resource === groupResource.name,
  )
  const names = Object.keys(usage).filter(
    (name) =>
      signOf(usage[name]!) > 0 &&
      own.some(({ matchContains = [] }) => matchContains.some((part) => name.includes(part))),
  )
  const uncovered = names.filter((name) => !restricted.has(name)).sort()
  if (uncovered.length > 0) throw forbiddenWrite(attributes, `insufficient quota to consume: ${uncovered.join(',')}`)

  const matching = (scopes: readonly Scope[]): Scope[] =>
    scopes.filter((scope) => evaluator.inScope?.(scope, object) ?? false)
  const covered = new Set(quotas.flatMap(({ scopes }) => matching(scopes).map(({ scopeName }) => scopeName)))
  const bare = limited
    .flatMap(({ matchScopes = [] }) => matching(matchScopes))
    .filter(({ scopeName }) => !covered.has(scopeName))
  if (bare.length > 0) throw internal(`insufficient quota to match these scopes: [${bare.map(shownScope).join(' ')}]`)
}

/** As Go prints the structure. */
const shownScope = ({ scopeName, operator, values = [] }: Scope): string =>
  `{${scopeName} ${operator} [${values.join(' ')}]}`
