/**
 * Updates an object: changes the live one and commits if no other writer was faster, else retries. Creates it if
 * allowed.
 */

import { own, setOwn } from '../../../lib/own.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import type { KubeObject, ObjectMeta, Unstructured } from '../../../machinery/object.ts'
import { conflict, invalid, notFound, objectModified } from '../../../machinery/status-error.ts'
import { invalidValue } from '../../../machinery/validation/field-error.ts'
import { isUnchanged } from '../../apply/index.ts'
import { parseObjectVersion } from '../../request-options/parameters.ts'
import { type StoredObject, unstored } from '../stored-object.ts'
import type { Lost } from './commits.ts'
import { createIfAbsent } from './create-object.ts'
import { guaranteedWrite } from './guaranteed-write.ts'
import {
  attributes,
  needsFullValidation,
  partialWrite,
  resetFields,
  track,
  validateUpdate,
  type WriteContext,
} from './write-context.ts'

/** The result of a change of the live object. `tracked`: managedFields are already set (apply). */
export interface Changed {
  readonly object: KubeObject
  readonly tracked?: boolean
}

export interface UpdateOptions {
  /** Called once per attempt with the live object, or undefined if it does not exist and `mayCreate` is set. */
  readonly change: (live: KubeObject | undefined) => Changed | Promise<Changed>
  readonly mayCreate?: boolean
  /** The expected uid: in a PUT it is a precondition, in a PATCH a change. */
  readonly uid?: string
  /** `change` names a version or the like: on a newer object it fails. */
  readonly conditional?: boolean
  /** `change` modifies the live object: it gets its own copy. */
  readonly startsFromLive?: boolean
}

export interface Updated {
  readonly object: StoredObject
  readonly created: boolean
}

export async function updateObject(context: WriteContext, options: UpdateOptions): Promise<Updated> {
  const key = context.resource.key(context.namespace, context.name)
  let created = false
  const object = await guaranteedWrite(context, {
    operation: 'update',
    conditional: options.conditional,
    attempt(live) {
      created = !live
      return live ? attemptUpdate(context, options, key, live) : attemptCreate(context, options)
    },
  })
  return { object, created }
}

async function attemptCreate(
  context: WriteContext,
  { mayCreate, uid, change }: UpdateOptions,
): Promise<StoredObject | Lost> {
  if (!mayCreate) throw notFound(context.resource.groupResource, context.name)
  checkUid(context, uid, '')
  const { object, tracked } = await change(undefined)
  return createIfAbsent(context, object, tracked)
}

async function attemptUpdate(
  context: WriteContext,
  options: UpdateOptions,
  key: string,
  live: StoredObject,
): Promise<StoredObject | Lost> {
  const { admission, resource, name, options: write } = context
  const old = live.parse()
  checkUid(context, options.uid, old.metadata.uid ?? '')
  await context.pause()
  // A change that replaces the object, or makes a new one of it, needs no copy.
  const input = options.startsFromLive ? live.parse() : old
  if (options.startsFromLive) await context.pause()
  const { object, tracked } = await options.change(input)
  await context.pause()
  if (!tracked) await track(context, object, old)
  await context.pause()
  if (!context.shownAs) await admission.mutate(attributes(context, 'UPDATE', object, old))
  resource.asStored(object)
  await resource.writeGuard?.(context, object, old)

  const version = parseObjectVersion(object.metadata.resourceVersion)
  if (version === 0 && resource.definition.requiresVersionOnUpdate) {
    throw invalid(resource.groupResource, name, [
      invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
    ])
  }
  if (version !== 0 && version !== live.revision) throw conflict(resource.groupResource, name, objectModified)

  const { writeHook } = resource
  // Hold no objects while waiting for the commit: those of many waiting writers would fill the young generation.
  if (!writeHook || context.subresource) return commitChange(context, key, live, object, old)
  const end = await writeHook.begin(object, old, write.dryRun)
  try {
    return await commitChange(context, key, live, object, old)
  } finally {
    end()
  }
}

