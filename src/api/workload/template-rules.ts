/** Validation of selectors and pod templates, shared by all workloads. */

import type { V1LabelSelector, V1PodTemplateSpec } from '@kubernetes/client-node'
import { sortedByKey } from '../../lib/collections/sorted-by-key.ts'
import type { Wire } from '../../machinery/object.ts'
import { validateLabelSelector } from '../../machinery/selectors/label-selector.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../machinery/validation/field-error.ts'
import { all, hasRequirements, nonNegative, selects, valid } from '../../machinery/validation/field-rules.ts'
import { labelSelector } from '../../machinery/validation/internal-type.ts'
import { podTemplate, type TemplateOptions } from '../core/pod/index.ts'

type Template = Wire<V1PodTemplateSpec>
type Selector = Wire<V1LabelSelector>

const mismatch = '`selector` does not match template `labels`'

const labelsShown = (template: Template | undefined): object | null =>
  template?.metadata?.labels ? sortedByKey(template.metadata.labels) : null

/** Requires that the selector matches the labels of the template; a missing one matches nothing. */
export const selectorMatches = (
  selector: Selector | undefined,
  template: Template | undefined,
  path = 'spec.template',
): readonly FieldError[] =>
  selector && selects(selector, template?.metadata?.labels)
    ? valid
    : [invalidValue(`${path}.metadata.labels`, labelsShown(template), mismatch)]

/** Validates `spec.selector` of a workload; `kind` is the name in messages. */
export function workloadSelector(selector: Selector | undefined, kind: string): readonly FieldError[] {
  if (!selector) return [required('spec.selector')]
  const errors = validateLabelSelector(selector, 'spec.selector')
  return hasRequirements(selector)
    ? errors
    : [...errors, invalidValue('spec.selector', labelSelector(selector), `empty selector is invalid for ${kind}`)]
}

/** Validates the template of long-running pods: restartPolicy Always and no deadline. */
export const validateLongRunningTemplate = (
  template: Template | undefined,
  kind: string,
  options?: TemplateOptions,
  path = 'spec.template',
): readonly FieldError[] => {
  if (!template) return [required(path)]
  const { restartPolicy, activeDeadlineSeconds } = template.spec ?? {}
  return all(
    podTemplate(template, path, options),
    restartPolicy === 'Always' ? valid : [notSupported(`${path}.spec.restartPolicy`, restartPolicy, ['Always'])],
    activeDeadlineSeconds === undefined
      ? valid
      : [forbiddenField(`${path}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${kind} is not Supported`)],
  )
}

/** Validates selector and template; the template only if the selector is valid. */
export function selectorAndTemplate(
  { selector, template }: { selector?: Selector; template?: Template },
  kind: string,
  templateKind: string,
  options?: TemplateOptions,
): readonly FieldError[] {
  const errors = workloadSelector(selector, kind)
  if (selector && validateLabelSelector(selector, 'spec.selector').length > 0)
    return [...errors, invalidValue('spec.selector', labelSelector(selector), 'invalid label selector')]
  return all(errors, selectorMatches(selector, template), validateLongRunningTemplate(template, templateKind, options))
}

/** Validates that counts in a status are not negative. */
export const validateCounts = <T extends object>(
  status: T | undefined,
  fields: readonly (keyof T & string)[],
): readonly FieldError[] =>
  fields.flatMap((field) => nonNegative(status?.[field] as number | undefined, `status.${field}`))

/** Validates that counts of subsets are at most the count of the superset. */
export const validateAtMost = <T extends object>(
  status: T | undefined,
  fields: readonly (keyof T & string)[],
  superset: keyof T & string,
  detail = `cannot be greater than status.${superset}`,
): readonly FieldError[] =>
  fields.flatMap((field) => {
    const count = (status?.[field] as number | undefined) ?? 0
    return count > ((status?.[superset] as number | undefined) ?? 0)
      ? [invalidValue(`status.${field}`, count, detail)]
      : valid
  })

/** Rejects a lower `collisionCount`, which names are derived from. */
export function validateCollisionCount(
  status: { collisionCount?: number } | undefined,
  old: { collisionCount?: number } | undefined,
): readonly FieldError[] {
  const count = status?.collisionCount
  return old?.collisionCount !== undefined && (count ?? -1) < old.collisionCount
    ? [invalidValue('status.collisionCount', count ?? 0, 'cannot be decremented')]
    : valid
}
