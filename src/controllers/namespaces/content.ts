/**
 * Deletes all objects in a namespace: pods first, other kinds after all pods are deleted (KEP-5080). Reports what
 * remains and why.
 */
import { type DiscoveredResource, type Discovery, discover, supports } from '../../client/discovery/discovery.ts'
import { type Pod, pods } from '../../client/kinds.ts'
import { metadataPages } from '../../client/rest/metadata.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { reasonOf } from '../../lib/explained-error.ts'
import { StatusError } from '../../machinery/status-error.ts'

/** Remaining objects of one kind. */
export interface Remaining {
  readonly resource: Pick<DiscoveredResource, 'group' | 'version' | 'plural'>
  readonly count: number
  /** Number of objects by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
}

export interface ContentReport {
  /** The reason why not all kinds are known, as client-go's message. */
  readonly discoveryFailure?: string
  /** Errors of deletes and lists. */
  readonly failures: readonly string[]
  readonly remaining: readonly Remaining[]
  /** Estimated time until the remaining objects are deleted, in seconds. */
  readonly estimate: number
}

/** Estimated time for finalizers, in seconds. */
const finalizerEstimate = 15

/** `deletedAt` and `now` are in ms. Rejects only if discovery fails completely. */
export async function deleteContent(
  client: RestClient,
  namespace: string,
  deletedAt: number,
  now: () => number,
): Promise<ContentReport> {
  const discovery = await discover(client)
  const discoveryFailure = discoveryMessage(discovery)
  const deletable = discovery.resources.filter(
    (resource) => resource.namespaced && resource.preferred && supports(resource, 'delete'),
  )
  const isPod = ({ group, plural }: DiscoveredResource): boolean => group === '' && plural === 'pods'
  const failures: string[] = []
  const remaining: Remaining[] = []
  let estimate = 0

  const deleteAll = async (resource: DiscoveredResource): Promise<void> => {
    try {
      const grace = isPod(resource) ? await remainingGrace(client, namespace, deletedAt, now) : 0
      const content = await deleteObjects(client, resource, namespace)
      if (!content) return
      remaining.push(content)
      estimate = Math.max(estimate, grace || (content.finalizers.size > 0 ? finalizerEstimate : 0))
      if (grace === 0 && content.finalizers.size === 0) failures.push(unexpected(namespace, resource))
    } catch (error) {
      // The server's errors name the resource, connection errors do not.
      failures.push(
        error instanceof StatusError ? error.message : `${resource.plural}.${resource.group}: ${reasonOf(error)}`,
      )
    }
  }
  for (const resource of deletable.filter(isPod)) await deleteAll(resource)
  if (remaining.length === 0) for (const resource of deletable) if (!isPod(resource)) await deleteAll(resource)
  return { ...(discoveryFailure && { discoveryFailure }), failures, remaining, estimate }
}

const unexpected = (namespace: string, { group, version, plural }: DiscoveredResource): string =>
  `unexpected items still remain in namespace: ${namespace} for gvr: ${group}/${version}, Resource=${plural}`

/** client-go's message for groups that cannot be discovered. */
function discoveryMessage({ failed }: Discovery): string | undefined {
  if (failed.length === 0) return undefined
  const groups = [...failed]
    .sort()
    .map((groupVersion) => `${groupVersion}: stale GroupVersion discovery: ${groupVersion}`)
  return (
    `Discovery failed for some groups, ${failed.length} failing: unable to retrieve the complete list of server ` +
    `APIs: ${groups.join(', ')}`
  )
}

/** Deletes the objects of a kind; resolves with the remaining ones, if any. */
async function deleteObjects(
  client: RestClient,
  resource: DiscoveredResource,
  namespace: string,
): Promise<Remaining | undefined> {
  if (!supports(resource, 'list')) {
    if (supports(resource, 'deletecollection'))
      await unlessUnsupported(client.deleteCollection(resource, { namespace }, background))
    return undefined
  }
  // Lists first, as most kinds have no objects in most namespaces.
  const existing = await unlessUnsupported(listContent(client, resource, namespace))
  if (!existing) return undefined
  if (supports(resource, 'deletecollection'))
    await unlessUnsupported(client.deleteCollection(resource, { namespace }, background))
  else for (const name of existing.names) await unlessUnsupported(client.delete(resource, namespace, name, background))
  return unlessUnsupported(listContent(client, resource, namespace))
}

const background = { propagationPolicy: 'Background' } as const

async function listContent(
  client: RestClient,
  resource: DiscoveredResource,
  namespace: string,
): Promise<(Remaining & { readonly names: string[] }) | undefined> {
  const names: string[] = []
  const finalizers = new Map<string, number>()
  for await (const { items } of metadataPages(client, resource, namespace)) {
    for (const { metadata } of items) {
      names.push(metadata.name ?? '')
      for (const finalizer of metadata.finalizers ?? []) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
    }
  }
  return names.length > 0 ? { resource, count: names.length, finalizers, names } : undefined
}

/** Ignores 404 and 405: a removed or unsupported resource does not block the namespace. */
async function unlessUnsupported<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    if (error instanceof StatusError && (error.code === 404 || error.code === 405)) return undefined
    throw error
  }
}

async function remainingGrace(
  client: RestClient,
  namespace: string,
  deletedAt: number,
  now: () => number,
): Promise<number> {
  const { items } = await client.list(pods, { namespace })
  const grace = longestGrace(items)
  return now() - deletedAt >= grace * 1000 ? 0 : grace
}

/** The longest grace period of pods that have not ended, in seconds. */
export const longestGrace = (all: readonly Pod[]): number =>
  Math.max(
    0,
    ...all
      .filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
      .map(({ spec }) => Number(spec?.terminationGracePeriodSeconds ?? 0)),
  )
