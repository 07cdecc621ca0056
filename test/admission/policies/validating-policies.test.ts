/** ValidatingAdmissionPolicies: rejections, their messages, and parameters. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { configMap, configMaps, group, refusal } from '../webhooks/webhook.ts'
import { bind, constraints, enforce, validatingPolicy } from './policy.ts'

const fails = (expression: string, more: object = {}) => ({ validations: [{ expression, ...more }] })

test('a failed validation is rejected with the policy’s message, reason and code', async (t) => {
  const cluster = await testCluster(t)
  await enforce(cluster, 'plain', fails("!object.metadata.name.startsWith('plain')"))
  await enforce(
    cluster,
    'message',
    fails("!object.metadata.name.startsWith('message')", { message: 'not this name', reason: 'Forbidden' }),
  )
  const messageExpression =
    "'name is ' + object.metadata.name + ' in ' + namespaceObject.metadata.name + ' by ' + request.operation"
  await enforce(
    cluster,
    'expression',
    fails("!object.metadata.name.startsWith('expression')", { messageExpression, message: 'other' }),
  )
  await enforce(
    cluster,
    'faulty',
    fails("object.metadata.name != 'faulty' || object.data.a == 'b'", { messageExpression: "object.data['x'] + ''" }),
  )
  await enforce(cluster, 'lenient', {
    ...fails("object.metadata.name != 'lenient' || object.data.a == 'b'"),
    failurePolicy: 'Ignore',
  })
  const cases = [
    ['plain', 422, 'Invalid', "failed expression: !object.metadata.name.startsWith('plain')"],
    ['message', 403, 'Forbidden', 'not this name'],
    ['expression', 422, 'Invalid', 'name is expression in default by CREATE'],
    [
      'faulty',
      422,
      'Invalid',
      "expression 'object.metadata.name != 'faulty' || object.data.a == 'b'' resulted in error: no such key: data",
    ],
  ] as const
  for (const [name, code, reason, message] of cases) {
    const refused = await refusal(cluster.call('POST', configMaps, configMap(name)))
    const why = `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: ${message}`
    assert.deepEqual([refused.code, refused.reason], [code, reason])
    assert.equal(refused.message, `configmaps "${name}" is forbidden: ${why}`)
    assert.deepEqual(refused.details, { name, kind: 'configmaps', causes: [{ message: why }] })
  }
  await cluster.call('POST', configMaps, configMap('lenient'))
  await cluster.call('POST', configMaps, configMap('faulty', undefined, { data: { a: 'b' } }))
})

test('variables are lazy, match conditions come first, and expressions can check authorization', async (t) => {
  const cluster = await testCluster(t)
  await enforce(cluster, 'variables', {
    variables: [
      { name: 'data', expression: 'has(object.data) ? object.data : {}' },
      { name: 'count', expression: 'size(variables.data)' },
      { name: 'broken', expression: 'object.nothing.at.all' },
    ],
    matchConditions: [{ name: 'named', expression: "object.metadata.name.startsWith('v')" }],
    validations: [{ expression: 'variables.count < 2', messageExpression: "'has ' + string(variables.count)" }],
  })
  await enforce(
    cluster,
    'rights',
    fails(
      "!object.metadata.name.startsWith('r') || !authorizer.group('').resource('configmaps').check('create').allowed()",
    ),
  )
  await cluster.call('POST', configMaps, configMap('v1', undefined, { data: { a: 'b' } }))
  await cluster.call('POST', configMaps, configMap('other', undefined, { data: { a: 'b', c: 'd' } }))
  const refused = await refusal(
    cluster.call('POST', configMaps, configMap('v2', undefined, { data: { a: 'b', c: 'd' } })),
  )
  assert.match(refused.message, /denied request: has 2$/)
  assert.match((await refusal(cluster.call('POST', configMaps, configMap('r')))).message, /failed expression/)
})

test('without parameters in the binding, params is null', async (t) => {
  const cluster = await testCluster(t)
  const cases = [
    ['unguarded', 'object.metadata.name.startsWith(params.metadata.name)', true],
    ['guarded', 'has(params.metadata) && has(params.metadata.name)', false],
    ['compared', 'params != null && object.metadata.name.endsWith(params.metadata.name)', false],
  ] as const
  for (const [name, expression, isFault] of cases) {
    await enforce(cluster, name, {
      ...fails(expression),
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConditions: [{ name: 'c', expression: `object.metadata.name == '${name}'` }],
    })
    const why = isFault
      ? `expression '${expression}' resulted in error: no such key: metadata`
      : `failed expression: ${expression}`
    const { message } = await refusal(cluster.call('POST', configMaps, configMap(name)))
    assert.equal(
      message,
      `configmaps "${name}" is forbidden: ValidatingAdmissionPolicy '${name}' with binding '${name}' denied ` +
        `request: ${why}`,
    )
  }
})

test('parameters are found by name or selector, of built-in and custom kinds, and may be missing', async (t) => {
  const cluster = await testCluster(t)
  const limit = (name: string, most: string, labels: object = {}) =>
    cluster.call('POST', configMaps, { metadata: { name, labels }, data: { most } })
  await limit('limit', '1')
  await limit('loose', '5', { limit: 'yes' })
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  const spec = (name: string) => ({
    paramKind,
    matchConditions: [{ name: 'c', expression: `object.metadata.name.startsWith('${name}')` }],
    validations: [
      { expression: 'size(object.data) <= int(params.data.most)', messageExpression: "'at most ' + params.data.most" },
    ],
  })
  await enforce(cluster, 'named', spec('named'), { paramRef: { name: 'limit', parameterNotFoundAction: 'Deny' } })
  await enforce(cluster, 'chosen', spec('chosen'), {
    paramRef: { selector: { matchLabels: { limit: 'yes' } }, parameterNotFoundAction: 'Deny' },
  })
  await enforce(cluster, 'missing', spec('missing'), {
    paramRef: { name: 'nothing', namespace: 'default', parameterNotFoundAction: 'Deny' },
    matchResources: { objectSelector: { matchLabels: { strict: 'yes' } } },
  })
  const data = { a: 'b', c: 'd' }
  assert.match(
    (await refusal(cluster.call('POST', configMaps, configMap('named', undefined, { data })))).message,
    /binding 'named' denied request: at most 1$/,
  )
  await cluster.call('POST', configMaps, configMap('chosen', undefined, { data }))
  await limit('tight', '0', { limit: 'yes' })
  assert.match(
    (await refusal(cluster.call('POST', configMaps, configMap('chosen2', undefined, { data })))).message,
    /at most 0$/,
  )
  await cluster.call('POST', configMaps, configMap('missing', undefined, { data }))
  const strict = { metadata: { name: 'missing2', labels: { strict: 'yes' } }, data }
  assert.match(
    (await refusal(cluster.call('POST', configMaps, strict))).message,
    /failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction$/,
  )

  // A kind that is not served yet.
  const custom = { apiVersion: 'rules.example.com/v1', kind: 'Limit' }
  await enforce(
    cluster,
    'custom',
    {
      paramKind: custom,
      matchConstraints: constraints({ objectSelector: { matchLabels: { custom: 'yes' } } }),
      validations: [{ expression: 'size(object.data) <= params.spec.most' }],
    },
    { paramRef: { name: 'l', parameterNotFoundAction: 'Allow' } },
  )
  const object = { metadata: { name: 'x', labels: { custom: 'yes' } }, data }
  const unknown = await refusal(cluster.call('POST', configMaps, object))
  assert.match(
    unknown.message,
    new RegExp(
      "ValidatingAdmissionPolicy 'custom' denied request: failed to configure" +
        ' policy: failed to find resource ' +
        "referenced by paramKind: 'rules.example.com/v1, Kind=Limit'$",
    ),
  )
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { most: { type: 'integer' } } } },
    },
  }
  await cluster.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'limits.rules.example.com' },
    spec: {
      group: 'rules.example.com',
      names: { plural: 'limits', kind: 'Limit' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  await waitFor(
    'limits are served',
    async () => (await cluster.call('POST', `${configMaps}?dryRun=All`, object)).kind === 'ConfigMap',
  )
  await cluster.call('POST', '/apis/rules.example.com/v1/namespaces/default/limits', {
    ...custom,
    metadata: { name: 'l' },
    spec: { most: 1 },
  })
  assert.match(
    (await refusal(cluster.call('POST', configMaps, object))).message,
    /failed expression: size\(object.data\) <= params.spec.most$/,
  )
})

test('a binding may warn; policies do not apply to policies or access reviews', async (t) => {
  const cluster = await testCluster(t)
  await enforce(cluster, 'all', {
    matchConstraints: {
      resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE'], resources: ['*'] }],
    },
    ...fails('false', { message: 'nothing goes' }),
  })
  await cluster.call('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
  })
  await bind(cluster, 'more', 'all')
  assert.equal((await refusal(cluster.call('POST', configMaps, configMap('a')))).code, 422)
  // Policies do apply to webhook configurations.
  const webhooks = { metadata: { name: 'w' }, webhooks: [] }
  assert.match(
    (await refusal(cluster.call('POST', `${group}/validatingwebhookconfigurations`, webhooks))).message,
    /denied request: nothing goes$/,
  )
  const generated = await refusal(cluster.call('POST', configMaps, { metadata: { generateName: 'gen-' } }))
  assert.match(generated.message, /^configmaps "gen-[a-z0-9]{5}" is forbidden: /)
  await cluster.call('DELETE', `${group}/validatingadmissionpolicybindings/all`)
  await cluster.call('DELETE', `${group}/validatingadmissionpolicybindings/more`)
  await cluster.call('POST', configMaps, configMap('a'))
})

test('invalid expressions, policies and bindings are rejected when written', async (t) => {
  const cluster = await testCluster(t)
  const refused = async (spec: object): Promise<string[]> => {
    const { details } = await refusal(
      cluster.call('POST', `${group}/validatingadmissionpolicies`, validatingPolicy('p', spec)),
    )
    return (details as { causes: { field: string; message: string }[] }).causes.map(
      ({ field, message }) => `${field}: ${message.split('\n')[0]}`,
    )
  }
  assert.deepEqual(await refused(fails('object.a +')), [
    'spec.validations[0].expression: Invalid value: "object.a +": compilation failed: ERROR: <input>:1:11: ' +
      "Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', " +
      'NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}',
  ])
  assert.deepEqual(await refused(fails("'a'")), [
    'spec.validations[0].expression: Invalid value: "\'a\'": must evaluate to bool but got string',
  ])
  assert.deepEqual(await refused(fails('params.a == 1')), [
    'spec.validations[0].expression: Invalid value: "params.a == 1": compilation failed: ERROR: <input>:1:1: ' +
      "undeclared reference to 'params' (in container '')",
  ])
  assert.deepEqual(await refused({ ...fails('true', { messageExpression: '1', message: 'a\nb', reason: 'Gone' }) }), [
    'spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int',
    'spec.validations[0].message: Invalid value: "a\\nb": message must not contain line breaks',
    'spec.validations[0].reason: Unsupported value: "Gone": supported values: "Forbidden", "Invalid", ' +
      '"RequestEntityTooLarge"',
  ])
  assert.deepEqual(
    await refused({
      auditAnnotations: [
        { key: 'k', valueExpression: '1' },
        { key: 'k', valueExpression: "'a'" },
      ],
    }),
    [
      'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] ' +
        'but got int',
      'spec.auditAnnotations[1].key: Duplicate value: "k"',
    ],
  )
  assert.deepEqual(
    await refused({
      ...fails('variables.a == 1'),
      variables: [
        { name: 'in', expression: '1' },
        { name: 'a', expression: 'nothing' },
      ],
    }),
    [
      'spec.variables[0].name: Invalid value: "in": name is not a valid CEL identifier',
      'spec.variables[1].expression: Invalid value: "nothing": compilation failed: ERROR: <input>:1:1: ' +
        "undeclared reference to 'nothing' (in container '')",
    ],
  )
  const { message } = await refusal(
    bind(cluster, 'b', 'p', { validationActions: ['Deny', 'Warn'], paramRef: { name: 'a', selector: {} } }),
  )
  assert.match(message, /must not contain both Deny and Warn/)
  assert.match(message, /spec.paramRef.name: Forbidden: name and selector are mutually exclusive/)
})

test('the status of a policy has type warnings for the kinds that it names', async (t) => {
  const cluster = await testCluster(t)
  const statusOf = async (name: string) => {
    const found = await waitFor('the policy was checked', async () => {
      const { status, metadata } = await cluster.call('GET', `${group}/validatingadmissionpolicies/${name}`)
      const known = status as { observedGeneration?: number; typeChecking?: object } | undefined
      return known?.observedGeneration === metadata.generation && known
    })
    return found.typeChecking
  }
  const resourceRules = [
    {
      apiGroups: ['apps'],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['deployments', 'statefulsets/status'],
    },
  ]
  const policy = (name: string, spec: object) =>
    cluster.call(
      'POST',
      `${group}/validatingadmissionpolicies`,
      validatingPolicy(name, { matchConstraints: { resourceRules }, ...spec }),
    )
  await policy(
    'right',
    fails(
      "object.spec.replicas > 1 && object.metadata.labels['a'] == 'b' && " +
        "object.spec.template.spec.containers.all(c, c.image != '')",
    ),
  )
  assert.deepEqual(await statusOf('right'), {})
  await policy('wrong', fails('object.replicas > 1', { messageExpression: "'at ' + object.spec.replicas" }))
  assert.deepEqual(await statusOf('wrong'), {
    expressionWarnings: [
      {
        fieldRef: 'spec.validations[0].expression',
        warning:
          "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | " +
          '......^\n',
      },
      {
        fieldRef: 'spec.validations[0].messageExpression',
        warning:
          "apps/v1, Kind=Deployment: ERROR: <input>:1:7: found no matching overload for '_+_' applied to " +
          "'(string, int)'\n | 'at ' + object.spec.replicas\n | ......^\n",
      },
    ],
  })
  await cluster.call(
    'PATCH',
    `${group}/validatingadmissionpolicies/wrong`,
    { spec: { validations: [{ expression: 'object.spec.paused == true' }] } },
    'application/merge-patch+json',
  )
  assert.deepEqual(await statusOf('wrong'), {})
})
