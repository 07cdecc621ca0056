/** Attaches routes to listeners: decides which listeners serve a route, and the conditions for each of its parents. */
import { type NewCondition, negative, positive } from './conditions.ts'
import { commonHostnames } from './hostnames.ts'
import { type AnyRoute, gatewayGroup, type ParentReference } from './kinds.ts'
import { allowsRoute, type ListenerState } from './listeners.ts'
import type { CompiledRoute } from './route-rules.ts'

/** A listener that serves a route, with the hostnames that they have in common. */
export interface Attachment {
  readonly state: ListenerState
  readonly hostnames: readonly string[]
}

/** The conditions for a parent of a route. */
export interface ParentConditions {
  readonly parentRef: ParentReference
  readonly conditions: readonly NewCondition[]
}

export interface AttachedRoute {
  readonly attachments: readonly Attachment[]
  readonly parents: readonly ParentConditions[]
}

type LabelsOf = (namespace: string) => Readonly<Record<string, string>> | undefined

/** Parents that are not Gateways of this proxy are ignored: `states` has all listeners of the others. */
export function attachRoute(
  route: AnyRoute,
  compiled: CompiledRoute,
  states: readonly ListenerState[],
  labelsOf: LabelsOf,
): AttachedRoute {
  const attachments = new Map<ListenerState, Attachment>()
  const parents: ParentConditions[] = []
  for (const parentRef of route.spec.parentRefs ?? []) {
    const ofGateway = states.filter((state) => isParent(parentRef, route, state))
    if (ofGateway.length === 0) continue
    const found = attachmentsOf(route, parentRef, ofGateway, labelsOf)
    const accepted = 'reason' in found ? found : (compiled.fault ?? positive('Accepted'))
    if (!('reason' in found) && accepted.status === 'True')
      for (const attachment of found) attachments.set(attachment.state, attachment)
    parents.push({ parentRef, conditions: [accepted, compiled.resolvedRefs] })
  }
  for (const { state } of attachments.values()) state.attachedRoutes++
  return { attachments: [...attachments.values()], parents }
}

function isParent(
  { group = gatewayGroup, kind = 'Gateway', namespace, name }: ParentReference,
  { metadata }: AnyRoute,
  { gateway }: ListenerState,
): boolean {
  return (
    group === gatewayGroup &&
    kind === 'Gateway' &&
    name === gateway.metadata.name &&
    (namespace ?? metadata.namespace) === gateway.metadata.namespace
  )
}

function attachmentsOf(
  route: AnyRoute,
  { sectionName, port }: ParentReference,
  states: readonly ListenerState[],
  labelsOf: LabelsOf,
): readonly Attachment[] | NewCondition {
  const matching = states.filter(
    ({ listener }) =>
      (sectionName === undefined || listener.name === sectionName) && (port === undefined || listener.port === port),
  )
  if (matching.length === 0)
    return negative('Accepted', 'NoMatchingParent', 'no listener has this sectionName and port: change the parentRef')
  const allowing = matching.filter((state) => allowsRoute(state, route, labelsOf))
  if (allowing.length === 0)
    return negative(
      'Accepted',
      'NotAllowedByListeners',
      `no listener allows a ${route.kind} of this namespace: change allowedRoutes`,
    )
  const attachments = allowing
    .map((state) => ({ state, hostnames: commonHostnames(state.listener.hostname, route.spec.hostnames) }))
    .filter(({ hostnames }) => hostnames.length > 0)
  if (attachments.length > 0) return attachments
  return negative(
    'Accepted',
    'NoMatchingListenerHostname',
    'no listener has a hostname in common with the route: change the hostnames',
  )
}
