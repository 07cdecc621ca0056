import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../core/pod/model.ts'
import { claimName, claimNames, generatedName, usesClaims } from './pod-claims.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: {
    containers: [],
    resourceClaims: [
      { name: 'shared', resourceClaimName: 'one' },
      { name: 'own', resourceClaimTemplateName: 't' },
      { name: 'new', resourceClaimTemplateName: 't' },
      { name: 'none', resourceClaimTemplateName: 't' },
    ],
  },
  status: { resourceClaimStatuses: [{ name: 'own', resourceClaimName: 'p-own-x' }, { name: 'none' }] },
}

test('claim names come from the spec, or from the status for templates', () => {
  assert.deepEqual(
    pod.spec?.resourceClaims?.map((claim) => claimName(pod, claim)),
    ['one', 'p-own-x', undefined, ''],
  )
  assert.deepEqual(claimNames(pod), ['one', 'p-own-x'])
})

test("the generated claim of a pod's extended resources is one of its claims", () => {
  const requestMappings = [{ containerName: 'c', requestName: 'r', resourceName: 'example.com/gpu' }]
  const extendedResourceClaimStatus = { resourceClaimName: 'p-extended-resources-x', requestMappings }
  const extended: Pod = { ...pod, spec: { containers: [] }, status: { extendedResourceClaimStatus } }
  assert.deepEqual(claimNames(extended), ['p-extended-resources-x'])
  assert.ok(usesClaims(extended))
  assert.ok(!usesClaims({ ...extended, status: {} }))
})

test('generated claim names begin with the names of pod and claim, truncated in proportion', () => {
  assert.equal(generatedName('pod', 'gpu'), 'pod-gpu-')
  const long = generatedName('p'.repeat(60), 'c'.repeat(30))
  assert.ok(long.length <= 57)
  assert.match(long, /^p{37}-c{18}$/)
})
