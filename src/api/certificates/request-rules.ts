/** What is valid in a CertificateSigningRequest, and which changes of its status are. */

import type { V1CertificateSigningRequest } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Model } from '../../machinery/object.ts'
import { duplicate, type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../machinery/validation/field-error.ts'
import { all, each, repeats } from '../../machinery/validation/field-rules.ts'
import { invalidShown } from '../../machinery/validation/go-notation.ts'
import { dnsLabel, dnsSubdomain } from '../../machinery/validation/names.ts'

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

/** Requests are some hundred bytes; of what is none, no more than these are shown. */
const shownBytes = 16 * 1024

/** What is wrong with a request. That it holds a well-formed PKCS #10 request is looked at by whoever signs. */
export function requestRules(request: Request): readonly FieldError[] {
  const { spec, metadata } = request
  const isNew = !metadata.resourceVersion
  const errors: FieldError[] = []
  const bytes = Buffer.from(spec?.request ?? '', 'base64')
  if (pemBlocks(bytes.toString('latin1'))[0] !== 'CERTIFICATE REQUEST') {
    const shown = `[]byte{${[...bytes.subarray(0, shownBytes)].map((byte) => `0x${byte.toString(16)}`).join(', ')}}`
    errors.push(invalidShown('spec.request', shown, 'PEM block type must be CERTIFICATE REQUEST'))
  }
  errors.push(...usageRules(spec?.usages ?? []), ...signerNameRules(spec?.signerName ?? '', 'spec.signerName'))
  if (isNew && spec?.signerName === 'kubernetes.io/legacy-unknown')
    errors.push(invalidValue('spec.signerName', spec.signerName, 'the legacy signerName is not allowed via this API version'))
  if (spec?.expirationSeconds !== undefined && spec.expirationSeconds < 600)
    errors.push(invalidValue('spec.expirationSeconds', spec.expirationSeconds, 'may not specify a duration less than 600 seconds (10 minutes)'))
  return errors
}

function usageRules(wanted: readonly string[]): readonly FieldError[] {
  if (wanted.length === 0) return [required('spec.usages')]
  const isRepeated = repeats<string>()
  return each(wanted, 'spec.usages', (usage, field) =>
    all(usages.includes(usage) ? [] : [notSupported(field, usage, usages)], isRepeated(usage) ? [duplicate(field, usage)] : []),
  )
}

/** Signers are named `example.com/some-path`. */
export function signerNameRules(signerName: string, field: string): readonly FieldError[] {
  if (signerName === '') return [required(field)]
  const segments = signerName.split('/')
  const [domain = '', path = ''] = segments
  if (segments.length !== 2) return [invalidValue(field, signerName, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  const labels = domain.split('.')
  return all(
    labels.flatMap((label) => dnsLabel(label).map((message) => invalidValue(field, domain, `validating label ${JSON.stringify(label)}: ${message}`))),
    labels.length < 2 ? [invalidValue(field, domain, 'should be a domain with at least two segments separated by dots')] : [],
    path
      .split('.')
      .flatMap((label) => dnsSubdomain(label).map((message) => invalidValue(field, path, `validating label ${JSON.stringify(label)}: ${message}`))),
  )
}

const decisions = ['Approved', 'Denied', 'Failed']

/** What is wrong with the conditions of a request, whether `/approval` or `/status` writes them. */
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
    else if (!['True', 'False', 'Unknown'].includes(value)) errors.push(notSupported(`${path}.status`, value, ['False', 'True', 'Unknown']))
    if ((type === 'Approved' && seen.has('Denied')) || (type === 'Denied' && seen.has('Approved')))
      errors.push(invalidValue(`${path}.type`, type, 'Approved and Denied conditions are mutually exclusive'))
    if (type && seen.has(type)) errors.push(duplicate(`${path}.type`, type))
    seen.add(type)
    return errors
  })
}

/** A decision that was made stays; only `/approval` (`mayDecide`) makes new ones. */
function decisionsKept(request: Request, old: Request, mayDecide: boolean): readonly FieldError[] {
  return ['Approved', 'Denied', ...(mayDecide ? ['Failed'] : [])].flatMap((kind) => {
    const before = (old.status?.conditions ?? []).filter(({ type }) => type === kind)
    const after = (request.status?.conditions ?? []).filter(({ type }) => type === kind)
    const refuse = (verb: string) => [forbiddenField('status.conditions', `updates may not ${verb} a condition of type ${JSON.stringify(kind)}`)]
    if (after.length < before.length) return refuse('remove')
    if (mayDecide) return []
    if (after.length > before.length) return refuse('add')
    return semanticallyEqual(after, before) ? [] : refuse('modify')
  })
}

/** What is wrong with a write of `/approval`: decisions are added, never withdrawn. */
export const approvalRules = (request: Request, old: Request): readonly FieldError[] => all(requestConditionRules(request), decisionsKept(request, old, true))

/** What is wrong with a write of `/status`: the signer sets the certificate once. */
export function requestStatusRules(request: Request, old: Request): readonly FieldError[] {
  const errors = [...requestConditionRules(request), ...decisionsKept(request, old, false)]
  const certificate = request.status?.certificate ?? ''
  const before = old.status?.certificate ?? ''
  if (before && certificate !== before) return [...errors, forbiddenField('status.certificate', 'updates may not modify existing certificate content')]
  if (!certificate || certificate === before) return errors
  const blocks = pemBlocks(Buffer.from(certificate, 'base64').toString('latin1'))
  const foreign = blocks.find((type) => type !== 'CERTIFICATE')
  const field = 'status.certificate'
  if (foreign) errors.push(invalidValue(field, '<certificate data>', `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(foreign)}`))
  else if (blocks.length === 0) errors.push(invalidValue(field, '<certificate data>', 'must contain at least one CERTIFICATE PEM block'))
  return errors
}

/** There are not many types; blocks without ends are looked for no further. */
const maxTypes = 10

/** The types of the PEM blocks in a text. */
function pemBlocks(text: string): string[] {
  const types: string[] = []
  const begin = /-----BEGIN ([^-]+)-----/g
  // A type whose end is nowhere behind a place is nowhere behind later ones.
  const endless = new Set<string>()
  for (let match = begin.exec(text); match; match = begin.exec(text)) {
    const [, type = ''] = match
    if (endless.has(type)) continue
    const end = `-----END ${type}-----`
    const at = text.indexOf(end, begin.lastIndex)
    if (at < 0) {
      endless.add(type)
      if (endless.size > maxTypes) break
      continue
    }
    types.push(type)
    begin.lastIndex = at + end.length
  }
  return types
}
