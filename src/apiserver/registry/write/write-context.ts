/** The context of every write: the resource, the object's name, the user, and the options. */

import type { PartialWrite } from '../../../api/resource.ts'
import { type Pause, runWithPauses } from '../../../lib/flow/steps.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { invalid } from '../../../machinery/status-error.ts'
import { limitFaults } from '../../../machinery/validation/fault-limit.ts'
import type { FieldError } from '../../../machinery/validation/field-error.ts'
import { all, valid } from '../../../machinery/validation/field-rules.ts'
import { validateMetadata, validateMetadataUpdate } from '../../../machinery/validation/metadata.ts'
import { dnsSubdomain } from '../../../machinery/validation/names.ts'
import { trackSteps } from '../../apply/index.ts'
import type { Request } from '../../http/exchange.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import type { DeleteOptions } from '../../request-options/delete-options.ts'
import type { WriteOptions } from '../../request-options/write-options.ts'
import type { Registry } from '../registry.ts'
import type { ServedResource } from '../served-resource.ts'
import type { Admission, AdmissionAttributes, GroupVersionKind } from './admission.ts'
import { otherVersionOf } from './other-version.ts'

export interface WriteContext {
  readonly registry: Registry
  readonly admission: Admission
  readonly resource: ServedResource
  readonly namespace: string
  readonly name: string
  /** True if admission gets no name, because the request had none. */
  readonly nameless?: boolean
  /** Empty, `status`, or another subresource that writes the object. */
  readonly subresource: string
  readonly user: UserInfo
  /** The manager that owns the written fields. */
  readonly manager: string
  readonly options: WriteOptions
  /** Texts for Warning headers are added here. */
  readonly warnings: string[]
  /** Adds an annotation to the audit event of the request. */
  readonly annotate: (key: string, value: string, level?: 'Request') => void
  /**
   * The request that this write serves: once its signal is aborted, nobody waits for the result. The server's own
   * writes have none.
   */
  readonly request?: Pick<Request, 'signal'> & Partial<Pick<Request, 'info' | 'deadline'>>
  /**
   * For writes that create a missing object although their verb is another: throws 403 if the user may not create it.
   */
  readonly confirmCreate?: () => void | Promise<void>
  /** Now, as RFC 3339 with seconds. */
  readonly now: () => string
  /**
   * Shows admission another kind in place of the object, for a subresource with a kind of its own (Scale). Its mutating
   * plugins have run before, on that kind.
   */
  readonly shownAs?: AdmissionView
  /** Yields to other requests between steps that take long with large objects. */
  readonly pause: Pause
}

export interface AdmissionView {
  readonly kind: GroupVersionKind
  readonly of: (object: KubeObject) => KubeObject
}

/** The writer and its options, independent of the object. */
export type Writer = Omit<WriteContext, 'resource' | 'namespace' | 'name' | 'subresource'>

let lastSecond = 0
let lastTimestamp = ''

