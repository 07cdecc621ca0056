/** AdmissionReviews (admission.k8s.io, v1 and v1beta1): encodes requests to webhooks and decodes their answers. */

import { writeJson } from '../../../lib/exact-json.ts'
import { goJsonType, parseJson } from '../../../machinery/decode/go-json.ts'
import { isObject } from '../../../machinery/fields/json.ts'
import { type ReviewVersion, reviewVersions } from '../../outgoing/webhooks/index.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { admissionRequest } from '../matching/request.ts'
import type { VersionedObjects } from '../matching/versions.ts'

export function encodeReview(
  version: ReviewVersion,
  uid: string,
  attributes: AdmissionAttributes,
  objects: VersionedObjects,
): Buffer {
  const { dryRun, options, ...request } = admissionRequest(attributes, objects)
  const { object = null, old = null } = objects
  return Buffer.from(
    writeJson({
      kind: 'AdmissionReview',
      apiVersion: `admission.k8s.io/${version}`,
      request: { uid, ...request, object, oldObject: old, dryRun, options: options ?? null },
    }),
  )
}

/** A Status as a webhook sends it. */
export interface SentStatus {
  readonly [field: string]: unknown
}

export interface ReviewAnswer {
  readonly allowed: boolean
  readonly status: SentStatus
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
  /** Decoded from base64; empty if there is none. */
  readonly patch: Buffer
  readonly patchType: string
}

/**
 * Decodes an answer. Throws an Error with Go's message if it cannot be decoded, and an InvalidAnswer if it does not
 * match the request.
 */
export function readAnswer(version: ReviewVersion, uid: string, mutating: boolean, answer: Buffer): ReviewAnswer {
  const review = parsed(answer)
  checkVersion(version, review)
  const response = responseIn(review)
  const patch = patchIn(response)
  const hasType = response.patchType !== undefined && response.patchType !== null
  if (version === 'v1') {
    checkUid(review, response, uid)
    checkPatch(mutating, patch.length > 0, hasType, response.patchType)
  }
  return {
    allowed: response.allowed === true,
    status: isObject(response.status) ? response.status : {},
    warnings: texts(response.warnings),
    auditAnnotations: isObject(response.auditAnnotations) ? textMembers(response.auditAnnotations) : {},
    patch: mutating ? patch : Buffer.alloc(0),
    // v1beta1 has no other patch type.
    patchType: version === 'v1beta1' ? 'JSONPatch' : textOf(response.patchType),
  }
}

/** The answer was decoded, but does not match the request. */
export class InvalidAnswer extends Error {}

type Fields = Readonly<Record<string, unknown>>
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
const textMembers = (value: Fields): Record<string, string> =>
  Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))

function parsed(answer: Buffer): Fields {
  const parseError = (why: string): Error => new Error(`couldn't get version/kind; json parse error: ${why}`)
  let value: unknown
  try {
    value = parseJson(answer.toString())
  } catch (error) {
    throw parseError(error instanceof Error ? error.message : String(error))
  }
  if (!isObject(value))
    throw parseError(`json: cannot unmarshal ${goJsonType(value)} into Go value of type v1.AdmissionReview`)
  return value
}

const group = 'admission.k8s.io'

/** Answers of the other version are rejected. An answer without version and kind is accepted here. */
function checkVersion(expected: ReviewVersion, { apiVersion, kind }: Fields): void {
  const answered =
    kind === 'AdmissionReview' ? reviewVersions.find((version) => apiVersion === `${group}/${version}`) : undefined
  if (answered && answered !== expected)
    throw new Error(`converting (${answered}.AdmissionReview) to (${expected}.AdmissionReview): unknown conversion`)
}

/** The JSON type of each field that is read, and its Go type. */
const memberTypes: Readonly<Record<string, readonly [json: string, go: string]>> = {
  uid: ['string', 'types.UID'],
  allowed: ['bool', 'bool'],
  status: ['object', 'v1.Status'],
  patch: ['string', '[]uint8'],
  patchType: ['string', 'v1.PatchType'],
  auditAnnotations: ['object', 'map[string]string'],
  warnings: ['array', '[]string'],
}

function responseIn({ response }: Fields): Fields {
  if (response === undefined || response === null) throw new InvalidAnswer('webhook response was absent')
  const typeError = (value: unknown, place: string, type: string): Error =>
    new Error(`json: cannot unmarshal ${goJsonType(value)} into Go struct field ${place} of type ${type}`)
  if (!isObject(response)) throw typeError(response, 'AdmissionReview.response', 'v1.AdmissionResponse')
  for (const [name, [json, go]] of Object.entries(memberTypes)) {
    const value = response[name] ?? undefined
    if (value !== undefined && goJsonType(value) !== json)
      throw typeError(value, `AdmissionResponse.response.${name}`, go)
  }
  return response
}

/** The base64 syntax that Go's decoder accepts. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function patchIn({ patch }: Fields): Buffer {
  const text = textOf(patch).replace(/[\r\n]/g, '')
  if (base64.test(text)) return Buffer.from(text, 'base64')
  const offset = text.search(/[^A-Za-z0-9+/]/)
  throw new Error(`illegal base64 data at input byte ${offset < 0 ? text.length - (text.length % 4) : offset}`)
}

function checkUid(review: Fields, { uid: answered }: Fields, uid: string): void {
  if (answered !== uid)
    throw new InvalidAnswer(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(textOf(answered))}`)
  const expected = `${group}/v1, Kind=AdmissionReview`
  const actual = kindText(review)
  if (actual !== expected) throw new InvalidAnswer(`expected webhook response of ${expected}, got ${actual}`)
}

/** Formats version and kind as Go does, also if they are missing. */
function kindText({ apiVersion, kind }: Fields): string {
  const [version = '', ofGroup = ''] = textOf(apiVersion).split('/').reverse()
  return `${ofGroup}/${version}, Kind=${textOf(kind)}`
}

function checkPatch(mutating: boolean, hasPatch: boolean, hasType: boolean, type: unknown): void {
  if (!mutating) {
    if (hasPatch) throw new InvalidAnswer('validating webhook may not return response.patch')
    if (hasType) throw new InvalidAnswer('validating webhook may not return response.patchType')
    return
  }
  if (hasPatch && !hasType) throw new InvalidAnswer('webhook returned response.patch but not response.patchType')
  if (!hasPatch && hasType) throw new InvalidAnswer('webhook returned response.patchType but not response.patch')
  if (hasType && textOf(type) === '') throw new InvalidAnswer('webhook returned invalid response.patchType of ""')
}
