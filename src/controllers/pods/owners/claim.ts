/**
 * Which objects are an owner's: those it controls, and orphans that it selects, which it adopts. Those whose labels it
 * selects no more are released. Works for pods as for the ReplicaSets of Deployments.
 */
import type { Caches } from '../../../client/controller/controller.ts'
import { controllerOf, controllerReference } from '../../../client/objects/owners.ts'
import type { Resource } from '../../../client/resource.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import { unlessGone } from '../../refusals.ts'
import { attemptEach } from '../writing/attempt-each.ts'
import { byController, orphansOf } from './owner.ts'

export interface Claim<Owner extends KubeObject, T extends KubeObject> {
  readonly owner: Owner
  readonly owners: Resource<Owner>
  readonly resource: Resource<T>
  /** Whether the owner wants an object: its selector, and what else an owner looks at. */
  readonly matches: (object: T) => boolean
  /** Put on what is adopted. */
  readonly finalizers?: readonly string[]
}

export type ClaimVerdict = 'keep' | 'adopt' | 'release' | 'ignore'

/** What an owner does about an object. One that is deleted neither adopts nor releases. */
export function claimVerdict(object: KubeObject, owner: KubeObject, matches: boolean): ClaimVerdict {
  const controller = controllerOf(object)
  const isGoing = owner.metadata.deletionTimestamp !== undefined
  if (controller) {
    if (controller.uid !== owner.metadata.uid) return 'ignore'
    if (matches) return 'keep'
    return isGoing ? 'ignore' : 'release'
  }
  return matches &&
    !isGoing &&
    !object.metadata.deletionTimestamp &&
    object.metadata.namespace === owner.metadata.namespace
    ? 'adopt'
    : 'ignore'
}

/** The objects that an owner may have to do with: those that it controls, and the orphans of its namespace. */
export function* claimable<T extends KubeObject>(
  owner: KubeObject,
  resource: Resource<T>,
  caches: Caches,
): Generator<T> {
  const { uid = '', namespace = '' } = owner.metadata
  yield* caches.by(resource, byController, uid)
  yield* caches.by(resource, byController, orphansOf(namespace))
}

/**
 * Adopts and releases; resolves with the objects that are the owner's. Rejects when something could not be adopted or
 * released.
 */
export async function claimed<Owner extends KubeObject, T extends KubeObject>(
  objects: Iterable<T>,
  claim: Claim<Owner, T>,
  client: RestClient,
): Promise<T[]> {
  const { owner, matches } = claim
  const kept: T[] = []
  const writes: (() => Promise<T | undefined>)[] = []
  let ownerIsThere: Promise<boolean> | undefined
  const adoptIfOwned = async (object: T): Promise<T | undefined> => {
    ownerIsThere ??= isThere(claim, client)
    return (await ownerIsThere) ? adopt(object, claim, client) : undefined
  }
  for (const object of objects) {
    const verdict = claimVerdict(object, owner, matches(object))
    if (verdict === 'keep') kept.push(object)
    else if (verdict === 'release') writes.push(() => release(object, claim, client))
    else if (verdict === 'adopt') writes.push(() => adoptIfOwned(object))
  }
  const { done, error } = await attemptEach(writes, (write) => write())
  if (error !== undefined) throw error
  return kept.concat(done.filter((object) => object !== undefined))
}

/**
 * Asks the server, not the cache: who adopts after having been deleted would take what is left for the next of that
 * name, or keep it from being orphaned.
 */
async function isThere<Owner extends KubeObject, T extends KubeObject>(
  { owner, owners }: Claim<Owner, T>,
  client: RestClient,
): Promise<boolean> {
  const { namespace = '', name = '', uid } = owner.metadata
  const fresh = await client.get(owners, namespace, name).catch(unlessGone)
  return fresh !== undefined && fresh.metadata.uid === uid && !fresh.metadata.deletionTimestamp
}

/** The uid in a patch makes it fail if the object is another one of that name. */
async function adopt<Owner extends KubeObject, T extends KubeObject>(
  { metadata: { namespace = '', name = '', uid } }: T,
  { owner, resource, finalizers }: Claim<Owner, T>,
  client: RestClient,
): Promise<T | undefined> {
  const patch = { metadata: { uid, ownerReferences: [controllerReference(owner)], ...(finalizers && { finalizers }) } }
  return await client.patch(resource, namespace, name, patch).catch(unlessGone)
}

async function release<Owner extends KubeObject, T extends KubeObject>(
  { metadata: { namespace = '', name = '', uid } }: T,
  { owner, resource, finalizers = [] }: Claim<Owner, T>,
  client: RestClient,
): Promise<undefined> {
  const patch = {
    metadata: {
      uid,
      ownerReferences: [{ $patch: 'delete', uid: owner.metadata.uid }],
      ...(finalizers.length > 0 && { '$deleteFromPrimitiveList/finalizers': finalizers }),
    },
  }
  await client.patch(resource, namespace, name, patch).catch((error) => {
    // Nothing to release: it is another object of that name, or was released already.
    if (!(error instanceof StatusError && error.code === 422)) unlessGone(error)
  })
}
