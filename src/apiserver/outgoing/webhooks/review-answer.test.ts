import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsOf, reviewIn } from './review-answer.ts'

const read = (answer: object) =>
  reviewIn(Buffer.from(JSON.stringify(answer)), 'TokenReview', 'authentication.k8s.io/v1')

test('an untyped response has the expected kind', () => {
  const status = { authenticated: true }
  assert.deepEqual(read({ status }), { status })
  assert.deepEqual(read({ kind: '', apiVersion: null, status }), { kind: '', status })
  assert.deepEqual(read({ apiVersion: 'authentication.k8s.io/v1', status }).status, status)
})

test('a response of another kind or version is an error', () => {
  assert.throws(() => read({ kind: 'SubjectAccessReview', status: {} }), {
    message:
      'the webhook answered with kind "SubjectAccessReview" of "authentication.k8s.io/v1", not with a ' +
      'TokenReview of authentication.k8s.io/v1',
  })
  assert.throws(
    () => read({ apiVersion: 'authentication.k8s.io/v1beta1', status: {} }),
    /with kind "TokenReview" of "authentication\.k8s\.io\/v1beta1"/,
  )
})

test('null members are removed', () => {
  assert.deepEqual(fieldsOf({ authenticated: null, error: '', user: null }, 'TokenReviewStatus'), { error: '' })
  assert.throws(() => fieldsOf([], 'TokenReviewStatus'), { message: "the webhook's answer is no TokenReviewStatus" })
})
