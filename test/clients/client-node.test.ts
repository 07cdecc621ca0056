/** The official JavaScript client against a cluster: the usual operations of programs. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  ListWatch,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  VersionApi,
  Watch,
} from '@kubernetes/client-node'
import { bareServer } from '../support/bare-server.ts'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

describe('@kubernetes/client-node', { concurrency: true }, () => {
  let cluster: TestCluster
  let config: KubeConfig
  let core: CoreV1Api

  // In `before`, the runner's hooks would end with it.
  const cleanUps: (() => unknown)[] = []
  after(async () => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
  })

  before(async () => {
    // Old revisions are compacted immediately, so that watches from them expire.
    cluster = await testCluster(
      { after: (cleanUp) => cleanUps.push(cleanUp) },
      { ...bareServer, compaction: { intervalMs: 10, retainMs: 0 } },
    )
    config = new KubeConfig()
    config.loadFromFile(cluster.kubeconfigFile)
    core = config.makeApiClient(CoreV1Api)
  })

  /** Creates a namespace for one test. */
  const namespaceOf = async (name: string): Promise<string> =>
    (await core.createNamespace({ body: { metadata: { name } } })).metadata?.name ?? ''

  const makeConfigMaps = (namespace: string, ...names: readonly string[]): Promise<V1ConfigMap[]> =>
    Promise.all(
      names.map((name) =>
        core.createNamespacedConfigMap({
          namespace,
          body: { metadata: { name, labels: { of: name } }, data: { name } },
        }),
      ),
    )

  const path = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`

  /** Records the informer's events. */
  const recorded = (informer: ListWatch<V1ConfigMap>): string[] => {
    const events: string[] = []
    for (const verb of ['add', 'update', 'delete'] as const)
      informer.on(verb, ({ metadata }) => events.push(`${verb} ${metadata?.name}`))
    informer.on('error', (error) => events.push(`error ${error}`))
    return events
  }

  test('a kubeconfig from a string or a file connects to the server', async () => {
    const other = new KubeConfig()
    other.loadFromString(cluster.kubeconfigYaml)
    assert.equal(other.getCurrentCluster()?.server, cluster.url)
    assert.match((await other.makeApiClient(VersionApi).getCode()).gitVersion, /^v1\.36\.2\+t8s\./)
  })

  test('objects are created, read, listed, replaced and deleted', async () => {
    const namespace = await namespaceOf('crud')
    const [made] = await makeConfigMaps(namespace, 'a', 'b')
    assert.ok(made?.metadata?.creationTimestamp instanceof Date)
    const read = await core.readNamespacedConfigMap({ namespace, name: 'a' })
    assert.deepEqual(read, made)
    const replaced = await core.replaceNamespacedConfigMap({
      namespace,
      name: 'a',
      body: { ...read, data: { name: 'new' } },
    })
    assert.deepEqual(replaced.data, { name: 'new' })
    const selected = await core.listNamespacedConfigMap({ namespace, labelSelector: 'of in (a)' })
    assert.deepEqual(
      selected.items.map(({ metadata, data }) => [metadata, data]),
      [[replaced.metadata, replaced.data]],
    )
    const deleted = await core.deleteNamespacedConfigMap({ namespace, name: 'a' })
    assert.equal(deleted.status, 'Success')
    const named = await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=b' })
    assert.equal(named.items.length, 1)
    await core.deleteCollectionNamespacedConfigMap({ namespace })
    assert.deepEqual((await core.listNamespacedConfigMap({ namespace })).items, [])
  })

  test('errors have the code and the Status', async () => {
    const refused = async (action: Promise<unknown>, code: number, reason: string, message: RegExp): Promise<void> => {
      await assert.rejects(action, (error) => {
        assert.ok(error instanceof ApiException)
        const status = JSON.parse(error.body) as { reason: string; message: string; code: number }
        assert.deepEqual([error.code, status.code, status.reason], [code, code, reason])
        assert.match(status.message, message)
        return true
      })
    }
    const namespace = await namespaceOf('errors')
    await makeConfigMaps(namespace, 'a')
    await refused(
      core.readNamespacedConfigMap({ namespace, name: 'missing' }),
      404,
      'NotFound',
      /^configmaps "missing" not found$/,
    )
    await refused(makeConfigMaps(namespace, 'a'), 409, 'AlreadyExists', /^configmaps "a" already exists$/)
    const stale = { metadata: { name: 'a', resourceVersion: '1' } }
    await refused(
      core.replaceNamespacedConfigMap({ namespace, name: 'a', body: stale }),
      409,
      'Conflict',
      /the object has been modified/,
    )
    await refused(
      makeConfigMaps(namespace, 'Bad_Name'),
      422,
      'Invalid',
      /^ConfigMap "Bad_Name" is invalid: metadata\.name: Invalid value: "Bad_Name"/,
    )
    await refused(
      core.listNamespacedConfigMap({ namespace, labelSelector: 'a in' }),
      400,
      'BadRequest',
      /unable to parse requirement/,
    )
    const anonymous = new KubeConfig()
    anonymous.loadFromClusterAndUser(
      {
        name: 'c',
        server: cluster.url,
        caData: Buffer.from(cluster.client.ca).toString('base64'),
        skipTLSVerify: false,
      },
      { name: 'u' },
    )
    await refused(
      anonymous.makeApiClient(CoreV1Api).listNode(),
      403,
      'Forbidden',
      /^nodes is forbidden: User "system:anonymous" cannot list resource "nodes"/,
    )
  })

  test('patches of all four types are accepted', async () => {
    const namespace = await namespaceOf('patches')
    const apps = config.makeApiClient(AppsV1Api)
    const container = (name: string, image: string) => ({ name, image })
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container('main', 'app:1')] } }
    await apps.createNamespacedDeployment({
      namespace,
      body: { metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template } },
    })
    const patch = (type: string, body: object, more: object = {}) =>
      apps.patchNamespacedDeployment({ namespace, name: 'web', body, ...more }, setHeaderOptions('Content-Type', type))

    const strategic = await patch(PatchStrategy.StrategicMergePatch, {
      spec: { template: { spec: { containers: [container('side', 'side:1')] } } },
    })
    assert.deepEqual(
      strategic.spec?.template.spec?.containers.map(({ name }) => name),
      ['side', 'main'],
    )
    const merge = await patch(PatchStrategy.MergePatch, {
      spec: { template: { spec: { containers: [container('main', 'app:2')] } } },
    })
    assert.deepEqual(
      merge.spec?.template.spec?.containers.map(({ image }) => image),
      ['app:2'],
    )
    const json = await patch(PatchStrategy.JsonPatch, [{ op: 'replace', path: '/spec/replicas', value: 3 }])
    assert.equal(json.spec?.replicas, 3)
    const applied = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 4 } }
    const owned = await patch(PatchStrategy.ServerSideApply, applied, { fieldManager: 'test', force: true })
    assert.deepEqual(
      [owned.spec?.replicas, owned.metadata?.managedFields?.find(({ manager }) => manager === 'test')?.operation],
      [4, 'Apply'],
    )
    const scaled = await apps.patchNamespacedDeploymentScale({
      namespace,
      name: 'web',
      body: [{ op: 'replace', path: '/spec/replicas', value: 5 }],
    })
    assert.equal(scaled.spec?.replicas, 5)
  })

  test('lists come in pages', async (t) => {
    // A server that retains history: all pages have one revision.
    const lasting = new KubeConfig()
    lasting.loadFromFile((await testCluster(t, bareServer)).kubeconfigFile)
    const core = lasting.makeApiClient(CoreV1Api)
    const namespace = 'default'
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await core.createNamespacedConfigMap({ namespace, body: { metadata: { name } } })
    const names: (string | undefined)[] = []
    const remaining: (number | undefined)[] = []
    let next: string | undefined
    do {
      const { items, metadata } = await core.listNamespacedConfigMap({ namespace, limit: 2, _continue: next })
      names.push(...items.map((item) => item.metadata?.name))
      remaining.push(metadata?.remainingItemCount)
      next = metadata?._continue
    } while (next)
    assert.deepEqual(
      [names, remaining],
      [
        ['a', 'b', 'c', 'd', 'e'],
        [3, 1, undefined],
      ],
    )
  })

  test('a watch sends changes until the server ends it', async () => {
    const namespace = await namespaceOf('watch')
    const events: string[] = []
    const { promise: done, resolve, reject } = Promise.withResolvers<void>()
    const { metadata } = await core.listNamespacedConfigMap({ namespace })
    const query = { resourceVersion: metadata?.resourceVersion, timeoutSeconds: 1, allowWatchBookmarks: true }
    await new Watch(config).watch(
      path(namespace),
      query,
      (phase, object) => events.push(`${phase} ${object.metadata.name}`),
      (error) => (error ? reject(error) : resolve()),
    )
    await makeConfigMaps(namespace, 'a')
    await core.deleteNamespacedConfigMap({ namespace, name: 'a' })
    await done
    assert.deepEqual(
      events.filter((event) => !event.startsWith('BOOKMARK')),
      ['ADDED a', 'DELETED a'],
    )
  })

  test('a watch from a compacted revision ends with 410', async () => {
    const namespace = await namespaceOf('expired')
    const watchFromStart = async (): Promise<{ phase: string; code: number }> => {
      const { promise, resolve, reject } = Promise.withResolvers<{ phase: string; code: number }>()
      const request = await new Watch(config).watch(
        path(namespace),
        { resourceVersion: '1', timeoutSeconds: 1 },
        (phase, { code }) => resolve({ phase, code }),
        (error) => reject(error ?? new Error('no event')),
      )
      return promise.finally(() => request.abort())
    }
    assert.deepEqual(await waitFor('revision 1 is forgotten', watchFromStart), { phase: 'ERROR', code: 410 })
  })

  test('an informer keeps its cache up to date', async (t) => {
    const namespace = await namespaceOf('informer')
    await makeConfigMaps(namespace, 'a')
    const informer = makeInformer<V1ConfigMap>(config, path(namespace), () =>
      core.listNamespacedConfigMap({ namespace }),
    )
    const events = recorded(informer as ListWatch<V1ConfigMap>)
    t.after(() => informer.stop())
    await informer.start()
    await makeConfigMaps(namespace, 'b')
    await core.patchNamespacedConfigMap({ namespace, name: 'a', body: [{ op: 'add', path: '/data/more', value: 'x' }] })
    await core.deleteNamespacedConfigMap({ namespace, name: 'b' })
    await waitFor('the deletion arrives', () => events.includes('delete b'))
    assert.deepEqual(events, ['add a', 'add b', 'update a', 'delete b'])
    assert.deepEqual(
      informer.list(namespace).map(({ data }) => data),
      [{ name: 'a', more: 'x' }],
    )
  })

  test('an informer resumes after the server ends its watch', async (t) => {
    const namespace = await namespaceOf('cut')
    const watch = new CountingWatch(config)
    const list = t.mock.fn(() => core.listNamespacedConfigMap({ namespace }))
    const informer = new ListWatch<V1ConfigMap>(
      `${path(namespace)}?timeoutSeconds=1`,
      watch,
      list,
      false,
      undefined,
      undefined,
      { delayFn: async () => {} },
    )
    const events = recorded(informer)
    t.after(() => informer.stop())
    await informer.start()
    await makeConfigMaps(namespace, 'a')
    await waitFor('the watch is opened again', () => watch.opened >= 2)
    await makeConfigMaps(namespace, 'b')
    await waitFor('the new watch delivers changes', () => events.includes('add b'))
    assert.deepEqual(events, ['add a', 'add b'])
  })

  test('an informer lists once more after 410', async (t) => {
    const namespace = await namespaceOf('relist')
    await makeConfigMaps(namespace, 'a', 'b')
    const watch = new CountingWatch(config)
    const list = t.mock.fn(() => core.listNamespacedConfigMap({ namespace }))
    const informer = new ListWatch<V1ConfigMap>(
      `${path(namespace)}?timeoutSeconds=1`,
      watch,
      list,
      false,
      undefined,
      undefined,
      { delayFn: async () => {} },
    )
    const events = recorded(informer)
    t.after(() => informer.stop())
    await informer.start()
    assert.equal(list.mock.callCount(), 1)
    // The next list has the changes that are made while no watch runs.
    watch.from = '1'
    await waitFor('the server has refused the old revision', () => watch.expired > 0)
    watch.from = undefined
    await core.deleteNamespacedConfigMap({ namespace, name: 'b' })
    await makeConfigMaps(namespace, 'c')
    await waitFor('the informer is in step', () => events.includes('add c') && events.includes('delete b'))
    assert.ok(list.mock.callCount() >= 2)
    assert.deepEqual(
      informer.list(namespace).map(({ metadata }) => metadata?.name),
      ['a', 'c'],
    )
  })

  test('the client for any kind creates, reads, patches and deletes', async () => {
    const namespace = await namespaceOf('generic')
    const objects = KubernetesObjectApi.makeApiClient(config)
    const spec = { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'nightly', namespace } }
    const jobTemplate = {
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:1' }] } } },
    }
    await objects.create({ ...spec, spec: { schedule: '0 3 * * *', jobTemplate } } as typeof spec)
    const patched = await objects.patch({ ...spec, spec: { suspend: true } } as typeof spec)
    assert.equal((patched as { spec?: { suspend?: boolean } }).spec?.suspend, true)
    assert.deepEqual(
      (await objects.list('batch/v1', 'CronJob', namespace)).items.map(({ metadata }) => metadata?.name),
      ['nightly'],
    )
    await objects.delete(spec)
    await assert.rejects(objects.read(spec), (error) => error instanceof ApiException && error.code === 404)
  })
})

/** A watch that counts how often it was opened and, while `from` is set, starts from that revision. */
class CountingWatch extends Watch {
  opened = 0
  expired = 0
  from: string | undefined

  override watch(...[path, query, callback, done]: Parameters<Watch['watch']>): ReturnType<Watch['watch']> {
    this.opened++
    const counted: typeof callback = (phase, object, event) => {
      if (phase === 'ERROR' && object.code === 410) this.expired++
      callback(phase, object, event)
    }
    return super.watch(path, { ...query, ...(this.from && { resourceVersion: this.from }) }, counted, done)
  }
}
