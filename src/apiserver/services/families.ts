/**
 * IP families of a Service: defaults `ipFamilies` and `ipFamilyPolicy`, and validates them against the cluster's.
 */
import { isIPv6 } from 'node:net'
import { needsClusterIP, type ServiceSpec } from '../../api/core/service/index.ts'
import { addressRules } from '../../api/core/service/rules.ts'
import { type FieldError, invalidValue } from '../../machinery/validation/field-error.ts'
import type { Family } from './ranges/address-range.ts'

const familyOf = (address: string): Family => (isIPv6(address) ? 'IPv6' : 'IPv4')
const other = (family: string | undefined): Family => (family === 'IPv4' ? 'IPv6' : 'IPv4')

const sameList = (one: readonly string[] = [], two: readonly string[] = []): boolean =>
  one.length === two.length && one.every((item, i) => item === two[i])

/** True if the list is shorter than the old one, and not just missing. */
const isReduced = (list: readonly string[] = [], old: readonly string[] = []): boolean =>
  list.length > 0 && list.length < old.length

/** True for an unchanged PreferDualStack Service: it is not changed when only the cluster's families have changed. */
export function isPreferenceUnchanged(spec: ServiceSpec, old: ServiceSpec | undefined): boolean {
  return (
    old !== undefined &&
    old.type === spec.type &&
    needsClusterIP(spec) &&
    spec.ipFamilyPolicy === 'PreferDualStack' &&
    (old.ipFamilyPolicy ?? 'PreferDualStack') === 'PreferDualStack' &&
    sameList(spec.clusterIPs, old.clusterIPs) &&
    sameList(spec.ipFamilies, old.ipFamilies)
  )
}

/**
 * Defaults policy and families; returns the errors. `families` are those of the cluster, the default first. Allocates
 * nothing.
 */
export function defaultFamilies(
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  families: readonly Family[],
): FieldError[] {
  if (!needsClusterIP(spec) || isPreferenceUnchanged(spec, old)) return []
  const hasOwnEndpoints = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0
  // A headless Service without a selector has endpoints of its own, of both families.
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (hasOwnEndpoints ? 'RequireDualStack' : 'SingleStack')
  const wrong = addressRules(spec)
  if (wrong.length > 0) return wrong

  const errors = [...(old ? releaseErrors(spec, old) : []), ...dualStackErrors(spec), ...inferFamilies(spec, families)]
  if (errors.length > 0) return errors
  if (!hasOwnEndpoints) errors.push(...unknownFamilies(spec, families))
  if (errors.length > 0) return errors

  const list = spec.ipFamilies?.length ? spec.ipFamilies : [families[0]!]
  const wantsBoth =
    spec.ipFamilyPolicy !== 'SingleStack' && list.length === 1 && (hasOwnEndpoints || families.length === 2)
  spec.ipFamilies = wantsBoth ? [list[0]!, other(list[0])] : list
  return []
}

/** The policy SingleStack removes the second address and family; without it, removing them is an error. */
function releaseErrors(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  const policy = spec.ipFamilyPolicy
  if (policy === 'SingleStack') {
    if (sameList(spec.clusterIPs, old.clusterIPs)) spec.clusterIPs = spec.clusterIPs?.slice(0, 1)
    if (sameList(spec.ipFamilies, old.ipFamilies)) spec.ipFamilies = spec.ipFamilies?.slice(0, 1)
    return []
  }
  const errors: FieldError[] = []
  if (isReduced(spec.clusterIPs, old.clusterIPs))
    errors.push(policyError(policy, "must be 'SingleStack' to release the secondary cluster IP"))
  if (isReduced(spec.ipFamilies, old.ipFamilies))
    errors.push(policyError(policy, "must be 'SingleStack' to release the secondary IP family"))
  return errors
}

const policyError = (policy: string | undefined, detail: string): FieldError =>
  invalidValue('spec.ipFamilyPolicy', policy, detail)

function dualStackErrors({ ipFamilyPolicy: policy, clusterIPs, ipFamilies }: ServiceSpec): FieldError[] {
  if (policy !== 'SingleStack') return []
  const message = (what: string): string =>
    `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`
  return [
    ...(clusterIPs?.length === 2 ? [policyError(policy, message('cluster IPs'))] : []),
    ...(ipFamilies?.length === 2 ? [policyError(policy, message('IP families'))] : []),
  ]
}

/** Infers families from given addresses. */
function inferFamilies(spec: ServiceSpec, families: readonly Family[]): FieldError[] {
  const errors: FieldError[] = []
  const { clusterIPs = [] } = spec
  for (const [i, address] of clusterIPs.entries()) {
    if (address === 'None') break
    if (i < (spec.ipFamilies?.length ?? 0)) continue
    const family = familyOf(address)
    if (families.includes(family)) spec.ipFamilies = [...(spec.ipFamilies ?? []), family]
    else errors.push(invalidValue(`spec.clusterIPs[${i}]`, clusterIPs, `${family} is not configured on this cluster`))
  }
  return errors
}

function unknownFamilies(
  { ipFamilyPolicy: policy, ipFamilies = [] }: ServiceSpec,
  families: readonly Family[],
): FieldError[] {
  const single = policy === 'RequireDualStack' && families.length < 2
  return [
    ...(single ? [policyError(policy, 'this cluster is not configured for dual-stack services')] : []),
    ...ipFamilies.flatMap((family, i) =>
      families.includes(family as Family)
        ? []
        : [invalidValue(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster')],
    ),
  ]
}
