/**
 * `pods/NAME/log`, `exec`, `attach` and `portforward`: checks what can be checked without the node's kubelet, and
 * passes the request on to the kubelet.
 */
import type { V1Pod } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { badRequest, invalid, notFound } from '../../../machinery/status-error.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
} from '../../../machinery/validation/field-error.ts'
import { forbiddenError } from '../../authorization/forbidden-error.ts'
import { type KubeletRequest, kubeletLog, kubeletPortForward, kubeletStream } from '../../proxy/streaming/index.ts'
import { integerParameter } from '../../request-options/parameters.ts'
import type { Endpoint, Target } from '../endpoint.ts'
import { admitConnection } from './connection.ts'

type Pod = Model<V1Pod>

export const podLog: Endpoint = async (target) => {
  const { query, info } = target.request
  const errors = logOptionErrors(query)
  if (errors.length) throw invalid({ group: '', name: 'PodLogOptions' }, info.name, errors)
  const pod = await podOf(target)
  const container = containerOf(pod, query.get('container') ?? '')
  return pod.spec?.nodeName ? kubeletLog(kubeletRequestOf(target), pod, container) : { status: 204, headers: {} }
}

/** exec and attach, for one container. */
export const containerStream: Endpoint = async (target) => {
  await admitConnection(target)
  await confirmStream(target)
  const pod = await podOf(target)
  const container = containerOf(pod, target.request.query.get('container') ?? '')
  return kubeletStream(
    kubeletRequestOf(target),
    target.request.info.subresource === 'exec' ? 'exec' : 'attach',
    onNode(pod),
    container,
  )
}

export const portForward: Endpoint = async (target) => {
  await admitConnection(target)
  await confirmStream(target)
  return kubeletPortForward(kubeletRequestOf(target), onNode(await podOf(target)))
}

/**
 * Requires the permission to create: a WebSocket begins with GET, but read permissions do not allow streams (KEP-4006,
 * AuthorizePodWebsocketUpgradeCreatePermission).
 */
async function confirmStream({ services: { authorizer }, request: { user, info } }: Target): Promise<void> {
  if (info.verb === 'create') return
  const createInfo = { ...info, verb: 'create' }
  const { verdict, reason } = await authorizer.authorize({ user, info: createInfo })
  if (verdict !== 'allow') throw forbiddenError({ user, info: createInfo }, reason)
}

const kubeletRequestOf = ({ request, services: { places, waitGroup } }: Target): KubeletRequest => ({
  request,
  places,
  waitGroup,
})

function onNode(pod: Pod): Pod {
  if (!pod.spec?.nodeName) throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`)
  return pod
}

async function podOf({ services: { registry }, request, resource }: Target): Promise<Pod> {
  const { namespace, name } = request.info
  const pod = await registry.current(resource, resource.key(namespace, name))
  if (!pod) throw notFound(resource.groupResource, name)
  return pod.parse<Pod>()
}

const namesOf = (containers: readonly { readonly name: string }[] = []): string =>
  containers.map(({ name }) => name).join(' ')

/** The requested container. Throws 400 if the pod does not have it, and if it is ambiguous. */
function containerOf({ metadata, spec }: Pod, container: string): string {
  const { containers = [], initContainers, ephemeralContainers } = spec ?? {}
  if (container) {
    const all = [...containers, ...(initContainers ?? []), ...(ephemeralContainers ?? [])]
    if (!all.some(({ name }) => name === container))
      throw badRequest(`container ${container} is not valid for pod ${metadata.name}`)
    return container
  }
  const [only, another] = containers
  if (!only || another) {
    const init = initContainers?.length ? ` or one of the init containers: [${namesOf(initContainers)}]` : ''
    throw badRequest(
      `a container name must be specified for pod ${metadata.name}, choose one of: [${namesOf(containers)}]${init}`,
    )
  }
  return only.name
}

/** Selects the streams of a container's log (KEP-3288). */
const logStreams = ['All', 'Stderr', 'Stdout']

/** Returns the errors in the log options of a request. */
export function logOptionErrors(query: URLSearchParams): readonly FieldError[] {
  const errors: FieldError[] = []
  const atLeast = (name: string, least: number, words: string): void => {
    const value = integerParameter(query, name)
    if (value !== undefined && value < least) errors.push(invalidValue(name, value, words))
  }
  atLeast('tailLines', 0, 'must be greater than or equal to 0')
  atLeast('limitBytes', 1, 'must be greater than 0')
  if (query.get('sinceSeconds') && query.get('sinceTime'))
    errors.push(forbiddenField('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  else atLeast('sinceSeconds', 1, 'must be greater than 0')
  const stream = query.get('stream')
  if (stream === null) return errors
  if (!logStreams.includes(stream)) errors.push(notSupported('stream', stream, logStreams))
  if (stream !== 'All' && query.get('tailLines'))
    errors.push(forbiddenField('', '`tailLines` and specific `stream` are mutually exclusive for now'))
  return errors
}
