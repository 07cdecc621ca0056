/** Validation of access reviews. */

import type { ObjectMeta } from '../../../machinery/object.ts'
import { type FieldError, forbiddenField, invalidValue, required } from '../../../machinery/validation/field-error.ts'
import { all, each, follows } from '../../../machinery/validation/field-rules.ts'
import { objectMeta } from '../../../machinery/validation/internal-type.ts'
import { labelValue, qualifiedName } from '../../../machinery/validation/names.ts'
import type { SelectorRequirement } from '../../authorization/authorizer.ts'
import type { SelectorAttributes } from '../../authorization/selector-attributes.ts'
import type { AccessReview, AccessReviewSpec } from './access-reviews.ts'

/** Reviews have no names or labels. Fields in `ignored` are allowed. */
export function metadataRules(metadata: ObjectMeta, ignored: readonly string[], detail: string): FieldError[] {
  const rest = Object.entries(metadata).filter(
    ([field, value]) => !ignored.includes(field) && value !== '' && value !== null && value !== undefined,
  )
  return rest.length > 0 ? [invalidValue('metadata', objectMeta(Object.fromEntries(rest)), detail)] : []
}

/** `requiresSubject`: the spec names a user or groups. */
export function specRules(spec: AccessReviewSpec, requiresSubject: boolean): FieldError[] {
  const { resourceAttributes, nonResourceAttributes, user, groups } = spec
  const errors: FieldError[] = []
  if (resourceAttributes && nonResourceAttributes)
    errors.push(
      invalidValue(
        'spec.nonResourceAttributes',
        shownPath(spec),
        'cannot be specified in combination with resourceAttributes',
      ),
    )
  if (!resourceAttributes && !nonResourceAttributes)
    errors.push(
      invalidValue(
        'spec.resourceAttributes',
        null,
        'exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ),
    )
  if (requiresSubject && !user && !groups?.length)
    errors.push(invalidValue('spec.user', '', 'at least one of user or group must be specified'))
  const { fieldSelector, labelSelector } = resourceAttributes ?? {}
  if (fieldSelector) errors.push(...selectorRules(fieldSelector, 'spec.resourceAttributes.fieldSelector'))
  if (labelSelector) errors.push(...selectorRules(labelSelector, 'spec.resourceAttributes.labelSelector'))
  return errors
}

/** A LocalSubjectAccessReview is restricted to its own namespace. */
export function localRules({ metadata, spec }: AccessReview): FieldError[] {
  const errors: FieldError[] = []
  const { resourceAttributes, nonResourceAttributes } = spec ?? {}
  if (resourceAttributes && (resourceAttributes.namespace ?? '') !== metadata.namespace)
    errors.push(
      invalidValue(
        'spec.resourceAttributes.namespace',
        resourceAttributes.namespace ?? '',
        'must match metadata.namespace',
      ),
    )
  if (nonResourceAttributes)
    errors.push(invalidValue('spec.nonResourceAttributes', shownPath(spec!), 'disallowed on this kind of request'))
  return errors
}

/** With the names of Go's fields, as messages print it. */
const shownPath = ({ nonResourceAttributes: { path = '', verb = '' } = {} }: AccessReviewSpec): object => ({
  Path: path,
  Verb: verb,
})

function selectorRules({ rawSelector, requirements }: SelectorAttributes, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (rawSelector && requirements?.length)
    errors.push(invalidValue(`${path}.rawSelector`, rawSelector, 'may not specified at the same time as requirements'))
  if (!rawSelector && !requirements?.length)
    errors.push(required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`))
  return [
    ...errors,
    ...(requirements ?? []).flatMap((requirement, at) =>
      requirementRules(requirement, `${path}.requirements[${at}]`, path.endsWith('.labelSelector')),
    ),
  ]
}

/** Operators of later versions are valid: they are ignored in the check. */
function requirementRules(
  { key, operator, values }: SelectorRequirement,
  path: string,
  isLabel: boolean,
): readonly FieldError[] {
  const errors = key || isLabel ? [] : [required(`${path}.key`, 'must be specified')]
  if ((operator === 'In' || operator === 'NotIn') && !values?.length)
    errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values?.length)
    errors.push(forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
  if (!isLabel) return errors
  return all(
    errors,
    follows(key ?? '', `${path}.key`, qualifiedName),
    each(values, `${path}.values`, (value, at) => follows(value, at, labelValue)),
  )
}
