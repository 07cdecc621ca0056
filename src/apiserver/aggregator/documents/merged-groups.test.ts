import assert from 'node:assert/strict'
import test from 'node:test'
import type { ServedGroup } from '../../../api/registry.ts'
import { mergedGroups, type RemoteVersion } from './merged-groups.ts'

const local = (group: string, ...versions: readonly string[]): ServedGroup => ({
  group,
  versions: versions.map((version) => ({ group, version, resources: [] })),
})

const remote = (group: string, version: string, groupPriority: number, versionPriority: number): RemoteVersion => ({
  group,
  version,
  resources: [],
  groupPriority,
  versionPriority,
  discovered: { version, freshness: 'Current' },
})

const shown = (groups: readonly ServedGroup[]) =>
  groups.map(({ group, versions }) => `${group}: ${versions.map(({ version }) => version).join(' ')}`)

const groups = [local('', 'v1'), local('apps', 'v1'), local('batch', 'v1'), local('example.com', 'v1')]

test('a group has the highest priority of its versions; groups of equal priority are sorted by name', () => {
  assert.deepEqual(
    shown(
      mergedGroups(groups, [
        remote('z.com', 'v1', 17_500, 1),
        remote('z.com', 'v2', 5, 1),
        remote('b.com', 'v1', 1000, 9),
      ]),
    ),
    [': v1', 'apps: v1', 'z.com: v2 v1', 'batch: v1', 'b.com: v1', 'example.com: v1'],
  )
})

test('versions are sorted by priority, then by version preference', () => {
  const versions = [
    remote('z.com', 'v1beta1', 100, 10),
    remote('z.com', 'v1', 100, 10),
    remote('z.com', 'v1alpha1', 100, 20),
  ]
  assert.equal(shown(mergedGroups(groups, versions)).at(-1), 'z.com: v1alpha1 v1 v1beta1')
})

test('a version of another server replaces one of this server', () => {
  const [, apps] = mergedGroups(groups, [remote('apps', 'v1', 17_800, 15)])
  assert.deepEqual(apps?.versions, [remote('apps', 'v1', 17_800, 15)])
})
