/** Listeners of Gateways: which are usable, and which routes they allow. */
import { labelSelectorOf } from '../../../../machinery/selectors/label-selector.ts'
import type { SecretForHost } from '../ingress-routes.ts'
import { type NewCondition, negative, positive } from './conditions.ts'
import { isGranted } from './grants.ts'
import { patternOfHostname } from './hostnames.ts'
import {
  type AnyRoute,
  type Gateway,
  gatewayGroup,
  type Listener,
  type Reference,
  type ReferenceGrant,
  type RouteKind,
} from './kinds.ts'

export interface ListenerState {
  readonly gateway: Gateway
  readonly listener: Listener
  readonly isSecure: boolean
  /** True if it serves requests. */
  readonly isUsable: boolean
  readonly supportedKinds: readonly RouteKind[]
  readonly conditions: readonly NewCondition[]
  readonly secrets: readonly SecretForHost[]
  attachedRoutes: number
}

export interface ListenerLookup {
  readonly grants: readonly ReferenceGrant[]
  /** Returns why a Secret has no certificate; undefined if it has one, or has not been read. */
  secretFault(namespace: string, name: string): string | undefined
  /** Returns why a port is not open; undefined if it is. */
  portFault(port: number, isSecure: boolean): string | undefined
}

const routeKinds: readonly string[] = ['HTTPRoute', 'GRPCRoute']

/** The states of listeners. Gateways are in order of age: of listeners in conflict, the first one is usable. */
export function listenerStates(gateways: readonly Gateway[], lookup: ListenerLookup): ListenerState[] {
  const states: ListenerState[] = []
  for (const gateway of gateways)
    for (const listener of gateway.spec.listeners ?? []) states.push(stateOf(gateway, listener, states, lookup))
  return states
}

function stateOf(
  gateway: Gateway,
  listener: Listener,
  earlier: readonly ListenerState[],
  lookup: ListenerLookup,
): ListenerState {
  const isSecure = listener.protocol === 'HTTPS'
  const accepted = acceptedCondition(listener, isSecure, lookup)
  const conflicted = conflictCondition(gateway, listener, earlier)
  const { kinds, invalid } = kindsOf(listener)
  const { secrets, fault } = isSecure ? secretsOf(gateway, listener, lookup) : { secrets: [], fault: undefined }
  const resolvedRefs =
    fault ??
    (invalid
      ? negative('ResolvedRefs', 'InvalidRouteKinds', `routes of kind ${invalid} are not supported: remove it`)
      : positive('ResolvedRefs'))
  const isUsable = accepted.status === 'True' && conflicted.status === 'False' && fault === undefined
  const programmed = isUsable
    ? positive('Programmed')
    : negative('Programmed', 'Invalid', 'the listener is not valid: see its other conditions')
  return {
    gateway,
    listener,
    isSecure,
    isUsable,
    supportedKinds: kinds,
    conditions: [accepted, conflicted, resolvedRefs, programmed],
    secrets,
    attachedRoutes: 0,
  }
}

function acceptedCondition({ protocol, port, tls }: Listener, isSecure: boolean, lookup: ListenerLookup): NewCondition {
  if (protocol !== 'HTTP' && !isSecure)
    return negative('Accepted', 'UnsupportedProtocol', `protocol ${protocol} is not supported: use HTTP or HTTPS`)
  if (tls?.mode === 'Passthrough')
    return negative('Accepted', 'UnsupportedValue', 'TLS mode Passthrough is not supported: use Terminate')
  const fault = lookup.portFault(port, isSecure)
  return fault ? negative('Accepted', 'PortUnavailable', fault) : positive('Accepted')
}

