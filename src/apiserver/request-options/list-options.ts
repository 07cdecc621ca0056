/** The options of list, watch and deletecollection, from the query (`meta/v1` ListOptions). */

import type { FeatureGates } from '../../api/features/feature-gates.ts'
import type { ResourceDefinition } from '../../api/resource.ts'
import { type FieldSelector, parseFieldSelector, unknownField } from '../../machinery/selectors/field-selector.ts'
import { parseLabelSelector, type Selector } from '../../machinery/selectors/label-selector.ts'
import { badRequest, invalid } from '../../machinery/status-error.ts'
import { type FieldError, forbiddenField, notSupported } from '../../machinery/validation/field-error.ts'
import { flagParameter, integerParameter } from './parameters.ts'

export interface ListOptions {
  /** Absent if every object matches. */
  readonly labels?: Selector
  readonly fields?: FieldSelector
  readonly limit: number
  readonly continue: string
  readonly resourceVersion: string
  readonly match: string
  readonly timeoutSeconds?: number
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents?: boolean
}

/** The properties of a resource that list options depend on; a `ServedResource` has them. */
export interface ListedResource {
  readonly definition: Pick<ResourceDefinition, 'selectableFields' | 'unknownFieldLabel'>
  readonly features: FeatureGates
}

/** Reads and validates the options. Throws 400 for syntax errors and 422 for invalid combinations. */
export function listOptions(query: URLSearchParams, resource: ListedResource, watch: boolean): ListOptions {
  const labelText = query.get('labelSelector') ?? ''
  const fieldText = query.get('fieldSelector') ?? ''
  const labels = labelText ? parseLabelSelector(labelText) : undefined
  const fields = fieldText ? parseFieldSelector(fieldText) : undefined
  const options: ListOptions = {
    ...(labels && !labels.everything && { labels }),
    ...(fields && fields.requirements.length > 0 && { fields }),
    limit: Math.max(0, integerParameter(query, 'limit') ?? 0),
    continue: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    match: query.get('resourceVersionMatch') ?? '',
    timeoutSeconds: integerParameter(query, 'timeoutSeconds'),
    allowWatchBookmarks: flagParameter(query, 'allowWatchBookmarks') ?? false,
    sendInitialEvents: flagParameter(query, 'sendInitialEvents'),
  }
  const errors = watch ? watchErrors(options, resource) : listErrors(options)
  if (errors.length) throw invalid({ group: 'meta.k8s.io', name: 'ListOptions' }, '', errors)
  if (fields) checkFields(fields, resource)
  return options
}

/** Throws 400 for a field that the kind cannot be selected by. */
function checkFields(fields: FieldSelector, { definition }: ListedResource): void {
  const { selectableFields, unknownFieldLabel } = definition
  const unknown = unknownField(fields, selectableFields)
  if (!unknown) return
  const label = fields.requirements.find(
    ({ field }) => !metadataFields.has(field) && !(selectableFields && Object.hasOwn(selectableFields, field)),
  )?.field
  throw unknownFieldLabel && label ? badRequest(unknownFieldLabel(label)) : unknown
}

const metadataFields = new Set(['metadata.name', 'metadata.namespace'])
const field = 'resourceVersionMatch'

function listErrors({ match, resourceVersion, continue: token, sendInitialEvents }: ListOptions): FieldError[] {
  const errors: FieldError[] = []
  if (match) {
    if (!resourceVersion)
      errors.push(forbiddenField(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
    if (token) errors.push(forbiddenField(field, 'resourceVersionMatch is forbidden when continue is provided'))
    if (match !== 'Exact' && match !== 'NotOlderThan')
      errors.push(notSupported(field, match, ['Exact', 'NotOlderThan', '']))
    if (match === 'Exact' && resourceVersion === '0')
      errors.push(forbiddenField(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  if (sendInitialEvents !== undefined)
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  return errors
}

function watchErrors(
  { match, continue: token, sendInitialEvents }: ListOptions,
  { features }: ListedResource,
): FieldError[] {
  const errors: FieldError[] = []
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan')
    errors.push(forbiddenField(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  if (sendInitialEvents !== undefined && !features.isEnabled('WatchList'))
    errors.push(
      forbiddenField(
        'sendInitialEvents',
        'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
      ),
    )
  if (match) {
    if (sendInitialEvents === undefined)
      errors.push(
        forbiddenField(field, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
      )
    if (match !== 'NotOlderThan') errors.push(notSupported(field, match, ['NotOlderThan']))
    if (token) errors.push(forbiddenField(field, 'resourceVersionMatch is forbidden when continue is provided'))
  }
  return errors
}
