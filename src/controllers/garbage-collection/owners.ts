/** Looks up owners on the server: watches may be late, and no object is deleted based on stale data. */

import { isObjectNotFound } from '../../client/rest/api-errors.ts'
import { getMetadata } from '../../client/rest/metadata.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { OwnerReference } from '../../machinery/object.ts'
import { isNotFound } from '../api-errors.ts'
import type { AbsentOwners } from './absent-owners.ts'
import type { OwnerStanding } from './decision.ts'
import { type Identity, isDeletingDependents, type ObjectState, stateOf } from './graph/node.ts'
import { type Kinds, UnknownKind } from './kinds.ts'

/** A live owner; `absent` if no object has this name and uid; `impossible` if a namespaced owner has no namespace. */
export type OwnerLookup = ObjectState | 'absent' | 'impossible'

/** Time for which one look-up of a missing or deleted owner is shared by its dependents, in ms. */
const shareMs = 200

export class Owners {
  readonly #client: RestClient
  readonly #kinds: Kinds
  readonly #absent: AbsentOwners
  readonly #pending = new Map<string, Promise<OwnerLookup | undefined>>()

  constructor(client: RestClient, kinds: Kinds, absent: AbsentOwners) {
    this.#client = client
    this.#kinds = kinds
    this.#absent = absent
  }

  /** Looks up the owner of a reference in a namespace. Rejects with an UnknownKind or the server's error. */
  async find({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): Promise<OwnerLookup> {
    const owner = { apiVersion, kind, namespace, name, uid }
    if (this.#absent.has(owner) || this.#absent.has({ ...owner, namespace: '' })) return 'absent'
    const { namespaced } = this.#kinds.resource(apiVersion, kind)
    if (namespaced && namespace === '') return 'impossible'
    return this.#shared(namespaced ? owner : { ...owner, namespace: '' })
  }

  /** Shares results about deleted owners. A live owner may be deleted at any time, so it is always looked up. */
  async #shared(owner: Identity): Promise<OwnerLookup> {
    const key = [owner.apiVersion, owner.kind, owner.namespace, owner.name, owner.uid].join(' ')
    const recent = await this.#pending.get(key)
    if (recent && isDeleted(recent)) return recent
    const lookup = this.#readLive(owner)
    const settled = lookup.catch(() => undefined)
    this.#pending.set(key, settled)
    setTimeout(() => this.#pending.get(key) === settled && this.#pending.delete(key), shareMs).unref()
    return lookup
  }

  async #readLive(owner: Identity): Promise<OwnerLookup> {
    const live = await liveState(this.#client, this.#kinds, owner)
    if (live) return live
    this.#absent.add(owner)
    return 'absent'
  }
}

const isDeleted = (found: OwnerLookup): boolean =>
  found === 'absent' || (typeof found === 'object' && found.beingDeleted)

/** Reads an object's state from the server; undefined if no object has this name and uid. */
export async function liveState(
  client: RestClient,
  kinds: Kinds,
  { apiVersion, kind, namespace, name, uid }: Identity,
): Promise<ObjectState | undefined> {
  try {
    const { metadata } = await getMetadata(client, kinds.resource(apiVersion, kind), namespace, name)
    return metadata.uid === uid ? stateOf(metadata) : undefined
  } catch (error) {
    if (isObjectNotFound(error)) return undefined
    throw isUnknownPath(error) ? new UnknownKind(apiVersion, kind) : error
  }
}

/** Returns true if the server does not know the resource itself, which does not mean that an object is missing. */
export const isUnknownPath = (error: unknown): boolean => isNotFound(error) && error.status.details?.name === undefined

/** Classifies an owner. */
export const standingOf = (found: ObjectState | 'absent'): OwnerStanding =>
  found === 'absent' ? 'dangling' : isDeletingDependents(found) ? 'waiting' : 'solid'