function conflictCondition(
  gateway: Gateway,
  { port, protocol, hostname = '' }: Listener,
  earlier: readonly ListenerState[],
): NewCondition {
  const samePort = earlier.filter((state) => state.isUsable && state.listener.port === port)
  const other = samePort.find((state) => state.listener.protocol !== protocol)
  if (other)
    return {
      ...positive('Conflicted', 'ProtocolConflict'),
      message: `port ${port} has protocol ${other.listener.protocol}: use another port`,
    }
  const same = samePort.find((state) => state.gateway === gateway && (state.listener.hostname ?? '') === hostname)
  if (same)
    return {
      ...positive('Conflicted', 'HostnameConflict'),
      message: `listener ${same.listener.name} has the same port and hostname: change one of them`,
    }
  return negative('Conflicted', 'NoConflicts', '')
}

/** A listener of another protocol allows no routes, so that none of its hostnames count. */
function kindsOf({ allowedRoutes, protocol }: Listener): {
  readonly kinds: readonly RouteKind[]
  readonly invalid?: string
} {
  if (protocol !== 'HTTP' && protocol !== 'HTTPS') return { kinds: [] }
  const wanted = allowedRoutes?.kinds ?? []
  if (wanted.length === 0) return { kinds: routeKinds.map((kind) => ({ group: gatewayGroup, kind })) }
  const isKnown = ({ group = gatewayGroup, kind }: RouteKind): boolean =>
    group === gatewayGroup && routeKinds.includes(kind)
  const kinds = wanted.filter(isKnown).map(({ kind }) => ({ group: gatewayGroup, kind }))
  return { kinds, invalid: wanted.find((one) => !isKnown(one))?.kind }
}

function secretsOf(
  gateway: Gateway,
  { hostname, tls }: Listener,
  lookup: ListenerLookup,
): { readonly secrets: readonly SecretForHost[]; readonly fault: NewCondition | undefined } {
  const references = tls?.certificateRefs ?? []
  const secrets: SecretForHost[] = []
  let fault: NewCondition | undefined
  const fail = (reason: string, message: string): void => {
    fault ??= negative('ResolvedRefs', reason, message)
  }
  if (references.length === 0) fail('InvalidCertificateRef', 'tls.certificateRefs is empty: name a Secret')
  for (const reference of references) {
    const found = secretOf(gateway, reference, lookup.grants)
    if ('reason' in found) {
      fail(found.reason, found.message)
      continue
    }
    secrets.push({ ...found, host: patternOfHostname(hostname) })
    const secretFault = lookup.secretFault(found.namespace, found.name)
    if (secretFault) fail('InvalidCertificateRef', secretFault)
  }
  return { secrets, fault }
}

function secretOf(
  { metadata }: Gateway,
  { group = '', kind = 'Secret', name, namespace = metadata.namespace ?? '' }: Reference,
  grants: readonly ReferenceGrant[],
): { readonly namespace: string; readonly name: string } | { readonly reason: string; readonly message: string } {
  if (group !== '' || kind !== 'Secret')
    return { reason: 'InvalidCertificateRef', message: `${kind} ${namespace}/${name} is not a Secret: name a Secret` }
  const from = { group: gatewayGroup, kind: 'Gateway', namespace: metadata.namespace ?? '' }
  if (isGranted({ from, to: { group, kind, namespace, name } }, grants)) return { namespace, name }
  const message = `no ReferenceGrant in ${namespace} allows Secret ${namespace}/${name}: create one`
  return { reason: 'RefNotPermitted', message }
}

/** Returns true if the listener allows routes of this kind and namespace. `labelsOf` returns those of a namespace. */
export function allowsRoute(
  { gateway, listener, supportedKinds }: ListenerState,
  { kind, metadata }: AnyRoute,
  labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined,
): boolean {
  if (!supportedKinds.some((one) => one.kind === kind)) return false
  const namespace = metadata.namespace ?? ''
  const { from = 'Same', selector } = listener.allowedRoutes?.namespaces ?? {}
  switch (from) {
    case 'All':
      return true
    case 'Selector':
      return labelSelectorOf(selector).matches(labelsOf(namespace) ?? {})
    case 'Same':
      return namespace === gateway.metadata.namespace
    default:
      return false
  }
}
