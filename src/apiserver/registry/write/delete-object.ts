/** Deletes an object: preconditions, grace, finalizers. What nothing holds is gone at once; the rest is marked. */
import type { KubeObject } from '../../../machinery/object.ts'
import { conflict, notFound } from '../../../machinery/status-error.ts'
import type { DeleteOptions } from '../../request/delete-options.ts'
import type { Lost } from '../registry.ts'
import { type StoredObject, unstored } from '../stored-object.ts'
import { guaranteedWrite } from './guaranteed-write.ts'
import { attributes, timestamp, type WriteContext } from './write-context.ts'

export interface Deleted {
  /** The object as it is, or as it last was. */
  readonly object: StoredObject
  readonly gone: boolean
}

export function deleteObject(context: WriteContext, options: DeleteOptions): Promise<Deleted> {
  const { resource, namespace, name } = context
  const key = resource.key(namespace, name)
  return guaranteedWrite(context, {
    operation: 'delete',
    conditional: options.preconditions?.resourceVersion !== undefined,
    attempt(live) {
      if (!live) throw notFound(resource.groupResource, name)
      return attemptDelete(context, options, key, live)
    },
  })
}

async function attemptDelete(context: WriteContext, options: DeleteOptions, key: string, live: StoredObject): Promise<Deleted | Lost> {
  const { registry, admission, resource } = context
  const old = live.parse()
  checkPreconditions(context, options, old)
  await admission.mutate(attributes(context, 'DELETE', undefined, old, options))
  await admission.validate(attributes(context, 'DELETE', undefined, old, options))

  const { deletion } = resource.definition
  const grace = deletion?.gracePeriod
  const finalizers = withOwn(finalizersFor(old, options, deletion?.defaultPropagation === 'orphan'), old, deletion?.finalizer)
  const object: KubeObject = { ...old, metadata: { ...old.metadata, finalizers } }
  if (!finalizers.length) delete object.metadata.finalizers
  const seconds = grace ? secondsLeft(object, grace(object, normalGrace(options.gracePeriodSeconds))) : 0
  const stays = seconds > 0 || finalizers.length > 0 || deletion?.held?.(object) === true

  let changed = finalizers.join() !== (old.metadata.finalizers ?? []).join()
  if (stays || grace) changed = mark(context, object, seconds) || changed
  if (options.dryRun) return { object: unstored(resource, object), gone: !stays }
  // Kinds with grace show their end as a change before they go.
  const last = changed && (stays || grace) ? await registry.put(resource, key, object, live, { restAsLive: !deletion?.begin, validSpec: live.validSpec }) : live
  if (typeof last === 'string') return last
  if (stays) return { object: last, gone: false }
  const revision = await registry.remove(resource, key, last.revision)
  if (typeof revision !== 'string') return { object: grace ? last.at(revision) : live, gone: true }
  // Once it is marked, who looks after its end may be faster.
  const wasMarked = last !== live && !(await registry.newest(resource, key))
  return wasMarked ? { object: last, gone: true } : revision
}

/** Throws 409 for an object that is not the one meant. */
export function checkPreconditions({ resource, name }: WriteContext, { preconditions }: DeleteOptions, { metadata }: KubeObject): void {
  const { uid, resourceVersion } = preconditions ?? {}
  if (uid !== undefined && uid !== metadata.uid) {
    // Kinds with finalizers of their own check in another place, and in other words.
    if (resource.definition.deletion?.held)
      throw conflict(resource.groupResource, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`)
    throw conflict(
      resource.groupKind,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    )
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      resource.groupKind,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    )
  }
}

/** The kind's own finalizer comes with the first DELETE. */
const withOwn = (finalizers: string[], { metadata }: KubeObject, own: string | undefined): string[] =>
  own === undefined || metadata.deletionTimestamp !== undefined || finalizers.includes(own) ? finalizers : [...finalizers, own]

/** A negative grace period becomes 1. */
const normalGrace = (asked: number | undefined): number | undefined => (asked !== undefined && asked < 0 ? 1 : asked)

/** Once deletion has begun, its grace is only ever shortened. */
const secondsLeft = ({ metadata }: KubeObject, seconds: number): number =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds !== undefined
    ? Math.min(seconds, metadata.deletionGracePeriodSeconds)
    : seconds

/** Notes that deletion has begun, or that its grace is shorter now; whether that changes anything. */
function mark({ resource, now }: WriteContext, object: KubeObject, seconds: number): boolean {
  const { metadata } = object
  const first = metadata.deletionTimestamp === undefined
  if (!first && metadata.deletionGracePeriodSeconds === seconds) return false
  metadata.deletionTimestamp = timestamp(Date.parse(now()) + seconds * 1000)
  metadata.deletionGracePeriodSeconds = seconds
  if (first) {
    if (metadata.generation) metadata.generation++
    resource.definition.deletion?.begin?.(object)
  }
  return true
}

/** The finalizers after DELETE: the policy decides which of the garbage collector's two are there. */
function finalizersFor({ metadata }: KubeObject, { propagationPolicy, orphanDependents }: DeleteOptions, orphansByDefault: boolean): string[] {
  const now = metadata.finalizers ?? []
  const wanted =
    orphanDependents !== undefined
      ? orphanDependents
        ? 'orphan'
        : undefined
      : propagationPolicy !== undefined
        ? { Orphan: 'orphan', Foreground: 'foregroundDeletion', Background: undefined }[propagationPolicy]
        : (now.find((finalizer) => finalizer === 'orphan' || finalizer === 'foregroundDeletion') ?? (orphansByDefault ? 'orphan' : undefined))
  const kept = now.filter((finalizer) => finalizer === wanted || (finalizer !== 'orphan' && finalizer !== 'foregroundDeletion'))
  return wanted === undefined || now.includes(wanted) ? kept : [...kept, wanted]
}
