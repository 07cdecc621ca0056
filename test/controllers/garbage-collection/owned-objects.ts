/** Objects with owner references in one namespace, for tests of the garbage collector. */
import type { OwnerReference } from '../../../src/machinery/object.ts'
import type { Answer, TestCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

export interface Owned {
  readonly apiVersion?: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly deletionTimestamp?: string
    readonly finalizers?: readonly string[]
    readonly ownerReferences?: readonly OwnerReference[]
  }
}

const merge = 'application/merge-patch+json'

export const referenceTo = (
  { apiVersion = 'v1', kind, metadata: { name, uid } }: Owned,
  blockOwnerDeletion = true,
): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
  blockOwnerDeletion,
})

export function ownedObjects(cluster: TestCluster, namespace = 'default') {
  const collection = (plural: string): string =>
    plural.includes('/')
      ? `/apis/${plural.replace(/\/([^/]+)$/, `/namespaces/${namespace}/$1`)}`
      : `/api/v1/namespaces/${namespace}/${plural}`
  const at = (plural: string, name: string): string => `${collection(plural)}/${name}`
  const asOwned = (answer: Answer): Owned => answer as unknown as Owned
  const get = async (plural: string, name: string): Promise<Owned | undefined> => {
    try {
      return asOwned(await cluster.call('GET', at(plural, name)))
    } catch (error) {
      if (String(error).includes(' 404 ')) return undefined
      throw error
    }
  }
  return {
    at,
    get,
    /** `plural` is a core resource or `group/version/plural`. */
    async create(
      plural: string,
      kind: string,
      name: string,
      { owners = [], finalizers, spec }: { owners?: OwnerReference[]; finalizers?: string[]; spec?: object } = {},
    ) {
      const apiVersion = plural.includes('/') ? plural.replace(/\/[^/]+$/, '') : 'v1'
      const metadata = { name, ownerReferences: owners, ...(finalizers && { finalizers }) }
      return asOwned(
        await cluster.call('POST', collection(plural), { apiVersion, kind, metadata, ...(spec && { spec }) }),
      )
    },
    delete: (plural: string, name: string, propagationPolicy?: string) =>
      cluster.call(
        'DELETE',
        `${at(plural, name)}${propagationPolicy ? `?propagationPolicy=${propagationPolicy}` : ''}`,
      ),
    patch: (plural: string, name: string, metadata: object) =>
      cluster.call('PATCH', at(plural, name), { metadata }, merge),
    deletionOf: (plural: string, name: string) =>
      waitFor(`${plural} ${name} to be deleted`, async () => !(await get(plural, name))),
    /** Resolves with the object when `is` returns true for it. */
    when: (plural: string, name: string, what: string, is: (object: Owned) => boolean) =>
      waitFor(`${plural} ${name} to ${what}`, async () => {
        const object = await get(plural, name)
        return object && is(object) ? object : undefined
      }),
    names: async (plural: string): Promise<string[]> =>
      ((await cluster.call('GET', collection(plural))) as unknown as { items: Owned[] }).items.map(
        ({ metadata }) => metadata.name,
      ),
  }
}
