import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FlowSchema, mandatoryFlowSchemas, suggestedFlowSchemas } from '../../api/flowcontrol/bootstrap-objects.ts'
import { requestInfo } from '../request-info/request-info.ts'
import { CompiledSchema, sortByPrecedence } from './compiled-schema.ts'

const request = (name: string, groups: readonly string[], method: string, target: string) => {
  const { pathname, searchParams } = new URL(target, 'https://x')
  return { user: { name, groups }, info: requestInfo(method, pathname, searchParams) }
}

test('requests are classified by the default schemas as upstream does', () => {
  const schemas = sortByPrecedence(
    [...mandatoryFlowSchemas, ...suggestedFlowSchemas].map((schema) => new CompiledSchema(schema)),
  )
  const all = ['system:authenticated']
  const account = (namespace: string) => ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, ...all]
  const node = ['system:nodes', ...all]
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x'
  const table: readonly (readonly [
    user: string,
    groups: readonly string[],
    method: string,
    path: string,
    schema: string,
  ])[] = [
    ['admin', ['system:masters', ...all], 'GET', '/api/v1/pods', 'exempt'],
    ['system:anonymous', ['system:unauthenticated'], 'GET', '/healthz', 'probes'],
    ['jane', all, 'GET', '/readyz/etcd', 'probes'],
    ['jane', all, 'GET', '/metrics', 'global-default'],
    ['jane', all, 'POST', '/healthz', 'global-default'],
    ['system:kube-scheduler', all, 'PUT', lease, 'system-leader-election'],
    ['system:serviceaccount:kube-system:x', account('kube-system'), 'GET', lease, 'system-leader-election'],
    ['system:serviceaccount:kube-system:x', account('kube-system'), 'PATCH', lease, 'kube-system-service-accounts'],
    [
      'system:serviceaccount:kube-system:endpoint-controller',
      account('kube-system'),
      'PUT',
      '/api/v1/namespaces/a/endpoints/b',
      'kube-system-service-accounts',
    ],
    [
      'system:serviceaccount:kube-system:x',
      account('kube-system'),
      'PUT',
      '/api/v1/namespaces/a/configmaps/b',
      'kube-system-service-accounts',
    ],
    [
      'system:serviceaccount:kube-systemic:x',
      account('kube-systemic'),
      'PUT',
      '/api/v1/namespaces/a/configmaps/b',
      'service-accounts',
    ],
    ['system:node:n', node, 'PATCH', '/api/v1/nodes/n/status', 'system-node-high'],
    [
      'system:node:n',
      node,
      'PUT',
      '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n',
      'system-node-high',
    ],
    ['system:node:n', node, 'GET', '/api/v1/pods?watch=1', 'system-nodes'],
    ['system:kube-controller-manager', all, 'GET', '/api/v1/pods', 'kube-controller-manager'],
    ['system:kube-scheduler', all, 'GET', '/api/v1/pods', 'kube-scheduler'],
    ['jane', all, 'DELETE', '/api/v1/namespaces/a/pods/b', 'global-default'],
  ]
  for (const [user, groups, method, path, schema] of table) {
    assert.equal(
      schemas.find((one) => one.matches(request(user, groups, method, path)))?.name,
      schema,
      `${user} ${method} ${path}`,
    )
  }
})

const schemaOf = (rules: NonNullable<FlowSchema['spec']>['rules'], method?: string): CompiledSchema =>
  new CompiledSchema({
    kind: 'FlowSchema',
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    metadata: { name: 's' },
    spec: {
      priorityLevelConfiguration: { name: 'l' },
      matchingPrecedence: 1,
      rules,
      ...(method && { distinguisherMethod: { type: method } }),
    },
  })

test('resource rules match verb, group, resource with subresource, and namespace', () => {
  const subjects = [{ kind: 'User', user: { name: '*' } }]
  const rule = { verbs: ['get'], apiGroups: ['apps'], resources: ['deployments/scale'], namespaces: ['a', 'b'] }
  const [inNamespaces, everywhere] = [
    schemaOf([{ subjects, resourceRules: [rule] }]),
    schemaOf([{ subjects, resourceRules: [{ ...rule, clusterScope: true }] }]),
  ]
  const path = (namespace: string, rest: string) =>
    request('u', [], 'GET', `/apis/apps/v1/namespaces/${namespace}/deployments/d${rest}`)
  assert.ok(inNamespaces.matches(path('b', '/scale')))
  assert.ok(!inNamespaces.matches(path('c', '/scale')))
  assert.ok(!inNamespaces.matches(path('a', '')))
  const cluster = request('u', [], 'GET', '/apis/apps/v1/deployments/d/scale')
  assert.ok(!inNamespaces.matches(cluster))
  assert.ok(everywhere.matches(cluster))
})

test('path rules match a path and its sub-paths', () => {
  const schema = schemaOf([
    {
      subjects: [{ kind: 'Group', group: { name: 'g' } }],
      nonResourceRules: [{ verbs: ['get', 'post'], nonResourceURLs: ['/logs/*', '/a'] }],
    },
  ])
  const matched = (path: string, groups = ['g']) => schema.matches(request('u', groups, 'GET', path))
  assert.deepEqual(
    ['/logs/x', '/a', '/a/b', '/ab', '/logs'].map((path) => matched(path)),
    [true, true, true, false, false],
  )
  assert.ok(!matched('/a', ['h']))
  assert.ok(!schema.matches(request('u', ['g'], 'GET', '/api/v1/pods')))
})

test('flows are distinguished by user, by namespace, or not at all', () => {
  const given = request('u', [], 'GET', '/api/v1/namespaces/n/pods')
  assert.deepEqual(
    ['ByUser', 'ByNamespace', undefined].map((method) => schemaOf([], method).distinguisher(given)),
    ['u', 'n', ''],
  )
})
