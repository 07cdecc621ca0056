/** Answers of admission webhooks and their effects: rejections, mutations, and failures. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { apiControllers, testCluster } from '../../support/test-cluster.ts'
import { admissionWebhooks, answerOf, configMap, configMaps, configure, hook, metricsOf, refusal } from './webhook.ts'

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
