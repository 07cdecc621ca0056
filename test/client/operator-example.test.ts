/** Runs the operator of `examples/` as a process with a kubeconfig against a running cluster. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { configMaps, deployments, events, leases } from '../../src/client/kinds.ts'
import { resource } from '../../src/client/resource.ts'
import type { KubeObject } from '../../src/machinery/object.ts'
import { clientFor } from '../support/client-for.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const folder = join(import.meta.dirname, '../../examples/website')
const websites = resource<KubeObject & { spec?: object; status?: { readyReplicas?: number } }>(
  'example.com/v1',
  'Website',
  'websites',
)

test('the example operator creates a page and a deployment, reports readiness, and repairs changes', async (t) => {
  const cluster = await testCluster(t, { controllers: [] })
  const client = clientFor(t, cluster)
  const kubectl = new Kubectl(installedKubectls().at(-1)!, cluster.kubeconfigFile, cluster.folder)
  await kubectl.ok(`apply -f ${join(folder, 'website.yaml')}`)
  await kubectl.ok('wait --for=condition=Established crd/websites.example.com')

  const operator = spawn(process.execPath, [join(folder, 'operator.ts')], {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfigFile },
  })
  t.after(() => operator.kill('SIGKILL'))
  let output = ''
  for (const stream of [operator.stdout, operator.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const exited = once(operator, 'exit')

  const metadata = { name: 'home', namespace: 'default' }
  await client.create(websites, {
    apiVersion: 'example.com/v1',
    kind: 'Website',
    metadata,
    spec: { html: '<h1>Hello</h1>', replicas: 2 },
  })
  const deployment = await waitFor('the deployment', () => client.find(deployments, 'default', 'home'), {
    deadlineMs: 30_000,
  })
  assert.deepEqual([deployment.spec?.replicas, deployment.metadata.ownerReferences?.[0]?.kind], [2, 'Website'])
  assert.equal((await client.get(configMaps, 'default', 'home')).data?.['index.html'], '<h1>Hello</h1>')
  await waitFor('a status', async () => (await client.get(websites, 'default', 'home')).status?.readyReplicas === 0)

  // With controllers, the ReplicaSet and Deployment controllers would set this.
  await client.patch(
    deployments,
    'default',
    'home',
    { status: { replicas: 2, readyReplicas: 2, availableReplicas: 2 } },
    'merge',
    'status',
  )
  await waitFor(
    'the new status',
    async () => (await client.get(websites, 'default', 'home')).status?.readyReplicas === 2,
  )
  await kubectl.ok('get websites', /^NAME +READY\nhome +2\n$/)
  await waitFor('the event', async () =>
    (await client.list(events, { fieldSelector: 'involvedObject.name=home' })).items.some(
      ({ message }) => message === '2 of 2 replicas serve the page',
    ),
  )
  await client.delete(configMaps, 'default', 'home')
  await waitFor('the page again', () => client.find(configMaps, 'default', 'home'))
  await client.patch(websites, 'default', 'home', { spec: { html: 'moved' } }, 'merge')
  await waitFor(
    'the new page',
    async () => (await client.get(configMaps, 'default', 'home')).data?.['index.html'] === 'moved',
  )

  operator.kill('SIGTERM')
  assert.equal((await exited)[0], 0)
  assert.equal(output, 'website-operator ended: stopped\n')
  assert.equal((await client.get(leases, 'default', 'website-operator')).spec?.holderIdentity, '')
})
