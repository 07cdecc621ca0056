import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodSpec } from '../../pod-types.ts'
import { podWith } from '../volumes.fixture.ts'
import { credentialMode, fileOwner } from './file-owner.ts'

const user = (name: string, runAsUser?: number) => ({
  name,
  ...(runAsUser !== undefined && { securityContext: { runAsUser } }),
})

for (const [title, spec, owner] of [
  ['no user', { containers: [user('a')] }, undefined],
  ['the user of the pod', { containers: [user('a')], securityContext: { runAsUser: 5 } }, 5],
  ['the user of all containers', { containers: [user('a', 7), user('b', 7)] }, 7],
  ['different users', { containers: [user('a', 7), user('b', 8)] }, undefined],
  ['a container without a user', { containers: [user('a', 7), user('b')] }, undefined],
  ['another user of an init container', { initContainers: [user('i', 1)], containers: [user('a', 7)] }, undefined],
  ['root', { containers: [user('a', 0)] }, 0],
] as const satisfies readonly (readonly [string, Partial<PodSpec>, number | undefined])[])
  test(`the owner of credentials: ${title}`, () => assert.equal(fileOwner(podWith([], spec)), owner))

test('credentials with an owner or a group are private', () => {
  assert.equal(credentialMode(podWith([]), 0o644), 0o644)
  assert.equal(credentialMode(podWith([], { securityContext: { fsGroup: 5 } }), 0o644), 0o600)
  assert.equal(credentialMode(podWith([], { securityContext: { runAsUser: 5 } }), 0o644), 0o600)
})
