/** Reads the facts for `t8s why kept` and `t8s why deleted`: an object, its owners and its dependents. */
import { type DiscoveredResource, type Discovery, supports } from '../../client/discovery/discovery.ts'
import { apiVersionOf, collectionPath, objectPath, type Resource } from '../../client/resource.ts'
import type { ObjectFacts, OwnerFound } from '../../controllers/garbage-collection/explain/explain-object.ts'
import { stateOf } from '../../controllers/garbage-collection/graph/node.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { KubeObject, OwnerReference } from '../../machinery/object.ts'
import type { WhyServer } from './server.ts'

export interface ObjectQuery {
  readonly kind: string
  readonly name: string
  readonly namespace: string
}

/** Returns only the title if the object does not exist. Rejects with an ExplainedError for an unknown kind. */
export async function objectFacts(
  server: WhyServer,
  { kind, name, namespace }: ObjectQuery,
): Promise<ObjectFacts | string> {
  const discovery = await server.discovery()
  const resource = findResource(discovery, kind)
  if (!resource)
    throw new ExplainedError(
      `the server has no kind ${JSON.stringify(kind)}: list its kinds with kubectl api-resources`,
    )
  const place = resource.namespaced ? namespace : ''
  const object = await server.get<KubeObject>(objectPath(resource, place, name))
  if (!object) return titleOf(resource.kind, place, name)
  const { metadata } = object
  const references = metadata.ownerReferences ?? []
  const owners = await Promise.all(
    references.map(async (reference) => ({
      reference,
      found: await findOwner(server, discovery, reference, metadata.namespace ?? ''),
    })),
  )
  return {
    title: titleOf(resource.kind, place, name),
    state: stateOf(metadata),
    ...(metadata.deletionTimestamp && { deletedAt: metadata.deletionTimestamp }),
    owners,
    dependents: await findDependents(server, discovery, object),
  }
}

/** Finds the resource for `pods`, `po`, `Pod` or `deployments.apps`. */
function findResource({ resources }: Discovery, text: string): DiscoveredResource | undefined {
  const [word = '', ...rest] = text.toLowerCase().split('.')
  const group = rest.join('.')
  const matches = ({ plural, singular, kind, shortNames }: DiscoveredResource): boolean =>
    plural === word || singular === word || kind.toLowerCase() === word || shortNames.includes(word)
  return resources.find(
    (resource) => resource.preferred && matches(resource) && (group === '' || resource.group === group),
  )
}

async function findOwner(
  server: WhyServer,
  { resources }: Discovery,
  { apiVersion, kind, name, uid }: OwnerReference,
  namespace: string,
): Promise<OwnerFound> {
  const resource = resources.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion)
  if (!resource) return 'unknown kind'
  if (resource.namespaced && namespace === '') return 'out of reach'
  const owner = await server.get<KubeObject>(objectPath(resource, resource.namespaced ? namespace : '', name))
  if (!owner) return 'absent'
  return owner.metadata.uid === uid ? stateOf(owner.metadata) : 'another uid'
}

/** Searches dependents only for an object that is being deleted, since without an index that lists all kinds. */
async function findDependents(
  server: WhyServer,
  { resources }: Discovery,
  owner: KubeObject,
): Promise<ObjectFacts['dependents']> {
  const { deletionTimestamp, namespace = '', uid } = owner.metadata
  if (!deletionTimestamp) return []
  const possible = resources.filter(
    (resource) =>
      resource.preferred && supports(resource, 'list', 'delete') && (resource.namespaced || namespace === ''),
  )
  const lists = await Promise.all(
    possible.map(async (resource) => ({ resource, items: await listOrEmpty(server, resource, namespace) })),
  )
  return lists.flatMap(({ resource, items }) =>
    items.flatMap((item) => {
      const reference = item.metadata.ownerReferences?.find((one) => one.uid === uid)
      return reference
        ? [
            {
              title: titleOf(resource.kind, item.metadata.namespace, item.metadata.name),
              blocks: reference.blockOwnerDeletion === true,
            },
          ]
        : []
    }),
  )
}

/** Returns an empty list for a kind whose API is unavailable. */
const listOrEmpty = (server: WhyServer, resource: Resource, namespace: string): Promise<readonly KubeObject[]> =>
  server.all<KubeObject>(collectionPath(resource, namespace)).catch(() => [])

const titleOf = (kind: string, namespace = '', name = ''): string => `${kind} ${namespace && `${namespace}/`}${name}`
