/**
 * Forwards requests about pods to the kubelets of their nodes: logs as a response; exec, attach and port-forward by
 * taking over the connection.
 */
import type { V1Node, V1Pod } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { badRequest, internal, notFound } from '../../../machinery/status-error.ts'
import type { Request, Response, Sink } from '../../http/exchange.ts'
import type { WaitGroup } from '../../http/wait-group.ts'
import {
  addressOf,
  type Backend,
  BackendError,
  type Forwarding,
  forward,
  isUpgrade,
} from '../../outgoing/forward/forward.ts'
import { forwardedHeaders } from '../../outgoing/forward/headers.ts'
import type { Places } from '../locate.ts'
import { wantsWebSocket, webSocketAnswer } from './answer-websocket.ts'
import { kubeletBackend } from './kubelet-backend.ts'
import { tunnel, wantsTunnel } from './port-forward-tunnel.ts'

type Pod = Model<V1Pod>

export interface KubeletRequest {
  readonly request: Request
  readonly places: Places
  readonly waitGroup: WaitGroup
}

/** The maximum number of bytes that are read of an error. */
const maxErrorBytes = 50_000

/** Query parameters of the API, and their names in the kubelet's API. */
const streamNames: Readonly<Record<string, string>> = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' }
const logNames = ['follow', 'previous', 'timestamps', 'sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes', 'stream']

/** A path of the kubelet's API for a pod, with an optional container. */
const kubeletPath = (what: string, { metadata: { namespace = '', name = '' } }: Pod, container?: string): string =>
  `/${[what, namespace, name, ...(container === undefined ? [] : [container])].map(encodeURIComponent).join('/')}`

const pair = (name: string, value: string): [string, string] => [name, value]

/** The log of a container, as a stream. Rejects with the kubelet's own message if there is none. */
export async function kubeletLog(asking: KubeletRequest, pod: Pod, container: string): Promise<Response> {
  const { request } = asking
  const query = new URLSearchParams(
    logNames.flatMap((name) => (request.query.has(name) ? [pair(name, request.query.get(name) ?? '')] : [])),
  )
  const backend = await kubeletOf(asking, pod)
  const target = `${kubeletPath('containerLogs', pod, container)}${query.size > 0 ? `?${query}` : ''}`
  const response = await passOn(asking, backend, target, { headers: {}, plain: true }).catch((error) => {
    if (!(error instanceof BackendError)) throw error
    throw internal(`Get ${JSON.stringify(`https://${addressOf(backend)}${target}`)}: ${error.message}`)
  })
  if (response.status >= 400) throw await refusalOf(response)
  if (wantsWebSocket(request)) return webSocketAnswer(request, response)
  return { ...response, headers: { 'content-type': response.headers['content-type'] ?? 'text/plain' } }
}

/** exec and attach. */
export function kubeletStream(
  asking: KubeletRequest,
  what: 'exec' | 'attach',
  pod: Pod,
  container: string,
): Promise<Response> {
  const { query } = asking.request
  const flags = Object.entries(streamNames).flatMap(([name, kubelets]) =>
    /^(1|true|t)$/i.test(query.get(name) ?? '') ? [pair(kubelets, '1')] : [],
  )
  const command = what === 'exec' ? query.getAll('command').map((word) => pair('command', word)) : []
  return upgraded(asking, pod, `${kubeletPath(what, pod, container)}?${new URLSearchParams([...flags, ...command])}`, {
    headers: forwardedHeaders(asking.request),
  })
}

export function kubeletPortForward(asking: KubeletRequest, pod: Pod): Promise<Response> {
  const { request, waitGroup } = asking
  const ports = request.query.getAll('ports').map((port) => pair('port', port))
  const target = `${kubeletPath('portForward', pod)}${ports.length > 0 ? `?${new URLSearchParams(ports)}` : ''}`
  const headers = forwardedHeaders(request)
  return upgraded(asking, pod, target, wantsTunnel(request) ? tunnel(request, headers, waitGroup) : { headers })
}

/** Forwards an upgrade: client and kubelet speak the new protocol directly, unless it is translated. */
async function upgraded(
  asking: KubeletRequest,
  pod: Pod,
  target: string,
  wanted: Pick<Forwarding, 'headers' | 'translation'>,
): Promise<Response> {
  if (!isUpgrade(asking.request)) throw badRequest('Upgrade request required')
  const response = await passOn(asking, await kubeletOf(asking, pod), target, wanted).catch((error) => {
    if (!(error instanceof BackendError)) throw error
    throw internal(`error dialing backend: ${error.message}`)
  })
  if (response.status >= 400) throw await refusalOf(response)
  return response
}

async function kubeletOf({ places }: KubeletRequest, { spec }: Pod): Promise<Backend> {
  const { registry, nodes, kubelets } = places
  const name = spec?.nodeName ?? ''
  const node = await registry.get(nodes, nodes.key('', name))
  if (!node) throw notFound(nodes.groupResource, name)
  return kubeletBackend(node.parse<Model<V1Node>>(), kubelets)
}

const passOn = (
  { request, waitGroup }: KubeletRequest,
  backend: Backend,
  target: string,
  wanted: Pick<Forwarding, 'headers' | 'translation' | 'plain'>,
): Promise<Response> =>
  forward({ request, backend, target, ...wanted, longRunning: true, waitGroup, followsRedirects: true })

/** The error for a kubelet's error response: its text is the message. */
async function refusalOf(response: Response): Promise<Error> {
  const text = (await textOf(response)).trim()
  if (response.status === 400) return badRequest(text)
  return internal(
    text || `the server responded with the status code ${response.status} but did not return more information`,
  )
}

function textOf({ body }: Response): Promise<string> {
  if (typeof body !== 'function') return Promise.resolve('')
  const { promise, resolve } = Promise.withResolvers<string>()
  const chunks: Buffer[] = []
  let size = 0
  const end = (): void => resolve(Buffer.concat(chunks).toString())
  const sink: Sink = {
    backlog: 0,
    write(chunk) {
      if (size < maxErrorBytes) chunks.push(chunk)
      size += chunk.length
    },
    ready: async () => {},
    end,
    destroy: end,
    onClose: () => {},
  }
  body(sink)
  return promise
}
