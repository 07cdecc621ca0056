/** Validation of a PodCertificateRequest's status: set once, with a certificate for its key, or a denial or failure. */
import type { KeyObject, X509Certificate } from 'node:crypto'
import type { V1beta1PodCertificateRequest } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model } from '../../../machinery/object.ts'
import { validateConditions } from '../../../machinery/validation/conditions.ts'
import {
  type FieldError,
  fieldError,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../../machinery/validation/field-error.ts'
import { valid } from '../../../machinery/validation/field-rules.ts'
import { parseCertificate } from './issued-certificates.ts'
import { pemBlocks } from './pem-blocks.ts'
import { publicKey } from './pod-certificate-rules.ts'
import { signedRequestKey } from './signed-request.ts'

type Request = Model<V1beta1PodCertificateRequest>
type Status = NonNullable<Request['status']>

const terminalTypes: readonly string[] = ['Issued', 'Denied', 'Failed']
const maxChainBytes = 100 * 1024
const chainPath = 'status.certificateChain'
const minuteMs = 60_000

export function podRequestStatusRules(
  request: Request,
  old: Request,
  now: () => number = Date.now,
): readonly FieldError[] {
  const status = request.status ?? {}
  const before = old.status ?? {}
  const conditions = [...conditionRules(status), ...validateConditions(status.conditions, 'status.conditions')]
  if (conditions.length > 0) return conditions
  if (terminalConditionOf(before))
    return unchanged(status, before, 'immutable after PodCertificateRequest is issued, denied, or failed')
  switch (terminalConditionOf(status)) {
    case 'Denied':
    case 'Failed':
      return unchanged(
        status,
        { conditions: status.conditions },
        'non-condition status fields must be empty when denying or failing the PodCertificateRequest',
      )
    case 'Issued': {
      const fault = issueFault(status, old, now())
      return fault ? [fault].flat() : valid
    }
    default:
      return unchanged(status, before, 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"')
  }
}

const terminalConditionOf = ({ conditions = [] }: Status): string | undefined =>
  conditions.find(({ type, status }) => terminalTypes.includes(type) && status === 'True')?.type

const unchanged = (status: Status, wanted: Status, why: string): readonly FieldError[] =>
  semanticallyEqual(status, wanted) ? valid : [fieldError('FieldValueInvalid', 'status', `Invalid value: ${why}`)]

/** The dot before the index is upstream's. */
function conditionRules({ conditions = [] }: Status): readonly FieldError[] {
  let known = 0
  return conditions.flatMap(({ type, status }, at) => {
    const path = `status.conditions.[${at}]`
    if (!terminalTypes.includes(type)) return [notSupported(`${path}.type`, type, terminalTypes)]
    const errors: FieldError[] = []
    if (++known > 1)
      errors.push(
        invalidValue(
          `${path}.type`,
          type,
          'There may be at most one condition with type "Issued", "Denied", or "Failed"',
        ),
      )
    if (status !== 'True') errors.push(notSupported(`${path}.status`, status, ['True']))
    return errors
  })
}

const chainFault = (shown: unknown, why: string): FieldError => invalidValue(chainPath, shown, why)

/** Returns the first error of the certificate chain and the status fields about it. */
function issueFault(status: Status, { spec }: Request, nowMs: number): FieldError | FieldError[] | undefined {
  const chain = status.certificateChain ?? ''
  if (Buffer.byteLength(chain) > maxChainBytes) return tooLong(chainPath, maxChainBytes)
  const [leafBlock, ...others] = pemBlocks(chain)
  if (!leafBlock) return chainFault(chain, 'issued certificate chain must contain at least one certificate')
  if (leafBlock.type !== 'CERTIFICATE')
    return chainFault(chain, 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks')
  const leaf = parseCertificate(leafBlock.bytes)
  if (!leaf) return chainFault(chain, 'leaf certificate does not parse as valid X.509')
  const names = nameFaults(leaf)
  if (!hasRequestedKey(leaf, spec))
    return [...names, chainFault(chain, 'leaf certificate was not issued to the requested public key')]
  const missing = [...names, ...missingTimes(status)]
  if (missing.length > 0) return missing
  return timeFault(status, leaf, spec?.maxExpirationSeconds ?? 0, nowMs) ?? intermediateFault(others, chain)
}

function nameFaults({ subjectAltName = '' }: X509Certificate): FieldError[] {
  const names = subjectAltName
    .split(', ')
    .flatMap((name) => (name.startsWith('DNS:') ? [name.slice('DNS:'.length)] : []))
  return names.flatMap((name) => [
    ...(name === '' ? [chainFault(name, 'leaf certificate should not contain empty DNSName')] : []),
    ...(name.includes('..') ? [chainFault(name, "leaf certificate's DNSName should not contain '..'")] : []),
    ...(/^\.|\.$/.test(name) ? [chainFault(name, "leaf certificate's DNSName should not start or end with '.'")] : []),
  ])
}

function hasRequestedKey({ publicKey: issued }: X509Certificate, spec: Request['spec']): boolean {
  return requestedKey(spec ?? {})?.equals(issued) ?? false
}

function requestedKey({
  pkixPublicKey,
  stubPKCS10Request,
}: Partial<NonNullable<Request['spec']>>): KeyObject | undefined {
  if (!stubPKCS10Request) return publicKey(Buffer.from(pkixPublicKey ?? '', 'base64'))
  const key = signedRequestKey(Buffer.from(stubPKCS10Request, 'base64'))
  return typeof key === 'string' ? undefined : key
}

function missingTimes({ notBefore, notAfter, beginRefreshAt }: Status): FieldError[] {
  const consistent = 'must be present and consistent with the issued certificate'
  return [
    ...(notBefore ? [] : [required('status.notBefore', consistent)]),
    ...(notAfter ? [] : [required('status.notAfter', consistent)]),
    ...(beginRefreshAt
      ? []
      : [required('status.beginRefreshAt', 'must be present and in the range [notbefore+10min, notafter-10min]')]),
  ]
}

function timeFault(
  { notBefore = '', notAfter = '', beginRefreshAt = '' }: Status,
  leaf: X509Certificate,
  maxSeconds: number,
  nowMs: number,
): FieldError | undefined {
  const [from, until, refresh] = [Date.parse(notBefore), Date.parse(notAfter), Date.parse(beginRefreshAt)] as const
  const lifeMs = leaf.validToDate.getTime() - leaf.validFromDate.getTime()
  const timeError = (field: string, shown: unknown, why: string): FieldError =>
    invalidValue(`status.${field}`, shown, why)
  if (from !== leaf.validFromDate.getTime())
    return timeError('notBefore', notBefore, 'must be set to the NotBefore time encoded in the leaf certificate')
  if (Math.abs(from - nowMs) >= 5 * minuteMs)
    return timeError('notBefore', notBefore, "must be set to within 5 minutes of kube-apiserver's current time")
  if (until !== leaf.validToDate.getTime())
    return timeError('notAfter', notAfter, 'must be set to the NotAfter time encoded in the leaf certificate')
  if (lifeMs < 60 * minuteMs) return chainFault(lifeMs * 1e6, 'leaf certificate lifetime must be >= 1 hour')
  if (lifeMs > maxSeconds * 1000)
    return chainFault(lifeMs * 1e6, `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${maxSeconds})`)
  if (refresh < from + 10 * minuteMs)
    return timeError('beginRefreshAt', beginRefreshAt, 'must be at least 10 minutes after status.notBefore')
  return refresh > until - 10 * minuteMs
    ? timeError('beginRefreshAt', beginRefreshAt, 'must be at least 10 minutes before status.notAfter')
    : undefined
}

function intermediateFault(blocks: ReturnType<typeof pemBlocks>, chain: string): FieldError | undefined {
  for (const { type, bytes } of blocks) {
    // The missing letter is upstream's.
    if (type !== 'CERTIFICATE')
      return chainFault(chain, 'issued certificate chain must consist entirely of CERTFICATE PEM blocks')
    if (!parseCertificate(bytes)) return chainFault(chain, 'intermediate certificate does not parse as valid X.509')
  }
  return undefined
}
