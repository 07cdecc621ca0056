/** Admission webhooks: requests, mutations, rejections, and failures. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { apiControllers, testCluster } from '../../support/test-cluster.ts'
import { withoutAccounts } from '../policies/policy.ts'
import {
  admissionWebhooks,
  answerOf,
  configMap,
  configMaps,
  configure,
  hook,
  metricsOf,
  refusal,
  rule,
} from './webhook.ts'

test('a validating webhook receives all fields of an AdmissionRequest', async (t) => {
  const [cluster, webhooks] = await Promise.all([testCluster(t, { controllers: apiControllers }), admissionWebhooks(t)])
  await configure(cluster, 'Validating', 'all', [
    hook(webhooks, '/all', { rules: [rule({ operations: ['*'], resources: ['configmaps'] })], timeoutSeconds: 7 }),
  ])
  await cluster.call('POST', `${configMaps}?fieldManager=me&fieldValidation=Strict`, configMap('a', 'all'))
  const [created] = await webhooks.asked()
  assert.equal(created?.query, 'timeout=7s')
  const { review } = created!
  assert.deepEqual([review.kind, review.apiVersion], ['AdmissionReview', 'admission.k8s.io/v1'])
  const { uid, object, userInfo, ...rest } = review.request
  assert.match(uid, /^[0-9a-f-]{36}$/)
  assert.deepEqual(rest, {
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
    requestResource: { group: '', version: 'v1', resource: 'configmaps' },
    name: 'a',
    namespace: 'default',
    operation: 'CREATE',
    oldObject: null,
    dryRun: false,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me', fieldValidation: 'Strict' },
  })
  assert.equal((object as { metadata: { name: string } }).metadata.name, 'a')
  assert.ok((userInfo as { groups: string[] }).groups.includes('system:authenticated'))

  await cluster.call('PATCH', `${configMaps}/a?dryRun=All`, { data: { a: 'b' } }, 'application/merge-patch+json')
  const [patched] = await webhooks.asked()
  const request = patched!.review.request as unknown as {
    operation: string
    dryRun: boolean
    options: unknown
    object: { data: unknown }
    oldObject: { data?: unknown }
  }
  assert.deepEqual(
    [request.operation, request.dryRun, request.object.data, request.oldObject.data],
    ['UPDATE', true, { a: 'b' }, undefined],
  )
  assert.deepEqual(request.options, { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', dryRun: ['All'] })

  await cluster.call('DELETE', `${configMaps}/a?propagationPolicy=Background`)
  const [deleted] = await webhooks.asked()
  const gone = deleted!.review.request
  assert.deepEqual([gone.operation, gone.object, gone.name], ['DELETE', null, 'a'])
  assert.equal((gone.oldObject as { metadata: { name: string } }).metadata.name, 'a')
  assert.deepEqual(gone.options, {
    kind: 'DeleteOptions',
    apiVersion: 'meta.k8s.io/v1',
    propagationPolicy: 'Background',
  })

  // A collection delete has no name.
  await cluster.call('POST', configMaps, configMap('b', 'all'))
  await cluster.call('DELETE', `${configMaps}?labelSelector=hook=all`)
  const one = (await webhooks.asked()).at(-1)!.review.request
  assert.deepEqual([one.operation, one.name, one.namespace], ['DELETE', undefined, 'default'])
  assert.equal((one.oldObject as { metadata: { name: string } }).metadata.name, 'b')
})

test('a rejection has the message and the code of the webhook', async (t) => {
  const [cluster, webhooks] = await Promise.all([testCluster(t, { controllers: apiControllers }), admissionWebhooks(t)])
  await configure(cluster, 'Validating', 'no', [hook(webhooks, '/no')])
  const denied = 'admission webhook "no.example.com" denied the request'
  const cases = [
    [{}, 400, undefined, `${denied} without explanation`],
    [{ message: 'too late' }, 400, undefined, `${denied}: too late`],
    [{ reason: 'Forbidden', code: 403 }, 403, 'Forbidden', `${denied}: Forbidden`],
    [{ message: 'gone', reason: 'Gone', code: 410 }, 410, 'Gone', `${denied}: gone`],
    [{ message: 'fine', code: 200, status: 'Success' }, 400, undefined, `${denied}: fine`],
  ] as const
  for (const [status, code, reason, message] of cases) {
    await webhooks.behave('/no', { response: { allowed: false, status } })
    const refused = await refusal(cluster.call('POST', configMaps, configMap('a', 'no')))
    assert.deepEqual([refused.code, refused.reason, refused.message], [code, reason, message])
  }
  // The webhook is not called for other objects.
  await cluster.call('POST', configMaps, configMap('a'))
})

test('mutating webhooks change objects in the order of their configurations, before validation', async (t) => {
  const [cluster, webhooks] = await Promise.all([testCluster(t, { controllers: apiControllers }), admissionWebhooks(t)])
  const matching = { objectSelector: { matchLabels: { hook: 'both' } } }
  await configure(cluster, 'Mutating', 'b', [hook(webhooks, '/second', matching)])
  await configure(cluster, 'Mutating', 'a', [hook(webhooks, '/first', matching)])
  await webhooks.behave('/first', { patch: [{ op: 'add', path: '/data', value: { first: 'yes' } }] })
  await webhooks.behave('/second', {
    patch: [
      { op: 'add', path: '/data/second', value: 'yes' },
      { op: 'add', path: '/unknown', value: 1 },
    ],
  })
  const made = await cluster.call('POST', configMaps, configMap('a', 'both'))
  assert.deepEqual(made.data, { first: 'yes', second: 'yes' })
  assert.ok(!('unknown' in made))
  const stored = await cluster.call('GET', `${configMaps}/a`)
  assert.deepEqual(stored.data, { first: 'yes', second: 'yes' })
  // The mutated object must be valid.
  await webhooks.behave('/second', { patch: [{ op: 'add', path: '/data/a b', value: 'yes' }] })
  assert.equal((await refusal(cluster.call('POST', configMaps, configMap('b', 'both')))).code, 422)
  // Apply and PUT create objects too.
  await webhooks.behave('/second', {})
  const applied = await cluster.call(
    'PATCH',
    `${configMaps}/c?fieldManager=me`,
    configMap('c', 'both'),
    'application/apply-patch+yaml',
  )
  assert.deepEqual(applied.data, { first: 'yes' })
})

test('a webhook with IfNeeded is reinvoked after a later one changed the object', async (t) => {
  const [cluster, webhooks] = await Promise.all([testCluster(t, { controllers: apiControllers }), admissionWebhooks(t)])
  const matching = { objectSelector: { matchLabels: { hook: 'again' } } }
  await configure(cluster, 'Mutating', 'a', [
    hook(webhooks, '/again', { ...matching, reinvocationPolicy: 'IfNeeded' }),
    hook(webhooks, '/once', matching),
    hook(webhooks, '/changes', matching),
  ])
  await webhooks.behave('/changes', { patch: [{ op: 'add', path: '/data', value: { a: 'b' } }] })
  await cluster.call('POST', configMaps, configMap('a', 'again'))
  const asked = await webhooks.asked()
  assert.deepEqual(
    asked.map(({ path }) => path),
    ['/again', '/once', '/changes', '/again'],
  )
  assert.deepEqual((asked.at(-1)!.review.request.object as { data?: unknown }).data, { a: 'b' })
  await webhooks.behave('/changes', {})
  await cluster.call('POST', configMaps, configMap('b', 'again'))
  assert.equal((await webhooks.asked('/again')).length, 1)
})

test('no more webhooks are called after the client has disconnected', async (t) => {
  const [cluster, webhooks] = await Promise.all([testCluster(t, { controllers: apiControllers }), admissionWebhooks(t)])
  const lenient = { failurePolicy: 'Ignore', timeoutSeconds: 10 }
  await configure(cluster, 'Mutating', 'm', [
    hook(webhooks, '/silent', lenient),
    hook(webhooks, '/next', { objectSelector: {} }),
  ])
  await webhooks.behave('/silent', { manner: 'never' })
  const late = await refusal(cluster.call('POST', `${configMaps}?timeout=1500ms`, configMap('a', 'silent')))
  assert.deepEqual([late.code, late.reason], [504, 'Timeout'])
  // Enough time for further calls.
  await delay(200)
  assert.deepEqual(
    (await webhooks.asked()).map(({ path, query }) => `${path}?${query}`),
    ['/silent?timeout=2s'],
  )
  await cluster.call('POST', `${configMaps}?timeout=30s`, configMap('a'))
  assert.deepEqual(
    (await webhooks.asked()).map(({ path, query }) => `${path}?${query}`),
    ['/next?timeout=10s'],
  )
})

test('failing webhooks are reported with Go’s messages, or ignored by their failure policy', async (t) => {
  const lines: string[] = []
  const [cluster, webhooks] = await Promise.all([
    testCluster(t, { controllers: apiControllers, log: (line) => lines.push(line) }),
    admissionWebhooks(t),
  ])
  await configure(cluster, 'Validating', 'v', [
    hook(webhooks, '/bad', { timeoutSeconds: 1 }),
    hook(webhooks, '/ignored', { timeoutSeconds: 1, failurePolicy: 'Ignore' }),
  ])
  await configure(cluster, 'Mutating', 'm', [hook(webhooks, '/worse', { timeoutSeconds: 1 })])
  const failed = (name: string) => `Internal error occurred: failed calling webhook "${name}.example.com": `
  const post = `Post "https://127.0.0.1:${webhooks.port}/bad?timeout=1s": `
  const cases = [
    [{ manner: 'never' }, `failed to call webhook: ${post}context deadline exceeded`],
    [{ manner: 'without end' }, `failed to call webhook: ${post}context deadline exceeded`],
    [{ manner: 'huge' }, `failed to call webhook: ${post}the answer is larger than 16777216 bytes`],
    [{ manner: 'by hanging up' }, `failed to call webhook: ${post}`],
    [
      { manner: 'status 500' },
      'failed to call webhook: an error on the server ("out of order") has prevented the request from succeeding',
    ],
    [{ manner: 'no JSON' }, "failed to call webhook: couldn't get version/kind; json parse error"],
    [{ manner: 'no response' }, 'received invalid webhook response: webhook response was absent'],
    [{ manner: 'another uid' }, 'received invalid webhook response: expected response.uid='],
    [
      { manner: 'another review' },
      'received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got',
    ],
    [
      { patch: [{ op: 'add', path: '/data', value: {} }] },
      'received invalid webhook response: validating webhook may not return response.patch',
    ],
  ] as const
  for (const [behaviour, message] of cases) {
    await webhooks.behave('/bad', behaviour)
    const refused = await refusal(cluster.call('POST', configMaps, configMap('a', 'bad')))
    assert.deepEqual([refused.code, refused.reason], [500, 'InternalError'], message)
    assert.equal(refused.message.slice(0, failed('bad').length + message.length), failed('bad') + message)
    await webhooks.behave('/ignored', behaviour)
    await cluster.call('POST', `${configMaps}?dryRun=All`, configMap('a', 'ignored'))
  }
  assert.ok(lines.some((line) => line.includes('failing open ignored.example.com')))
  const worse = [
    [
      { response: { patch: 'W10=' } },
      'received invalid webhook response: webhook returned response.patch but not response.patchType',
    ],
    [
      { response: { patchType: 'JSONPatch' } },
      'received invalid webhook response: webhook returned response.patchType but not response.patch',
    ],
    [{ response: { patch: 'W3t9XQ==', patchType: 'Merge' } }, 'unsupported patch type "Merge"'],
    [
      { response: { patch: 'bm8=', patchType: 'JSONPatch' } },
      "received undecodable patch in webhook response: invalid character 'o'",
    ],
    [
      { response: { patch: 'e30=', patchType: 'JSONPatch' } },
      'received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type ' +
        'jsonpatch.Patch',
    ],
    [
      { response: { allowed: 'true' } },
      'failed to call webhook: json: cannot unmarshal string into Go struct field ' +
        'AdmissionResponse.response.allowed of type bool',
    ],
    [
      { version: 'admission.k8s.io/v1beta1' },
      'failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
    ],
    [
      { manner: 'no kind' },
      'received invalid webhook response: expected webhook response of admission.k8s.io/v1, ' +
        'Kind=AdmissionReview, got /, Kind=',
    ],
  ] as const
  for (const [behaviour, message] of worse) {
    await webhooks.behave('/worse', behaviour)
    const refused = await refusal(cluster.call('POST', configMaps, configMap('a', 'worse')))
    assert.equal(refused.message.slice(0, failed('worse').length + message.length), failed('worse') + message)
  }
  // A patch that fails or gives an invalid object is an error of the webhook too.
  for (const [operation, message] of [
    [
      { op: 'remove', path: '/nothing' },
      "error in remove for path: '/nothing': Unable to remove nonexistent key: nothing: missing value",
    ],
    [{ op: 'test', path: '/kind', value: 'Pod' }, 'testing value /kind failed: test failed'],
    [
      { op: 'add', path: '/data', value: 7 },
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string',
    ],
  ] as const) {
    await webhooks.behave('/worse', { patch: [operation] })
    const refused = await refusal(cluster.call('POST', configMaps, configMap('a', 'worse')))
    assert.deepEqual([refused.code, refused.message], [500, `Internal error occurred: ${message}`])
  }
  // Invalid managed fields are not stored, since later writes could not read them.
  for (const managedFields of [
    'x',
    [{}],
    [null],
    [{ operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { nonsense: 1 } }],
  ]) {
    await webhooks.behave('/worse', { patch: [{ op: 'add', path: '/metadata/managedFields', value: managedFields }] })
    await cluster.call('POST', configMaps, configMap('managed', 'worse'))
    await webhooks.behave('/worse', {})
    await cluster.call('PATCH', `${configMaps}/managed`, { data: { a: 'b' } }, 'application/merge-patch+json')
    await cluster.call('DELETE', `${configMaps}/managed`)
  }
  // An empty patch is valid.
  await webhooks.behave('/worse', { patch: [] })
  await cluster.call('POST', configMaps, configMap('a', 'worse'))
  const metrics = await metricsOf(cluster)
  const rejection = (type: string, code: number) =>
    `apiserver_admission_webhook_rejection_count{name="bad.example.com",type="validating",operation="CREATE",` +
    `error_type="${type}",rejection_code="${code}"}`
  for (const code of [500, 503]) assert.ok(metrics.includes(rejection('calling_webhook_error', code)), String(code))
  assert.match(
    metrics,
    /apiserver_admission_webhook_fail_open_count\{name="ignored.example.com",type="validating"\} \d/,
  )
  assert.match(
    metrics,
    new RegExp(
      String.raw`apiserver_admission_webhook_rejection_count\{name="bad.example.com",type="validating",` +
        'operation="CREATE",error_type="calling_webhook_error"',
    ),
  )
})

test('match conditions exclude requests, and the failure policy decides on their errors', async (t) => {
  const [cluster, webhooks] = await Promise.all([testCluster(t, { controllers: apiControllers }), admissionWebhooks(t)])
  const condition = (expression: string) => ({ matchConditions: [{ name: 'c', expression }] })
  await configure(cluster, 'Validating', 'v', [
    hook(webhooks, '/only', condition("object.metadata.name.startsWith('x') && request.operation == 'CREATE'")),
    hook(webhooks, '/asks', condition("authorizer.requestResource.check('create').allowed()")),
    hook(webhooks, '/faulty', condition("object.nothing == 'x'")),
    hook(webhooks, '/lenient', { ...condition("object.nothing == 'x'"), failurePolicy: 'Ignore' }),
  ])
  for (const path of ['/only', '/asks', '/lenient']) await webhooks.behave(path, { response: { allowed: false } })
  await cluster.call('POST', configMaps, configMap('y', 'only'))
  assert.equal((await refusal(cluster.call('POST', configMaps, configMap('x', 'only')))).code, 400)
  assert.equal((await refusal(cluster.call('POST', configMaps, configMap('z', 'asks')))).code, 400)
  await cluster.call('POST', configMaps, configMap('l', 'lenient'))
  const refused = await refusal(cluster.call('POST', configMaps, configMap('f', 'faulty')))
  assert.deepEqual([refused.code, refused.reason], [403, 'Forbidden'])
  assert.equal(
    refused.message,
    `configmaps "f" is forbidden: expression 'object.nothing == 'x'' resulted in error: no such key: nothing`,
  )
  const metrics = await metricsOf(cluster)
  const counted = (what: string, path: string, count: number) =>
    `apiserver_admission_match_condition_${what}{name="${path}.example.com",kind="webhook",type="validating",` +
    `operation="CREATE"} ` +
    `${count}`
  assert.ok(metrics.includes(counted('exclusions_total', 'only', 1)))
  for (const path of ['faulty', 'lenient'])
    assert.ok(metrics.includes(counted('evaluation_errors_total', path, 1)), path)
  assert.ok(metrics.includes(counted('evaluation_seconds_count', 'only', 2)))
})

test('match conditions have a cost limit, each and together', async (t) => {
  const [cluster, webhooks] = await Promise.all([testCluster(t, { controllers: apiControllers }), admissionWebhooks(t)])
  const check = "authorizer.group('').resource('pods').check('create').allowed()"
  const conditions = (count: number, expression: string) => ({
    matchConditions: Array.from({ length: count }, (_, at) => ({ name: `c${at}`, expression })),
  })
  await configure(cluster, 'Validating', 'v', [
    hook(webhooks, '/one', conditions(1, `${check} && ${check} && ${check}`)),
    hook(webhooks, '/all', conditions(8, `${check} && ${check}`)),
  ])
  assert.match(
    (await refusal(cluster.call('POST', configMaps, configMap('a', 'one')))).message,
    /resulted in error: operation cancelled: actual cost limit exceeded$/,
  )
  assert.match(
    (await refusal(cluster.call('POST', configMaps, configMap('a', 'all')))).message,
    /validation failed due to running out of cost budget, no further validation rules will be run$/,
  )
  assert.equal((await webhooks.asked()).length, 0)
})

test('an owner that a webhook adds twice is deduplicated with a warning', async (t) => {
  const [cluster, webhooks] = await Promise.all([testCluster(t, { controllers: apiControllers }), admissionWebhooks(t)])
  await configure(cluster, 'Mutating', 'm', [hook(webhooks, '/owners')])
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'fake', uid: 'b2a6d8c4-6c3f-4a2e-9d7a-0d6f1f1f1f1f' }
  await webhooks.behave('/owners', { patch: [{ op: 'add', path: '/metadata/ownerReferences/-', value: owner }] })
  const made = configMap('a', 'owners') as { metadata: object }
  const { headers, body } = await answerOf(cluster, 'POST', configMaps, {
    ...made,
    metadata: { ...made.metadata, ownerReferences: [owner] },
  })
  assert.deepEqual((JSON.parse(body) as { metadata: { ownerReferences: unknown } }).metadata.ownerReferences, [owner])
  assert.equal(
    headers.warning,
    '299 - ".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server ' +
      'dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; ' +
      `duplicate UID(s) observed: ${owner.uid}"`,
  )
})

test('selectors check the namespace and old and new labels, and rules limit the calls', async (t) => {
  const [cluster, webhooks] = await Promise.all([testCluster(t, { controllers: apiControllers }), admissionWebhooks(t)])
  await cluster.call('POST', '/api/v1/namespaces', { metadata: { name: 'other', labels: { team: 'blue' } } })
  await configure(cluster, 'Validating', 'v', [
    hook(webhooks, '/labels', { rules: [rule({ operations: ['UPDATE'] })] }),
    hook(webhooks, '/blue', { objectSelector: {}, namespaceSelector: { matchLabels: { team: 'blue' } } }),
  ])
  await cluster.call('POST', configMaps, configMap('a', 'labels'))
  assert.equal((await webhooks.asked()).length, 0)
  await cluster.call(
    'PATCH',
    `${configMaps}/a`,
    { metadata: { labels: { hook: 'other' } } },
    'application/merge-patch+json',
  )
  await cluster.call(
    'PATCH',
    `${configMaps}/a`,
    { metadata: { labels: { hook: 'other2' } } },
    'application/merge-patch+json',
  )
  assert.equal((await webhooks.asked('/labels')).length, 1)
  await cluster.call('POST', '/api/v1/namespaces/other/configmaps', configMap('a'))
  assert.equal((await webhooks.asked('/blue')).length, 1)
  // The missing old object of a CREATE is not an object without labels.
  const unlabelled = { matchExpressions: [{ key: 'hook', operator: 'DoesNotExist' }] }
  const operations = ['CREATE', 'DELETE']
  await configure(cluster, 'Validating', 'w', [
    hook(webhooks, '/unlabelled', { rules: [rule({ operations })], objectSelector: unlabelled }),
  ])
  await cluster.call('POST', configMaps, configMap('b', 'labelled'))
  await cluster.call('DELETE', `${configMaps}/b`)
  assert.equal((await webhooks.asked('/unlabelled')).length, 0)
  await cluster.call('POST', configMaps, configMap('b'))
  await cluster.call('DELETE', `${configMaps}/b`)
  assert.equal((await webhooks.asked('/unlabelled')).length, 2)
})

test('scales, evictions, bindings and connections are sent as their own kinds', async (t) => {
  const [cluster, webhooks] = await Promise.all([
    testCluster(t, { ...withoutAccounts, controllers: apiControllers }),
    admissionWebhooks(t),
  ])
  const resources = ['deployments/scale', 'pods/eviction', 'pods/binding', 'pods/exec', 'deployments', 'pods']
  const rules = [rule({ apiGroups: ['', 'apps'], operations: ['*'], resources })]
  await configure(cluster, 'Validating', 'v', [hook(webhooks, '/sub', { rules, objectSelector: {} })])
  const labels = { app: 'a' }
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  const deployment = {
    metadata: { name: 'd' },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  }
  await cluster.call('POST', '/apis/apps/v1/namespaces/default/deployments', deployment)
  await cluster.call('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec })
  await webhooks.asked()
  await cluster.call(
    'PATCH',
    '/apis/apps/v1/namespaces/default/deployments/d/scale',
    { spec: { replicas: 3 } },
    'application/merge-patch+json',
  )
  await cluster.call('POST', '/api/v1/namespaces/default/pods/p/binding', {
    metadata: { name: 'p' },
    target: { kind: 'Node', name: 'n' },
  })
  await refusal(cluster.call('POST', '/api/v1/namespaces/default/pods/p/exec?command=ls&command=-l&stdout=true'))
  await cluster.call('POST', '/api/v1/namespaces/default/pods/p/eviction', {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: 'p' },
  })
  const shown = (await webhooks.asked()).map(({ review: { request } }) => {
    const { kind, resource, subResource, operation, name, object, oldObject } = request as unknown as Record<
      string,
      { kind: string; resource: string; spec?: object }
    >
    return [operation, kind!.kind, resource!.resource, subResource, name, object?.kind, object?.spec, oldObject?.spec]
  })
  assert.deepEqual(shown, [
    ['UPDATE', 'Scale', 'deployments', 'scale', 'd', 'Scale', { replicas: 3 }, { replicas: 1 }],
    ['CREATE', 'Binding', 'pods', 'binding', 'p', 'Binding', undefined, undefined],
    ['CONNECT', 'PodExecOptions', 'pods', 'exec', 'p', 'PodExecOptions', undefined, undefined],
    ['CREATE', 'Eviction', 'pods', 'eviction', 'p', 'Eviction', undefined, undefined],
  ])
})
