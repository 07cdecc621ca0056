/**
 * Deletes an object: preconditions, grace period, finalizers. It is removed immediately, or marked as deleted if
 * finalizers or a grace period retain it.
 */
import type { ResourceDefinition } from '../../../api/resource.ts'
import type { KubeObject, ObjectMeta } from '../../../machinery/object.ts'
import { conflict, notFound } from '../../../machinery/status-error.ts'
import type { DeleteOptions } from '../../request-options/delete-options.ts'
import { type StoredObject, unstored } from '../stored-object.ts'
import type { Lost } from './commits.ts'
import { guaranteedWrite } from './guaranteed-write.ts'
import { deleteAttributes, timestamp, type WriteContext } from './write-context.ts'

type Propagation = NonNullable<NonNullable<ResourceDefinition['deletion']>['defaultPropagation']>

export interface Deleted {
  /** The current object, or its last state. */
  readonly object: StoredObject
  readonly removed: boolean
  readonly uid: string | undefined
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

async function attemptDelete(
  context: WriteContext,
  options: DeleteOptions,
  key: string,
  live: StoredObject,
): Promise<Deleted | Lost> {
  const { registry, admission, resource } = context
  const oldMetadata = live.parseMetadata()
  const { uid } = oldMetadata
  checkPreconditions(context, options, oldMetadata)
  // Most objects are deleted without being parsed.
  let parsed: KubeObject | undefined
  const old = (): KubeObject => (parsed ??= live.parse())
  const attributes = deleteAttributes(context, old, options)
  await admission.mutate(attributes)
  await admission.validate(attributes)

  const { deletion } = resource.definition
  const finalizers = withKindFinalizer(
    finalizersFor(oldMetadata, options, deletion?.defaultPropagation),
    oldMetadata,
    deletion?.finalizer,
  )
  const metadata: ObjectMeta = { ...oldMetadata, finalizers }
  if (!finalizers.length) delete metadata.finalizers
  const hasGrace = deletion?.gracePeriod !== undefined
  const seconds = remainingGrace(metadata, graceOf(live, old, options.gracePeriodSeconds))
  const isRetained = seconds > 0 || finalizers.length > 0 || deletion?.hasFinalizers?.({ ...old(), metadata }) === true

  let changed = finalizers.join() !== (oldMetadata.finalizers ?? []).join()
  if (isRetained || hasGrace) changed = mark(context, metadata, seconds) || changed
  const begins =
    oldMetadata.deletionTimestamp === undefined && metadata.deletionTimestamp !== undefined
      ? deletion?.begin
      : undefined
  const marked = (): KubeObject => {
    const object = { ...old(), metadata }
    begins?.(object)
    return object
  }
  if (options.dryRun) return { object: unstored(resource, marked()), removed: !isRetained, uid }
  if (isRetained) {
    if (!changed) return { object: live, removed: false, uid }
    const object = await (begins
      ? registry.commits.put(resource, key, marked(), live)
      : registry.commits.putMetadata(resource, key, metadata, live))
    return typeof object === 'string' ? object : { object, removed: false, uid }
  }
  // Kinds with a grace period show their end as a change before the removal.
  if (changed && hasGrace) {
    const object = await registry.commits.putAndRemove(resource, key, metadata, live)
    return typeof object === 'string' ? object : { object, removed: true, uid }
  }
  const revision = await registry.commits.remove(resource, key, live.revision)
  return typeof revision === 'string' ? revision : { object: hasGrace ? live.at(revision) : live, removed: true, uid }
}

/** The grace period in seconds. Zero if the fields in the summary suffice to decide so. */
function graceOf(live: StoredObject, old: () => KubeObject, requested: number | undefined): number {
  const { gracePeriod, isImmediate } = live.resource.definition.deletion ?? {}
  if (!gracePeriod || isImmediate?.(live.summary.fields, requested)) return 0
  return gracePeriod(old(), normalGrace(requested))
}

/** Throws 409 if the object does not match the preconditions. */
export function checkPreconditions(
  { resource, name }: WriteContext,
  { preconditions }: DeleteOptions,
  metadata: ObjectMeta,
): void {
  const { uid, resourceVersion } = preconditions ?? {}
  if (uid !== undefined && uid !== metadata.uid) {
    // Kinds with finalizers of their own check in another place upstream, with another message.
    if (resource.definition.deletion?.hasFinalizers)
      throw conflict(
        resource.groupResource,
        name,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
      )
    throw conflict(
      resource.groupKind,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might ` +
        'have been deleted and then recreated',
    )
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      resource.groupKind,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record ` +
        `(${metadata.resourceVersion}). The object might have been modified`,
    )
  }
}

/** Adds the kind's own finalizer on the first DELETE. */
const withKindFinalizer = (finalizers: string[], metadata: ObjectMeta, finalizer: string | undefined): string[] =>
  finalizer === undefined || metadata.deletionTimestamp !== undefined || finalizers.includes(finalizer)
    ? finalizers
    : [...finalizers, finalizer]

/** A negative grace period becomes 1. */
const normalGrace = (requested: number | undefined): number | undefined =>
  requested !== undefined && requested < 0 ? 1 : requested

/** Once deletion has begun, its grace period can only be shortened. */
function remainingGrace(
  { deletionTimestamp, deletionGracePeriodSeconds: current }: ObjectMeta,
  seconds: number,
): number {
  const isShorter = deletionTimestamp !== undefined && current !== undefined && current < seconds
  return isShorter ? current : seconds
}

/** Converts seconds as Go's durations do: an int64 of nanoseconds, which wraps around after 292 years. */
const durationMs = (seconds: number): number => Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n)

/** Marks the metadata as deleted, or shortens its grace period; returns true if that changes anything. */
function mark({ now }: WriteContext, metadata: ObjectMeta, seconds: number): boolean {
  const isFirst = metadata.deletionTimestamp === undefined
  if (!isFirst && metadata.deletionGracePeriodSeconds === seconds) return false
  metadata.deletionTimestamp = timestamp(Date.parse(now()) + durationMs(seconds))
  metadata.deletionGracePeriodSeconds = seconds
  if (isFirst && metadata.generation) metadata.generation++
  return true
}

/** The finalizers after DELETE: the propagation policy decides which of the garbage collector's two are set. */
function finalizersFor(
  metadata: ObjectMeta,
  options: DeleteOptions,
  defaultPropagation: Propagation | undefined,
): string[] {
  const current = metadata.finalizers ?? []
  const chosen =
    defaultPropagation === 'unsupported' ? undefined : propagationFinalizer(current, options, defaultPropagation)
  const retained = current.filter(
    (finalizer) => finalizer === chosen || (finalizer !== 'orphan' && finalizer !== 'foregroundDeletion'),
  )
  return chosen === undefined || current.includes(chosen) ? retained : [...retained, chosen]
}

/** The finalizer that the options select; else the one that the object has, or the default of the kind. */
function propagationFinalizer(
  current: readonly string[],
  { propagationPolicy, orphanDependents }: DeleteOptions,
  defaultPropagation: Propagation | undefined,
): string | undefined {
  if (orphanDependents !== undefined) return orphanDependents ? 'orphan' : undefined
  if (propagationPolicy !== undefined)
    return { Orphan: 'orphan', Foreground: 'foregroundDeletion', Background: undefined }[propagationPolicy]
  return (
    current.find((finalizer) => finalizer === 'orphan' || finalizer === 'foregroundDeletion') ??
    (defaultPropagation === 'orphan' ? 'orphan' : undefined)
  )
}
