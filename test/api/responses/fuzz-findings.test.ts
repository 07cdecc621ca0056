/** Regression tests for requests, found by fuzzing, that caused a 500 or invalid JSON. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Call, http2Client, json } from '../../support/api-client.ts'
import { startTestServer } from '../../support/api-server.ts'
import { configMapOf, configMapsPath, nameOf, podOf, podsPath } from '../../support/objects.ts'

const limitRanges = '/api/v1/namespaces/default/limitranges'
const apply = { 'content-type': 'application/apply-patch+yaml' }
const deep = `{"data":${'{"a":['.repeat(20_000)}${']}'.repeat(20_000)}}`
const pod = (spec: object): object => ({ metadata: { name: 'p' }, spec: { containers: [], ...spec } })
const container = { name: 'a', image: 'a' }

const findings: readonly (readonly [name: string, method: string, path: string, call: Call, status: number])[] = [
  [
    'an applied body whose apiVersion is no string',
    'PATCH',
    `${configMapsPath}/a?fieldManager=m`,
    { body: 'apiVersion: {}\nkind: ConfigMap', headers: apply },
    400,
  ],
  [
    'a merge patch that is nested too deep',
    'PATCH',
    `${configMapsPath}/${nameOf(0)}`,
    { body: deep, headers: { 'content-type': 'application/merge-patch+json' } },
    400,
  ],
  [
    'a strategic merge patch that is nested too deep',
    'PATCH',
    `${podsPath}/${nameOf(0)}`,
    { body: deep, headers: { 'content-type': 'application/strategic-merge-patch+json' } },
    400,
  ],
  [
    'a patch whose media type is a property of Object.prototype',
    'PATCH',
    `${configMapsPath}/${nameOf(0)}`,
    { body: '{}', headers: { 'content-type': 'constructor' } },
    415,
  ],
  ['a pod on the host network without containers', 'POST', podsPath, { body: pod({ hostNetwork: true }) }, 422],
  ['a pod with init containers only', 'POST', podsPath, { body: pod({ initContainers: [container] }) }, 422],
  ['a pod with ephemeral containers only', 'POST', podsPath, { body: pod({ ephemeralContainers: [container] }) }, 422],
  [
    'a limit of a resource named like a property of Object.prototype',
    'POST',
    limitRanges,
    { body: { metadata: { name: 'a' }, spec: { limits: [{ type: 'Container', defaultRequest: { toString: '1' } }] } } },
    422,
  ],
]

test('malformed requests get a 4xx response, never a 500', async (t) => {
  const server = await startTestServer(t)
  const client = http2Client(t, server)
  assert.equal((await client.request('POST', configMapsPath, { body: configMapOf(0) })).status, 201)
  assert.equal((await client.request('POST', podsPath, { body: podOf(0) })).status, 201)
  for (const [name, method, path, call, status] of findings) {
    const answer = await client.request(method, path, call)
    assert.equal(answer.status, status, `${name}: ${answer.bytes.toString().slice(0, 300)}`)
    assert.equal(json(answer).kind, 'Status')
  }
  assert.deepEqual(server.logLines, [])
})

test('a review with only a resourceVersion in its metadata gets valid JSON', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    metadata: { resourceVersion: '1' },
    spec: { token: 'x' },
  }
  const answer = await client.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body })
  assert.equal(answer.status, 201)
  assert.equal(json(answer).metadata.resourceVersion, '1')
})
