import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Authorizer, allow, noOpinion } from '../../authorization/authorizer.ts'
import type { WriteContext } from '../../registry/write/write-context.ts'
import { pluginFixture } from '../plugin.fixture.ts'
import { guardPodCertificates } from './pod-certificates.ts'

const { sources, write } = pluginFixture()
const key = 'certificates.k8s.io/v1beta1/podcertificaterequests'
const resource = sources.find(key)

/** An authorizer in which the user "NAME's" may sign for the signer NAME. */
const signers: Authorizer = {
  name: 'signers',
  authorize: ({ user, info: { verb, group, resource, name } }) =>
    verb === 'sign' && group === 'certificates.k8s.io' && resource === 'signers' && user?.name === `${name}'s`
      ? allow()
      : noOpinion(),
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
}

const request = (status?: object) =>
  write(key, { metadata: { name: 'r', namespace: 'ns' }, spec: { signerName: 'foo.com/abc' }, status }).object!
const failed = { conditions: [{ type: 'Failed', status: 'True', reason: 'r', message: 'm' }] }

async function refusal(name: string, status: object | undefined, subresource = 'status'): Promise<string | undefined> {
  const context = { user: { name, groups: [] }, resource, subresource } as unknown as WriteContext
  try {
    await resource.writeGuard?.(context, request(status), request())
  } catch (error) {
    return (error as Error).message
  }
  return undefined
}

test('writing the status of a PodCertificateRequest needs the permission to sign for its signer', async () => {
  guardPodCertificates(sources.find, signers)
  const refused = (name: string) =>
    `PodCertificateRequest.certificates.k8s.io "r" is invalid: spec.signerName: Forbidden: User "${name}" is not ` +
    'permitted to "sign" for signer "foo.com/abc"'
  assert.equal(await refusal("foo.com/abc's", failed), undefined)
  assert.equal(await refusal("foo.com/*'s", failed), undefined)
  assert.equal(await refusal("foo.com/other's", failed), refused("foo.com/other's"))
  assert.equal(await refusal('bob', { certificateChain: 'chain' }), refused('bob'))
  assert.equal(await refusal('bob', {}), undefined, 'an unchanged status needs no permission')
  assert.equal(await refusal('bob', failed, ''), undefined, 'the main resource does not change the status')
})
