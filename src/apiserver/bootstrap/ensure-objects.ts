/**
 * Makes sure of objects that a cluster has from the start: creates what is missing, and mends what somebody says is to
 * be mended.
 */
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { createObject } from '../registry/write/create-object.ts'
import { deleteObject } from '../registry/write/delete-object.ts'
import { updateObject } from '../registry/write/update-object.ts'
import type { WriteContext, Writer } from '../registry/write/write-context.ts'

/** What is to be done about an object that is there; nothing if undefined. `replace`: it is deleted and made anew. */
export type Reconcile<T> = (existing: T, expected: T) => { readonly object: T; readonly replace: boolean } | undefined

export interface Ensured<T> {
  readonly writer: Writer
  readonly resource: ServedResource
  readonly objects: readonly T[]
  /** What is there stays as it is unless said. */
  readonly reconcile?: Reconcile<T>
  readonly log: (line: string) => void
}

/** Resolves when all were looked at. What admission refuses is logged, and left as it is. */
export async function ensureObjects<T extends KubeObject>(ensured: Ensured<T>): Promise<void> {
  const { resource, log } = ensured
  await Promise.all(
    ensured.objects.map(async (expected) => {
      try {
        await ensureOne(ensured, expected)
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        // Another server on the same store may have been faster.
        const isOutrun = error.code === 409 || error.code === 404
        if (!isOutrun)
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
