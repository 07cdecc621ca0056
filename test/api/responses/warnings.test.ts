/** Warning headers over HTTP/1.1 and HTTP/2, and in kubectl's output. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientOf, protocols } from '../../support/api-client.ts'
import { startTestServer } from '../../support/api-server.ts'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { testCluster } from '../../support/test-cluster.ts'

const configMap = (fields: readonly string[]) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c' },
  ...Object.fromEntries(fields.map((name) => [name, 'x'])),
})

for (const protocol of protocols)
  test(`warnings are sent as UTF-8, and truncated if too long (${protocol})`, async (t) => {
    const client = clientOf(t, protocol, await startTestServer(t))
    const warned = async (...fields: readonly string[]) => {
      const path = '/api/v1/namespaces/default/configmaps?dryRun=All&fieldValidation=Warn'
      const { status, headers } = await client.request('POST', path, { body: configMap(fields) })
      assert.equal(status, 201)
      return Buffer.from(String(headers.warning), 'latin1').toString()
    }
    assert.equal(await warned('naïve'), '299 - "unknown field \\"naïve\\""')
    const long = ['a', 'b', 'c'].map((letter) => letter.repeat(2000))
    assert.equal(await warned(...long), long.map((name) => `299 - "unknown field \\"${name.slice(0, 241)}"`).join(', '))
  })

test('kubectl prints warnings', async (t) => {
  const { kubeconfigFile, folder } = await testCluster(t)
  // Older versions check for unknown fields themselves.
  for (const program of installedKubectls().filter(({ minor }) => minor >= 25)) {
    const kubectl = new Kubectl(program, kubeconfigFile, folder)
    const { stderr } = await kubectl.run('create --validate=warn --dry-run=server -f -', {
      input: JSON.stringify(configMap(['naïve'])),
    })
    assert.match(stderr, /^Warning: unknown field "naïve"$/m, program.version)
  }
})
