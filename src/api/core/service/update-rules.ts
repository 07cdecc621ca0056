/**
 * Validation of Service updates (immutable are the primary address and family, the health check port, and the load
 * balancer class) and of status writes.
 */
import { isIP } from 'node:net'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { type FieldError, forbiddenField, invalidValue, required } from '../../../machinery/validation/field-error.ts'
import { all, each, oneOf, optionalText, valid } from '../../../machinery/validation/field-rules.ts'
import { dnsSubdomain, ipAddress } from '../../../machinery/validation/names.ts'
import type { Service, ServiceSpec } from './rules.ts'
import { needsHealthCheckPort } from './traits.ts'

export function serviceUpdate({ spec = {} }: Service, { spec: old = {} }: Service): readonly FieldError[] {
  return all(
    hasAddresses(spec, old) ? addressesUpdate(spec, old) : valid,
    hasAddresses(spec, old) && spec.clusterIP !== 'None' && old.clusterIP !== 'None'
      ? familiesUpdate(spec, old)
      : valid,
    spec.type === 'LoadBalancer' &&
      old.type === 'LoadBalancer' &&
      !semanticallyEqual(spec.loadBalancerClass, old.loadBalancerClass)
      ? [invalidValue('spec.loadBalancerClass', spec.loadBalancerClass ?? null, unchanged)]
      : valid,
    needsHealthCheckPort(spec) && needsHealthCheckPort(old) && spec.healthCheckNodePort !== old.healthCheckNodePort
      ? [forbiddenField('spec.healthCheckNodePort', 'field is immutable')]
      : valid,
  )
}

const unchanged = 'may not change once set'

const hasAddresses = (spec: ServiceSpec, old: ServiceSpec): boolean =>
  spec.type !== 'ExternalName' &&
  old.type !== 'ExternalName' &&
  !(spec.clusterIP === 'None' && old.clusterIP === 'None')

/** A secondary address may be added, and removed if the policy is SingleStack. */
function addressesUpdate(
  { clusterIPs = [], ipFamilyPolicy }: ServiceSpec,
  { clusterIPs: old = [] }: ServiceSpec,
): readonly FieldError[] {
  const path = 'spec.clusterIPs'
  if (clusterIPs.length === old.length)
    return old.flatMap((ip, i) =>
      ip === clusterIPs[i] ? valid : [invalidValue(`${path}[${i}]`, clusterIPs, unchanged)],
    )
  return all(
    clusterIPs.length === 0 ? [invalidValue(`${path}[0]`, null, 'primary clusterIP can not be unset')] : valid,
    clusterIPs.length > 0 && old.length > 0 && clusterIPs[0] !== old[0]
      ? [invalidValue(`${path}[0]`, clusterIPs, unchanged)]
      : valid,
    clusterIPs.length === 1 && old.length > 1 ? releases('clusterIP', ipFamilyPolicy) : valid,
  )
}

function familiesUpdate(
  { clusterIPs = [], ipFamilies = [], ipFamilyPolicy }: ServiceSpec,
  { ipFamilies: old = [] }: ServiceSpec,
): readonly FieldError[] {
  const path = 'spec.ipFamilies[0]'
  if (ipFamilies.length === old.length)
    return old.flatMap((family, i) => (family === ipFamilies[i] ? valid : [invalidValue(path, ipFamilies, unchanged)]))
  return all(
    ipFamilies.length === 0 ? [invalidValue(path, null, 'primary ipFamily can not be unset')] : valid,
    // Upstream shows the addresses, not the families.
    ipFamilies.length > 0 && old.length > 0 && ipFamilies[0] !== old[0]
      ? [invalidValue(path, clusterIPs, unchanged)]
      : valid,
    ipFamilies.length === 1 && old.length > 1 ? releases('ipFamily', ipFamilyPolicy) : valid,
  )
}

const releases = (what: string, policy: string | undefined): readonly FieldError[] =>
  policy === 'SingleStack'
    ? valid
    : [invalidValue('spec.ipFamilyPolicy', policy, `must be set to 'SingleStack' when releasing the secondary ${what}`)]

/** Validates load balancer addresses in a write to `/status`. */
export function serviceStatus({ spec, status }: Service): readonly FieldError[] {
  const path = 'status.loadBalancer.ingress'
  const ingress = status?.loadBalancer?.ingress
  if (!ingress?.length) return valid
  if (spec?.type !== 'LoadBalancer')
    return [forbiddenField(path, "may only be used when `spec.type` is 'LoadBalancer'")]
  return each(ingress, path, ({ ip, ipMode, hostname }, at) =>
    all(
      optionalText(ip, `${at}.ip`, ipAddress),
      ip && ipMode === undefined ? [required(`${at}.ipMode`, 'must be specified when `ip` is set')] : valid,
      !ip && ipMode !== undefined
        ? [forbiddenField(`${at}.ipMode`, 'may not be specified when `ip` is not set')]
        : valid,
      ip ? oneOf(ipMode, `${at}.ipMode`, ['Proxy', 'VIP']) : valid,
      optionalText(hostname, `${at}.hostname`, dnsSubdomain),
      hostname && isIP(hostname)
        ? [invalidValue(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address')]
        : valid,
    ),
  )
}
