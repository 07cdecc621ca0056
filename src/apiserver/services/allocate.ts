/**
 * Allocates the cluster IPs, node ports and health check port that the type of a Service needs. Throws the StatusErrors
 * that clients get.
 */
import {
  needsClusterIP,
  needsHealthCheckPort,
  needsNodePorts,
  type Service,
  type ServiceSpec,
} from '../../api/core/service/index.ts'
import { invalid, type StatusError, statusOf } from '../../machinery/status-error.ts'
import { limitFaults } from '../../machinery/validation/fault-limit.ts'
import { type FieldError, invalidValue } from '../../machinery/validation/field-error.ts'
import type { Claim } from './claim.ts'
import { defaultFamilies, isPreferenceUnchanged } from './families.ts'
import type { Family } from './ranges/address-range.ts'

/** `old` is undefined for a new Service; `families` are those of the cluster, the default first. */
export function allocate(
  service: Service,
  old: ServiceSpec | undefined,
  claim: Claim,
  families: readonly Family[],
): void {
  service.spec ??= {}
  const { spec } = service
  const throwInvalid = (rules: () => readonly FieldError[]): void => {
    const errors = limitFaults(rules)
    if (errors.length > 0) throw invalid({ group: '', name: 'Service' }, service.metadata.name ?? '', errors)
  }
  throwInvalid(() => defaultFamilies(spec, old, families))
  throwInvalid(() => clusterIPs(spec, old, claim))
  if (spec.type === 'NodePort' || spec.type === 'LoadBalancer')
    throwInvalid(() => (old ? changedPorts(spec, old, claim) : newPorts(spec, claim)))
  if (needsHealthCheckPort(spec) && !(old && needsHealthCheckPort(old))) healthCheckPort(spec, claim)
}

const failed = (what: string): StatusError => statusOf(new Error(what))

/**
 * Allocates all addresses of new Services, and missing ones of changed Services. Addresses that a Service no longer
 * lists are free after the write.
 */
function clusterIPs(spec: ServiceSpec, old: ServiceSpec | undefined, claim: Claim): FieldError[] {
  if (!needsClusterIP(spec) || spec.clusterIPs?.[0] === 'None' || isPreferenceUnchanged(spec, old)) return []
  const list = [...(spec.clusterIPs ?? [])]
  const { ipFamilies = [] } = spec
  const from = firstMissing(spec, old)
  for (let i = from; i < ipFamilies.length; i++) {
    const wanted = list[i]
    if (!wanted) {
      const address = claim.nextAddress(ipFamilies[i] as Family)
      if (!address) throw failed('failed to allocate a serviceIP: range is full')
      list[i] = address
      continue
    }
    const problem = claim.address(wanted)
    if (problem)
      return [invalidValue('spec.clusterIPs', spec.clusterIPs, `failed to allocate IP ${wanted}: ${problem}`)]
  }
  if (list.length > 0) spec.clusterIPs = list
  if (from === 0) spec.clusterIP = list[0]
  return []
}

/** The index of the first address to allocate; 2 for none. */
function firstMissing(spec: ServiceSpec, old: ServiceSpec | undefined): 0 | 1 | 2 {
  if (!old?.clusterIPs?.length || !needsClusterIP(old)) return 0
  return old.clusterIPs[0] !== 'None' && old.ipFamilies?.length === 1 && spec.ipFamilies?.length === 2 ? 1 : 2
}

function anyPort(claim: Claim): number {
  const port = claim.nextPort()
  if (!port) throw failed('failed to allocate a nodePort: range is full')
  return port
}

const refusedPort = (i: number, port: number, problem: string): FieldError[] => [
  invalidValue(`spec.ports[${i}].nodePort`, port, problem),
]

/** Protocols of one port share a node port, unless the client requests others. */
function newPorts(spec: ServiceSpec, claim: Claim): FieldError[] {
  const ports = spec.ports ?? []
  const allocated = new Map<number, number>()
  const requested = new Map<number, number>()
  for (const { port, nodePort } of ports) if (nodePort && !requested.has(port)) requested.set(port, nodePort)
  for (const [i, port] of ports.entries()) {
    if (!port.nodePort && !needsNodePorts(spec)) continue
    const shared = allocated.get(port.port)
    if (shared !== undefined && (!port.nodePort || port.nodePort === shared)) {
      port.nodePort = shared
      continue
    }
    const wanted = shared === undefined ? requested.get(port.port) : port.nodePort
    const problem = wanted && claim.port(wanted)
    if (wanted && problem) return refusedPort(i, wanted, problem)
    port.nodePort = wanted || anyPort(claim)
    if (shared === undefined) allocated.set(port.port, port.nodePort)
  }
  return []
}

function changedPorts(spec: ServiceSpec, old: ServiceSpec, claim: Claim): FieldError[] {
  const oldPorts = new Set(old.ports?.map(({ nodePort }) => nodePort))
  for (const [i, port] of (spec.ports ?? []).entries()) {
    if (!port.nodePort) {
      if (needsNodePorts(spec)) port.nodePort = anyPort(claim)
      continue
    }
    if (oldPorts.has(port.nodePort)) continue
    const problem = claim.port(port.nodePort)
    if (problem) return refusedPort(i, port.nodePort, problem)
    oldPorts.add(port.nodePort)
  }
  return []
}

function healthCheckPort(spec: ServiceSpec, claim: Claim): void {
  const wanted = spec.healthCheckNodePort
  const problem = wanted && claim.port(wanted)
  if (problem) throw failed(`failed to allocate requested HealthCheck NodePort ${wanted}: ${problem}`)
  const port = wanted || claim.nextPort()
  if (!port) throw failed('failed to allocate a HealthCheck NodePort 0: range is full')
  spec.healthCheckNodePort = port
}
