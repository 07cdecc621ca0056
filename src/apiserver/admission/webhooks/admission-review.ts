/** AdmissionReviews (admission.k8s.io, v1 and v1beta1): what a webhook is asked, and what it answers. */

import { isObject } from '../../../machinery/fields/json.ts'
import type { ReviewVersion } from '../../webhooks/index.ts'
import { admissionRequest } from '../matching/request.ts'
import type { VersionedObjects } from '../matching/versions.ts'
import type { AdmissionAttributes } from '../plugin.ts'

export function encodeReview(version: ReviewVersion, uid: string, attributes: AdmissionAttributes, objects: VersionedObjects): Buffer {
  const { dryRun, options, ...request } = admissionRequest(attributes, objects)
  const { object = null, old = null } = objects
  return Buffer.from(
    JSON.stringify({
      kind: 'AdmissionReview',
      apiVersion: `admission.k8s.io/${version}`,
      request: { uid, ...request, object, oldObject: old, dryRun, options: options ?? null },
    }),
  )
}

/** What Kubernetes calls a Status, as a webhook sends it. */
export interface SentStatus {
  readonly [field: string]: unknown
}

export interface ReviewAnswer {
  readonly allowed: boolean
  readonly status: SentStatus
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
  /** As it was sent, decoded from base64; empty if there is none. */
  readonly patch: Buffer
  readonly patchType: string
}

/** Reads an answer. Throws Go's words for one that cannot be read, and an InvalidAnswer for one that does not fit the question. */
export function readAnswer(version: ReviewVersion, uid: string, mutating: boolean, answer: Buffer): ReviewAnswer {
  const review = parsed(answer)
  const response = isObject(review.response) ? review.response : undefined
  if (!response) throw new InvalidAnswer('webhook response was absent')
  const patch = typeof response.patch === 'string' ? Buffer.from(response.patch, 'base64') : Buffer.alloc(0)
  const hasType = response.patchType !== undefined && response.patchType !== null
  if (version === 'v1') {
    checkFit(review, response, uid)
    checkPatch(mutating, patch.length > 0, hasType, response.patchType)
  }
  return {
    allowed: response.allowed === true,
    status: isObject(response.status) ? response.status : {},
    warnings: texts(response.warnings),
    auditAnnotations: isObject(response.auditAnnotations) ? textMembers(response.auditAnnotations) : {},
    patch: mutating ? patch : Buffer.alloc(0),
    // The older version knows no other.
    patchType: version === 'v1beta1' ? 'JSONPatch' : textOf(response.patchType),
  }
}

/** The answer could be read, and is no answer to what was asked. */
export class InvalidAnswer extends Error {}

type Fields = Readonly<Record<string, unknown>>
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [])
const textMembers = (value: Fields): Record<string, string> =>
  Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))

function parsed(answer: Buffer): Fields {
  let value: unknown
  try {
    value = JSON.parse(answer.toString())
  } catch (error) {
    throw new Error(`couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : error}`)
  }
  if (!isObject(value)) throw new Error("couldn't get version/kind; json parse error: it is no object")
  if (!value.kind) throw new Error("Object 'Kind' is missing in the answer")
  return value
}

function checkFit({ apiVersion, kind }: Fields, { uid: answered }: Fields, uid: string): void {
  if (answered !== uid) throw new InvalidAnswer(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(textOf(answered))}`)
  if (apiVersion === 'admission.k8s.io/v1' && kind === 'AdmissionReview') return
  throw new InvalidAnswer(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${textOf(apiVersion)}, Kind=${textOf(kind)}`)
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
