/** Permissions of nodes that depend on a feature. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FeatureGates, type FeatureSettings } from '../../../../api/features/feature-gates.ts'
import { noOpinion } from '../../../authorization/authorizer.ts'
import { pluginFixture } from '../../plugin.fixture.ts'
import { nodeRestriction } from './index.ts'

const user = { name: 'system:node:n1', groups: ['system:nodes'] }
const nobody = {
  name: 'nobody',
  authorize: () => noOpinion(),
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
}

function plugin(settings: FeatureSettings) {
  const fixture = pluginFixture(undefined, new FeatureGates(settings))
  return { ...fixture, restriction: nodeRestriction({ ...fixture.sources, authorizer: nobody }) }
}

test('AllowInsecureKubeletCertificateSigningRequests: signing requests of nodes are not checked', async () => {
  const asked = async (isOn: boolean): Promise<void> => {
    const { restriction, write } = plugin({ AllowInsecureKubeletCertificateSigningRequests: isOn })
    const request = {
      metadata: { name: 'r' },
      spec: { signerName: 'kubernetes.io/kube-apiserver-client-kubelet', request: 'bm90aGluZw==' },
    }
    await restriction.mutate?.(write('certificates.k8s.io/v1/certificatesigningrequests', request, { user }))
  }
  await assert.rejects(asked(false), /unable to parse csr/)
  await asked(true)
})

test('ServiceAccountNodeAudienceRestriction: an audience that the pod does not use is forbidden', async () => {
  const asked = async (isOn: boolean): Promise<void> => {
    const { restriction, store, write, sources } = plugin({ ServiceAccountNodeAudienceRestriction: isOn })
    const spec = { nodeName: 'n1', serviceAccountName: 'robot', containers: [{ name: 'c', image: 'a:1' }] }
    await store('v1/pods', { metadata: { name: 'p', namespace: 'ns' }, spec })
    const pods = sources.find('v1/pods')
    const { uid } = (await sources.registry.get(pods, pods.key('ns', 'p')))!.parse().metadata
    const object = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {},
      spec: { audiences: ['vault'], boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p', uid } },
    }
    const attributes = write(
      'v1/serviceaccounts',
      { metadata: { name: 'robot', namespace: 'ns' } },
      { user, subresource: 'token', namespace: 'ns', name: 'robot' },
    )
    await restriction.mutate?.({ ...attributes, object })
  }
  await assert.rejects(asked(true), /audience "vault" not found in pod spec volume/)
  await asked(false)
})
