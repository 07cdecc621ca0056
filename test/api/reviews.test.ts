/** Reviews are answered, not stored: what stands in their metadata comes back as it was. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { http2Client, json } from './api-client.ts'
import { startTestServer } from './api-server.ts'

test('a review with nothing but a resourceVersion in its metadata is answered with proper JSON', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: { resourceVersion: '1' }, spec: { token: 'x' } }
  const answer = await client.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body })
  assert.equal(answer.status, 201)
  assert.equal(json(answer).metadata.resourceVersion, '1')
})
