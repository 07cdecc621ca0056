/**
 * Claims the objects of an owner: adopts orphans that match its selector and releases objects that no longer match.
 * Works for pods and for the ReplicaSets of Deployments.
 */
import type { Caches } from '../../../client/controller/controller.ts'
import { controllerOf, controllerReference } from '../../../client/objects/owners.ts'
import type { Resource } from '../../../client/resource.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { attemptEach } from '../writes/attempt-each.ts'
import { byController, orphansOf } from './owner.ts'

export interface Claim<Owner extends KubeObject, T extends KubeObject> {
  readonly owner: Owner
  readonly owners: Resource<Owner>
  readonly resource: Resource<T>
  /** Returns true if the owner wants an object: by its selector and other criteria. */
  readonly matches: (object: T) => boolean
  /** Added to adopted objects. */
  readonly finalizers?: readonly string[]
}

export type ClaimVerdict = 'keep' | 'adopt' | 'release' | 'ignore'

/** Decides what an owner does with an object. A deleted owner neither adopts nor releases. */
export function claimVerdict(object: KubeObject, owner: KubeObject, matches: boolean): ClaimVerdict {
  const controller = controllerOf(object)
  const isOwnerDeleted = owner.metadata.deletionTimestamp !== undefined
  if (controller) {
    if (controller.uid !== owner.metadata.uid) return 'ignore'
    if (matches) return 'keep'
    return isOwnerDeleted ? 'ignore' : 'release'
  }
  return matches &&
    !isOwnerDeleted &&
    !object.metadata.deletionTimestamp &&
    object.metadata.namespace === owner.metadata.namespace
    ? 'adopt'
    : 'ignore'
}

/** Yields the objects that an owner controls and the orphans of its namespace. */
export function* claimCandidates<T extends KubeObject>(
  owner: KubeObject,
  resource: Resource<T>,
  caches: Caches,
): Generator<T> {
  const { uid = '', namespace = '' } = owner.metadata
  yield* caches.by(resource, byController, uid)
  yield* caches.by(resource, byController, orphansOf(namespace))
}

/**
 * Adopts and releases objects; resolves with those that the owner controls. Rejects if an adoption or release fails.
 */
export async function claimObjects<Owner extends KubeObject, T extends KubeObject>(
  objects: Iterable<T>,
  claim: Claim<Owner, T>,
  client: RestClient,
): Promise<T[]> {
  const { owner, matches } = claim
  const owned: T[] = []
  const writes: (() => Promise<T | undefined>)[] = []
  let isOwnerAlive: Promise<boolean> | undefined
  const adoptIfOwned = async (object: T): Promise<T | undefined> => {
    isOwnerAlive ??= ownerExists(claim, client)
    return (await isOwnerAlive) ? adopt(object, claim, client) : undefined
  }
  for (const object of objects) {
    const verdict = claimVerdict(object, owner, matches(object))
    if (verdict === 'keep') owned.push(object)
    else if (verdict === 'release') writes.push(() => release(object, claim, client))
    else if (verdict === 'adopt') writes.push(() => adoptIfOwned(object))
  }
  const { done, error } = await attemptEach(writes, (write) => write())
  if (error !== undefined) throw error
  return owned.concat(done.filter((object) => object !== undefined))
}

/**
 * Checks with the server, not the cache: an owner that was deleted must not adopt objects that are meant for its
 * successor of the same name or that are being orphaned.
 */
async function ownerExists<Owner extends KubeObject, T extends KubeObject>(
  { owner, owners }: Claim<Owner, T>,
  client: RestClient,
): Promise<boolean> {
  const { namespace = '', name = '', uid } = owner.metadata
  const fresh = await client.get(owners, namespace, name).catch(ignoreNotFound)
  return fresh !== undefined && fresh.metadata.uid === uid && !fresh.metadata.deletionTimestamp
}

/** The uid makes the patch fail if the object was replaced by another one of that name. */
async function adopt<Owner extends KubeObject, T extends KubeObject>(
  { metadata: { namespace = '', name = '', uid } }: T,
  { owner, resource, finalizers }: Claim<Owner, T>,
  client: RestClient,
): Promise<T | undefined> {
  const patch = { metadata: { uid, ownerReferences: [controllerReference(owner)], ...(finalizers && { finalizers }) } }
  return await client.patch(resource, namespace, name, patch).catch(ignoreNotFound)
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
    // Nothing to release: another object has that name, or it was already released.
    if (!(error instanceof StatusError && error.code === 422)) ignoreNotFound(error)
  })
}
