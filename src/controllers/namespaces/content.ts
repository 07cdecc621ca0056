/**
 * Deletes what is in a namespace, whatever its kind: pods first, the rest when they are gone (KEP-5080), and tells what
 * remains and why.
 */
import { type DiscoveredResource, type Discovery, discover, supports } from '../../client/discovery/discovery.ts'
import { type Pod, pods } from '../../client/kinds.ts'
import { metadataPages } from '../../client/rest/metadata.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { reasonOf } from '../../lib/explained-error.ts'
import { StatusError } from '../../machinery/status-error.ts'

/** Objects of one kind that are still there. */
export interface Remaining {
  readonly resource: Pick<DiscoveredResource, 'group' | 'version' | 'plural'>
  readonly count: number
  /** On how many of them each finalizer is. */
  readonly finalizers: ReadonlyMap<string, number>
}

export interface ContentReport {
  /** Why not all kinds are known, in client-go's words. */
  readonly discoveryFailure?: string
  /** What could not be deleted or listed, and why. */
  readonly failures: readonly string[]
  readonly remaining: readonly Remaining[]
  /** How long what remains may take. Seconds. */
  readonly estimate: number
}

/** What finalizers are given to do their work. Seconds. */
const finalizerEstimate = 15

/** `deletedAt` and `now` are in ms. Rejects only if the server cannot be asked at all. */
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
      const grace = isPod(resource) ? await graceLeft(client, namespace, deletedAt, now) : 0
      const left = await deleteObjects(client, resource, namespace)
      if (!left) return
      remaining.push(left)
      estimate = Math.max(estimate, grace || (left.finalizers.size > 0 ? finalizerEstimate : 0))
      if (grace === 0 && left.finalizers.size === 0) failures.push(unexpected(namespace, resource))
    } catch (error) {
      // The server's words name the resource, those of a broken connection do not.
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

/** client-go's words for groups that cannot be discovered. */
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

/** Deletes the objects of a kind; what is left of them, if anything. */
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
  // Most kinds have nothing in most namespaces.
  const there = await unlessUnsupported(whatIsThere(client, resource, namespace))
  if (!there) return undefined
  if (supports(resource, 'deletecollection'))
    await unlessUnsupported(client.deleteCollection(resource, { namespace }, background))
  else for (const name of there.names) await unlessUnsupported(client.delete(resource, namespace, name, background))
  return unlessUnsupported(whatIsThere(client, resource, namespace))
}

const background = { propagationPolicy: 'Background' } as const

async function whatIsThere(
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

/** A resource that has gone, or does not do what discovery says, holds no namespace. */
async function unlessUnsupported<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof StatusError && (error.code === 404 || error.code === 405)) return undefined
    throw error
  }
}

async function graceLeft(client: RestClient, namespace: string, deletedAt: number, now: () => number): Promise<number> {
  const { items } = await client.list(pods, { namespace })
  const grace = longestGrace(items)
  return now() - deletedAt >= grace * 1000 ? 0 : grace
}

/** How long the pods that have not ended may take to end. Seconds. */
export const longestGrace = (all: readonly Pod[]): number =>
  Math.max(
    0,
    ...all
      .filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
      .map(({ spec }) => Number(spec?.terminationGracePeriodSeconds ?? 0)),
  )
