/** A pod of a kubelet whose cgroups are mounted read-only, on a runtime that can make them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pods } from '../../../../src/client/kinds.ts'
import { clientFor } from '../../../support/client-for.ts'
import { apiControllers, testCluster } from '../../../support/test-cluster.ts'
import { waitFor } from '../../../support/wait-for.ts'
import { startKubelet } from '../../support/start-kubelet.ts'
import { isRunning, sleeper } from '../../support/test-node.ts'

test('a kubelet that cannot make cgroups logs it once, and runs pods', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 't8s-read-only-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const cluster = await testCluster(t, { controllers: apiControllers })
  const client = clientFor(t, cluster)
  const logged: string[] = []
  const kubelet = await startKubelet(cluster, process.env.RUNTIME_ENDPOINT ?? '', root, (line) => logged.push(line))
  t.after(() => kubelet.stop())
  await client.create(pods, sleeper('plain', { resources: { requests: { cpu: '100m' }, limits: { memory: '64Mi' } } }))
  await waitFor('the pod runs', async () => isRunning(await client.get(pods, 'default', 'plain')))
  await client.patch(
    pods,
    'default',
    'plain',
    { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '200m' } } }] } },
    'strategic',
    'resize',
  )
  await waitFor('the container is resized', async () => {
    const { status } = await client.get(pods, 'default', 'plain')
    return status?.containerStatuses?.[0]?.resources?.requests?.cpu === '200m'
  })
  await client.delete(pods, 'default', 'plain')
  await waitFor(
    'the pod is deleted',
    async () => (await client.list(pods, { namespace: 'default' })).items.length === 0,
  )
  assert.equal(logged.length, 1, logged.join('\n'))
  assert.match(logged[0] ?? '', /^cannot make cgroups: EROFS.* pods run without limits of their own and of the node: /)
})
