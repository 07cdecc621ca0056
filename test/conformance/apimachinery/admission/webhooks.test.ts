/**
 * Tests of the conformance suite for admission webhooks (`test/e2e/apimachinery/webhook.go`). The webhooks listen on
 * the loopback interface.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiextensionsV1Api, CustomObjectsApi } from '@kubernetes/client-node'
import { configMap, configMaps, configure, hook, refusal, rule } from '../../../admission/webhooks/webhook.ts'
import { installedKubectls, Kubectl } from '../../../support/kubectl.ts'
import { merging, pod } from '../../support/clients.ts'
import { anything, define, definitionOf } from '../../support/definitions.ts'
import { adding, denied, label, webhookClients } from '../../support/webhooks.ts'

const { clients, api, webhooks } = webhookClients()
const ofKind = (group: string, kind: string, name: string, path: string, more: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name, ...label(path) },
  ...more,
})
const foos = (group: string) => ({ group, version: 'v1', namespace: 'default', plural: 'foos' })
const custom = () => clients().config.makeApiClient(CustomObjectsApi)

test('AdmissionWebhook should include webhook resources in discovery documents', async () => {
  const { resources } = await api().getAPIResources()
  const names = resources.map(({ name }) => name)
  assert.ok(names.includes('mutatingwebhookconfigurations') && names.includes('validatingwebhookconfigurations'))
})

test('AdmissionWebhook should be able to deny pod and configmap creation', async () => {
  const { cluster, core } = clients()
  const rules = [rule({ operations: ['CREATE', 'UPDATE'], resources: ['configmaps', 'pods'] })]
  await webhooks().behave('/deny', denied('the configmap contains unwanted key and value'))
  await configure(cluster, 'Validating', 'deny', [hook(webhooks(), '/deny', { rules })])
  const body = { ...pod('denied'), metadata: { name: 'denied', ...label('/deny') } }
  await assert.rejects(
    core.createNamespacedPod({ namespace: 'default', body }),
    /denied the request: the configmap contains unwanted key and value/,
  )
  const { code, message } = await refusal(cluster.call('POST', configMaps, configMap('denied', 'deny')))
  assert.equal(code, 403)
  assert.match(message, /admission webhook "deny\.example\.com" denied the request/)
  // An object that makes the webhook hang is not created either.
  await webhooks().behave('/hang', { manner: 'never' })
  await configure(cluster, 'Validating', 'hang', [hook(webhooks(), '/hang', { rules, timeoutSeconds: 1 })])
  const hanging = { ...pod('hanging-pod'), metadata: { name: 'hanging-pod', ...label('/hang') } }
  await assert.rejects(core.createNamespacedPod({ namespace: 'default', body: hanging }), /webhook.*deadline/s)
  await assert.rejects(core.readNamespacedPod({ namespace: 'default', name: 'hanging-pod' }), { code: 404 })
  // The webhook admits an object that its selector does not match, and denies the update that makes it match.
  await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'allowed' } } })
  await assert.rejects(
    core.patchNamespacedConfigMap(
      { namespace: 'default', name: 'allowed', body: { metadata: label('/deny') } },
      merging,
    ),
    /denied the request/,
  )
  const read = await core.readNamespacedConfigMap({ namespace: 'default', name: 'allowed' })
  const unwanted = { ...read, metadata: { ...read.metadata, ...label('/deny') } }
  await assert.rejects(
    core.replaceNamespacedConfigMap({ namespace: 'default', name: 'allowed', body: unwanted }),
    /denied the request/,
  )
  // It does not apply in excluded namespaces either.
  const namespaceSelector = {
    matchExpressions: [{ key: 'skip-webhook-admission', operator: 'NotIn', values: ['yes'] }],
  }
  await webhooks().behave('/elsewhere', denied('no'))
  await configure(cluster, 'Validating', 'elsewhere', [hook(webhooks(), '/elsewhere', { namespaceSelector })])
  await core.createNamespace({ body: { metadata: { name: 'exempted', labels: { 'skip-webhook-admission': 'yes' } } } })
  await core.createNamespacedConfigMap({
    namespace: 'exempted',
    body: { metadata: { name: 'a', ...label('/elsewhere') } },
  })
  assert.equal((await refusal(cluster.call('POST', configMaps, configMap('a', 'elsewhere')))).code, 403)
})

test('AdmissionWebhook should be able to deny attaching pod', async () => {
  const { cluster, core } = clients()
  const name = 'to-be-attached-pod'
  await core.createNamespacedPod({ namespace: 'default', body: pod(name, { nodeName: 'a-node' }) })
  await core.patchNamespacedPodStatus({ namespace: 'default', name, body: { status: { phase: 'Running' } } }, merging)
  await webhooks().behave('/attach', denied(`attaching to pod '${name}' is not allowed`))
  const rules = [rule({ operations: ['CONNECT'], resources: ['pods/attach'] })]
  await configure(cluster, 'Validating', 'attach', [hook(webhooks(), '/attach', { rules, objectSelector: {} })])
  const { message } = await refusal(
    cluster.call('POST', `/api/v1/namespaces/default/pods/${name}/attach?container=c&stdout=true`),
  )
  assert.match(message, /attaching to pod 'to-be-attached-pod' is not allowed/)
  for (const program of installedKubectls())
    await new Kubectl(program, cluster.kubeconfigFile, cluster.folder).fails(
      `attach ${name} -i -c=c`,
      /attaching to pod 'to-be-attached-pod' is not allowed/,
    )
})

test('AdmissionWebhook should be able to deny custom resource creation, update and deletion', async () => {
  const { cluster } = clients()
  const group = 'denied.example.com'
  await define(clients(), { group })
  await webhooks().behave('/deny-custom', denied('the custom resource contains unwanted data'))
  const rules = [
    { apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['foos'] },
  ]
  await configure(cluster, 'Validating', 'deny-custom', [hook(webhooks(), '/deny-custom', { rules })])
  const refused = /the custom resource contains unwanted data/
  await assert.rejects(
    custom().createNamespacedCustomObject({ ...foos(group), body: ofKind(group, 'Foo', 'no', '/deny-custom') }),
    refused,
  )
  await webhooks().behave('/deny-custom', {})
  await custom().createNamespacedCustomObject({ ...foos(group), body: ofKind(group, 'Foo', 'there', '/deny-custom') })
  await webhooks().behave('/deny-custom', denied('the custom resource contains unwanted data'))
  await assert.rejects(
    custom().patchNamespacedCustomObject({ ...foos(group), name: 'there', body: { data: 'x' } }, merging),
    refused,
  )
  await assert.rejects(custom().deleteNamespacedCustomObject({ ...foos(group), name: 'there' }), refused)
  await webhooks().behave('/deny-custom', {})
  await custom().deleteNamespacedCustomObject({ ...foos(group), name: 'there' })
})

test('AdmissionWebhook should unconditionally reject operations on fail closed webhook', async () => {
  const { cluster } = clients()
  // The certificate of a webhook without a caBundle is not trusted.
  const clientConfig = { url: webhooks().clientConfig('/closed').url }
  await configure(cluster, 'Validating', 'closed', [
    hook(webhooks(), '/closed', { clientConfig, failurePolicy: 'Fail' }),
  ])
  const { code, reason, message } = await refusal(cluster.call('POST', configMaps, configMap('closed', 'closed')))
  assert.deepEqual([code, reason], [500, 'InternalError'])
  assert.match(message, /failed calling webhook "closed\.example\.com"/)
  // With failurePolicy Ignore it has no effect.
  await configure(cluster, 'Validating', 'open', [hook(webhooks(), '/open', { clientConfig, failurePolicy: 'Ignore' })])
  await cluster.call('POST', configMaps, configMap('open', 'open'))
})

test('AdmissionWebhook should mutate configmap', async () => {
  const { cluster, core } = clients()
  await webhooks().behave('/stage-1', adding('mutation-stage-1'))
  await webhooks().behave('/stage-2', adding('mutation-stage-2'))
  const objectSelector = { matchLabels: { hook: 'stages' } }
  await configure(
    cluster,
    'Mutating',
    'stages',
    ['/stage-1', '/stage-2'].map((path) => hook(webhooks(), path, { objectSelector })),
  )
  const body = { metadata: { name: 'mutated', labels: { hook: 'stages' } }, data: { 'mutation-start': 'yes' } }
  const made = await core.createNamespacedConfigMap({ namespace: 'default', body })
  assert.deepEqual(made.data, { 'mutation-start': 'yes', 'mutation-stage-1': 'yes', 'mutation-stage-2': 'yes' })
})

test('AdmissionWebhook should mutate pod and apply defaults after mutation', async () => {
  const { cluster, core } = clients()
  await webhooks().behave('/init', {
    patch: [{ op: 'add', path: '/spec/initContainers', value: [{ image: 'i', name: 'webhook-added-init-container' }] }],
  })
  await configure(cluster, 'Mutating', 'init', [hook(webhooks(), '/init', { rules: [rule({ resources: ['pods'] })] })])
  const body = { ...pod('mutated'), metadata: { name: 'mutated', ...label('/init') } }
  const [added] = (await core.createNamespacedPod({ namespace: 'default', body })).spec?.initContainers ?? []
  assert.deepEqual([added?.name, added?.terminationMessagePolicy], ['webhook-added-init-container', 'File'])
})

test('AdmissionWebhook should not be able to mutate or prevent deletion of webhook configuration objects', async () => {
  const { cluster } = clients()
  await webhooks().behave('/configurations', denied('no'))
  await webhooks().behave('/configurations-changed', {
    patch: [{ op: 'add', path: '/metadata/labels', value: { changed: 'yes' } }],
  })
  const resources = ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations']
  const rules = [{ apiGroups: ['admissionregistration.k8s.io'], apiVersions: ['*'], operations: ['*'], resources }]
  await configure(cluster, 'Validating', 'configurations', [
    hook(webhooks(), '/configurations', { rules, objectSelector: {} }),
  ])
  await configure(cluster, 'Mutating', 'configurations-changed', [
    hook(webhooks(), '/configurations-changed', { rules, objectSelector: {} }),
  ])
  await configure(cluster, 'Validating', 'dummy', [hook(webhooks(), '/dummy')])
  assert.equal((await api().readValidatingWebhookConfiguration({ name: 'dummy' })).metadata?.labels, undefined)
  await api().deleteValidatingWebhookConfiguration({ name: 'dummy' })
  await assert.rejects(api().readValidatingWebhookConfiguration({ name: 'dummy' }), { code: 404 })
})

test('AdmissionWebhook should mutate custom resource', async () => {
  const group = 'mutated.example.com'
  await define(clients(), { group })
  await webhooks().behave('/mutate-custom', adding('mutation-stage-1'))
  const rules = [{ apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: ['foos'] }]
  await configure(clients().cluster, 'Mutating', 'mutate-custom', [hook(webhooks(), '/mutate-custom', { rules })])
  const made = await custom().createNamespacedCustomObject({
    ...foos(group),
    body: ofKind(group, 'Foo', 'foo', '/mutate-custom', { data: { 'mutation-start': 'yes' } }),
  })
  assert.deepEqual(made.data, { 'mutation-start': 'yes', 'mutation-stage-1': 'yes' })
})

test('AdmissionWebhook should mutate custom resource with different stored version', async () => {
  const { cluster, config } = clients()
  const group = 'stored.example.com'
  const options = { group, versions: { v1: anything, v2: anything } }
  await define(clients(), options)
  await webhooks().behave('/mutate-stored', adding('mutation-stage-1'))
  const rules = [{ apiGroups: [group], apiVersions: ['v1'], operations: ['*'], resources: ['foos'] }]
  await configure(cluster, 'Mutating', 'mutate-stored', [hook(webhooks(), '/mutate-stored', { rules })])
  await custom().createNamespacedCustomObject({
    ...foos(group),
    body: ofKind(group, 'Foo', 'foo', '/mutate-stored', { data: {} }),
  })
  const versions = definitionOf(options).spec.versions.map((version) => ({
    ...version,
    storage: version.name === 'v2',
  }))
  await config
    .makeApiClient(ApiextensionsV1Api)
    .patchCustomResourceDefinition({ name: `foos.${group}`, body: { spec: { versions } } }, merging)
  await webhooks().behave('/mutate-stored', adding('mutation-stage-2'))
  await custom().patchNamespacedCustomObject(
    { ...foos(group), version: 'v2', name: 'foo', body: { data: { 'mutation-start': 'yes' } } },
    merging,
  )
  const { data } = await custom().getNamespacedCustomObject({ ...foos(group), name: 'foo' })
  assert.deepEqual(data, { 'mutation-start': 'yes', 'mutation-stage-1': 'yes', 'mutation-stage-2': 'yes' })
})

test('AdmissionWebhook should mutate custom resource with pruning', async () => {
  const group = 'pruned.example.com'
  const properties = {
    data: {
      type: 'object',
      properties: { 'mutation-start': { type: 'string' }, 'mutation-stage-1': { type: 'string' } },
    },
  }
  await define(clients(), { group, versions: { v1: { type: 'object', properties } } })
  await webhooks().behave('/prune', {
    patch: [...adding('mutation-stage-1').patch, ...adding('mutation-stage-2').patch],
  })
  const rules = [{ apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: ['foos'] }]
  await configure(clients().cluster, 'Mutating', 'prune', [hook(webhooks(), '/prune', { rules })])
  const made = await custom().createNamespacedCustomObject({
    ...foos(group),
    body: ofKind(group, 'Foo', 'foo', '/prune', { data: { 'mutation-start': 'yes' } }),
  })
  assert.deepEqual(made.data, { 'mutation-start': 'yes', 'mutation-stage-1': 'yes' })
})

test('AdmissionWebhook should deny crd creation', async () => {
  const { cluster, config } = clients()
  await webhooks().behave('/deny-crd', denied('the crd contains unwanted label'))
  const rules = [
    {
      apiGroups: ['apiextensions.k8s.io'],
      apiVersions: ['*'],
      operations: ['CREATE'],
      resources: ['customresourcedefinitions'],
    },
  ]
  await configure(cluster, 'Validating', 'deny-crd', [hook(webhooks(), '/deny-crd', { rules })])
  const definition = definitionOf({ group: 'unwanted.example.com' })
  const body = { ...definition, metadata: { ...definition.metadata, ...label('/deny-crd') } }
  await assert.rejects(
    config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({ body }),
    /the crd contains unwanted label/,
  )
})

test('AdmissionWebhook should honor timeout', async () => {
  const { cluster } = clients()
  await webhooks().behave('/slow', { manner: 'slowly' })
  for (const [name, failurePolicy, timeoutSeconds] of [
    ['slow-fail', 'Fail', 1],
    ['slow-ignore', 'Ignore', 1],
    ['slow-in-time', 'Fail', 10],
    ['slow-unsaid', 'Fail', undefined],
  ] as const) {
    await configure(cluster, 'Validating', name, [hook(webhooks(), '/slow', { timeoutSeconds, failurePolicy })])
    const made = cluster.call('POST', configMaps, configMap(name, 'slow'))
    if (name !== 'slow-fail') await made
    else
      assert.match(
        (await refusal(made)).message,
        /failed calling webhook "slow\.example\.com".*context deadline exceeded/,
      )
    await api().deleteValidatingWebhookConfiguration({ name })
  }
})
