/** Controllers of kinds that only some servers serve. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { planControllers } from '../../src/controllers/index.ts'
import { clientFor } from '../support/client-for.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const names = [
  'podcertificaterequest-cleaner-controller',
  'kube-apiserver-serving-clustertrustbundle-publisher-controller',
  'storage-version-migrator-controller',
]
const beta = [
  '--runtime-config=certificates.k8s.io/v1beta1=true,storagemigration.k8s.io/v1beta1=true',
  '--disable-admission-plugins=ServiceAccount',
]
const cluster = testCluster({ after }, { controllers: names, apiServerFlags: beta })
const bundles = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles'
const migrations = '/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations'

interface Bundle {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly signerName: string; readonly trustBundle: string }
}

test('the CA of the server is published as the only trust bundle', async () => {
  const { call, client } = await cluster
  const all = async (): Promise<Bundle[]> => (await call('GET', bundles)).items as Bundle[]
  const [bundle] = await waitFor('the bundle', async () => (await all()).length === 1 && all())
  assert.match(bundle?.metadata.name ?? '', /^kubernetes\.io:kube-apiserver-serving:[0-9a-f]{24}$/)
  assert.equal(bundle?.spec.signerName, 'kubernetes.io/kube-apiserver-serving')
  assert.equal(bundle?.spec.trustBundle.trim(), client.ca.trim())
  await call('POST', bundles, {
    apiVersion: 'certificates.k8s.io/v1beta1',
    kind: 'ClusterTrustBundle',
    metadata: { name: 'kubernetes.io:kube-apiserver-serving:older' },
    spec: bundle!.spec,
  })
  await call('DELETE', `${bundles}/${bundle!.metadata.name}`)
  await waitFor('only the right bundle', async () => {
    const found = await all()
    return found.length === 1 && found[0]?.metadata.name === bundle!.metadata.name
  })
})

interface Migration {
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly reason: string
    readonly message: string
  }[]
  readonly resourceVersion?: string
}

const migrate = async (
  resource: { group: string; resource: string },
  name: string,
  outcome: string,
): Promise<Migration> => {
  const { call } = await cluster
  await call('POST', migrations, {
    apiVersion: 'storagemigration.k8s.io/v1beta1',
    kind: 'StorageVersionMigration',
    metadata: { name },
    spec: { resource },
  })
  return ended(name, outcome)
}

/** Waits until a migration has finished with `outcome`. */
const ended = async (name: string, outcome: string): Promise<Migration> => {
  const { call } = await cluster
  return waitFor(`${name} to have ${outcome}`, async () => {
    const { status } = (await call('GET', `${migrations}/${name}`)) as { status?: Migration }
    const is = (wanted: string, value: string) =>
      status?.conditions?.some(({ type, status }) => type === wanted && status === value)
    return is(outcome, 'True') && is('Running', 'False') && status
  })
}

