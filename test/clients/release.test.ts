/**
 * The requests of a package manager, as Helm's own tests show them: server-side apply or three-way patches, changes
 * from one to the other, and releases in Secrets.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Answer, apiControllers, type TestCluster, testCluster } from '../support/test-cluster.ts'

const strategic = 'application/strategic-merge-patch+json'
const apply = 'application/apply-patch+yaml'
const deployments = '/apis/apps/v1/namespaces/default/deployments'

const deployment = (image: string, more: object = {}): Record<string, unknown> => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default', labels: { 'app.kubernetes.io/managed-by': 'Helm' } },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'app', image, ports: [{ containerPort: 80 }], ...more }] },
    },
  },
})

const release = (version: number, status: string): object => ({
  metadata: {
    name: `sh.helm.release.v1.web.v${version}`,
    labels: { name: 'web', owner: 'helm', status, version: `${version}` },
  },
  type: 'helm.sh/release.v1',
  data: { release: Buffer.from(`version ${version}`).toString('base64') },
})

const start = (t: { after(end: () => unknown): void }): Promise<TestCluster> =>
  testCluster(t, { controllers: apiControllers })

/** Returns the containers of a Deployment: `name=image` and the names of their variables. */
function containersOf({ spec }: Answer): string[] {
  const { containers } = (
    spec as { template: { spec: { containers: { name: string; image: string; env?: { name: string }[] }[] } } }
  ).template.spec
  return containers.map(({ name, image, env = [] }) =>
    [`${name}=${image}`, ...env.map((variable) => variable.name)].join(' '),
  )
}

const managersOf = ({ metadata }: Answer): { manager: string; operation: string }[] =>
  metadata.managedFields as { manager: string; operation: string }[]

describe('a chart is installed, upgraded and removed', () => {
  test('with server-side apply', async (t) => {
    const cluster = await start(t)
    const query = 'fieldManager=helm&fieldValidation=Strict&force='
    const send = (parameters: string, body: object): Promise<Answer> =>
      cluster.call('PATCH', `${deployments}/web?${parameters}`, body, apply)

    await send(`dryRun=All&${query}false`, deployment('app:1'))
    await assert.rejects(cluster.call('GET', `${deployments}/web`), /: 404 /)
    await send(`${query}false`, deployment('app:1'))
    assert.deepEqual(containersOf(await send(`${query}false`, deployment('app:2'))), ['app=app:2'])
    await assert.rejects(
      send(`${query}false`, deployment('app:3', { colour: 'red' })),
      /\.colour: field not declared in schema/,
    )

    const other = { spec: { template: { spec: { containers: [{ name: 'app', image: 'theirs' }] } } } }
    await cluster.call('PATCH', `${deployments}/web?fieldManager=somebody`, other, strategic)
    await assert.rejects(send(`${query}false`, deployment('app:3')), ({ message }: Error) => {
      assert.match(message, /: 409 .*Apply failed with 1 conflict: conflict with .*somebody.* using apps\/v1/)
      return message.includes('.spec.template.spec.containers[name=')
    })
    assert.deepEqual(containersOf(await send(`${query}true`, deployment('app:3'))), ['app=app:3'])

    const gone = await cluster.call('DELETE', `${deployments}/web`, {
      kind: 'DeleteOptions',
      apiVersion: 'apps/v1',
      propagationPolicy: 'Background',
    })
    assert.equal(gone.status, 'Success')
  })

  test('with three-way patches, then with server-side apply', async (t) => {
    const cluster = await start(t)
    const address = `${deployments}/web?fieldManager=helm&fieldValidation=Strict`
    await cluster.call(
      'POST',
      `${deployments}?fieldManager=helm`,
      deployment('app:1', { env: [{ name: 'A', value: '1' }] }),
    )
    const podSpec = {
      '$setElementOrder/containers': [{ name: 'first' }, { name: 'app' }],
      containers: [
        { name: 'first', image: 'first:1' },
        {
          name: 'app',
          image: 'app:2',
          '$setElementOrder/env': [{ name: 'B' }],
          env: [
            { name: 'B', value: '2' },
            { name: 'A', $patch: 'delete' },
          ],
        },
      ],
    }
    const change = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' }, template: { spec: podSpec } } }
    const patched = await cluster.call('PATCH', address, change, strategic)
    assert.deepEqual(containersOf(patched), ['first=first:1', 'app=app:2 B'])
    assert.deepEqual((patched.spec as { strategy: object }).strategy, { type: 'Recreate' })

    // Turns the fields of the client's updates into applied fields, as client-go's csaupgrade does.
    const value = managersOf(patched).map((entry) => ({ ...entry, operation: 'Apply' }))
    const goOver = (version: string): Promise<Answer> => {
      const operations = [
        { op: 'replace', path: '/metadata/managedFields', value },
        { op: 'replace', path: '/metadata/resourceVersion', value: version },
      ]
      return cluster.call('PATCH', address, operations, 'application/json-patch+json')
    }
    await assert.rejects(goOver('1'), /: 409 .*the object has been modified/)
    assert.deepEqual(
      managersOf(await goOver(patched.metadata.resourceVersion)).map(
        ({ manager, operation }) => `${manager} ${operation}`,
      ),
      ['helm Apply'],
    )
    // The first apply removes the containers that the chart no longer has.
    assert.deepEqual(containersOf(await cluster.call('PATCH', `${address}&force=false`, deployment('app:3'), apply)), [
      'app=app:3',
    ])
  })
})

test('releases are Secrets, found by their labels', async (t) => {
  const cluster = await start(t)
  const secrets = '/api/v1/namespaces/default/secrets'
  const first = `${secrets}/sh.helm.release.v1.web.v1`
  await cluster.call('POST', secrets, release(1, 'pending-install'))
  await assert.rejects(cluster.call('POST', secrets, release(1, 'pending-install')), /: 409 .*AlreadyExists/)
  // An update has no resourceVersion: the last one wins.
  await cluster.call('PUT', first, release(1, 'deployed'))
  await cluster.call('POST', secrets, release(2, 'pending-upgrade'))
  const found = async (selector: string): Promise<string[]> => {
    const { items } = await cluster.call('GET', `${secrets}?labelSelector=${encodeURIComponent(selector)}`)
    return (items as Answer[]).map(({ metadata }) => metadata.name.replace('sh.helm.release.v1.', ''))
  }
  assert.deepEqual(await found('owner=helm'), ['web.v1', 'web.v2'])
  assert.deepEqual(await found('name=web,owner=helm,status=deployed'), ['web.v1'])
  assert.deepEqual(await found('name=other,owner=helm'), [])
  await assert.rejects(
    cluster.call('PUT', first, { ...release(1, 'deployed'), type: 'Opaque' }),
    /type: Invalid value: .*field is immutable/,
  )
})
