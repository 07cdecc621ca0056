/**
 * Whether owners are there, asked of the server: what the watches have shown may be late, and nothing is deleted on
 * hearsay.
 */

import { isObjectNotFound } from '../../client/rest/api-errors.ts'
import { getMetadata } from '../../client/rest/metadata.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { OwnerReference } from '../../machinery/object.ts'
import { isNotFound } from '../refusals.ts'
import type { AbsentOwners } from './absent-owners.ts'
import type { OwnerStanding } from './decision.ts'
import { type Identity, isDeletingDependents, type ObjectState, stateOf } from './graph/node.ts'
import { type Kinds, UnknownKind } from './kinds.ts'

/**
 * An owner as it is; `absent` if there is none of this name and uid, `impossible` if what it owns is not in its reach.
 */
export type Found = ObjectState | 'absent' | 'impossible'

/** So long one look at an owner serves all its dependents. Milliseconds. */
const sharedMs = 200

export class Owners {
  readonly #client: RestClient
  readonly #kinds: Kinds
  readonly #absent: AbsentOwners
  readonly #asked = new Map<string, Promise<Found | undefined>>()

  constructor(client: RestClient, kinds: Kinds, absent: AbsentOwners) {
    this.#client = client
    this.#kinds = kinds
    this.#absent = absent
  }

  /** The owner that a reference in a namespace means. Rejects with an UnknownKind, and with what the server refuses. */
  async find({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): Promise<Found> {
    const owner = { apiVersion, kind, namespace, name, uid }
    if (this.#absent.has(owner) || this.#absent.has({ ...owner, namespace: '' })) return 'absent'
    const { namespaced } = this.#kinds.resource(apiVersion, kind)
    if (namespaced && namespace === '') return 'impossible'
    return this.#shared(namespaced ? owner : { ...owner, namespace: '' })
  }

  /**
   * An owner that was deleted stays so, but one that was alive a moment ago may be deleted by now: then everybody asks.
   */
  async #shared(owner: Identity): Promise<Found> {
    const key = [owner.apiVersion, owner.kind, owner.namespace, owner.name, owner.uid].join(' ')
    const known = await this.#asked.get(key)
    if (known && isDeleted(known)) return known
    const asking = this.#ask(owner)
    const asked = asking.catch(() => undefined)
    this.#asked.set(key, asked)
    setTimeout(() => this.#asked.get(key) === asked && this.#asked.delete(key), sharedMs).unref()
    return asking
  }

  async #ask(owner: Identity): Promise<Found> {
    const live = await liveState(this.#client, this.#kinds, owner)
    if (live) return live
    this.#absent.add(owner)
    return 'absent'
  }
}

const isDeleted = (found: Found): boolean => found === 'absent' || (typeof found === 'object' && found.beingDeleted)

/** An object as it is; undefined if there is none of this name and uid. */
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

/** The server does not know the resource itself: that says nothing of its objects. */
export const isUnknownPath = (error: unknown): boolean => isNotFound(error) && error.status.details?.name === undefined

/** What an owner means for its dependents. */
export const standingOf = (found: ObjectState | 'absent'): OwnerStanding =>
  found === 'absent' ? 'dangling' : isDeletingDependents(found) ? 'waiting' : 'solid'
