/** The requests that admission webhooks receive: their fields, and the selectors, rules and conditions for them. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { apiControllers, testCluster } from '../../support/test-cluster.ts'
import { withoutAccounts } from '../policies/policy.ts'
import { admissionWebhooks, configMap, configMaps, configure, hook, metricsOf, refusal, rule } from './webhook.ts'

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
