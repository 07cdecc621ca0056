/** The picture of all Gateways of this proxy: the routes of each port, and the status of every object. */
import type { SecretForHost } from '../ingress-routes.ts'
import type { Route } from '../route.ts'
import { type AttachedRoute, attachRoute, type ParentConditions } from './attachments.ts'
import { type NewCondition, negative, positive } from './conditions.ts'
import { patternOfHostname } from './hostnames.ts'
import type { AnyRoute, Gateway, GatewayClass, GrpcRoute, HttpRoute } from './kinds.ts'
import { type ListenerLookup, type ListenerState, listenerStates } from './listeners.ts'
import { type BackendLookup, type CompiledRoute, compileGrpcRoute, compileHttpRoute } from './route-rules.ts'

/** `spec.controllerName` of the classes whose Gateways this proxy serves. */
export const gatewayController = 'typernetes.io/gateway-controller'

/** All objects of the Gateway API, and the parts of others that it refers to. */
export interface GatewayWorld extends ListenerLookup, BackendLookup {
  readonly classes: Iterable<GatewayClass>
  readonly gateways: Iterable<Gateway>
  readonly httpRoutes: Iterable<HttpRoute>
  readonly grpcRoutes: Iterable<GrpcRoute>
  /** The addresses of the proxy. */
  readonly addresses: readonly string[]
  namespaceLabels(namespace: string): Readonly<Record<string, string>> | undefined
}

export interface GatewayPort {
  readonly isSecure: boolean
  readonly routes: Route[]
  /** Patterns of all listeners: a name of one that has no route for it is not served by a less specific one. */
  readonly hosts: string[]
  readonly secrets: SecretForHost[]
}

export interface GatewayConditions {
  readonly gateway: Gateway
  readonly conditions: readonly NewCondition[]
  readonly listeners: readonly ListenerState[]
}

export interface RouteConditions {
  readonly route: AnyRoute
  readonly parents: readonly ParentConditions[]
}

export interface GatewayPicture {
  /** By port in the objects. */
  readonly ports: ReadonlyMap<number, GatewayPort>
  /** Of all listeners, also of those that are not usable yet. */
  readonly secrets: readonly SecretForHost[]
  readonly namedPorts: ReadonlySet<number>
  readonly classes: readonly GatewayClass[]
  readonly gateways: readonly GatewayConditions[]
  readonly routes: readonly RouteConditions[]
}

/** Computes the picture. `listeners` of the result count their routes. */
export function pictureOfGateways(world: GatewayWorld): GatewayPicture {
  const classes = [...world.classes].filter(({ spec }) => spec.controllerName === gatewayController)
  const names = new Set(classes.map(({ metadata }) => metadata.name))
  const gateways = [...world.gateways].filter(({ spec }) => names.has(spec.gatewayClassName)).sort(byAge)
  const states = listenerStates(gateways, world)
  const ports = portsOf(states)
  const routes: RouteConditions[] = []
  const add = (route: AnyRoute, compiled: CompiledRoute): void => {
    const attached = attachRoute(route, compiled, states, (namespace) => world.namespaceLabels(namespace))
    routes.push({ route, parents: attached.parents })
    addRoutes(ports, route, compiled, attached)
  }
  for (const route of world.httpRoutes) add(route, compileHttpRoute(route, world))
  for (const route of world.grpcRoutes) add(route, compileGrpcRoute(route, world))
  return {
    ports,
    secrets: states.flatMap(({ secrets }) => secrets),
    namedPorts: new Set(states.map(({ listener }) => listener.port)),
    classes,
    gateways: gateways.map((gateway) => conditionsOf(gateway, states, world.addresses)),
    routes,
  }
}

const ageOf = ({ metadata }: Gateway): string => `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`
const byAge = (a: Gateway, b: Gateway): number => (ageOf(a) < ageOf(b) ? -1 : 1)

function portsOf(states: readonly ListenerState[]): Map<number, GatewayPort> {
  const ports = new Map<number, GatewayPort>()
  for (const { listener, isSecure, isUsable, secrets } of states) {
    if (!isUsable) continue
    const port = ports.get(listener.port) ?? { isSecure, routes: [], hosts: [], secrets: [] }
    ports.set(listener.port, port)
    port.hosts.push(patternOfHostname(listener.hostname))
    port.secrets.push(...secrets)
  }
  return ports
}

function addRoutes(
  ports: ReadonlyMap<number, GatewayPort>,
  { metadata }: AnyRoute,
  { rules }: CompiledRoute,
  { attachments }: AttachedRoute,
): void {
  const origin = { createdAt: metadata.creationTimestamp ?? '', key: `${metadata.namespace}/${metadata.name}` }
  const hostsOfPorts = new Map<GatewayPort, Set<string>>()
  for (const { state, hostnames } of attachments) {
    const port = state.isUsable ? ports.get(state.listener.port) : undefined
    if (!port) continue
    const hosts = hostsOfPorts.get(port) ?? new Set<string>()
    hostsOfPorts.set(port, hosts)
    for (const hostname of hostnames) hosts.add(patternOfHostname(hostname))
  }
  for (const [port, hosts] of hostsOfPorts)
    for (const host of hosts)
      for (const { matches, action } of rules)
        for (const match of matches) port.routes.push({ host, match, action, origin })
}

function conditionsOf(
  gateway: Gateway,
  states: readonly ListenerState[],
  addresses: readonly string[],
): GatewayConditions {
  const listeners = states.filter((state) => state.gateway === gateway)
  const usable = listeners.filter(({ isUsable }) => isUsable)
  const foreign = gateway.spec.addresses?.find(({ value }) => value !== undefined && !addresses.includes(value))
  const message = 'a listener is not valid: see its conditions'
  const accepted =
    usable.length === 0
      ? negative('Accepted', 'ListenersNotValid', message)
      : usable.length < listeners.length
        ? positive('Accepted', 'ListenersNotValid', message)
        : positive('Accepted')
  const programmed = foreign
    ? negative('Programmed', 'AddressNotUsable', `${foreign.value} is not an address of the proxy: remove it`)
    : usable.length === 0
      ? negative('Programmed', 'Invalid', 'no listener is valid: see their conditions')
      : positive('Programmed')
  return { gateway, conditions: [accepted, programmed], listeners }
}
