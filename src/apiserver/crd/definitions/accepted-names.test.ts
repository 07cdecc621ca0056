import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptNames, type Names, usedNames } from './accepted-names.ts'

const wanted: Names = {
  plural: 'widgets',
  singular: 'widget',
  kind: 'Widget',
  listKind: 'WidgetList',
  shortNames: ['w', 'wd'],
  categories: ['all'],
}
const others = (names: Partial<Names>) =>
  usedNames([{ plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList', ...names }])

test('unused names are accepted', () => {
  const { names, condition } = acceptNames(wanted, {}, others({}))
  assert.deepEqual(names, wanted)
  assert.deepEqual(condition, {
    type: 'NamesAccepted',
    status: 'True',
    reason: 'NoConflicts',
    message: 'no conflicts found',
  })
})

const conflicts: readonly (readonly [string, Partial<Names>, string, string, Partial<Names>])[] = [
  ['a plural', { plural: 'widgets' }, 'PluralConflict', '"widgets" is already in use', { plural: '' }],
  [
    'a plural that is the short name of another',
    { shortNames: ['widgets'] },
    'PluralConflict',
    '"widgets" is already in use',
    { plural: '' },
  ],
  ['a singular', { singular: 'widget' }, 'SingularConflict', '"widget" is already in use', { singular: undefined }],
  ['a short name', { shortNames: ['w'] }, 'ShortNamesConflict', '"w" is already in use', { shortNames: undefined }],
  [
    'two short names',
    { shortNames: ['w', 'wd'] },
    'ShortNamesConflict',
    '["w" is already in use, "wd" is already in use]',
    { shortNames: undefined },
  ],
  ['a kind', { kind: 'Widget' }, 'KindConflict', '"Widget" is already in use', { kind: '' }],
  [
    'a list kind',
    { kind: 'WidgetList' },
    'ListKindConflict',
    '"WidgetList" is already in use',
    { listKind: undefined },
  ],
  // The last conflict is reported.
  [
    'a plural and a kind',
    { plural: 'widgets', kind: 'Widget' },
    'KindConflict',
    '"Widget" is already in use',
    { plural: '', kind: '' },
  ],
]

for (const [what, taken, reason, message, missing] of conflicts)
  test(`${what} that is in use is reported and not accepted, all others are`, () => {
    const { names, condition } = acceptNames(wanted, {}, others(taken))
    assert.deepEqual(condition, { type: 'NamesAccepted', status: 'False', reason, message })
    const expected = Object.entries({ ...wanted, ...missing }).filter(([, value]) => value !== undefined)
    assert.deepEqual(names, Object.fromEntries(expected))
  })

test('an accepted name stays accepted when others request it later', () => {
  const { names, condition } = acceptNames(
    wanted,
    wanted,
    others({ plural: 'widgets', kind: 'Widget', shortNames: ['w'] }),
  )
  assert.deepEqual(names, wanted)
  assert.equal(condition.status, 'True')
})

test('a released name is no longer accepted; a requested name in use leaves the old one in place', () => {
  const { shortNames: _, categories: _categories, ...fewer } = wanted
  assert.deepEqual(acceptNames(fewer, wanted, others({})).names, fewer)
  const renamed = { ...wanted, singular: 'gadget' }
  assert.equal(acceptNames(renamed, wanted, others({})).names.singular, 'widget')
})
