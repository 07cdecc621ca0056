/** Client libraries and custom resources: informers of the JavaScript client, the Python client's dynamic client. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  CustomObjectsApi,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
} from '@kubernetes/client-node'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { definitionOf, definitionsPath, gadgetOf, gadgetsPath } from './definitions.ts'

async function define(cluster: TestCluster): Promise<void> {
  await cluster.call('POST', definitionsPath, definitionOf())
  await waitFor('gadgets are served', () => cluster.call('GET', gadgetsPath))
}

test('an informer goes on when the definition of what it follows changes', async (t) => {
  const cluster = await testCluster(t)
  await define(cluster)
  const config = new KubeConfig()
  config.loadFromFile(cluster.kubeconfigFile)
  const api = config.makeApiClient(CustomObjectsApi)
  const list = async (): Promise<KubernetesListObject<KubernetesObject>> =>
    api.listNamespacedCustomObject({ group: 'example.com', version: 'v1', namespace: 'default', plural: 'gadgets' })
  const informer = makeInformer(config, gadgetsPath, list)
  const events: string[] = []
  for (const verb of ['add', 'update', 'delete'] as const)
    informer.on(verb, ({ metadata }) => events.push(`${verb} ${metadata?.name}`))
  informer.on('error', (error) => events.push(`error ${error}`))
  await cluster.call('POST', gadgetsPath, gadgetOf('a'))
  await informer.start()
  t.after(() => informer.stop())
  await waitFor('the event of a', () => events.includes('add a'))
  const column = { name: 'N', type: 'integer', jsonPath: '.spec.n' }
  const change = [{ op: 'add', path: '/spec/versions/0/additionalPrinterColumns', value: [column] }]
  await cluster.call('PATCH', `${definitionsPath}/gadgets.example.com`, change, 'application/json-patch+json')
  await waitFor('b can be created', () => cluster.call('POST', gadgetsPath, gadgetOf('b')))
  await cluster.call('PATCH', `${gadgetsPath}/a`, { spec: { n: 5 } }, 'application/merge-patch+json')
  await cluster.call('DELETE', `${gadgetsPath}/b`)
  await waitFor('all events', () => events.length >= 4)
  assert.deepEqual(events.toSorted(), ['add a', 'add b', 'delete b', 'update a'])
})

const python = '/usr/bin/python3'
const missing = spawnSync(python, ['-c', 'import kubernetes']).status !== 0
const skip = missing && `the Python client is missing: apt-get install python3-kubernetes (for ${python})`

test("the Python client's dynamic client finds and uses custom resources", { skip }, async (t) => {
  const cluster = await testCluster(t)
  await define(cluster)
  const child = spawn(python, ['-B', join(import.meta.dirname, 'dynamic_client.py')], {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfigFile },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
  }
  const [code] = await once(child, 'close')
  assert.equal(code, 0, output)
})
