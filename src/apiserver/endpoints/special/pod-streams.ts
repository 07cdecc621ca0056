/**
 * `pods/NAME/log`, `exec`, `attach` and `portforward`: what can be said without the node's kubelet. Nobody speaks to kubelets yet:
 * the streams of pods that are on a node are refused.
 */
import type { V1Pod } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { badRequest, invalid, methodNotAllowed, notFound } from '../../../machinery/status-error.ts'
import { type FieldError, forbiddenField, invalidValue } from '../../../machinery/validation/field-error.ts'
import { refused } from '../../chain/identity/authorization.ts'
import { integerParameter } from '../../request/parameters.ts'
import type { Endpoint, Target } from '../endpoint.ts'
import { admitConnection } from './connection.ts'

type Pod = Model<V1Pod>

export const podLog: Endpoint = async (target) => {
  const { query, info } = target.request
  const errors = logOptionErrors(query)
  if (errors.length) throw invalid({ group: '', name: 'PodLogOptions' }, info.name, errors)
  const pod = await podOf(target)
  checkContainer(pod, query.get('container') ?? '')
  if (pod.spec?.nodeName) throw methodNotAllowed()
  return { status: 204, headers: {} }
}

/** exec and attach are about a container. */
export const containerStream: Endpoint = async (target) => {
  await admitConnection(target)
  await confirmStream(target)
  const pod = await podOf(target)
  checkContainer(pod, target.request.query.get('container') ?? '')
  return onNode(pod)
}

export const portForward: Endpoint = async (target) => {
  await admitConnection(target)
  await confirmStream(target)
  return onNode(await podOf(target))
}

/** A WebSocket begins with GET: who may only read has no stream all the same (KEP-4006, AuthorizePodWebsocketUpgradeCreatePermission). */
async function confirmStream({ services: { authorizer }, request: { user, info } }: Target): Promise<void> {
  if (info.verb === 'create') return
  const asked = { ...info, verb: 'create' }
  const { verdict, reason } = await authorizer.authorize({ user, info: asked })
  if (verdict !== 'allow') throw refused({ user, info: asked }, reason)
}

function onNode({ metadata, spec }: Pod): never {
  if (!spec?.nodeName) throw badRequest(`pod ${metadata.name} does not have a host assigned`)
  throw methodNotAllowed()
}

async function podOf({ services: { registry }, request, resource }: Target): Promise<Pod> {
  const { namespace, name } = request.info
  const pod = await registry.get(resource, resource.key(namespace, name))
  if (!pod) throw notFound(resource.groupResource, name)
  return pod.parse<Pod>()
}

const namesOf = (containers: readonly { readonly name: string }[] = []): string => containers.map(({ name }) => name).join(' ')

/** Throws 400 for a container that the pod does not have, and where it is not clear which one is meant. */
function checkContainer({ metadata, spec }: Pod, container: string): void {
  const { containers = [], initContainers, ephemeralContainers } = spec ?? {}
  if (container) {
    const all = [...containers, ...(initContainers ?? []), ...(ephemeralContainers ?? [])]
    if (!all.some(({ name }) => name === container)) throw badRequest(`container ${container} is not valid for pod ${metadata.name}`)
  } else if (containers.length !== 1) {
    const init = initContainers?.length ? ` or one of the init containers: [${namesOf(initContainers)}]` : ''
    throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${namesOf(containers)}]${init}`)
  }
}

function logOptionErrors(query: URLSearchParams): readonly FieldError[] {
  const errors: FieldError[] = []
  const atLeast = (name: string, least: number, words: string): void => {
    const value = integerParameter(query, name)
    if (value !== undefined && value < least) errors.push(invalidValue(name, value, words))
  }
  atLeast('tailLines', 0, 'must be greater than or equal to 0')
  atLeast('limitBytes', 1, 'must be greater than 0')
  if (query.get('sinceSeconds') && query.get('sinceTime')) errors.push(forbiddenField('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  else atLeast('sinceSeconds', 1, 'must be greater than 0')
  return errors
}
