import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ControllerRevision, StatefulSet } from '../../client/kinds.ts'
import { byRevision, historyStep, surplusRevisions } from './history.ts'
import { isRevisionOf, revisionOf, type Template, templateAt } from './revision.ts'

const hashLabel = 'hash'
const template = (image: string): Template => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
})
const set = (image: string): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web', namespace: 'ns', uid: 'u', annotations: { why: 'because' } },
  spec: { selector: { matchLabels: { app: 'web' } }, serviceName: 'web', template: template(image) },
})
const revision = (image: string, number: number): ControllerRevision => {
  const made = revisionOf(set(image), { hashLabel, number, collisions: 0 })
  return { ...made, metadata: { ...made.metadata, name: `r${number}` } }
}

test('a revision holds the template as a patch, and is named after its hash', () => {
  const made = revisionOf(set('a'), { hashLabel, number: 3, collisions: 0 })
  const hash = made.metadata.labels?.[hashLabel]
  assert.deepEqual(made, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `web-${hash}`,
      namespace: 'ns',
      labels: { app: 'web', [hashLabel]: hash },
      annotations: { why: 'because' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'StatefulSet',
          name: 'web',
          uid: 'u',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    data: {
      spec: {
        template: {
          $patch: 'replace',
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ image: 'a', name: 'c' }] },
        },
      },
    },
    revision: 3,
  })
  // kubectl compares the serialized text.
  assert.match(
    JSON.stringify(made.data),
    /^{"spec":{"template":{"\$patch":"replace","metadata".*"containers":\[{"image":"a","name":"c"}\]/,
  )
})

test('the name depends on the template and the collision count, not on the number', () => {
  const name = (image: string, collisions: number, number = 1) =>
    revisionOf(set(image), { hashLabel, number, collisions }).metadata.name
  assert.equal(new Set([name('a', 0), name('b', 0), name('a', 1)]).size, 3)
  assert.equal(name('a', 0, 1), name('a', 0, 2))
})

test('a long set name is cut so that the hash fits', () => {
  const long = set('a')
  const { metadata } = revisionOf(
    { ...long, metadata: { ...long.metadata, name: 'x'.repeat(250) } },
    { hashLabel, number: 1, collisions: 0 },
  )
  assert.ok((metadata.name ?? '').length <= 253)
})

test('templateAt restores the template of a revision', () => {
  assert.deepEqual(templateAt(set('b'), revision('a', 1)), template('a'))
  assert.deepEqual(templateAt(set('b'), revision('b', 1)), template('b'))
  // A patch written by hand is merged.
  const partial = {
    ...revision('a', 1),
    data: {
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'c', image: 'z' },
              { name: 'd', image: 'y' },
            ],
          },
        },
      },
    },
  }
  assert.deepEqual(
    templateAt(set('b'), partial).spec?.containers.map(({ name, image }) => `${name} ${image}`),
    ['c z', 'd y'],
  )
})

test('historyStep makes the revision of the template the newest', () => {
  const [a, b] = [revision('a', 1), revision('b', 2)]
  const cases: [string, ControllerRevision[], string, unknown][] = [
    ['no revisions', [], 'a', { do: 'create', number: 1 }],
    ['nothing changed', [a], 'a', { do: 'keep', revision: a }],
    ['a new template', [a], 'b', { do: 'create', number: 2 }],
    ['a rollback to an old template', [a, b], 'a', { do: 'renumber', revision: a, number: 3 }],
    [
      'the newest of equal revisions',
      [a, { ...a, metadata: { name: 'again' }, revision: 2 }, { ...b, revision: 5 }],
      'b',
      { do: 'keep', revision: { ...b, revision: 5 } },
    ],
  ]
  for (const [title, revisions, image, expected] of cases)
    assert.deepEqual(historyStep(revisions, template(image)), expected, title)
  assert.ok(isRevisionOf(a, template('a')))
  assert.ok(!isRevisionOf(a, template('b')))
})

test('revisions are sorted by number, then by age', () => {
  const at = (name: string, number: number, creationTimestamp: string): ControllerRevision => ({
    ...revision('a', number),
    metadata: { name, creationTimestamp },
  })
  const all = [
    at('d', 2, '2026-01-01T00:00:00Z'),
    at('b', 1, '2026-01-02T00:00:00Z'),
    at('a', 1, '2026-01-02T00:00:00Z'),
    at('c', 1, '2026-01-01T00:00:00Z'),
  ]
  assert.deepEqual(
    all.sort(byRevision).map(({ metadata }) => metadata.name),
    ['c', 'a', 'b', 'd'],
  )
})

test('the oldest revisions beyond the limit are surplus, except those in use', () => {
  const all = [1, 2, 3, 4].map((number) => revision(`${number}`, number))
  const names = (inUse: string[], limit: number) =>
    surplusRevisions(all, new Set(inUse), limit).map(({ metadata }) => metadata.name)
  assert.deepEqual(names(['r4'], 1), ['r1', 'r2'])
  assert.deepEqual(names(['r4', 'r1'], 1), ['r2'])
  assert.deepEqual(names(['r4'], 0), ['r1', 'r2', 'r3'])
  assert.deepEqual(names(['r4'], 10), [])
  assert.deepEqual(names(['r4'], -1), [])
})

test('revision numbers beyond 2^53 are sorted exactly', () => {
  const huge = (number: bigint): ControllerRevision => ({ ...revision('a', 1), revision: number as unknown as number })
  const all = [huge(2n ** 53n + 2n), revision('a', 1), huge(2n ** 53n + 1n), revision('b', 2)].sort(byRevision)
  assert.deepEqual(
    all.map(({ revision }) => BigInt(revision)),
    [1n, 2n, 2n ** 53n + 1n, 2n ** 53n + 2n],
  )
  assert.deepEqual(historyStep(all, template('c')), { do: 'create', number: 2n ** 53n + 3n })
})
