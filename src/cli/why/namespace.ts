/**
 * Reads the facts for `t8s why namespace`: the content of a namespace, what blocks its deletion, and which APIs are
 * unavailable.
 */
import { type DiscoveredResource, supports } from '../../client/discovery/discovery.ts'
import type { APIService, Namespace } from '../../client/kinds.ts'
import { apiServices, namespaces, services } from '../../client/kinds.ts'
import { collectionPath, objectPath } from '../../client/resource.ts'
import type {
  ApiServiceFacts,
  ContentFacts,
  NamespaceFacts,
} from '../../controllers/namespaces/explain/explain-namespace.ts'
import type { KubeObject } from '../../machinery/object.ts'
import type { WhyServer } from './server.ts'

/** Returns undefined if the namespace does not exist. */
export async function namespaceFacts(server: WhyServer, name: string): Promise<NamespaceFacts | undefined> {
  const namespace = await server.get<Namespace>(objectPath(namespaces, '', name))
  if (!namespace) return undefined
  const { deletionTimestamp, finalizers = [] } = namespace.metadata
  if (!deletionTimestamp) return { name, finalizers, content: [], apiServices: [] }
  const specFinalizers = namespace.spec?.finalizers?.filter((finalizer) => finalizer !== 'kubernetes') ?? []
  const { resources } = await server.discovery()
  const deletable = resources.filter(
    (resource) => resource.namespaced && resource.preferred && supports(resource, 'list', 'delete'),
  )
  const content = await Promise.all(deletable.map((resource) => contentOf(server, resource, name)))
  return {
    name,
    deletedAt: deletionTimestamp,
    finalizers: [...specFinalizers, ...finalizers],
    content: content.flatMap((found) => found ?? []),
    apiServices: await unavailable(server),
  }
}

async function contentOf(
  server: WhyServer,
  resource: DiscoveredResource,
  namespace: string,
): Promise<ContentFacts | undefined> {
  // An unavailable API is reported by its APIService.
  const items = await server.all<KubeObject>(collectionPath(resource, namespace)).catch(() => [])
  if (items.length === 0) return undefined
  const objects = items.map(({ metadata: { name = '', finalizers = [], deletionTimestamp } }) => ({
    name,
    finalizers,
    isBeingDeleted: deletionTimestamp !== undefined,
  }))
  const remaining = objects.find(({ isBeingDeleted }) => !isBeingDeleted)
  const deletionError = remaining && (await server.deletionError(objectPath(resource, namespace, remaining.name)))
  return {
    resource: resource.group ? `${resource.plural}.${resource.group}` : resource.plural,
    objects,
    ...(deletionError !== undefined && { refusal: deletionError }),
  }
}

async function unavailable(server: WhyServer): Promise<ApiServiceFacts[]> {
  const all = await server.all<APIService>(collectionPath(apiServices))
  const facts = all.map(async ({ metadata, spec, status }) => {
    const available = status?.conditions?.find(({ type }) => type === 'Available')
    if (available?.status !== 'False') return []
    const { namespace, name } = spec?.service ?? {}
    const service = namespace && name ? { namespace, name } : undefined
    const hasService = service
      ? (await server.get(objectPath(services, service.namespace, service.name))) !== undefined
      : false
    const message = available.message ?? available.reason ?? 'no reason is given'
    return [
      {
        name: metadata.name ?? '',
        message,
        hasService,
        ...(service && { service: `${service.namespace}/${service.name}` }),
      },
    ]
  })
  return (await Promise.all(facts)).flat()
}

export const deleteApiService = (server: WhyServer, name: string): Promise<void> =>
  server.delete(objectPath(apiServices, '', name))
