/** Round trips of random objects, restarts with objects stored in three versions, and concurrent clients. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { conversionWebhook, define, redefine, widgetsPath } from './webhook.ts'
import { convertWidget, group, type Widget, type WidgetVersion } from './widgets.ts'

const versions: readonly WidgetVersion[] = ['v1', 'v2', 'v3']

/** Pseudo-random integers, reproducible by seed. */
function seededRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const pieces = [
  'a',
  'B',
  '7',
  '-',
  ' ',
  '"',
  '\\',
  '\u00e9',
  '\u6c34',
  '\u{1f600}',
  '\u2028',
  '{',
  'constructor',
  '\u0001',
]

function randomWidget(random: (below: number) => number, name: string): Widget {
  const text = (): string => Array.from({ length: random(6) }, () => pieces[random(pieces.length)]!).join('')
  const texts = (): Record<string, string> =>
    Object.fromEntries(Array.from({ length: random(4) }, (_, i) => [`${i}${text()}`, text()]))
  const v2: Widget = {
    apiVersion: `${group}/v2`,
    kind: 'Widget',
    metadata: { name, labels: { number: `${random(5)}` }, annotations: { 'example.com/note': text() } },
    spec: {
      host: `h${random(100)}`,
      port: random(65_536),
      ...(random(2) && { size: random(1000) }),
      ...(random(2) && { notes: texts() }),
      ...(random(2) && { tags: Array.from({ length: random(4) }, text) }),
    },
  }
  return convertWidget(v2, `${group}/${versions[random(3)]}`)
}

test('a random object written in any version survives the round trip through writesPerVersion version', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig, storage: 'v2' })
  const seed = Math.floor(Math.random() * 2 ** 31)
  const random = seededRandom(seed)
  await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const widget = randomWidget(random, `w${i}`)
      const version = widget.apiVersion.split('/')[1]!
      const written = (await cluster.call('POST', widgetsPath(version), widget)) as unknown as Widget
      assert.deepEqual(written.spec, widget.spec, `seed ${seed}`)
      for (const other of versions) {
        const path = `${widgetsPath(other)}/w${i}`
        const read = (await cluster.call('GET', path)) as unknown as Widget
        assert.deepEqual(read, convertWidget(written, `${group}/${other}`), `seed ${seed}`)
        const put = await cluster.call('PUT', path, read)
        assert.equal(
          put.metadata.resourceVersion,
          written.metadata.resourceVersion,
          `an unchanged write changes nothing: seed ${seed}`,
        )
      }
    }),
  )
})

test('a restarted server serves objects stored in three versions in writesPerVersion version', async (t) => {
  const webhook = await conversionWebhook(t)
  const directory = mkdtempSync(join(tmpdir(), 't8s-conversion-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const first = await testCluster(t, { storage: { directory } })
  await define(first, { clientConfig: webhook.clientConfig })
  for (const version of versions) {
    await redefine(first, { clientConfig: webhook.clientConfig, storage: version })
    const widget = convertWidget(
      { apiVersion: `${group}/v2`, kind: 'Widget', metadata: { name: version }, spec: { host: version, port: 1 } },
      `${group}/${version}`,
    )
    await waitFor(`a widget is stored as ${version}`, async () =>
      Boolean(await first.call('POST', widgetsPath(version), widget)),
    )
  }
  await first.stop()

  const second = await testCluster(t, { storage: { directory } })
  for (const version of versions) {
    const items = (await waitFor('widgets are served', () => second.call('GET', widgetsPath(version))))
      .items as Widget[]
    assert.deepEqual(
      items.map((widget) => convertWidget(widget, `${group}/v2`).spec),
      versions.map((host) => ({ host, port: 1 })),
    )
    assert.ok(items.every(({ apiVersion }) => apiVersion === `${group}/${version}`))
  }
  const seen = await webhook.takeReviews()
  assert.ok(seen.some(({ names, desiredAPIVersion }) => desiredAPIVersion === `${group}/v3` && names.includes('v1')))
  assert.ok(
    !seen.some(({ names, desiredAPIVersion }) => desiredAPIVersion === `${group}/v1` && names.includes('v1')),
    'an object is not converted to the version it is stored in',
  )
  // Without the webhook an object can still be read in the version it is stored in.
  await webhook.stop()
  await second.call('GET', `${widgetsPath('v1')}/v1`)
})

test('concurrent clients of all versions read their own writes and lose none', async (t) => {
  const [cluster, webhook] = await Promise.all([testCluster(t), conversionWebhook(t)])
  await define(cluster, { clientConfig: webhook.clientConfig })
  await cluster.call('POST', widgetsPath('v1'), {
    apiVersion: `${group}/v1`,
    kind: 'Widget',
    metadata: { name: 'a' },
    spec: { hostPort: 'a:1', notes: {} },
  })
  const writesPerVersion = 8
  await Promise.all(
    versions.map(async (version) => {
      for (let i = 0; i < writesPerVersion; i++) {
        await cluster.call(
          'PATCH',
          `${widgetsPath(version)}/a`,
          { spec: { notes: { [`${version}-${i}`]: 'x' } } },
          'application/merge-patch+json',
        )
        const { spec } = (await cluster.call('GET', `${widgetsPath(version)}/a`)) as unknown as {
          spec: { notes: object }
        }
        assert.ok(Object.hasOwn(spec.notes, `${version}-${i}`))
      }
    }),
  )
  const { spec } = (await cluster.call('GET', `${widgetsPath('v2')}/a`)) as unknown as { spec: { notes: object } }
  assert.equal(Object.keys(spec.notes).length, versions.length * writesPerVersion)
})
