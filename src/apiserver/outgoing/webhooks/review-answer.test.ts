import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsOf, reviewIn } from './review-answer.ts'

const read = (answer: object) =>
  reviewIn(Buffer.from(JSON.stringify(answer)), 'TokenReview', 'authentication.k8s.io/v1')

test('an answer that does not say what it is, is what was asked for', () => {
  const status = { authenticated: true }
  assert.deepEqual(read({ status }), { status })
  assert.deepEqual(read({ kind: '', apiVersion: null, status }), { kind: '', status })
  assert.deepEqual(read({ apiVersion: 'authentication.k8s.io/v1', status }).status, status)
})

test('one that says it is something else is none', () => {
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

test('what is null is not there', () => {
  assert.deepEqual(fieldsOf({ authenticated: null, error: '', user: null }, 'TokenReviewStatus'), { error: '' })
  assert.throws(() => fieldsOf([], 'TokenReviewStatus'), { message: "the webhook's answer is no TokenReviewStatus" })
})
