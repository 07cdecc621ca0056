/** The options of writes (`meta/v1` CreateOptions, UpdateOptions, PatchOptions), from the query. */

import { invalid } from '../../machinery/status-error.ts'
import { type FieldError, forbiddenField, notSupported, required } from '../../machinery/validation/field-error.ts'
import { fieldManagerErrors } from '../apply/index.ts'
import { flagParameter } from './parameters.ts'

export interface WriteOptions {
  readonly dryRun: boolean
  /** If empty, the manager is named after the user agent. */
  readonly fieldManager: string
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
  /** True if the client has set fieldValidation. */
  readonly validationGiven?: boolean
  /** Apply takes over fields of other managers. */
  readonly force: boolean
}

/** Returns errors for dryRun values other than `All`. */
export const dryRunErrors = (values: readonly string[]): FieldError[] =>
  values.some((value) => value !== 'All') ? [notSupported('dryRun', values, ['All'])] : []

/** Reads and validates the options of a write; `kind` is their kind in errors. Throws 422. */
export function writeOptions(
  query: URLSearchParams,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  apply = false,
): WriteOptions {
  if (query.size === 0 && !apply) return none
  const fieldManager = query.get('fieldManager') ?? ''
  const fieldValidation = query.get('fieldValidation') ?? ''
  const dryRun = query.getAll('dryRun')
  const force = flagParameter(query, 'force')
  const errors: FieldError[] = []
  if (kind === 'PatchOptions') {
    if (!apply && force !== undefined) errors.push(forbiddenField('force', 'may not be specified for non-apply patch'))
    if (apply && !fieldManager) errors.push(required('fieldManager', 'is required for apply patch'))
  }
  errors.push(...fieldManagerErrors(fieldManager), ...dryRunErrors(dryRun))
  if (
    fieldValidation !== '' &&
    fieldValidation !== 'Ignore' &&
    fieldValidation !== 'Strict' &&
    fieldValidation !== 'Warn'
  ) {
    errors.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']))
  }
  if (errors.length) throw invalid({ group: 'meta.k8s.io', name: kind }, '', errors)
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: (fieldValidation || 'Warn') as WriteOptions['fieldValidation'],
    validationGiven: fieldValidation !== '',
    force: force ?? false,
  }
}

const none: WriteOptions = {
  dryRun: false,
  fieldManager: '',
  fieldValidation: 'Warn',
  validationGiven: false,
  force: false,
}
