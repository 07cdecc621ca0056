/** Access reviews: results, validation errors, and selectors. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { binding, clusterWithUsers, rbac, userSubject } from '../users.ts'

const api = '/apis/authorization.k8s.io/v1'

test('invalid reviews are rejected with upstream’s messages', async (t) => {
  const { as } = await clusterWithUsers(t, { root: ['system:masters'] })
  const ask = async (spec: object, path = 'subjectaccessreviews', metadata = {}) => {
    const { status, body } = await as('root', 'POST', `${api}/${path}`, { metadata, spec })
    return { status, message: body.message?.replace('.authorization.k8s.io "" is invalid: ', '') }
  }
  const pods = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } }
  assert.deepEqual(await ask({ user: 'x' }), {
    status: 422,
    message:
      'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes ' +
      'must be specified',
  })
  assert.deepEqual(await ask(pods), {
    status: 422,
    message: 'spec.user: Invalid value: "": at least one of user or group must be specified',
  })
  assert.match(
    (await ask({ user: 'x', ...pods }, 'subjectaccessreviews', { name: 'n' })).message ?? '',
    /^metadata: Invalid value: .*: must be empty$/,
  )
  const local = 'namespaces/other/localsubjectaccessreviews'
  assert.deepEqual(await ask({ user: 'x', ...pods }, local), {
    status: 422,
    message: 'spec.resourceAttributes.namespace: Invalid value: "default": must match metadata.namespace',
  })
  const named = await ask(
    { user: 'x', resourceAttributes: { ...pods.resourceAttributes, namespace: 'other' } },
    local,
    { name: 'n' },
  )
  assert.match(named.message ?? '', /^metadata: Invalid value: .*: must be empty except for namespace$/)
  const selecting = (fieldSelector: object) => ({
    user: 'x',
    resourceAttributes: { ...pods.resourceAttributes, fieldSelector },
  })
  const path = 'spec.resourceAttributes.fieldSelector'
  assert.equal(
    (await ask(selecting({}))).message,
    `${path}.requirements: Required value: when ${path} is specified, requirements or rawSelector is required`,
  )
  assert.equal(
    (await ask(selecting({ rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'In', values: ['b'] }] }))).message,
    `${path}.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements`,
  )
  assert.equal(
    (await ask(selecting({ requirements: [{ key: 'a', operator: 'In' }] }))).message,
    `${path}.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
  )
})

test('reviews return the decision, its reason, and dropped selectors', async (t) => {
  const { as, cluster } = await clusterWithUsers(t, { jane: [] })
  await cluster.call(
    'POST',
    `${rbac}/namespaces/default/rolebindings`,
    binding('view', 'ClusterRole', 'view', userSubject('jane')),
  )
  const attributes = { verb: 'list', resource: 'pods', namespace: 'default' }
  const allowed = {
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "view/default" of ClusterRole "view" to User "jane"',
  }
  const review = async (more: object) =>
    (
      await cluster.call('POST', `${api}/subjectaccessreviews`, {
        spec: { user: 'jane', extra: { a: ['b'] }, resourceAttributes: { ...attributes, ...more } },
      })
    ).status
  assert.deepEqual(await review({}), allowed)
  assert.deepEqual(await review({ labelSelector: { rawSelector: 'app=web' } }), allowed)
  const left = 'spec.resourceAttributes.labelSelector ignored due to parse error'
  assert.deepEqual(await review({ labelSelector: { rawSelector: 'app in web' } }), {
    ...allowed,
    evaluationError: left,
  })
  const requirements = [
    { key: 'spec.nodeName', operator: 'In', values: ['a'] },
    { key: 'spec.x', operator: 'Newer' },
  ]
  const partly = 'spec.resourceAttributes.fieldSelector partially ignored due to parse error'
  assert.deepEqual(await review({ fieldSelector: { requirements } }), { ...allowed, evaluationError: partly })
  const self = await as('jane', 'POST', `${api}/selfsubjectaccessreviews`, { spec: { resourceAttributes: attributes } })
  assert.deepEqual(self.body.status, allowed)
  assert.equal(
    (await as('jane', 'POST', `${api}/subjectaccessreviews`, { spec: { user: 'x', resourceAttributes: attributes } }))
      .status,
    403,
  )
  const rules = await as('jane', 'POST', `${api}/selfsubjectrulesreviews`, { spec: { namespace: 'default' } })
  const { resourceRules } = rules.body.status as { resourceRules: { resources: string[]; verbs: string[] }[] }
  assert.ok(
    resourceRules.some(({ resources, verbs }) => resources.includes('pods') && verbs.join() === 'get,list,watch'),
  )
})
