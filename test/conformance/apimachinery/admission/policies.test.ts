/**
 * Tests of the conformance suite for admission policies
 * (`test/e2e/apimachinery/{validating,mutating}admissionpolicy.go`).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { enforce, mutate, validatingPolicy } from '../../../admission/policies/policy.ts'
import { group, refusal } from '../../../admission/webhooks/webhook.ts'
import { waitFor } from '../../../support/wait-for.ts'
import { type Clients, conformanceClients, merging, pod } from '../../support/clients.ts'
import { define } from '../../support/definitions.ts'

const clients = conformanceClients()

/** Creates a namespace with a label, by which the policies of one test select it. */
async function namespaceOf({ core, namespace: make }: Clients, name: string): Promise<string> {
  await make(name)
  await core.patchNamespace({ name, body: { metadata: { labels: { [name]: 'true' } } } }, merging)
  return name
}

const deployments = {
  operations: ['CREATE', 'UPDATE'],
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  resources: ['deployments'],
}
const onlyIn = (label: string, rule: object = deployments): object => ({
  matchConstraints: { namespaceSelector: { matchLabels: { [label]: 'true' } }, resourceRules: [rule] },
})
const bindingFor = (label: string): object => ({
  matchResources: { namespaceSelector: { matchLabels: { [label]: 'true' } } },
})

/** Creates a Deployment or a ReplicaSet and returns it. */
function make(namespace: string, kind: 'Deployment' | 'ReplicaSet', name: string, replicas: number) {
  const labels = { app: 'nginx' }
  return clients().cluster.call('POST', `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s`, {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, labels },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod('p').spec } },
  })
}

test('ValidatingAdmissionPolicy should validate against a Deployment', async () => {
  const { cluster } = clients()
  const namespace = await namespaceOf(clients(), 'policy-deployment')
  const validations = [
    { expression: 'object.spec.replicas > 1', messageExpression: "'wants replicas > 1, got ' + object.spec.replicas" },
    {
      expression: `namespaceObject.metadata.name == '${namespace}'`,
      message: 'Internal error! Other namespace should not be allowed.',
    },
  ]
  await enforce(cluster, `${namespace}.example.com`, { ...onlyIn(namespace), validations }, bindingFor(namespace))
  const { code, reason } = await refusal(make(namespace, 'Deployment', 'marker-deployment', 1))
  assert.deepEqual([code, reason], [422, 'Invalid'])
  await make(namespace, 'Deployment', 'replicated', 2)
  await make(namespace, 'ReplicaSet', 'non-replicated', 1)
})

test('ValidatingAdmissionPolicy should allow expressions to refer variables.', async () => {
  const { cluster } = clients()
  const namespace = await namespaceOf(clients(), 'policy-variables')
  const variables = [
    { name: 'replicas', expression: 'object.spec.replicas' },
    { name: 'oddReplicas', expression: 'variables.replicas % 2 == 1' },
  ]
  const validations = [{ expression: 'variables.replicas > 1' }, { expression: 'variables.oddReplicas' }]
  await enforce(
    cluster,
    `${namespace}.example.com`,
    { ...onlyIn(namespace), variables, validations },
    bindingFor(namespace),
  )
  assert.equal((await refusal(make(namespace, 'Deployment', 'marker-deployment', 1))).reason, 'Invalid')
  await make(namespace, 'Deployment', 'replicated', 3)
  await make(namespace, 'ReplicaSet', 'non-replicated', 1)
})

interface Warning {
  readonly fieldRef: string
  readonly warning: string
}

/** Resolves with the warnings of a policy's type check when it is done. */
async function typeChecked(name: string, spec: object): Promise<readonly Warning[]> {
  const { cluster } = clients()
  await cluster.call('POST', `${group}/validatingadmissionpolicies`, validatingPolicy(name, spec))
  const typeChecking = await waitFor('the type check', async () => {
    const { status } = await cluster.call('GET', `${group}/validatingadmissionpolicies/${name}`)
    return (status as { typeChecking?: { expressionWarnings?: readonly Warning[] } } | undefined)?.typeChecking
  })
  return typeChecking.expressionWarnings ?? []
}

/** Checks the fields and texts of warnings. */
function says(warnings: readonly Warning[], expected: readonly (readonly [fieldRef: string, words: string])[]): void {
  assert.deepEqual(
    warnings.map(({ fieldRef }) => fieldRef),
    expected.map(([fieldRef]) => fieldRef),
  )
  for (const [at, [, words]] of expected.entries())
    assert.ok(warnings[at]?.warning.includes(words), `${warnings[at]?.warning} should say: ${words}`)
}

const confused = "found no matching overload for '_>_' applied to '(int, string)'"

test('ValidatingAdmissionPolicy should type check validation expressions', { timeout: 60_000 }, async () => {
  assert.deepEqual(
    await typeChecked('correct-policy.example.com', {
      ...onlyIn('none'),
      validations: [{ expression: 'object.spec.replicas > 1' }],
    }),
    [],
  )
  const validations = [
    {
      expression: "object.spec.replicas > '1'",
      messageExpression: "'wants replicas > 1, got ' + object.spec.replicas",
    },
  ]
  says(await typeChecked('confused-policy.example.com', { ...onlyIn('none'), validations }), [
    ['spec.validations[0].expression', confused],
    ['spec.validations[0].messageExpression', "found no matching overload for '_+_' applied to '(string, int)'"],
  ])
})

test('ValidatingAdmissionPolicy should type check a CRD', { timeout: 60_000 }, async () => {
  const string = { type: 'string' }
  const spec = { type: 'object', properties: { cronSpec: string, image: string, replicas: { type: 'integer' } } }
  await define(clients(), {
    group: 'stable.checked.example.com',
    kind: 'CronTab',
    versions: { v1: { type: 'object', properties: { spec } } },
  })
  const rule = { ...deployments, apiGroups: ['stable.checked.example.com'], resources: ['crontabs'] }
  const check = (name: string, ...expressions: string[]) =>
    typeChecked(name, { ...onlyIn('none', rule), validations: expressions.map((expression) => ({ expression })) })
  assert.deepEqual(await check('correct-crd-policy.example.com', 'object.spec.replicas > 1'), [])
  says(await check('confused-crd-policy.example.com', "object.spec.replicas > '1'", 'object.spec.maxRetries < 10'), [
    ['spec.validations[0].expression', confused],
    ['spec.validations[1].expression', "undefined field 'maxRetries'"],
  ])
})

test('MutatingAdmissionPolicy should mutate a Deployment', async () => {
  const { cluster } = clients()
  const namespace = await namespaceOf(clients(), 'policy-mutation')
  const expression = 'Object{metadata: Object.metadata{annotations: {"mutated-by": "admission-policy"}}}'
  const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }]
  await mutate(cluster, `${namespace}.example.com`, { ...onlyIn(namespace), mutations }, bindingFor(namespace))
  const { metadata } = await make(namespace, 'Deployment', 'test-deployment', 2)
  assert.deepEqual(metadata.annotations, { 'mutated-by': 'admission-policy' })
})
