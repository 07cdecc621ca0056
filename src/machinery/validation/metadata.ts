/**
 * Validation of metadata for all kinds (k8s.io/apimachinery `ValidateObjectMeta`), with upstream's messages.
 * The kind's own rule for names is passed in.
 */

import type { ObjectMeta, OwnerReference } from '../object.ts'
import { type FieldError, forbiddenField, invalidValue, required, tooLong } from './field-error.ts'
import { goList } from './go-notation.ts'
import { dnsLabel, labelValue, qualifiedName } from './names.ts'

export interface MetadataRules {
  readonly namespaced: boolean
  /** A function of `names.ts`. */
  readonly nameRule: (name: string, generated: boolean) => string[]
  /** True if unknown finalizers without a domain are accepted, as for custom resources. Default: false. */
  readonly anyFinalizer?: boolean
}

/** The limit for the sum of all annotations' keys and values, in bytes. */
export const maxAnnotationBytes = 256 * 1024

/** The standard finalizers, which have no domain. */
const standardFinalizers: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

/** Returns true for a finalizer with a domain, or one of Kubernetes. */
export const isFinalizer = (name: string): boolean => name.includes('/') || standardFinalizers.has(name)

/** The message for an unknown finalizer without a domain. */
export const unknownFinalizer = 'name is neither a standard finalizer name nor is it fully qualified'

/** Validates an object's metadata, on create and on update. */
export function validateMetadata(
  meta: ObjectMeta,
  { namespaced, nameRule, anyFinalizer = false }: MetadataRules,
  path = 'metadata',
): FieldError[] {
  const errors: FieldError[] = []
  if (meta.generateName)
    for (const message of nameRule(meta.generateName, true))
      errors.push(invalidValue(`${path}.generateName`, meta.generateName, message))
  if (!meta.name) errors.push(required(`${path}.name`, 'name or generateName is required'))
  else for (const message of nameRule(meta.name, false)) errors.push(invalidValue(`${path}.name`, meta.name, message))
  if (namespaced) {
    if (!meta.namespace) errors.push(required(`${path}.namespace`))
    else
      for (const message of dnsLabel(meta.namespace))
        errors.push(invalidValue(`${path}.namespace`, meta.namespace, message))
  } else if (meta.namespace) errors.push(forbiddenField(`${path}.namespace`, 'not allowed on this type'))
  if (meta.generation !== undefined && meta.generation < 0)
    errors.push(invalidValue(`${path}.generation`, meta.generation, 'must be greater than or equal to 0'))
  sharedRules(errors, meta, path)
  finalizerErrors(errors, meta.finalizers, path, anyFinalizer)
  return errors
}

/** Validates new finalizers only: old ones may be older than the rules. */
function finalizerErrors(
  errors: FieldError[],
  finalizers: readonly string[] | undefined,
  path: string,
  any: boolean,
  before: readonly string[] = [],
): void {
  if (!finalizers) return
  const known = new Set(before)
  const added = finalizers.filter((finalizer) => !known.has(finalizer))
  for (const finalizer of added)
    for (const message of qualifiedName(finalizer)) errors.push(invalidValue(`${path}.finalizers`, finalizer, message))
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion'))
    errors.push(
      invalidValue(`${path}.finalizers`, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'),
    )
  if (any) return
  for (const finalizer of added)
    if (!isFinalizer(finalizer))
      errors.push(invalidValue(`${path}.finalizers[${finalizers.indexOf(finalizer)}]`, finalizer, unknownFinalizer))
}

/** Validates the changes of an update. `meta` already has the server's fields (uid, creationTimestamp, …). */
export function validateMetadataUpdate(
  meta: ObjectMeta,
  old: ObjectMeta,
  { anyFinalizer = false }: Pick<MetadataRules, 'anyFinalizer'> = {},
  path = 'metadata',
): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp) {
    const known = new Set(old.finalizers)
    const extra = (meta.finalizers ?? []).filter((finalizer) => !known.has(finalizer))
    if (extra.length > 0) {
      const listed = goList([...new Set(extra)].sort())
      errors.push(
        forbiddenField(
          `${path}.finalizers`,
          `no new finalizers can be added if the object is being deleted, found new finalizers ${listed}`,
        ),
      )
    }
  }
  if (!meta.resourceVersion)
    errors.push(invalidValue(`${path}.resourceVersion`, meta.resourceVersion ?? '', 'must be specified for an update'))
  if ((meta.generation ?? 0) < (old.generation ?? 0))
    errors.push(invalidValue(`${path}.generation`, meta.generation ?? 0, 'must not be decremented'))
  for (const field of [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ] as const)
    if (meta[field] !== old[field])
      errors.push(
        invalidValue(
          `${path}.${field}`,
          meta[field] ?? (field.startsWith('deletion') ? null : ''),
          'field is immutable',
        ),
      )
  sharedRules(errors, meta, path)
  finalizerErrors(errors, meta.finalizers, path, anyFinalizer, old.finalizers)
  return errors
}

