/** Custom resources that a webhook converts: every verb in each version. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { apiControllers, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { watchEvents } from './watch-events.ts'
import { conversionWebhook, define, definitionPath, get, redefine, widgetsPath } from './webhook.ts'
import { group, type Widget, type WidgetVersion, widget } from './widgets.ts'

async function withWebhook(t: test.TestContext) {
  const [cluster, webhook] = await Promise.all([testCluster(t, { controllers: apiControllers }), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig })
  return { cluster, webhook }
}

test('an object is read, replaced, patched, scaled and deleted in versions it was not created in', async (t) => {
  const { cluster, webhook } = await withWebhook(t)
  const created = await cluster.call('POST', widgetsPath('v2'), widget('v2', 'a', { host: 'one', port: 1, size: 3 }))
  assert.deepEqual([created.apiVersion, created.spec], [`${group}/v2`, { host: 'one', port: 1, size: 3 }])
  assert.deepEqual((await get(cluster, 'v1', 'a')).spec, { hostPort: 'one:1', size: 3 })
  const third = await get(cluster, 'v3', 'a')
  assert.deepEqual([third.apiVersion, third.spec], [`${group}/v3`, { address: { host: 'one', port: 1 }, size: 3 }])
  assert.equal(third.metadata.resourceVersion, created.metadata.resourceVersion)

  const put = await cluster.call('PUT', `${widgetsPath('v3')}/a`, {
    ...third,
    spec: { address: { host: 'two', port: 2 }, size: 3 },
  })
  assert.deepEqual(put.spec, { address: { host: 'two', port: 2 }, size: 3 })
  assert.equal(put.metadata.generation, 2)
  const patched = await cluster.call(
    'PATCH',
    `${widgetsPath('v2')}/a`,
    { spec: { port: 5 } },
    'application/merge-patch+json',
  )
  assert.deepEqual(patched.spec, { host: 'two', port: 5, size: 3 })
  const status = await cluster.call(
    'PATCH',
    `${widgetsPath('v3')}/a/status`,
    { status: { size: 3, seen: 'yes' } },
    'application/merge-patch+json',
  )
  assert.deepEqual(status.status, { size: 3, seen: 'yes' })
  await cluster.call('PATCH', `${widgetsPath('v2')}/a/scale`, { spec: { replicas: 8 } }, 'application/merge-patch+json')
  assert.deepEqual((await cluster.call('GET', `${widgetsPath('v3')}/a/scale`)).spec, { replicas: 8 })
  const stored = await get(cluster, 'v1', 'a')
  assert.deepEqual(
    [stored.spec, stored.status],
    [
      { hostPort: 'two:5', size: 8 },
      { size: 3, seen: 'yes' },
    ],
  )

  const reviews = await webhook.takeReviews()
  assert.ok(reviews.length > 0)
  for (const { headers, apiVersion, url } of reviews) {
    assert.deepEqual([apiVersion, url], ['apiextensions.k8s.io/v1', '/convert?timeout=30s'])
    assert.deepEqual(
      Object.keys(headers).sort(),
      ['accept', 'connection', 'content-length', 'content-type', 'host'],
      'no credentials are sent to the webhook',
    )
  }
  await cluster.call('DELETE', `${widgetsPath('v3')}/a`)
  await assert.rejects(get(cluster, 'v1', 'a'), /404/)
})

test('reads and writes in the storage version do not call the webhook', async (t) => {
  const { cluster, webhook } = await withWebhook(t)
  await webhook.stop()
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  assert.deepEqual((await get(cluster, 'v1', 'a')).spec, { hostPort: 'a:1' })
  assert.equal(((await cluster.call('GET', widgetsPath('v1'))).items as object[]).length, 1)
  await assert.rejects(
    get(cluster, 'v2', 'a'),
    new RegExp(
      String.raw`conversion webhook for shop\.example\.com/v1, Kind=Widget failed: ` +
        String.raw`Post \\"https://127\.0\.0\.1:\d+/convert\?timeout=30s\\": ` +
        String.raw`dial tcp 127\.0\.0\.1:\d+: connect: connection refused`,
    ),
  )
  await cluster.call('DELETE', `${widgetsPath('v1')}/a`)
})

test('lists and pages return all objects in the requested version', async (t) => {
  const { cluster, webhook } = await withWebhook(t)
  const names = ['a', 'b', 'c', 'd', 'e']
  for (const [i, name] of names.entries()) {
    const object = {
      ...widget('v1', name, { hostPort: `${name}:${i}`, size: i }),
      metadata: { name, labels: { even: String(i % 2 === 0) } },
    }
    await cluster.call('POST', widgetsPath('v1'), object)
  }
  await webhook.takeReviews()
  const list = (await cluster.call('GET', widgetsPath('v3'))) as unknown as { apiVersion: string; items: Widget[] }
  assert.equal(list.apiVersion, `${group}/v3`)
  assert.deepEqual(
    list.items.map(({ apiVersion, spec }) => [apiVersion, spec?.address]),
    names.map((host, port) => [`${group}/v3`, { host, port }]),
  )
  assert.deepEqual(
    (await webhook.takeReviews()).map((review) => review.names),
    [names],
    'all in one review',
  )
  await cluster.call('GET', widgetsPath('v3'))
  assert.deepEqual(await webhook.takeReviews(), [], 'conversions are cached')

  const seen: string[] = []
  for (let next = ''; ; ) {
    const page = (await cluster.call(
      'GET',
      `${widgetsPath('v2')}?limit=2${next && `&continue=${next}`}`,
    )) as unknown as {
      metadata: { continue?: string }
      items: Widget[]
    }
    seen.push(page.items.map(({ spec }) => spec?.host).join())
    if (!page.metadata.continue) break
    next = page.metadata.continue
  }
  assert.deepEqual(seen, ['a,b', 'c,d', 'e'])
  const even = (await cluster.call('GET', `${widgetsPath('v2')}?labelSelector=even%3Dtrue`)) as unknown as {
    items: Widget[]
  }
  assert.deepEqual(
    even.items.map(({ metadata }) => metadata.name),
    ['a', 'c', 'e'],
  )
})

test('watches in each version send every change in order, with and without a resourceVersion', async (t) => {
  const { cluster } = await withWebhook(t)
  const first = await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  const watched = new Map<string, string[]>()
  for (const [key, query] of [
    ['v1', ''],
    ['v2', ''],
    ['v3', ''],
    ['v2 since', `&resourceVersion=${first.metadata.resourceVersion}`],
  ] as const) {
    const events: string[] = []
    watched.set(key, events)
    const version = key.slice(0, 2)
    void watchEvents(t, cluster, `${widgetsPath(version)}?watch=true${query}`, ({ type, object }) => {
      assert.equal(object.apiVersion, `${group}/${version}`)
      const { hostPort, host, port, address } = object.spec as Record<string, unknown> & {
        address?: { host: string; port: number }
      }
      events.push(`${type} ${hostPort ?? `${host ?? address?.host}:${port ?? address?.port}`}`)
    })
  }
  await waitFor('all watches have sent the state', () =>
    ['v1', 'v2', 'v3'].every((version) => watched.get(version)!.length === 1),
  )
  const expected: string[] = []
  for (let i = 2; i < 40; i++) {
    await cluster.call(
      'PATCH',
      `${widgetsPath(`v${(i % 3) + 1}`)}/a`,
      { metadata: { annotations: { i: `${i}` } } },
      'application/merge-patch+json',
    )
    expected.push('MODIFIED a:1')
  }
  await cluster.call('PATCH', `${widgetsPath('v2')}/a`, { spec: { port: 99 } }, 'application/merge-patch+json')
  await cluster.call('DELETE', `${widgetsPath('v3')}/a`)
  expected.push('MODIFIED a:99', 'DELETED a:99')
  for (const [key, events] of watched) {
    await waitFor(`the watch ${key} has sent the last change`, () => events.at(-1) === 'DELETED a:99')
    assert.deepEqual(events, key === 'v2 since' ? expected : ['ADDED a:1', ...expected])
  }
})

test('a slow webhook keeps watches in order and consistent with lists', async (t) => {
  const { cluster, webhook } = await withWebhook(t)
  await webhook.setBehavior('slow')
  const names = ['a', 'b', 'c', 'd']
  const watch = (since: string) => {
    const states = new Map<string, string>()
    const revisions: number[] = []
    void watchEvents(t, cluster, `${widgetsPath('v2')}?watch=true&resourceVersion=${since}`, ({ object }) => {
      const { metadata, spec } = object as unknown as Widget
      revisions.push(Number(metadata.resourceVersion))
      states.set(String(metadata.name), String(spec?.port))
    })
    return { states, revisions }
  }
  const { metadata } = await cluster.call('GET', widgetsPath('v2'))
  const watches = [watch(metadata.resourceVersion)]
  await Promise.all(
    names.map(async (name, n) => {
      await cluster.call('POST', widgetsPath('v1'), widget('v1', name, { hostPort: `${name}:0` }))
      for (let i = 1; i <= 15; i++) {
        await cluster.call(
          'PATCH',
          `${widgetsPath('v1')}/${name}`,
          { spec: { hostPort: `${name}:${i}` } },
          'application/merge-patch+json',
        )
        if (n > 0 || i % 5 > 0) continue
        const list = (await cluster.call('GET', widgetsPath('v2'))) as unknown as {
          metadata: { resourceVersion: string }
          items: Widget[]
        }
        const late = watch(list.metadata.resourceVersion)
        for (const { metadata, spec } of list.items) late.states.set(String(metadata.name), String(spec?.port))
        watches.push(late)
      }
    }),
  )
  for (const { states, revisions } of watches) {
    await waitFor('the watch has sent the last state', () => names.every((name) => states.get(name) === '15'))
    assert.deepEqual(
      revisions,
      [...new Set(revisions)].sort((a, b) => a - b),
    )
  }
  assert.equal(watches[0]!.revisions.length, names.length * 16, 'no change is missing')
})

test('a streaming list ends with a bookmark, and deletions have their own resourceVersion', async (t) => {
  const { cluster } = await withWebhook(t)
  for (const name of ['a', 'b'])
    await cluster.call('POST', widgetsPath('v1'), widget('v1', name, { hostPort: `${name}:1` }))
  const events: { type: string; object: Widget }[] = []
  const query = 'watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'
  void watchEvents(t, cluster, `${widgetsPath('v3')}?${query}`, (event) =>
    events.push(event as unknown as { type: string; object: Widget }),
  )
  await waitFor('the bookmark arrives', () => events.some(({ type }) => type === 'BOOKMARK'))
  assert.deepEqual(
    events.map(({ type, object }) => [type, object.apiVersion, object.spec?.address]),
    [
      ['ADDED', `${group}/v3`, { host: 'a', port: 1 }],
      ['ADDED', `${group}/v3`, { host: 'b', port: 1 }],
      ['BOOKMARK', `${group}/v3`, undefined],
    ],
  )
  const { metadata } = events[2]!.object
  assert.deepEqual(metadata.annotations, { 'k8s.io/initial-events-end': 'true' })
  await cluster.call('DELETE', `${widgetsPath('v2')}/a`)
  const deleted = await waitFor('the deletion arrives', () => events.find(({ type }) => type === 'DELETED'))
  assert.deepEqual(deleted.object.spec, { address: { host: 'a', port: 1 } })
  assert.ok(Number(deleted.object.metadata.resourceVersion) > Number(metadata.resourceVersion))
})

test('a webhook that is added later converts existing objects', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t, { controllers: apiControllers }), conversionWebhook(t)])
  await define(cluster, {})
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  assert.deepEqual(
    (await get(cluster, 'v2', 'a')).spec,
    {},
    'without a webhook, fields unknown to the version are pruned',
  )
  await redefine(cluster, { clientConfig: webhook.clientConfig })
  await waitFor('the object is converted', async () => (await get(cluster, 'v2', 'a')).spec?.host === 'a')
})

test('an object that cannot be converted fails lists, but not reads of other objects', async (t) => {
  const { cluster } = await withWebhook(t)
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'good', { hostPort: 'a:1' }))
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'bad', { hostPort: 'a:1' }))
  const expected = /500.*conversion webhook for shop\.example\.com\/v1, Kind=Widget failed: cannot convert bad/
  await assert.rejects(cluster.call('GET', widgetsPath('v2')), expected)
  await assert.rejects(get(cluster, 'v2', 'bad'), expected)
  assert.deepEqual((await get(cluster, 'v2', 'good')).spec, { host: 'a', port: 1 })
  assert.equal(((await cluster.call('GET', widgetsPath('v1'))).items as object[]).length, 2)
  await cluster.call('DELETE', `${widgetsPath('v1')}/bad`)
  assert.equal(((await cluster.call('GET', widgetsPath('v2'))).items as object[]).length, 1)
})

test('a failed conversion ends a watch with an error event; watches of the storage version go on', async (t) => {
  const { cluster } = await withWebhook(t)
  const other: string[] = []
  const stored: string[] = []
  const ended = watchEvents(t, cluster, `${widgetsPath('v2')}?watch=true`, ({ type, object }) =>
    other.push(`${type} ${object.metadata?.name ?? object.message}`),
  )
  void watchEvents(t, cluster, `${widgetsPath('v1')}?watch=true`, ({ type, object }) =>
    stored.push(`${type} ${object.metadata?.name}`),
  )
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'good', { hostPort: 'a:1' }))
  await waitFor('both watches have sent the first object', () => other.length === 1 && stored.length === 1)
  await cluster.call('POST', widgetsPath('v1'), widget('v1', 'bad', { hostPort: 'a:1' }))
  await ended
  assert.deepEqual(other, [
    'ADDED good',
    'ERROR conversion webhook for shop.example.com/v1, Kind=Widget failed: cannot convert bad',
  ])
  await cluster.call('DELETE', `${widgetsPath('v1')}/bad`)
  await waitFor('the other watch goes on', () => stored.at(-1) === 'DELETED bad')
})

test('field managers of several versions share an object, each owning fields of its own version', async (t) => {
  const { cluster } = await withWebhook(t)
  const apply = (version: WidgetVersion, manager: string, spec: object, force = false) =>
    cluster.call(
      'PATCH',
      `${widgetsPath(version)}/a?fieldManager=${manager}${force ? '&force=true' : ''}`,
      JSON.stringify(widget(version, 'a', spec)),
      'application/apply-patch+yaml',
    )
  await apply('v1', 'one', { hostPort: 'a:1', size: 1 })
  const same = await apply('v2', 'two', { host: 'a', port: 1 })
  assert.deepEqual(owners(same), { one: [`${group}/v1`, 'hostPort', 'size'], two: [`${group}/v2`, 'host', 'port'] })
  await assert.rejects(apply('v3', 'three', { address: { host: 'b', port: 1 } }), (error: Error) => {
    assert.match(error.message, /409.*Apply failed with 2 conflicts/)
    assert.match(error.message, /conflicts? with \\"one\\".*\.spec\.hostPort/)
    assert.match(error.message, /conflicts? with \\"two\\".*\.spec\.host/)
    return true
  })
  const forced = await apply('v3', 'three', { address: { host: 'b', port: 1 } }, true)
  assert.deepEqual(forced.spec, { address: { host: 'b', port: 1 }, size: 1 })
  assert.deepEqual(owners(forced), {
    one: [`${group}/v1`, 'size'],
    two: [`${group}/v2`, 'port'],
    three: [`${group}/v3`, 'address'],
  })
  const updated = await cluster.call(
    'PATCH',
    `${widgetsPath('v2')}/a?fieldManager=four`,
    { spec: { port: 7 } },
    'application/merge-patch+json',
  )
  assert.deepEqual(owners(updated), {
    one: [`${group}/v1`, 'size'],
    three: [`${group}/v3`, 'address'],
    four: [`${group}/v2`, 'port'],
  })
})

test('unchanged writes migrate objects to a new storage version; clients trim storedVersions', async (t) => {
  const { cluster, webhook } = await withWebhook(t)
  for (const version of ['v1', 'v2', 'v3'] as const)
    await cluster.call('POST', widgetsPath(version), widgetNamedAfter(version))
  await redefine(cluster, { clientConfig: webhook.clientConfig, storage: 'v2' })
  const storedVersions = async () =>
    ((await cluster.call('GET', definitionPath)).status as { storedVersions: string[] }).storedVersions
  assert.deepEqual(await storedVersions(), ['v1', 'v2'])
  for (const version of ['v1', 'v2', 'v3']) {
    const before = await get(cluster, 'v3', version)
    const after = await waitFor('the changed definition is served', () =>
      cluster.call('PUT', `${widgetsPath('v3')}/${version}`, before),
    )
    assert.notEqual(
      after.metadata.resourceVersion,
      before.metadata.resourceVersion,
      'an unchanged write migrates the object',
    )
    assert.deepEqual([after.spec, after.metadata.generation], [before.spec, before.metadata.generation])
    const again = await cluster.call('PUT', `${widgetsPath('v3')}/${version}`, after)
    assert.equal(again.metadata.resourceVersion, after.metadata.resourceVersion, 'the next write does nothing')
  }
  const { status } = await cluster.call('GET', definitionPath)
  await cluster.call(
    'PATCH',
    `${definitionPath}/status`,
    { status: { ...(status as object), storedVersions: ['v2'] } },
    'application/merge-patch+json',
  )
  await redefine(cluster, { clientConfig: webhook.clientConfig, storage: 'v2', versions: ['v2', 'v3'] })
  await waitFor('v1 is no longer served', async () => {
    await assert.rejects(cluster.call('GET', widgetsPath('v1')), /404/)
    return true
  })
  const items = (await waitFor('v3 is served', () => cluster.call('GET', widgetsPath('v3')))).items as Widget[]
  assert.deepEqual(
    items.map(({ metadata, spec }) => [metadata.name, spec]),
    ['v1', 'v2', 'v3'].map((name) => [name, { address: { host: name, port: 1 } }]),
  )
})

function widgetNamedAfter(version: WidgetVersion): object {
  const address = { host: version, port: 1 }
  return widget(version, version, { v1: { hostPort: `${version}:1` }, v2: address, v3: { address: address } }[version])
}

/** Each manager's apiVersion and the spec fields it owns. */
function owners(answer: object): Record<string, string[]> {
  const { metadata } = answer as {
    metadata: { managedFields: { manager: string; apiVersion: string; fieldsV1: { 'f:spec'?: object } }[] }
  }
  return Object.fromEntries(
    metadata.managedFields.map(({ manager, apiVersion, fieldsV1 }) => [
      manager,
      [
        apiVersion,
        ...Object.keys(fieldsV1['f:spec'] ?? {})
          .filter((field) => field !== '.')
          .map((field) => field.slice(2)),
      ],
    ]),
  )
}
