/** NodeMetrics and PodMetrics: selected as their nodes and pods are, with the messages of metrics-server. */
import type { V1Node, V1Pod } from '@kubernetes/client-node'
import type { KubeObject, Model } from '../../../machinery/object.ts'
import { notFound, resourceNotFound } from '../../../machinery/status-error.ts'
import type { Response } from '../../http/exchange.ts'
import { representationFor } from '../../negotiation/choose.ts'
import { selection } from '../../registry/cache/selection.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { type StoredObject, unstored } from '../../registry/stored-object.ts'
import { listOptions } from '../../request-options/list-options.ts'
import { type Endpoint, objectResponse, type Target } from '../endpoint.ts'

type Node = Model<V1Node>
type Pod = Model<V1Pod>

const isRunning = ({ status }: Pod): boolean => status?.phase === 'Running'

export const getNodeMetrics: Endpoint = async (target) => {
  const { services, request, resource } = target
  const representation = representationFor(request, resource, 'object')
  const { nodes, registry } = services.places
  const { name } = request.info
  const node = await registry.get(nodes, nodes.key('', name))
  if (!node) throw notFound(nodes.groupResource, name)
  const [metrics] = await metricsOf(target).nodes([node.parse<Node>()])
  if (!metrics) throw notFound({ group: resource.definition.group, name: 'nodemetrics' }, name)
  return objectResponse(representation, unstored(resource, metrics))
}

export const listNodeMetrics: Endpoint = async (target) => {
  const nodes = await selected(target, target.services.places.nodes)
  return list(target, await metricsOf(target).nodes(nodes.map((node) => node.parse<Node>())))
}

export const getPodMetrics: Endpoint = async (target) => {
  const { services, request, resource } = target
  const { namespace, name } = request.info
  if (!namespace) throw resourceNotFound()
  const representation = representationFor(request, resource, 'object')
  const { pods, registry } = services.places
  const pod = (await registry.get(pods, pods.key(namespace, name)))?.parse<Pod>()
  if (!pod || !isRunning(pod)) throw notFound(pods.groupResource, name)
  const [metrics] = await metricsOf(target).pods([pod])
  if (!metrics) throw notFound({ group: resource.definition.group, name: 'podmetrics' }, `${namespace}/${name}`)
  return objectResponse(representation, unstored(resource, metrics))
}

export const listPodMetrics: Endpoint = async (target) => {
  const pods = await selected(target, target.services.places.pods)
  return list(target, await metricsOf(target).pods(pods.map((pod) => pod.parse<Pod>()).filter(isRunning)))
}

/** Without it, the resources are not served. */
function metricsOf({ services: { resourceMetrics } }: Target) {
  if (!resourceMetrics) throw resourceNotFound()
  return resourceMetrics
}

/** The nodes or pods that the selectors and the namespace of the request select, sorted by name. */
async function selected({ request, resource, services }: Target, of: ServedResource): Promise<StoredObject[]> {
  const { labels, fields } = listOptions(request.query, resource, false)
  const view = await services.places.registry.cacher(of).ready()
  const chosen = selection(of.prefix, labels, fields)
  return view.objects.slice(of.range(request.info.namespace)).filter((object) => chosen.matches(object))
}

function list({ request, resource }: Target, objects: readonly KubeObject[]): Response {
  const representation = representationFor(request, resource, 'list')
  return {
    status: 200,
    headers: { 'content-type': representation.contentType },
    body: representation.list(
      objects.map((object) => unstored(resource, object)),
      {},
    ),
  }
}
