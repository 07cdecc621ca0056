/** Policies take effect in every API version. The served versions are those of upstream 1.36. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { bareServer } from '../../support/bare-server.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { configMap, configMaps, group } from '../webhooks/webhook.ts'
import { constraints } from './policy.ts'

const groupIn = (version: string): string => group.replace(/v1$/, version)

test('mutating policies of v1alpha1 and v1beta1 work, also with bindings of another version', async (t) => {
  const cluster = await testCluster(t, {
    ...bareServer,
    runtimeConfig: ['admissionregistration.k8s.io/v1beta1=true', 'admissionregistration.k8s.io/v1alpha1=true'],
  })
  const written = async (policyVersion: string, bindingVersion: string): Promise<void> => {
    const name = `${policyVersion}-${bindingVersion}`
    const expression = `Object{metadata: Object.metadata{labels: {"${name}": "yes"}}}`
    await cluster.call('POST', `${groupIn(policyVersion)}/mutatingadmissionpolicies`, {
      apiVersion: `admissionregistration.k8s.io/${policyVersion}`,
      kind: 'MutatingAdmissionPolicy',
      metadata: { name },
      spec: {
        matchConstraints: constraints(),
        reinvocationPolicy: 'Never',
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
      },
    })
    await cluster.call('POST', `${groupIn(bindingVersion)}/mutatingadmissionpolicybindings`, {
      apiVersion: `admissionregistration.k8s.io/${bindingVersion}`,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name },
    })
  }
  await written('v1alpha1', 'v1alpha1')
  await written('v1beta1', 'v1')
  await written('v1', 'v1alpha1')
  const { metadata } = await cluster.call('POST', configMaps, configMap('a'))
  assert.deepEqual(Object.keys(metadata.labels ?? {}).sort(), ['v1-v1alpha1', 'v1alpha1-v1alpha1', 'v1beta1-v1'])
  // Readable in each version, and deleted from all.
  const read = await cluster.call('GET', `${groupIn('v1beta1')}/mutatingadmissionpolicies/v1alpha1-v1alpha1`)
  assert.equal(read.apiVersion, 'admissionregistration.k8s.io/v1beta1')
  await cluster.call('DELETE', `${groupIn('v1beta1')}/mutatingadmissionpolicies/v1alpha1-v1alpha1`)
  const { metadata: later } = await cluster.call('POST', configMaps, configMap('b'))
  assert.deepEqual(Object.keys(later.labels ?? {}).sort(), ['v1-v1alpha1', 'v1beta1-v1'])
})

test('validating policies exist in v1 only: 1.34 removed v1beta1', async (t) => {
  const cluster = await testCluster(t, { ...bareServer, runtimeConfig: ['api/all=true'] })
  for (const version of ['v1alpha1', 'v1beta1']) {
    const { resources } = (await cluster.call('GET', groupIn(version))) as unknown as { resources: { name: string }[] }
    assert.deepEqual(resources.map(({ name }) => name).sort(), [
      'mutatingadmissionpolicies',
      'mutatingadmissionpolicybindings',
    ])
  }
})
