/**
 * Ensures the bootstrap objects of a cluster: creates missing objects, and updates existing ones as `reconcile`
 * decides.
 */
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { createObject } from '../registry/write/create-object.ts'
import { deleteObject } from '../registry/write/delete-object.ts'
import { updateObject } from '../registry/write/update-object.ts'
import type { WriteContext, Writer } from '../registry/write/write-context.ts'

/** Returns the changed object; undefined for no change. `replace`: the object is deleted and recreated. */
export type Reconcile<T> = (existing: T, expected: T) => { readonly object: T; readonly replace: boolean } | undefined

export interface Ensured<T> {
  readonly writer: Writer
  readonly resource: ServedResource
  readonly objects: readonly T[]
  /** Default: existing objects are not changed. */
  readonly reconcile?: Reconcile<T>
  readonly log: (line: string) => void
}

/** Resolves when all objects are processed. Writes that admission rejects are logged. */
export async function ensureObjects<T extends KubeObject>(ensured: Ensured<T>): Promise<void> {
  const { resource, log } = ensured
  await Promise.all(
    ensured.objects.map(async (expected) => {
      try {
        await ensureOne(ensured, expected)
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        // Another server on the same store may have been faster.
        const isConcurrentWrite = error.code === 409 || error.code === 404
        if (!isConcurrentWrite)
          log(
            `${resource.groupResource.name} ${JSON.stringify(expected.metadata.name)} is not as it should be: ` +
              `${error.message}`,
          )
      }
    }),
  )
}

async function ensureOne<T extends KubeObject>(
  { writer, resource, reconcile = () => undefined }: Ensured<T>,
  expected: T,
): Promise<void> {
  const { name = '', namespace = '' } = expected.metadata
  const context: WriteContext = { ...writer, resource, namespace, name, subresource: '' }
  const existing = await writer.registry.get(resource, resource.key(namespace, name))
  if (!existing) return create(context, expected)
  const plan = reconcile(existing.parse() as T, expected)
  if (!plan) return
  if (plan.replace) {
    await deleteObject(context, { dryRun: false })
    await create(context, plan.object)
    return
  }
  await updateObject(context, {
    startsFromLive: true,
    change: (live) => ({ object: reconcile(live as T, expected)?.object ?? live! }),
  })
}

async function create(context: WriteContext, template: KubeObject): Promise<void> {
  const object = structuredClone(template)
  context.resource.applyDefaults(object)
  await createObject(context, object)
}
