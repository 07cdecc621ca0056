/**
 * Defaults of Services, and preparation of writes: an update keeps allocated values that it omits, and a change of the
 * type drops fields.
 */
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { nullMissingTimes } from '../../nulls.ts'
import type { Service, ServiceSpec } from './rules.ts'
import { isExternallyAccessible, needsClusterIP, needsHealthCheckPort, needsNodePorts } from './traits.ts'

const affinitySeconds = 10800

export function serviceDefaults(service: Service): void {
  service.spec ??= {}
  const spec = service.spec
  spec.type ||= 'ClusterIP'
  spec.sessionAffinity ||= 'None'
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined)
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: affinitySeconds } }
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP'
    port.targetPort ||= port.port
  }
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ||= 'Cluster'
  if (spec.type !== 'ExternalName') spec.internalTrafficPolicy ??= 'Cluster'
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true
  service.status ??= {}
  const status = service.status
  status.loadBalancer ??= {}
  for (const ingress of status.loadBalancer.ingress ?? []) if (ingress.ip) ingress.ipMode ??= 'VIP'
  if (status.conditions) nullMissingTimes(status.conditions, 'lastTransitionTime')
}

/** A new Service has no load balancer yet. */
export function prepareCreate(service: Service): void {
  service.status = { loadBalancer: {} }
  dropInternalPolicy(service.spec ?? {})
}

/** Keeps allocated values that an update omits. Called before the allocation of missing values. */
export function keepAllocated(service: Service, old: Service | undefined): void {
  service.spec ??= {}
  const { spec } = service
  if (old) {
    mirrorClusterIP(spec, old.spec ?? {})
    keepNumbers(spec, old.spec ?? {})
  } else if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP]
}

export function prepareUpdate(service: Service, { spec: old = {} }: Service): void {
  service.spec ??= {}
  const spec = service.spec
  dropOldTypeFields(spec, old)
  dropInternalPolicy(spec)
  if (spec.type !== 'LoadBalancer' && service.status) service.status = { ...service.status, loadBalancer: {} }
}

/**
 * Drops internalTrafficPolicy of an ExternalName Service, which has no internal traffic. Invalid values stay, so that
 * validation rejects them.
 */
function dropInternalPolicy(spec: ServiceSpec): void {
  const { type, internalTrafficPolicy: policy } = spec
  if (type === 'ExternalName' && (policy === 'Cluster' || policy === 'Local')) delete spec.internalTrafficPolicy
}

/** Applies a change of `clusterIP` to the first of `clusterIPs`. */
function mirrorClusterIP(spec: ServiceSpec, old: ServiceSpec): void {
  if (!semanticallyEqual(spec.clusterIPs, old.clusterIPs) || spec.clusterIP === old.clusterIP) return
  if (!spec.clusterIP) spec.clusterIPs = undefined
  else spec.clusterIPs = [spec.clusterIP, ...(spec.clusterIPs ?? []).slice(1)]
}

/** Keeps addresses, and node ports by the names of their ports. */
function keepNumbers(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIP(spec) && needsClusterIP(old)) {
    if (!spec.clusterIP) spec.clusterIP = old.clusterIP
    if (!spec.clusterIPs?.length && spec.clusterIP === old.clusterIP) spec.clusterIPs = old.clusterIPs
  }
  if (needsNodePorts(spec) && needsNodePorts(old)) {
    const used = new Set(spec.ports?.map(({ nodePort }) => nodePort))
    const before = new Map(old.ports?.map(({ name = '', nodePort }) => [name, nodePort]))
    for (const port of spec.ports ?? []) {
      const known = before.get(port.name ?? '')
      if (!port.nodePort && known && !used.has(known)) port.nodePort = known
    }
  }
  if (needsHealthCheckPort(spec) && needsHealthCheckPort(old)) spec.healthCheckNodePort ||= old.healthCheckNodePort
}

/** Drops fields of the old type that the new type does not have, unless the update changes them. */
function dropOldTypeFields(spec: ServiceSpec, old: ServiceSpec): void {
  const dropSame = (...fields: readonly (keyof ServiceSpec)[]): void => {
    for (const field of fields) if (semanticallyEqual(spec[field], old[field])) delete spec[field]
  }
  if (needsClusterIP(old) && !needsClusterIP(spec))
    dropSame('clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy')
  if (needsNodePorts(old) && !needsNodePorts(spec)) {
    const before = new Set(old.ports?.map(({ nodePort }) => nodePort))
    for (const port of spec.ports ?? []) if (before.has(port.nodePort)) delete port.nodePort
  }
  if (needsHealthCheckPort(old) && !needsHealthCheckPort(spec)) dropSame('healthCheckNodePort')
  if (isExternallyAccessible(old) && !isExternallyAccessible(spec)) dropSame('externalTrafficPolicy')
  if (old.type === 'LoadBalancer' && spec.type !== 'LoadBalancer')
    dropSame('allocateLoadBalancerNodePorts', 'loadBalancerClass')
  if (!spec.clusterIP) delete spec.clusterIP
  if (!spec.clusterIPs?.length) delete spec.clusterIPs
}