function sharedRules(errors: FieldError[], meta: ObjectMeta, path: string): void {
  if (meta.labels) labelErrors(errors, meta.labels, `${path}.labels`)
  if (meta.annotations) annotationErrors(errors, meta.annotations, `${path}.annotations`)
  if (meta.ownerReferences) ownerErrors(errors, meta.ownerReferences, `${path}.ownerReferences`)
}

/** Validates a map of labels in any field. */
export function validateLabels(labels: Readonly<Record<string, string>> | undefined, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (labels) labelErrors(errors, labels, path)
  return errors
}

/** Validates a map of annotations in any field. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  path: string,
): FieldError[] {
  const errors: FieldError[] = []
  if (annotations) annotationErrors(errors, annotations, path)
  return errors
}

function labelErrors(errors: FieldError[], labels: Readonly<Record<string, string>>, path: string): void {
  for (const key in labels) {
    const value = labels[key] ?? ''
    for (const message of qualifiedName(key)) errors.push(invalidValue(path, key, message))
    for (const message of labelValue(value)) errors.push(invalidValue(path, value, message))
  }
}

function annotationErrors(errors: FieldError[], annotations: Readonly<Record<string, string>>, path: string): void {
  let bytes = 0
  for (const key in annotations) {
    for (const message of qualifiedName(key.toLowerCase())) errors.push(invalidValue(path, key, message))
    bytes += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] ?? '')
  }
  if (bytes > maxAnnotationBytes) errors.push(tooLong(path, maxAnnotationBytes))
}

function ownerErrors(errors: FieldError[], owners: readonly OwnerReference[], path: string): void {
  let controller: OwnerReference | undefined
  for (const owner of owners) {
    const [version, group] = splitGroupVersion(owner.apiVersion ?? '')
    if (!version) errors.push(invalidValue(`${path}.apiVersion`, owner.apiVersion ?? '', 'version must not be empty'))
    for (const field of ['kind', 'name', 'uid'] as const)
      if (!owner[field]) errors.push(invalidValue(`${path}.${field}`, owner[field] ?? '', 'must not be empty'))
    if (group === '' && version === 'v1' && owner.kind === 'Event')
      errors.push(invalidValue(path, shownOwner(owner), '/v1, Kind=Event is disallowed from being an owner'))
    if (!owner.controller) continue
    if (controller)
      errors.push(
        invalidValue(
          path,
          owners.map(shownOwner),
          'Only one reference can have Controller set to true. Found "true" in references for ' +
            `${controller.kind}/${controller.name} and ${owner.kind}/${owner.name}`,
        ),
      )
    else controller = owner
  }
}

/** Returns version and group. Both are empty if the text is not an apiVersion. */
function splitGroupVersion(apiVersion: string): [version: string, group: string] {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return ['', '']
  return parts.length === 2 ? [parts[1] ?? '', parts[0] ?? ''] : [apiVersion, '']
}

/** Sorts an owner's fields into Go's order for messages. */
const shownOwner = ({
  apiVersion = '',
  kind = '',
  name = '',
  uid = '',
  controller,
  blockOwnerDeletion,
}: OwnerReference): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
  controller,
  blockOwnerDeletion,
})
