/**
 * Random objects that own each other, and random deletions. The model knows for each object if it must exist at the
 * end, must be deleted, or may be either: if two events are concurrent, their order decides.
 */
import assert from 'node:assert/strict'
import type { KubeObject, OwnerReference } from '../../../src/machinery/object.ts'
import type { Random } from '../../fuzz/random.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const policies = ['Background', 'Foreground', 'Orphan'] as const
type Policy = (typeof policies)[number]

interface Kind {
  readonly apiVersion: string
  readonly kind: string
  readonly collection: string
  readonly namespaced: boolean
}

const core = '/api/v1/namespaces/default'
const kinds: readonly Kind[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', collection: `${core}/configmaps`, namespaced: true },
  { apiVersion: 'v1', kind: 'Secret', collection: `${core}/secrets`, namespaced: true },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    collection: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
    namespaced: true,
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    collection: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    namespaced: false,
  },
]

interface Modelled {
  readonly name: string
  readonly kind: Kind
  readonly uid: string
  readonly owners: readonly (Modelled | 'nobody')[]
  /** Logical time at which it certainly existed. */
  readonly created: number
  /** Logical time of its deletion, and the policy. */
  deleted?: { readonly at: number; readonly policy: Policy }
}

const label = 'random-owners'

export class RandomOwners {
  readonly #cluster: ReachableCluster
  readonly #random: Random
  readonly #objects: Modelled[] = []
  #time = 0

  constructor(cluster: ReachableCluster, random: Random) {
    this.#cluster = cluster
    this.#random = random
  }

  /** Creates or deletes a random object. */
  step(): Promise<void> {
    return this.#objects.length < 5 || this.#random.chance(0.7) ? this.#create() : this.#delete()
  }

  /** Resolves when all objects are in their expected state; rejects with the differences after a minute. */
  async settled(): Promise<void> {
    let problems: string[] = []
    await waitFor(
      'all objects to be in their expected state',
      async () => {
        problems = await this.#problems()
        return problems.length === 0
      },
      { deadlineMs: 60_000, everyMs: 250 },
    ).catch(() => assert.deepEqual(problems, []))
  }

  async #problems(): Promise<string[]> {
    const there = new Map<string, KubeObject>()
    for (const { collection } of kinds) {
      const { items } = (await this.#cluster.call('GET', `${collection}?labelSelector=${label}`)) as unknown as {
        items: KubeObject[]
      }
      for (const item of items) there.set(item.metadata.uid ?? '', item)
    }
    const problems: string[] = []
    for (const object of this.#objects) {
      const found = there.get(object.uid)
      const name = `${object.kind.kind} ${object.name}`
      if (!found && mustLive(object)) problems.push(`${name} was deleted`)
      if (!found) continue
      if (mustDie(object)) problems.push(`${name} still exists`)
      const owners = found.metadata.ownerReferences ?? []
      if (owners.length > 0 && !owners.some(({ uid }) => there.has(uid)))
        problems.push(`${name} exists without any of its owners`)
      if (found.metadata.deletionTimestamp) problems.push(`${name} is stuck: ${found.metadata.finalizers}`)
    }
    return problems
  }

  async #create(): Promise<void> {
    const random = this.#random
    const kind = random.pick(kinds)
    const name = `o${this.#time++}`
    const possible = this.#objects.filter((owner) => !owner.kind.namespaced || kind.namespaced)
    const owners = possible.length > 0 ? [...new Set(random.some(3, () => random.pick(possible)))] : []
    const references: OwnerReference[] = owners.map((owner) => this.#reference(owner, owner.uid))
    const [first] = owners
    const hasStranger = first !== undefined && random.chance(0.05)
    // The name of an existing owner with a uid that never existed.
    if (hasStranger) references.push(this.#reference(first, `never-${name}`))
    const metadata = { name, labels: { [label]: '' }, ownerReferences: references }
    const made = await this.#cluster
      .call('POST', kind.collection, { apiVersion: kind.apiVersion, kind: kind.kind, metadata })
      .catch((error) => {
        // Created without a response, and deleted with its owners.
        if (!String(error).includes(' 404 ')) throw error
      })
    if (!made) return
    this.#objects.push({
      name,
      kind,
      uid: made.metadata.uid,
      owners: hasStranger ? [...owners, 'nobody'] : owners,
      created: this.#time++,
    })
  }

  async #delete(): Promise<void> {
    const object = this.#random.pick(this.#objects.filter(({ deleted }) => !deleted))
    const policy = this.#random.pick(policies)
    object.deleted = { at: this.#time++, policy }
    await this.#cluster
      .call('DELETE', `${object.kind.collection}/${object.name}?propagationPolicy=${policy}`)
      .catch((error) => {
        if (!String(error).includes(' 404 ')) throw error
      })
  }

  #reference({ kind: { apiVersion, kind }, name }: Modelled, uid: string): OwnerReference {
    return { apiVersion, kind, name, uid, blockOwnerDeletion: this.#random.chance(0.5) }
  }
}

function mustLive(object: Modelled): boolean {
  return !object.deleted && staysUnlessDeleted(object)
}

/** Returns true if only its own deletion can delete it. */
function staysUnlessDeleted({ owners, created }: Modelled): boolean {
  if (owners.length === 0 || owners.some((owner) => owner !== 'nobody' && mustLive(owner))) return true
  return owners.every(
    (owner) =>
      owner !== 'nobody' &&
      owner.deleted?.policy === 'Orphan' &&
      owner.deleted.at > created &&
      staysUnlessDeleted(owner),
  )
}

function mustDie({ deleted, owners }: Modelled): boolean {
  return (
    deleted !== undefined ||
    (owners.length > 0 &&
      owners.every((owner) => owner === 'nobody' || (owner.deleted?.policy !== 'Orphan' && mustDie(owner))))
  )
}
