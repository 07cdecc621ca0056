/** Answers of admission webhooks: valid fields, and the messages for invalid ones. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { ReviewVersion } from '../../outgoing/webhooks/index.ts'
import { InvalidAnswer, readAnswer } from './admission-review.ts'

const v1 = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }
const v1beta1 = { apiVersion: 'admission.k8s.io/v1beta1', kind: 'AdmissionReview' }
const yes = { uid: 'u', allowed: true }

const read = (version: ReviewVersion, answer: unknown, mutating = false) =>
  readAnswer(version, 'u', mutating, Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)))

const invalid: readonly (readonly [string, ReviewVersion, unknown, boolean, string])[] = [
  ['no response', 'v1', v1, false, 'webhook response was absent'],
  ['a response that is null', 'v1beta1', { ...v1beta1, response: null }, false, 'webhook response was absent'],
  ['another uid', 'v1', { ...v1, response: { uid: 'x', allowed: true } }, false, 'expected response.uid="u", got "x"'],
  ['no uid', 'v1', { ...v1, response: { allowed: true } }, false, 'expected response.uid="u", got ""'],
  [
    'no version and no kind',
    'v1',
    { response: yes },
    false,
    'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=',
  ],
  [
    'no kind',
    'v1',
    { apiVersion: 'admission.k8s.io/v1', response: yes },
    false,
    'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind=',
  ],
  [
    'a patch without its type',
    'v1',
    { ...v1, response: { ...yes, patch: 'W10=' } },
    true,
    'webhook returned response.patch but not response.patchType',
  ],
  [
    'a type without a patch',
    'v1',
    { ...v1, response: { ...yes, patchType: 'JSONPatch' } },
    true,
    'webhook returned response.patchType but not response.patch',
  ],
  [
    'an empty type',
    'v1',
    { ...v1, response: { ...yes, patch: 'W10=', patchType: '' } },
    true,
    'webhook returned invalid response.patchType of ""',
  ],
  [
    'a patch of a validating webhook',
    'v1',
    { ...v1, response: { ...yes, patch: 'W10=' } },
    false,
    'validating webhook may not return response.patch',
  ],
  [
    'a type of one',
    'v1',
    { ...v1, response: { ...yes, patchType: '' } },
    false,
    'validating webhook may not return response.patchType',
  ],
]
for (const [what, version, answer, mutating, message] of invalid) {
  test(`answers of webhooks: ${what} is invalid`, () => {
    assert.throws(
      () => read(version, answer, mutating),
      (error: Error) => error instanceof InvalidAnswer && error.message === message,
    )
  })
}

const unreadable: readonly (readonly [string, ReviewVersion, unknown, string])[] = [
  [
    'the older version for the newer',
    'v1',
    { ...v1beta1, response: yes },
    'converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
  ],
  [
    'the newer version for the older',
    'v1beta1',
    { ...v1, response: yes },
    'converting (v1.AdmissionReview) to (v1beta1.AdmissionReview): unknown conversion',
  ],
  ['half a document', 'v1', '{"kind": ', "couldn't get version/kind; json parse error: unexpected end of JSON input"],
  [
    'text',
    'v1',
    'pardon?',
    "couldn't get version/kind; json parse error: invalid character 'p' looking for beginning of value",
  ],
  [
    'a text for a boolean',
    'v1',
    { ...v1, response: { uid: 'u', allowed: 'true' } },
    'json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
  ],
  [
    'a list for a status',
    'v1',
    { ...v1, response: { ...yes, status: [] } },
    'json: cannot unmarshal array into Go struct field AdmissionResponse.response.status of type v1.Status',
  ],
  [
    'a patch that is not in base64',
    'v1',
    { ...v1, response: { ...yes, patch: '[]', patchType: 'JSONPatch' } },
    'illegal base64 data at input byte 0',
  ],
]
for (const [what, version, answer, message] of unreadable) {
  test(`answers of webhooks: ${what} cannot be decoded`, () => {
    assert.throws(
      () => read(version, answer, true),
      (error: Error) => !(error instanceof InvalidAnswer) && error.message === message,
    )
  })
}

test(
  'answers of webhooks: v1beta1 needs no uid, kind or patch type, and patches of validating webhooks are ' + 'dropped',
  () => {
    const { patch, patchType, allowed } = read('v1beta1', { response: { allowed: true, patch: 'W10=' } }, true)
    assert.deepEqual([patch.toString(), patchType, allowed], ['[]', 'JSONPatch', true])
    assert.equal(
      read('v1beta1', { response: { allowed: true, patch: 'W10=', patchType: 'JSONPatch' } }).patch.length,
      0,
    )
  },
)

test('answers of webhooks: null means missing', () => {
  const answer = read('v1', {
    ...v1,
    response: {
      uid: 'u',
      allowed: true,
      patch: null,
      patchType: null,
      status: null,
      warnings: null,
      auditAnnotations: null,
    },
  })
  assert.deepEqual(answer, {
    allowed: true,
    status: {},
    warnings: [],
    auditAnnotations: {},
    patch: Buffer.alloc(0),
    patchType: '',
  })
})
