/** Impersonation limited to some actions (KEP-5284). */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { opensslFolder } from '../authentication/certificates/openssl.ts'
import { ask as askOverHttps } from '../authentication/whoami.ts'
import { bareServer } from '../support/bare-server.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const pods = '/api/v1/namespaces/default/pods'

test('an impersonator may do as another user only actions that it has permission for', async (t) => {
  const { folder } = opensslFolder(t)
  writeFileSync(
    join(folder, 'policy.yaml'),
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n',
  )
  const log = join(folder, 'audit.log')
  writeFileSync(join(folder, 'tokens'), 'deputy-token,deputy,1\n')
  const cluster = await testCluster(t, {
    ...bareServer,
    apiServerFlags: [
      ...bareServer.apiServerFlags,
      `--audit-policy-file=${join(folder, 'policy.yaml')}`,
      `--audit-log-path=${log}`,
      `--token-auth-file=${join(folder, 'tokens')}`,
    ],
  })
  const grant = async (name: string, subject: string, rules: readonly object[]): Promise<void> => {
    await cluster.call('POST', `${rbac}/clusterroles`, { metadata: { name }, rules })
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    await cluster.call('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef,
      subjects: [{ apiGroup: roleRef.apiGroup, kind: 'User', name: subject }],
    })
  }
  await grant('jane', 'jane', [{ apiGroups: [''], resources: ['pods', 'configmaps'], verbs: ['*'] }])
  const identity = {
    apiGroups: ['authentication.k8s.io'],
    resources: ['users'],
    resourceNames: ['jane'],
    verbs: ['impersonate:user-info'],
  }
  await grant('deputy', 'deputy', [
    identity,
    { apiGroups: [''], resources: ['pods'], verbs: ['impersonate-on:user-info:list'] },
  ])
  const list = (user: string, path = pods) =>
    askOverHttps(cluster, {
      headers: { authorization: 'Bearer deputy-token', 'impersonate-user': user },
      method: 'GET',
      path,
    })
  assert.equal((await list('jane')).code, 200)
  const elsewhere = await list('jane', '/api/v1/namespaces/default/configmaps')
  assert.deepEqual(
    [elsewhere.code, JSON.parse(elsewhere.text).message],
    [
      403,
      'configmaps is forbidden: User "deputy" cannot impersonate-on:user-info:list resource "configmaps" in API ' +
        'group "" in the namespace "default"',
    ],
  )
  assert.equal((await list('other')).code, 403)
  const event = await waitFor('the event', () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .find(({ user, responseStatus }) => user.username === 'deputy' && responseStatus.code === 200),
  )
  assert.deepEqual(
    [event.impersonatedUser.username, event.authenticationMetadata],
    ['jane', { impersonationConstraint: 'impersonate:user-info' }],
  )
})
