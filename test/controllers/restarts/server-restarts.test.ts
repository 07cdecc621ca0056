/** Controllers on a thread continue after their API server is killed and restarted. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { configMaps, deployments, namespaces, pods } from '../../../src/client/kinds.ts'
import { controllerTokens } from '../../../src/cluster/controllers/index.ts'
import { controllersOnThread } from '../../../src/cluster/controllers/thread.ts'
import { planControllers } from '../../../src/controllers/index.ts'
import { readContext } from '../../../src/kubeconfig/read-context.ts'
import { ClockMemory } from '../../../src/lib/clock/clock-memory.ts'
import { clientFor } from '../../support/client-for.ts'
import { waitFor } from '../../support/wait-for.ts'
import { type Running, temporaryFolder, up } from '../../up/t8s-process.ts'

const patience = { deadlineMs: 60_000 }
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } }

/** A server without controllers that accepts the tokens of a plan. */
async function server(t: TestContext, folder: string, tokens: string, port: string): Promise<Running> {
  return up(t, [
    '--data-dir',
    join(folder, 'data'),
    '--controllers=',
    '--token-auth-file',
    tokens,
    '--secure-port',
    port,
  ])
}

async function kill(running: Running): Promise<void> {
  running.process.kill('SIGKILL')
  await running.exited
}

test('controllers on a thread continue when their API server is killed and restarted', async (t) => {
  const folder = temporaryFolder(t)
  const plan = planControllers({
    chosen: ['deployment', 'replicaset', 'garbagecollector', 'namespace', 'serviceaccount'],
  })
  const tokens = join(folder, 'tokens.csv')
  const tokenLines = controllerTokens(plan).map(
    ({ token, user }) => `${token},${user.name},,"${user.groups.join(',')}"`,
  )
  writeFileSync(tokens, tokenLines.join('\n'), { mode: 0o600 })
  let running = await server(t, folder, tokens, '0')
  const { port } = new URL(running.url)
  const { ca = '', cert, key } = await readContext([running.kubeconfig])
  const authority = {
    cert: readFileSync(join(folder, 'data/pki/ca.crt'), 'utf8'),
    key: readFileSync(join(folder, 'data/pki/ca.key'), 'utf8'),
  }
  const lines: string[] = []
  const controllers = await controllersOnThread(
    { plan, server: { url: running.url, ca }, authority, isElected: false, clockBuffer: new ClockMemory().buffer },
    async () => '',
    (line) => lines.push(line),
  )
  t.after(() => controllers.stop())
  const client = clientFor(t, { client: { url: running.url, ca, cert: cert ?? '', key: key ?? '' } })
  const selector = { matchLabels: { app: 'web' } }
  await waitFor('the account', () => client.find(namespaces, '', 'default'), patience)
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } })
  await client.create(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'n', name: 'web' },
    spec: { replicas: 3, selector, template },
  })

  for (const replicas of [40, 5, 30]) {
    await client.patch(deployments, 'n', 'web', { spec: { replicas } }, 'merge')
    await kill(running)
    running = await server(t, folder, tokens, port)
    await waitFor(
      `${replicas} pods`,
      async () => (await client.list(pods, { namespace: 'n' })).items.length === replicas,
      patience,
    )
  }
  const owner = await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name: 'owner' },
  })
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid ?? '' }]
  await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name: 'owned', ownerReferences },
  })
  await client.delete(namespaces, '', 'n')
  await client.delete(configMaps, 'default', 'owner', { propagationPolicy: 'Background' })
  await kill(running)
  running = await server(t, folder, tokens, port)
  await waitFor('the namespace to be deleted', async () => !(await client.find(namespaces, '', 'n')), patience)
  await waitFor(
    'the dependent to be deleted',
    async () => !(await client.find(configMaps, 'default', 'owned')),
    patience,
  )

  t.diagnostic(lines.join('\n'))
  assert.deepEqual(
    lines.filter((line) => /forbidden|not found|NamespaceTerminating|being terminated/.test(line)),
    [],
  )
})
