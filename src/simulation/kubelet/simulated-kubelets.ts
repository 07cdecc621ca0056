/**
 * The kubelets of all simulated nodes of a process, behind one address. Paths name the pod. For requests about a node,
 * the node is taken from the header that API servers set when they proxy a request (`X-Forwarded-Uri:
 * /api/v1/nodes/NAME/proxy/…`).
 */
import type { IncomingMessage } from 'node:http'
import type { Pod } from '../../client/kinds.ts'
import { HttpError } from '../../node/http-error.ts'
import type { ContainerPath, ServedNodes } from '../../node/server/served-nodes.ts'
import type { ContainerReference, PodReference } from '../../node/streaming/container-streams.ts'
import { serveStream } from '../../node/streaming/serve-stream.ts'
import type { NodeAgent } from '../nodes/agent.ts'
import { containerLog, type LivePod } from './logs.ts'
import { kubeletPage, type PageSources } from './pages.ts'
import { simulatedStreams } from './pod-streams.ts'

export interface KubeletSources extends PageSources {
  readonly agent: (name: string) => NodeAgent | undefined
  readonly pods: PodSource
}

export interface PodSource {
  find(namespace: string, name: string): Pod | undefined
  onChange(uid: string, callback: () => void): () => void
}

export function simulatedKubelets(sources: KubeletSources): ServedNodes {
  const { agent, pods } = sources
  const podOf = (reference: PodReference): LivePod => livePod(pods, reference)
  const streams = simulatedStreams(podOf)
  return {
    nodeOf: (request, pod) => (pod ? servedPod(sources, pod).nodeName : nodeOf(request, agent).name),
    page: ({ path }, nodeName) => kubeletPage(sources, path, working(agent(nodeName)!)),
    async log(container, options, signal) {
      const pod = servedPod(sources, container)
      return containerLog(podOf(pod), pod.container, options, signal)
    },
    async stream(upgrade, kind, container, query) {
      await serveStream(upgrade, kind, servedPod(sources, container), query, streams)
    },
  }
}

/** A container of a pod, with the node that the pod is on. */
interface ServedContainer extends ContainerReference {
  readonly nodeName: string
}

/** Throws an HttpError if the pod is on none of the nodes, or cannot be reached. */
function servedPod({ agent, pods }: KubeletSources, { namespace, name, container }: ContainerPath): ServedContainer {
  const found = pods.find(namespace, name)
  const node = agent(found?.spec?.nodeName ?? '')
  if (!found || !node) throw new HttpError(404, `pod ${JSON.stringify(name)} not found\n`)
  return { namespace, name, container, uid: found.metadata.uid ?? '', nodeName: working(node).name }
}

/** Throws an HttpError if the node has failed. */
function working(node: NodeAgent): NodeAgent {
  if (node.isWorking) return node
  throw new HttpError(
    500,
    `the container runtime of ${node.name} is down: the node has the simulated failure ${node.failure}`,
  )
}

const livePod = (pods: PodSource, { namespace, name, uid }: PodReference): LivePod => ({
  current: () => {
    const now = pods.find(namespace, name)
    return now?.metadata.uid === uid ? now : undefined
  },
  onChange: (callback) => pods.onChange(uid, callback),
})

function nodeOf({ headers }: IncomingMessage, agentOf: (name: string) => NodeAgent | undefined): NodeAgent {
  const uri = headers['x-forwarded-uri']
  const [, name] = /^\/api\/v1\/nodes\/([^/]+)\/proxy/.exec(typeof uri === 'string' ? uri : '') ?? []
  const agent =
    name &&
    agentOf(
      decodeURIComponent(name)
        .replace(/^https?:/, '')
        .replace(/:\d*$/, ''),
    )
  if (!agent)
    throw new HttpError(
      404,
      'request a node through /api/v1/nodes/NAME/proxy of the API server: many nodes share this address',
    )
  return agent
}
