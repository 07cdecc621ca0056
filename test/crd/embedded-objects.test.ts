/** Objects within custom objects (`x-kubernetes-embedded-resource`) whose metadata is none. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientOf, json } from '../support/api-client.ts'
import { startTestServer } from '../support/api-server.ts'
import { define, definitionOf, gadgetsPath, mergePatch } from './definitions.ts'

test('metadata of an object within a custom object is refused with its place when it is none', async (t) => {
  const client = clientOf(t, 'HTTP/2', await startTestServer(t))
  const template = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  }
  await define(client, definitionOf({ spec: { template } }))
  const gadget = (name: string, metadata: object) => ({
    apiVersion: 'example.com/v1',
    kind: 'Gadget',
    metadata: { name },
    spec: { template: { apiVersion: 'v1', kind: 'Sub', metadata } },
  })
  const fault =
    'spec.template.metadata: Invalid value: {"namespace":42}: json: cannot unmarshal number into Go struct field ' +
    'ObjectMeta.namespace of type string'
  const created = json(await client.request('POST', gadgetsPath, { body: gadget('a', { namespace: 42 }) }))
  assert.deepEqual(
    [created.code, created.message],
    [400, `Gadget in version "v1" cannot be handled as a Gadget: ${fault}`],
  )
  assert.equal((await client.request('POST', gadgetsPath, { body: gadget('a', { namespace: 'n' }) })).status, 201)
  const patched = json(
    await mergePatch(client, `${gadgetsPath}/a`, { spec: { template: { metadata: { namespace: 42 } } } }),
  )
  assert.equal(patched.code, 422)
  assert.match(patched.message ?? '', /patch: Invalid value: .*spec\.template\.metadata: Invalid value: /)
})
