/** MutatingAdmissionPolicies: valid mutations, and rejected ones. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { testCluster } from '../../support/test-cluster.ts'
import { configMap, configMaps, group, refusal } from '../webhooks/webhook.ts'
import { constraints, mutate, withoutAccounts } from './policy.ts'

const applies = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })
const patches = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })
const named = (name: string) => ({
  matchConditions: [{ name: 'c', expression: `object.metadata.name.startsWith('${name}')` }],
})
const pods = { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }] }

test('apply configurations are merged, and JSON patches applied in order', async (t) => {
  const cluster = await testCluster(t, withoutAccounts)
  await mutate(cluster, 'merge', {
    matchConstraints: pods,
    variables: [{ name: 'image', expression: "'sidecar:' + object.metadata.name" }],
    mutations: [
      applies(
        `Object{
          metadata: Object.metadata{labels: {"added": "yes"}},
          spec: Object.spec{
            containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, imagePullPolicy: "Never"})
              + [Object.spec.containers{name: "sidecar", image: variables.image}],
            ?priorityClassName: optional.none()
          }
        }`,
      ),
      patches(`[
        JSONPatch{op: "test", path: "/metadata/labels/added", value: "yes"},
        JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("example.com/second"), value: "yes"}
      ]`),
    ],
  })
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  const pod = await cluster.call('POST', '/api/v1/namespaces/default/pods', {
    metadata: { name: 'p', labels: { own: 'yes' } },
    spec,
  })
  assert.deepEqual(pod.metadata.labels, { own: 'yes', added: 'yes', 'example.com/second': 'yes' })
  const { containers } = pod.spec as { containers: { name: string; image: string; imagePullPolicy: string }[] }
  assert.deepEqual(
    containers.map(({ name, image, imagePullPolicy }) => [name, image, imagePullPolicy]),
    [
      ['c', 'i', 'Never'],
      ['sidecar', 'sidecar:p', 'IfNotPresent'],
    ],
  )
})

test('a status is merged by list keys and defaulted', async (t) => {
  const cluster = await testCluster(t)
  const type = 'NamespaceDeletionContentFailure'
  await mutate(cluster, 'status', {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['namespaces/status'] }],
    },
    mutations: [
      applies(
        `Object{status: Object.status{conditions: [Object.status.conditions{type: "${type}", message: "mutated"}]}}`,
      ),
    ],
  })
  const metadata = { name: 'n' }
  await cluster.call('POST', '/api/v1/namespaces', { metadata })
  const { status } = await cluster.call('PUT', '/api/v1/namespaces/n/status', {
    metadata,
    status: { conditions: [{ type, status: 'Unknown' }] },
  })
  assert.deepEqual(status, {
    phase: 'Active',
    conditions: [{ type, status: 'Unknown', lastTransitionTime: null, message: 'mutated' }],
  })
})

test('a patch with a failed test changes nothing, and parameters control mutations', async (t) => {
  const cluster = await testCluster(t)
  await cluster.call('POST', configMaps, { metadata: { name: 'params' }, data: { team: 'blue' } })
  await mutate(
    cluster,
    'params',
    {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      ...named('a'),
      mutations: [
        patches(
          "[JSONPatch{op: 'test', path: '/data/x', value: 'y'}, JSONPatch{op: 'add', path: '/data/x', value: 'z'}]",
        ),
        applies('Object{data: {"team": params.data.team}}'),
      ],
    },
    { paramRef: { name: 'params', parameterNotFoundAction: 'Deny' } },
  )
  assert.deepEqual((await cluster.call('POST', configMaps, configMap('a', undefined, { data: { x: 'w' } }))).data, {
    x: 'w',
    team: 'blue',
  })
  assert.deepEqual((await cluster.call('POST', configMaps, configMap('a2', undefined, { data: { x: 'y' } }))).data, {
    x: 'z',
    team: 'blue',
  })
  assert.ok(!('data' in (await cluster.call('POST', configMaps, configMap('b')))))
})

test('failed mutations are reported, unless the policy ignores failures', async (t) => {
  const cluster = await testCluster(t, withoutAccounts)
  const cases = [
    [
      'unknown',
      applies("Object{nothing: 'x'}"),
      'error applying patch: failed to convert patch object to typed object: .nothing: field not declared in schema',
    ],
    [
      'misplaced',
      applies('Object{metadata: Object.spec{}}'),
      'type mismatch: unexpected type name "Object.spec", expected "Object.metadata", which matches field name ' +
        'path from root Object type',
    ],
    [
      'missing',
      applies('Object{data: {"a": object.data.b}}'),
      `expression 'Object{data: {"a": object.data.b}}' resulted in error: no such key: data`,
    ],
    [
      'remove',
      patches("[JSONPatch{op: 'remove', path: '/data/x'}]"),
      'JSON Patch: remove operation does not apply: doc is missing path: "/data/x": missing value',
    ],
    // A test of a missing path is an error, not a failed test.
    [
      'test',
      patches("[JSONPatch{op: 'test', path: '/data/x', value: 'y'}]"),
      'JSON Patch: test operation does not apply: is missing path: /data/x: missing value',
    ],
  ] as const
  for (const [name, mutation, message] of cases) {
    await mutate(cluster, name, { ...named(name), mutations: [mutation] })
    await mutate(cluster, `quiet-${name}`, {
      ...named(`quiet-${name}`),
      failurePolicy: 'Ignore',
      mutations: [mutation],
    })
    const refused = await refusal(cluster.call('POST', configMaps, configMap(name)))
    assert.deepEqual([refused.code, refused.reason], [403, 'Invalid'])
    const start = `policy '${name}' with binding '${name}' denied request: ${message}`
    assert.equal(refused.message.slice(0, start.length), start)
    await cluster.call('POST', configMaps, configMap(`quiet-${name}`))
  }
  await mutate(cluster, 'atomic', {
    matchConstraints: pods,
    mutations: [applies('Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", args: ["x"]}]}}')],
  })
  const { message } = await refusal(
    cluster.call('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    }),
  )
  assert.match(
    message,
    /invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: \.spec\.containers\[0\]\.args$/,
  )
})

test('a patch must give a valid object, even if the policy ignores failures', async (t) => {
  const cluster = await testCluster(t)
  for (const [name, operation, message] of [
    [
      'field',
      "JSONPatch{op: 'add', path: '/metadata/lables', value: {'a': 'b'}}",
      'strict decoding error: unknown field "metadata.lables"',
    ],
    [
      'type',
      "JSONPatch{op: 'add', path: '/data', value: 'x'}",
      'json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string',
    ],
  ] as const) {
    await mutate(cluster, name, { ...named(name), failurePolicy: 'Ignore', mutations: [patches(`[${operation}]`)] })
    const refused = await refusal(cluster.call('POST', configMaps, configMap(name)))
    assert.deepEqual(
      [refused.code, refused.reason, refused.message],
      [500, 'InternalError', `Internal error occurred: ${message}`],
    )
  }
})

test('a policy with IfNeeded is reinvoked after a later one changed the object', async (t) => {
  const cluster = await testCluster(t)
  const counts = (name: string) =>
    applies(
      `Object{data: {"${name}": has(object.data) && "${name}" in object.data ? object.data["${name}"] + "x" : "x"}}`,
    )
  await mutate(cluster, 'a', { ...named('r'), reinvocationPolicy: 'IfNeeded', mutations: [counts('a')] })
  await mutate(cluster, 'b', { ...named('r'), mutations: [counts('b')] })
  assert.deepEqual((await cluster.call('POST', configMaps, configMap('r'))).data, { a: 'xx', b: 'x' })
})

test('one reinvocation calls all policies with IfNeeded in order, once per parameter', async (t) => {
  const cluster = await testCluster(t)
  const count = applies(
    'Object{metadata: Object.metadata{annotations: {"foo": string(int(object.metadata.annotations["foo"]) + 1)}}}',
  )
  const counted = async (name: string) => {
    const { metadata } = await cluster.call('POST', configMaps, { metadata: { name, annotations: { foo: '0' } } })
    return (metadata.annotations as Record<string, string>).foo
  }
  await mutate(cluster, 'policy-1', { ...named('several'), reinvocationPolicy: 'IfNeeded', mutations: [count] })
  await mutate(cluster, 'policy-2', { ...named('several'), reinvocationPolicy: 'IfNeeded', mutations: [count] })
  await mutate(cluster, 'policy-3', { ...named('several'), mutations: [count] })
  assert.equal(await counted('several'), '5')
  for (const name of ['param-1', 'param-2'])
    await cluster.call('POST', configMaps, { metadata: { name, labels: { multi: 'true' } } })
  const paramRef = { selector: { matchLabels: { multi: 'true' } }, parameterNotFoundAction: 'Allow' }
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  await mutate(
    cluster,
    'params-1',
    { ...named('each'), paramKind, reinvocationPolicy: 'IfNeeded', mutations: [count] },
    { paramRef },
  )
  await mutate(
    cluster,
    'params-2',
    { ...named('each'), paramKind, mutations: [count] },
    { paramRef: { name: 'param-1', parameterNotFoundAction: 'Allow' } },
  )
  assert.equal(await counted('each'), '5')
  // A policy with IfNeeded that changed the object itself is reinvoked too.
  await mutate(cluster, 'alone', { ...named('alone'), reinvocationPolicy: 'IfNeeded', mutations: [count] })
  assert.equal(await counted('alone'), '2')
})

test('mutating policies are not called for deletes', async (t) => {
  const cluster = await testCluster(t)
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }]
  await mutate(cluster, 'all', {
    matchConstraints: { resourceRules },
    ...named('d'),
    mutations: [applies('Object{data: {"a": "b"}}')],
  })
  assert.deepEqual((await cluster.call('POST', configMaps, configMap('d'))).data, { a: 'b' })
  // Its match condition would fail.
  await cluster.call('DELETE', `${configMaps}/d`)
})

test('custom resources are mutated by their schemas', async (t) => {
  const cluster = await testCluster(t)
  const properties = {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        parts: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      },
    },
  }
  await cluster.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'things', kind: 'Thing' },
      scope: 'Namespaced',
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } },
      ],
    },
  })
  const rules = [{ apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] }]
  await mutate(cluster, 'things', {
    matchConstraints: constraints({ resourceRules: rules }),
    mutations: [applies('Object{spec: Object.spec{size: object.spec.size + 1, parts: ["b"]}}')],
  })
  const thing = {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 't' },
    spec: { size: 1, parts: ['a'] },
  }
  assert.deepEqual((await cluster.call('POST', '/apis/example.com/v1/namespaces/default/things', thing)).spec, {
    size: 2,
    parts: ['a', 'b'],
  })
})

test('invalid mutations are rejected when the policy is written', async (t) => {
  const cluster = await testCluster(t)
  const { message } = await refusal(
    mutate(cluster, 'bad', { mutations: [applies('1'), patches('[Object{}]'), { patchType: 'JSONPatch' }] }),
  )
  assert.match(
    message,
    /spec.mutations\[0\].applyConfiguration.expression: Invalid value: "1": must evaluate to Object but got int/,
  )
  assert.match(
    message,
    new RegExp(
      String.raw`spec.mutations\[1\].jsonPatch.expression: Invalid value: "\[Object\{\}` +
        String.raw`\]": must evaluate to list\(JSONPatch\) ` +
        String.raw`but got list\(Object\)`,
    ),
  )
  assert.match(message, /spec.mutations\[2\].jsonPatch: Required value: must be specified when patchType is JSONPatch/)
  assert.equal((await cluster.call('GET', `${group}/mutatingadmissionpolicies`)).kind, 'MutatingAdmissionPolicyList')
})
