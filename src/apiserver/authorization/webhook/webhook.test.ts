import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { reviewBody, reviewSpec, reviewStatus } from './review.ts'

const info = {
  isResourceRequest: true,
  path: '/x',
  verb: 'list',
  prefix: 'api',
  group: 'apps',
  version: 'v1',
  namespace: 'a',
  resource: 'deployments',
  subresource: '',
  name: '',
  rest: [],
}

test('a review has the attributes, and groups under the name of its version', () => {
  const spec = reviewSpec({
    user: { name: 'jane', groups: ['g'], uid: 'u', extra: { team: ['x'] } },
    info,
    fieldSelector: [{ key: 'metadata.name', operator: 'In', values: ['n'] }],
  })
  const expected = {
    resourceAttributes: {
      namespace: 'a',
      verb: 'list',
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
      fieldSelector: { requirements: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] },
    },
    user: 'jane',
    extra: { team: ['x'] },
    uid: 'u',
  }
  const sent = (version: 'v1' | 'v1beta1') => JSON.parse(reviewBody(version, spec).toString())
  assert.deepEqual(sent('v1').spec, { ...expected, groups: ['g'] })
  assert.deepEqual(sent('v1beta1').spec, { ...expected, group: ['g'] })
  assert.equal(sent('v1beta1').apiVersion, 'authorization.k8s.io/v1beta1')
  const path = reviewSpec({ info: { ...info, isResourceRequest: false, verb: 'get' } })
  assert.deepEqual(path, { nonResourceAttributes: { path: '/x', verb: 'get' } })
})

describe('an answer', () => {
  const answer = (value: unknown) => Buffer.from(JSON.stringify(value))
  const review = { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1' }
  test('is decoded to its status', () => {
    assert.deepEqual(reviewStatus('v1', answer({ ...review, status: { allowed: true, reason: 'r' } })), {
      allowed: true,
      denied: false,
      reason: 'r',
    })
    assert.deepEqual(reviewStatus('v1', answer(review)), { allowed: false, denied: false, reason: '' })
  })
  const bad: readonly (readonly [string, unknown])[] = [
    ['of another kind', { ...review, kind: 'TokenReview', status: { allowed: true } }],
    ['of another version', { ...review, apiVersion: 'authorization.k8s.io/v1beta1', status: { allowed: true } }],
    ['with a text for a boolean', { ...review, status: { allowed: 'true' } }],
    ['a list', []],
    ['nothing', null],
  ]
  for (const [title, value] of bad)
    test(`that is ${title} is an error`, () => assert.throws(() => reviewStatus('v1', answer(value)), /webhook/))
  test('that is not JSON is an error', () =>
    assert.throws(() => reviewStatus('v1', Buffer.from('yes')), /the webhook's answer is no JSON/))
})