/** Returns a time, in ms since 1970, in the form of `metadata` timestamps. Caches the last second for most calls. */
export function timestamp(ms: number): string {
  const second = Math.floor(ms / 1000)
  if (second !== lastSecond) {
    lastSecond = second
    lastTimestamp = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`
  }
  return lastTimestamp
}

export function attributes(
  context: WriteContext,
  operation: AdmissionAttributes['operation'],
  object?: KubeObject,
  old?: KubeObject,
): AdmissionAttributes {
  const { resource, namespace, name, subresource, user, options, request, warnings, annotate, shownAs } = context
  return {
    operation,
    resource,
    subresource,
    namespace,
    name: name || (object?.metadata.name ?? ''),
    user,
    object: shownAs && object ? shownAs.of(object) : object,
    old: shownAs && old ? shownAs.of(old) : old,
    kind: shownAs?.kind,
    deletion: undefined,
    reinvocation: undefined,
    dryRun: options.dryRun,
    options,
    request,
    warn: (text) => warnings.push(text),
    annotate,
  }
}

/** The attributes of a DELETE: the object is parsed on first access. */
export function deleteAttributes(
  context: WriteContext,
  old: () => KubeObject,
  deletion: DeleteOptions,
): AdmissionAttributes {
  const { resource, namespace, name, nameless, subresource, user, options, request, warnings, annotate } = context
  return {
    operation: 'DELETE',
    resource,
    subresource,
    namespace,
    name: nameless ? '' : name,
    user,
    object: undefined,
    get old() {
      return old()
    },
    kind: undefined,
    deletion,
    reinvocation: undefined,
    dryRun: options.dryRun,
    options,
    request,
    warn: (text) => warnings.push(text),
    annotate,
  }
}

/** Records in `managedFields` which fields this write changed. */
export async function track(context: WriteContext, object: KubeObject, live: KubeObject | undefined): Promise<void> {
  const { resource, manager, subresource, now } = context
  const steps = trackSteps({
    live,
    object,
    type: resource.type,
    manager,
    apiVersion: resource.groupVersion,
    subresource,
    now: now(),
    resetFields: resetFields(resource, subresource),
    otherVersion: otherVersionOf(context),
  })
  const managedFields = await runWithPauses(steps, context.pause)
  if (managedFields) object.metadata.managedFields = managedFields
  else delete object.metadata.managedFields
}

/** Fields that this endpoint does not write, whatever the client sends: no manager becomes their owner here. */
export function resetFields({ definition }: ServedResource, subresource: string): readonly string[] {
  const own = definition.resetFields?.[subresource]
  if (own) return own
  if (subresource === 'status') return ['spec']
  return definition.subresources?.status && !subresource ? ['status'] : []
}

/** The subresource's own rules, if it writes a part of the object. */
export const partialWrite = (
  { definition }: ServedResource,
  subresource: string,
): PartialWrite<KubeObject> | undefined =>
  subresource === '' ? undefined : definition.subresources?.special?.find(({ name }) => name === subresource)?.writes

const metadataRules = ({ definition, namespaced }: ServedResource) => ({
  namespaced,
  nameRule: definition.nameRule ?? dnsSubdomain,
  anyFinalizer: definition.custom !== undefined,
})

/** Throws 422 if the object is not valid. */
export function validateCreate({ resource, warnings }: WriteContext, object: KubeObject): void {
  const { validate, validatesMetadataLast } = resource.definition
  const metadata = (): readonly FieldError[] => validateMetadata(object.metadata, metadataRules(resource))
  const faults = (): readonly FieldError[] => {
    const own = all(
      validatesMetadataLast ? valid : metadata(),
      validate?.spec?.(object) ?? valid,
      validate?.object?.(object) ?? valid,
      validate?.create?.(object) ?? valid,
    )
    return validatesMetadataLast && own.length === 0 ? metadata() : own
  }
  resource.withFeatures(() => {
    refuse(resource, object, limitFaults(faults))
    warnings.push(...(resource.definition.warnings?.(object, undefined) ?? []))
  })
}

/** Returns true if a write to the object or to this subresource runs all validation. */
export const needsFullValidation = (subresource: string): boolean => subresource === '' || subresource === 'scale'

/**
 * Throws 422 if the object is not valid, or changes an immutable field. Other subresources (`/binding`) are not
 * validated here. `validSpec`: its spec has already passed validation.
 */
export function validateUpdate(
  { resource, subresource, warnings }: WriteContext,
  object: KubeObject,
  old: KubeObject,
  validSpec = false,
): void {
  resource.withFeatures(() => {
    const errors = limitFaults(() =>
      all(
        validateMetadataUpdate(object.metadata, old.metadata, metadataRules(resource)),
        updateFaults(resource, subresource, object, old, validSpec),
      ),
    )
    refuse(resource, object, errors)
    if (!subresource) warnings.push(...(resource.definition.warnings?.(object, old) ?? []))
  })
}

function updateFaults(
  resource: ServedResource,
  subresource: string,
  object: KubeObject,
  old: KubeObject,
  validSpec: boolean,
): readonly FieldError[] {
  const { validate } = resource.definition
  const partial = partialWrite(resource, subresource)
  if (partial) return partial.validate(object, old)
  if (subresource === 'status') return validate?.status?.(object, old) ?? valid
  if (!needsFullValidation(subresource)) return valid
  return all(
    (validSpec ? undefined : validate?.spec?.(object)) ?? valid,
    validate?.object?.(object, old) ?? valid,
    validate?.update?.(object, old) ?? valid,
  )
}

/** Errors name the stored kind: an Event has the same in both groups. */
function refuse(
  { storage: { groupKind } }: ServedResource,
  { metadata }: KubeObject,
  errors: readonly FieldError[],
): void {
  if (errors.length) throw invalid(groupKind, metadata.name ?? '', errors)
}
