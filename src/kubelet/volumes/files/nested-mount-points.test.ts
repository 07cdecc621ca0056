import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nestedMountPoints } from './nested-mount-points.ts'

const container = (...mounts: readonly (readonly [string, string])[]) => ({
  name: 'main',
  volumeMounts: mounts.map(([name, mountPath]) => ({ name, mountPath })),
})

for (const [title, mounts, expected] of [
  [
    'none',
    [
      ['own', '/a'],
      ['other', '/b'],
    ],
    [],
  ],
  [
    'one',
    [
      ['own', '/a'],
      ['other', '/a/b'],
    ],
    ['b'],
  ],
  [
    'a deep one',
    [
      ['own', '/a'],
      ['other', '/a/b/c'],
    ],
    ['b/c'],
  ],
  [
    'one within another volume',
    [
      ['own', '/a'],
      ['other', '/a/b'],
      ['third', '/a/b/c'],
    ],
    ['b'],
  ],
  [
    'names with a common beginning',
    [
      ['own', '/a'],
      ['other', '/ab'],
    ],
    [],
  ],
  [
    'two',
    [
      ['own', '/a'],
      ['x', '/a/c/'],
      ['y', '/a/b'],
    ],
    ['b', 'c'],
  ],
  [
    'two places of the volume',
    [
      ['own', '/a'],
      ['own', '/z'],
      ['x', '/z/c'],
    ],
    ['c'],
  ],
] as const)
  test(`nested mount points: ${title}`, () =>
    assert.deepEqual(nestedMountPoints('own', [container(...mounts)]), expected))

test('a mount point cannot lead out of the volume', () => {
  assert.throws(() => nestedMountPoints('own', [container(['own', '../a'])]), {
    message: 'invalid container mount point ../a',
  })
})
