/** The mode ABAC: a file of policies. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startCluster } from '../../src/cluster/start-cluster.ts'
import { testCluster } from '../support/test-cluster.ts'
import { as } from './as-user.ts'

function policyFile(t: TestContext, ...lines: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'typernetes-abac-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'policies.jsonl')
  writeFileSync(file, lines.join('\n'))
  return file
}

const version = 'abac.authorization.kubernetes.io/v1beta1'

test('policies decide, before roles if the modes are in this order', async (t) => {
  const file = policyFile(
    t,
    '# who may do what',
    '{"user":"old-style","readonly":true,"resource":"pods"}',
    JSON.stringify({
      apiVersion: version,
      kind: 'Policy',
      spec: { user: 'jane', namespace: 'default', resource: 'configmaps', apiGroup: '' },
    }),
  )
  const lines: string[] = []
  const cluster = await testCluster(t, {
    apiServerFlags: ['--authorization-mode=ABAC', `--authorization-policy-file=${file}`],
    log: (line) => lines.push(line),
  })
  const jane = { name: 'jane' }
  const configMaps = '/api/v1/namespaces/default/configmaps'
  assert.equal((await as(cluster, jane, 'POST', configMaps, { metadata: { name: 'c' } })).status, 201)
  assert.equal((await as(cluster, jane, 'GET', '/api/v1/namespaces/kube-system/configmaps')).status, 403)
  assert.match((await as(cluster, jane, 'GET', '/api/v1/pods')).message, /: No policy matched\.$/)
  assert.equal((await as(cluster, { name: 'old-style' }, 'GET', '/api/v1/pods')).status, 200)
  assert.equal((await as(cluster, { name: 'old-style' }, 'DELETE', '/api/v1/namespaces/default/pods/p')).status, 403)
  assert.ok(lines.some((line) => line.startsWith(`Policy file ${file} contained unversioned rules`)))
})

test('a server with an invalid policy line does not start', async (t) => {
  const file = policyFile(t, '{"user":"jane"}', '{"user":')
  await assert.rejects(
    startCluster({
      storage: 'memory',
      apiServerFlags: ['--authorization-mode=ABAC', `--authorization-policy-file=${file}`],
    }),
    new RegExp(
      String.raw`^ExplainedError: error reading policy file .*policies\.jsonl, line 2: ` +
        String.raw`\{"user":: couldn't get version/kind; ` +
        'json parse error: ',
    ),
  )
})