/** The StorageMigrating condition of a definition. */
const migrating = async (name: string): Promise<readonly unknown[] | undefined> => {
  const { call } = await cluster
  const { status } = (await call(
    'GET',
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`,
  )) as unknown as {
    status: {
      conditions: readonly {
        type: string
        status: string
        reason: string
        message: string
        observedGeneration?: number
      }[]
    }
  }
  const condition = status.conditions.find(({ type }) => type === 'StorageMigrating')
  return condition && [condition.status, condition.reason, condition.message, condition.observedGeneration]
}

test('a StorageVersionMigration rewrites objects in the storage version', async () => {
  const { call } = await cluster
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const versions = (stored: string) =>
    ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === stored, schema }))
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const spec = { group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' } }
  await call('POST', definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: { ...spec, versions: versions('v1') },
  })
  const widgets = '/apis/example.com/v1/namespaces/default/widgets'
  const made = await waitFor('a widget', () =>
    call('POST', widgets, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } }),
  )
  await call(
    'PATCH',
    `${definitions}/widgets.example.com`,
    { spec: { versions: versions('v2') } },
    'application/merge-patch+json',
  )
  const storedVersions = async () =>
    ((await call('GET', `${definitions}/widgets.example.com`)).status as { storedVersions: string[] }).storedVersions
  assert.deepEqual(await storedVersions(), ['v1', 'v2'])
  const { conditions, resourceVersion } = await migrate(
    { group: 'example.com', resource: 'widgets' },
    'widgets',
    'Succeeded',
  )
  assert.deepEqual(
    conditions?.map(({ type, status, reason }) => [type, status, reason]),
    [
      ['Running', 'False', 'MigrationCompleted'],
      ['Succeeded', 'True', 'StorageVersionMigrationSucceeded'],
    ],
  )
  assert.ok(resourceVersion)
  // No object is stored as v1 any more, and storedVersions is updated.
  assert.deepEqual(await storedVersions(), ['v2'])
  assert.deepEqual(await migrating('widgets.example.com'), [
    'False',
    'MigrationSucceeded',
    'The migration has succeeded and the stored versions have been updated',
    2,
  ])
  const { metadata } = await call('GET', `${widgets}/w`)
  assert.equal(metadata.uid, made.metadata.uid)
  assert.notEqual(metadata.resourceVersion, made.metadata.resourceVersion, 'it was rewritten')
  // Objects in the storage version are not rewritten.
  await migrate({ group: 'example.com', resource: 'widgets' }, 'second', 'Succeeded')
  assert.equal((await call('GET', `${widgets}/w`)).metadata.resourceVersion, metadata.resourceVersion)
})

test('migrations of one resource run one at a time, oldest first', async () => {
  const { call } = await cluster
  const create = (name: string) =>
    call('POST', migrations, {
      apiVersion: 'storagemigration.k8s.io/v1beta1',
      kind: 'StorageVersionMigration',
      metadata: { name },
      spec: { resource: { group: 'example.com', resource: 'gears' } },
    })
  const runs = async (name: string) =>
    ((await call('GET', `${migrations}/${name}`)).status as Migration | undefined)?.conditions?.find(
      ({ type }) => type === 'Running',
    )?.status === 'True'
  // A missing resource may be created later.
  await create('gears-1')
  await waitFor('the first to run', () => runs('gears-1'))
  await create('gears-2')
  await create('gears-3')
  await migrate({ group: '', resource: 'configmaps' }, 'config-maps', 'Succeeded')
  assert.deepEqual([await runs('gears-2'), await runs('gears-3')], [false, false])
  await call('DELETE', `${migrations}/gears-1`)
  await waitFor('the second to run', () => runs('gears-2'))
  assert.equal(await runs('gears-3'), false)
})

test('controllers of unserved kinds do not run, and no-op names are accepted', async (t) => {
  const log: string[] = []
  const plain = await testCluster(t, { controllers: names, log: (line) => log.push(line) })
  assert.ok(clientFor(t, plain))
  assert.deepEqual(
    planControllers({ chosen: ['selinux-warning-controller', 'ttl-controller'] }).controllers.map(({ name }) => name),
    ['ttl-controller'],
  )
  assert.deepEqual(
    log.filter((line) => /clustertrustbundles|podcertificaterequests|storageversionmigrations/.test(line)),
    [],
  )
})

test('a migration of an impossible resource name runs and fails like any other', async () => {
  const { call } = await cluster
  const resource = { group: '.', resource: '10.0.0.0/8' }
  await call('POST', migrations, {
    apiVersion: 'storagemigration.k8s.io/v1beta1',
    kind: 'StorageVersionMigration',
    metadata: { name: 'odd' },
    spec: { resource },
  })
  await waitFor('it runs', async () => {
    const { status } = (await call('GET', `${migrations}/odd`)) as { status?: Migration }
    return status?.conditions?.some(({ type, status }) => type === 'Running' && status === 'True')
  })
})
