/** Warnings about fields of a Service that are ignored, deprecated or not canonical. */
import { addressWarnings, cidrWarnings } from '../../../machinery/validation/address-warnings.ts'
import type { Service } from './rules.ts'

const topologyHints = 'service.kubernetes.io/topology-aware-hints'

/** Returns upstream's warnings, in its order. */
export function serviceWarnings({ metadata, spec = {} }: Service): readonly string[] {
  const warnings: string[] = []
  const { type, externalIPs = [], clusterIPs = [], loadBalancerSourceRanges = [] } = spec
  const isHeadless = type === 'ClusterIP' && spec.clusterIP === 'None'
  if (metadata.annotations?.[topologyHints] !== undefined)
    warnings.push(`annotation ${topologyHints} is deprecated, please use service.kubernetes.io/topology-mode instead`)
  clusterIPs.forEach((ip, i) => {
    warnings.push(...addressWarnings(ip, `spec.clusterIPs[${i}]`))
  })
  if (isHeadless) {
    if (spec.loadBalancerIP) warnings.push('spec.loadBalancerIP is ignored for headless services')
    if (externalIPs.length > 0) warnings.push('spec.externalIPs is ignored for headless services')
    if (spec.sessionAffinity !== 'None') warnings.push('spec.SessionAffinity is ignored for headless services')
  }
  externalIPs.forEach((ip, i) => {
    warnings.push(...addressWarnings(ip, `spec.externalIPs[${i}]`))
  })
  if (externalIPs.length > 0 && !isHeadless && type !== 'ExternalName')
    warnings.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters')
  warnings.push(...addressWarnings(spec.loadBalancerIP, 'spec.loadBalancerIP'))
  loadBalancerSourceRanges.forEach((range, i) => {
    warnings.push(...cidrWarnings(range, `spec.loadBalancerSourceRanges[${i}]`))
  })
  if (type === 'ExternalName' && externalIPs.length > 0)
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"')
  if (type !== 'ExternalName' && spec.externalName)
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"')
  if (spec.trafficDistribution === 'PreferClose')
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
  return warnings
}
