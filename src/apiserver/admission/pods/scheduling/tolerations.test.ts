import assert from 'node:assert/strict'
import { test } from 'node:test'
import { areAllowed, mergeTolerations, type Toleration } from './tolerations.ts'

/** Parses `KEY[=VALUE]:EFFECT/SECONDS`. Each part is optional; without a value, the operator is Exists. */
function toleration(text: string): Toleration {
  const [, key, value, effect, seconds] = /^(\w*)(?:=(\w+))?(?::(\w+))?(?:\/(\d+))?$/.exec(text)!
  return {
    ...(key && { key }),
    operator: value ? 'Equal' : 'Exists',
    ...(value && { value }),
    ...(effect && { effect }),
    ...(seconds && { tolerationSeconds: Number(seconds) }),
  }
}

const all = [
  '',
  ':NoSchedule',
  ':NoExecute',
  'foo',
  'foo=bar',
  'foo:NoSchedule',
  'foo=bar:NoSchedule',
  'foo=baz:NoSchedule',
  'faz:NoSchedule',
  'faz=baz:NoSchedule',
  'foo:PreferNoSchedule',
  'foo:NoExecute',
  'foo=bar:NoExecute',
  'foo:NoExecute/10',
  'foo:NoExecute/0',
  'foo=bar:NoExecute/10',
]
const ofFoo = all.filter((text) => text.startsWith('foo'))

for (const [wide, narrow] of [
  ['', all],
  [':NoSchedule', all.filter((text) => text.endsWith(':NoSchedule'))],
  [':NoExecute', all.filter((text) => text.includes(':NoExecute'))],
  ['foo', ofFoo],
  ['foo=bar', ['foo=bar', 'foo=bar:NoSchedule', 'foo=bar:NoExecute', 'foo=bar:NoExecute/10']],
  ['foo:NoSchedule', ofFoo.filter((text) => text.endsWith(':NoSchedule'))],
  ['foo=bar:NoSchedule', ['foo=bar:NoSchedule']],
  ['faz:NoSchedule', ['faz:NoSchedule', 'faz=baz:NoSchedule']],
  ['foo:NoExecute', ofFoo.filter((text) => text.includes(':NoExecute'))],
  ['foo=bar:NoExecute', ['foo=bar:NoExecute', 'foo=bar:NoExecute/10']],
  ['foo:NoExecute/10', ['foo:NoExecute/10', 'foo:NoExecute/0', 'foo=bar:NoExecute/10']],
  ['foo:NoExecute/0', ['foo:NoExecute/0']],
] as const)
  test(`"${wide}" includes narrower tolerations`, () => {
    const allowed = all.filter((text) => areAllowed([toleration(text)], [toleration(wide)]))
    assert.deepEqual(allowed, narrow)
  })

test('an empty list allows everything, and no tolerations are always allowed', () => {
  assert.ok(areAllowed([toleration('foo=bar')], []))
  assert.ok(areAllowed([], [toleration('foo=bar')]))
})

for (const [what, first, second, merged] of [
  [
    'nothing in common',
    ['foo=bar:NoSchedule', 'foo:NoExecute/10'],
    ['foo:PreferNoSchedule'],
    ['foo=bar:NoSchedule', 'foo:NoExecute/10', 'foo:PreferNoSchedule'],
  ],
  [
    'the same',
    ['foo=bar:NoSchedule', 'foo:NoExecute/10'],
    ['foo=bar:NoSchedule', 'foo:NoExecute/10'],
    ['foo=bar:NoSchedule', 'foo:NoExecute/10'],
  ],
  [
    'a wider one',
    ['foo=bar:NoSchedule', 'foo=baz:NoSchedule'],
    ['foo:NoSchedule', 'faz=baz:NoSchedule'],
    ['foo:NoSchedule', 'faz=baz:NoSchedule'],
  ],
  ['everything', ['foo=bar:NoSchedule', 'foo:NoExecute/10'], [''], ['']],
  ['a longer one', ['foo:NoExecute/5'], ['foo:NoExecute/9'], ['foo:NoExecute/9']],
  ['one without end', ['foo:NoExecute'], ['foo:NoExecute/9'], ['foo:NoExecute']],
  ['into everything', [''], ['foo=bar:NoSchedule', 'foo:NoExecute/10'], ['']],
] as const)
  test(`tolerations merge: ${what}`, () => {
    assert.deepEqual(mergeTolerations(first.map(toleration), second.map(toleration)), merged.map(toleration))
  })
