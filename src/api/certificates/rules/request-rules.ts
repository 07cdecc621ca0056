/** Validation of CertificateSigningRequests and of changes of their status. */

import type { V1CertificateSigningRequest } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model } from '../../../machinery/object.ts'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../machinery/validation/field-error.ts'
import { all, duplicateFinder, each } from '../../../machinery/validation/field-rules.ts'
import { issuedFault } from './issued-certificates.ts'
import { signedRequestFault } from './signed-request.ts'
import { signerNameRules } from './signer-name.ts'

type Request = Model<V1CertificateSigningRequest>

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]

/** Errors show at most this many bytes of an invalid request; valid ones have a few hundred. */
const shownBytes = 16 * 1024

/** Validates a request. */
export function requestRules(request: Request): readonly FieldError[] {
  const { spec, metadata } = request
  const isNew = !metadata.resourceVersion
  const errors: FieldError[] = []
  const bytes = Buffer.from(spec?.request ?? '', 'base64')
  const fault = signedRequestFault(bytes.toString('latin1'))
  if (fault) errors.push(invalidValue('spec.request', bytes.subarray(0, shownBytes).toString('base64'), fault))
  errors.push(...usageRules(spec?.usages ?? []), ...signerNameRules(spec?.signerName ?? '', 'spec.signerName'))
  if (isNew && spec?.signerName === 'kubernetes.io/legacy-unknown')
    errors.push(
      invalidValue('spec.signerName', spec.signerName, 'the legacy signerName is not allowed via this API version'),
    )
  if (spec?.expirationSeconds !== undefined && spec.expirationSeconds < 600)
    errors.push(
      invalidValue(
        'spec.expirationSeconds',
        spec.expirationSeconds,
        'may not specify a duration less than 600 seconds (10 minutes)',
      ),
    )
  return errors
}

function usageRules(wanted: readonly string[]): readonly FieldError[] {
  if (wanted.length === 0) return [required('spec.usages')]
  const isRepeated = duplicateFinder<string>()
  return each(wanted, 'spec.usages', (usage, field) =>
    all(
      usages.includes(usage) ? [] : [notSupported(field, usage, usages)],
      isRepeated(usage) ? [duplicate(field, usage)] : [],
    ),
  )
}

const decisions = ['Approved', 'Denied', 'Failed']

/** Validates the conditions of a request, written by `/approval` or `/status`. */
function requestConditionRules({ status }: Request): readonly FieldError[] {
  const conditions = status?.conditions ?? []
  const seen = new Set<string>()
  return conditions.flatMap(({ type, status: value }, at) => {
    const path = `status.conditions[${at}]`
    const errors: FieldError[] = []
    if (!type) errors.push(required(`${path}.type`))
    if (decisions.includes(type)) {
      if (!value) errors.push(required(`${path}.status`))
      else if (value !== 'True') errors.push(notSupported(`${path}.status`, value, ['True']))
    } else if (!value) errors.push(required(`${path}.status`))
    else if (!['True', 'False', 'Unknown'].includes(value))
      errors.push(notSupported(`${path}.status`, value, ['False', 'True', 'Unknown']))
    if ((type === 'Approved' && seen.has('Denied')) || (type === 'Denied' && seen.has('Approved')))
      errors.push(invalidValue('status.conditions', type, 'Approved and Denied conditions are mutually exclusive'))
    if (type && seen.has(type)) errors.push(duplicate(`${path}.type`, type))
    seen.add(type)
    return errors
  })
}

/** Decisions cannot be removed; only `/approval` (`canDecide`) adds new ones. */
function validateDecisions(request: Request, old: Request, canDecide: boolean): readonly FieldError[] {
  return ['Approved', 'Denied', ...(canDecide ? ['Failed'] : [])].flatMap((kind) => {
    const before = (old.status?.conditions ?? []).filter(({ type }) => type === kind)
    const after = (request.status?.conditions ?? []).filter(({ type }) => type === kind)
    const decisionError = (verb: string) => [
      forbiddenField('status.conditions', `updates may not ${verb} a condition of type ${JSON.stringify(kind)}`),
    ]
    if (after.length < before.length) return decisionError('remove')
    if (canDecide) return []
    if (after.length > before.length) return decisionError('add')
    return semanticallyEqual(after, before) ? [] : decisionError('modify')
  })
}

/** Validates a write of `/approval`: decisions are added, never removed. */
export const approvalRules = (request: Request, old: Request): readonly FieldError[] =>
  all(requestConditionRules(request), validateDecisions(request, old, true))

/** Validates a write of `/status`: the signer sets the certificate once. */
export function requestStatusRules(request: Request, old: Request): readonly FieldError[] {
  const errors = [...requestConditionRules(request), ...validateDecisions(request, old, false)]
  const certificate = request.status?.certificate ?? ''
  const before = old.status?.certificate ?? ''
  if (before && certificate !== before)
    return [...errors, forbiddenField('status.certificate', 'updates may not modify existing certificate content')]
  if (!certificate || certificate === before) return errors
  const fault = issuedFault(Buffer.from(certificate, 'base64').toString('latin1'))
  if (fault) errors.push(invalidValue('status.certificate', '<certificate data>', fault))
  return errors
}