/** Throws 409, with upstream's message, unless `uid` is that of the existing object; '' if there is none. */
export function checkUid(
  { resource, namespace, name }: Pick<WriteContext, 'resource' | 'namespace' | 'name'>,
  uid: string | undefined,
  existing: string,
): void {
  if (!uid || uid === existing) return
  const where = `StorageError: invalid object, Code: 4, Key: ${resource.key(namespace, name)}, ResourceVersion: 0`
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${existing}`
  throw conflict(resource.groupResource, name, `${where}, AdditionalErrorMsg: ${why}`)
}

async function commitChange(
  context: WriteContext,
  key: string,
  live: StoredObject,
  object: KubeObject,
  old: KubeObject,
): Promise<StoredObject | Lost> {
  const { registry, admission, resource, options: write } = context
  resource.withFeatures(() => prepareUpdate(context, object, old))
  await context.pause()
  const onlyMetadataChanged = shareUnchanged(object as Unstructured, old as Unstructured)
  await context.pause()
  const isSpecKnown = live.validSpec && (object as Unstructured).spec === (old as Unstructured).spec
  validateUpdate(context, object, old, isSpecKnown)
  await context.pause()
  await admission.validate(attributes(context, 'UPDATE', object, old))

  if (endsDeletion(context, object)) {
    const removed = write.dryRun ? live.revision : await registry.commits.remove(resource, key, live.revision)
    // Another writer that removed the last finalizer at the same time has already done it.
    if (typeof removed === 'string' && (await registry.newest(resource, key))) return removed
    return unstored(resource, object)
  }
  if (onlyMetadataChanged && isUnchanged(object, old)) {
    // The stored form counts: an outdated one is written again; with a webhook the stored forms are compared.
    if (
      write.dryRun ||
      !(
        live.outdated ||
        resource.conversion ||
        (await registry.storeOf(resource).isStale?.(resource.key(object.metadata.namespace ?? '', context.name)))
      )
    )
      return live
    object.metadata.managedFields = old.metadata.managedFields
  }
  await context.pause()
  if (write.dryRun) return unstored(resource, object)
  return registry.commits.put(resource, key, object, live, {
    onlyMetadataChanged,
    validSpec: isSpecKnown || needsFullValidation(context.subresource),
  })
}

/**
 * Makes equal fields share one value in both objects, so that they are compared once, and neither validated nor encoded
 * again. Returns true if everything but the metadata is equal. Neither object may be modified afterwards.
 */
function shareUnchanged(object: Unstructured, old: Unstructured): boolean {
  let isEqual = true
  for (const field in object) {
    if (field === 'metadata') continue
    const oldValue = own(old, field)
    if (object[field] === oldValue) continue
    if (jsonEqual(object[field], oldValue)) setOwn(object, field, oldValue)
    else isEqual = false
  }
  for (const field in old) if (old[field] !== undefined && own(object, field) === undefined) isEqual = false
  return isEqual
}

/** Restores the fields that clients cannot change, and those that only another endpoint writes. */
function prepareUpdate(
  { resource, subresource, namespace, now }: WriteContext,
  object: KubeObject,
  old: KubeObject,
): void {
  const { definition } = resource
  const { metadata } = object
  metadata.resourceVersion = old.metadata.resourceVersion
  metadata.uid ||= old.metadata.uid
  metadata.creationTimestamp = old.metadata.creationTimestamp
  if (old.metadata.generation === undefined) delete metadata.generation
  else metadata.generation = old.metadata.generation
  if (old.metadata.deletionTimestamp !== undefined) {
    metadata.deletionTimestamp = old.metadata.deletionTimestamp
    metadata.deletionGracePeriodSeconds = old.metadata.deletionGracePeriodSeconds
  }
  delete metadata.selfLink
  if (resource.namespaced) metadata.namespace ||= namespace
  else delete metadata.namespace

  const fields = object as Unstructured
  const oldFields = old as Unstructured
  if (subresource === 'status') {
    for (const field of new Set([...Object.keys(fields), ...Object.keys(oldFields)])) {
      if (field !== 'status' && field !== 'metadata' && field !== 'kind' && field !== 'apiVersion')
        restore(fields, oldFields, field)
    }
    restoreMetadata(metadata, old.metadata, resetFields(resource, subresource))
    resource.removeFields?.(object, old)
    definition.prepare?.status?.(object, old, now())
    return
  }
  const partial = partialWrite(resource, subresource)
  partial?.prepare(object, old)
  // A new number of replicas is a new spec.
  if (subresource && subresource !== 'scale' && !partial) return
  if (definition.subresources?.status && !partial) restore(fields, oldFields, 'status')
  resource.removeFields?.(object, old)
  if (!partial) definition.prepare?.update?.(object, old)
  const { generation } = definition
  const isNewSpec = generation === 'spec' ? !semanticallyEqual(fields.spec, oldFields.spec) : generation?.(object, old)
  // A partial write may have replaced the metadata.
  if (isNewSpec) object.metadata.generation = (old.metadata.generation ?? 0) + 1
}

/** Restores the reset fields of the metadata, except managedFields. */
function restoreMetadata(metadata: ObjectMeta, old: ObjectMeta, resets: readonly string[]): void {
  const isReset = (field: string): boolean => resets.includes('metadata') || resets.includes(`metadata.${field}`)
  const { labels, annotations, finalizers, ownerReferences } = old
  if (isReset('labels')) replace(metadata, 'labels', labels)
  if (isReset('annotations')) replace(metadata, 'annotations', annotations)
  if (isReset('finalizers')) replace(metadata, 'finalizers', finalizers)
  if (isReset('ownerReferences')) replace(metadata, 'ownerReferences', ownerReferences)
}

function replace<F extends keyof ObjectMeta>(metadata: ObjectMeta, field: F, value: ObjectMeta[F]): void {
  if (value === undefined) delete metadata[field]
  else metadata[field] = value
}

function restore(object: Unstructured, old: Unstructured, field: string): void {
  if (Object.hasOwn(old, field)) setOwn(object, field, old[field])
  else delete object[field]
}

/** Returns true if nothing retains a deleted object any more. */
function endsDeletion({ resource }: WriteContext, object: KubeObject): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = object.metadata
  return (
    deletionTimestamp !== undefined &&
    !finalizers?.length &&
    !deletionGracePeriodSeconds &&
    !resource.definition.deletion?.hasFinalizers?.(object)
  )
}
