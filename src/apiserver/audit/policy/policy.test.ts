import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestInfo } from '../../request-info/request-info.ts'
import { compilePolicy, type Policy, type PolicyRule } from './policy.ts'

const tim = { name: 'tim@k8s.io', groups: ['system:authenticated', 'operators'] }
const info = (method: string, target: string) => {
  const { pathname, searchParams } = new URL(target, 'https://x')
  return requestInfo(method, pathname, searchParams)
}
const requests = {
  pods: info('GET', '/api/v1/namespaces/default/pods'),
  pod: info('GET', '/api/v1/namespaces/default/pods/busybox'),
  podLog: info('GET', '/api/v1/namespaces/default/pods/busybox/log'),
  podStatus: info('PUT', '/api/v1/namespaces/default/pods/busybox/status'),
  clusterRole: info('DELETE', '/apis/rbac.authorization.k8s.io/v1/clusterroles/edit'),
  scale: info('PATCH', '/apis/apps/v1/namespaces/web/deployments/a/scale'),
  logs: info('GET', '/logs/foo/bar'),
  metrics: info('GET', '/metrics'),
} as const

/** The requests that a rule matches. */
const matched = (rule: Omit<PolicyRule, 'level'>, user: typeof tim | 'nobody' = tim): string[] => {
  const evaluate = compilePolicy({ rules: [{ level: 'Metadata', ...rule }] })
  return Object.entries(requests).flatMap(([name, request]) =>
    evaluate(user === 'nobody' ? undefined : user, request) ? [name] : [],
  )
}

const all = Object.keys(requests)
const inDefault = ['pods', 'pod', 'podLog', 'podStatus']

for (const [what, rule, expected] of [
  ['a rule that names nothing', {}, all],
  ['a user', { users: ['tim@k8s.io'] }, all],
  ['another user', { users: ['jane'] }, []],
  ['a group', { userGroups: ['operators', 'x'] }, all],
  ['another group', { userGroups: ['x'] }, []],
  ['verbs', { verbs: ['list', 'delete'] }, ['pods', 'clusterRole']],
  ['a namespace', { namespaces: ['default'] }, inDefault],
  ['cluster-scoped resources', { namespaces: [''] }, ['clusterRole']],
  ['a group of resources', { resources: [{ group: '' }] }, inDefault],
  ['a resource without its subresources', { resources: [{ resources: ['pods'] }] }, ['pods', 'pod']],
  ['a subresource', { resources: [{ resources: ['pods/log'] }] }, ['podLog']],
  ['all subresources, and the resource', { resources: [{ resources: ['pods/*'] }] }, inDefault],
  ['a subresource of all resources', { resources: [{ group: 'apps', resources: ['*/scale'] }] }, ['scale']],
  ['all resources of a group', { resources: [{ group: 'apps', resources: ['*'] }] }, ['scale']],
  ['a name', { resources: [{ resources: ['pods'], resourceNames: ['busybox'] }] }, ['pod']],
  ['another name', { resources: [{ resources: ['pods', 'pods/*'], resourceNames: ['x'] }] }, []],
  ['a resource in another namespace', { namespaces: ['x'], resources: [{ resources: ['pods'] }] }, []],
  ['a path', { nonResourceURLs: ['/metrics'] }, ['metrics']],
  ['a path and what is below', { nonResourceURLs: ['/logs*'] }, ['logs']],
  ['all paths', { nonResourceURLs: ['*'] }, ['logs', 'metrics']],
  ['a user, a verb and a path', { users: ['tim@k8s.io'], verbs: ['get'], nonResourceURLs: ['/metrics'] }, ['metrics']],
] as const satisfies readonly (readonly [string, Omit<PolicyRule, 'level'>, readonly string[]])[]) {
  test(`an audit rule for ${what} matches ${expected.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(matched(rule), expected)
  })
}

test('a rule for users does not match requests without a user', () => {
  assert.deepEqual(matched({ users: [''] }, 'nobody'), [])
  assert.deepEqual(matched({ userGroups: ['operators'] }, 'nobody'), [])
})

test('the first matching rule decides; without one there is no event', () => {
  const policy: Policy = {
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [
      { level: 'None', verbs: ['list'] },
      { level: 'RequestResponse', namespaces: ['default'], omitStages: ['Panic'], omitManagedFields: false },
      { level: 'Request', nonResourceURLs: ['/logs*'] },
    ],
  }
  const evaluate = compilePolicy(policy)
  assert.equal(evaluate(tim, requests.pods), undefined)
  assert.deepEqual(evaluate(tim, requests.pod), {
    level: 'RequestResponse',
    includesRequest: true,
    includesResponse: true,
    omitted: new Set(['RequestReceived', 'Panic']),
    omitManagedFields: false,
  })
  assert.deepEqual(evaluate(tim, requests.logs), {
    level: 'Request',
    includesRequest: true,
    includesResponse: false,
    omitted: new Set(['RequestReceived']),
    omitManagedFields: true,
  })
  assert.equal(evaluate(tim, requests.clusterRole), undefined)
})
