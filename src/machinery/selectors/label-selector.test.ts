import assert from 'node:assert/strict'
import test from 'node:test'
import {
  labelSelectorOf,
  labelSelectorText,
  labelsText,
  parseLabelSelector,
  selectorText,
  validateLabelSelector,
} from './label-selector.ts'

const objects: Record<string, Record<string, string> | undefined> = {
  a: { app: 'web', tier: 'front' },
  b: { app: 'web', tier: 'back' },
  c: { app: 'db', 'example.com/size': '10' },
  d: undefined,
  e: { app: '', 'example.com/size': '3' },
}
const found = (text: string): string => {
  const { matches } = parseLabelSelector(text)
  return Object.keys(objects)
    .filter((name) => matches(objects[name]))
    .join('')
}

test('selectors match the same objects as upstream', () => {
  const cases: [string, string][] = [
    ['app=web', 'ab'],
    ['app==web', 'ab'],
    ['app!=web', 'cde'],
    ['app in (web, db)', 'abc'],
    ['app in (web,)', 'abe'],
    ['app notin (web)', 'cde'],
    ['app', 'abce'],
    ['!app', 'd'],
    ['app=', 'e'],
    ['app in ()', 'e'],
    ['app=web , tier in (back,front),!none', 'ab'],
    ['app=web,app=db', ''],
    ['example.com/size>5', 'c'],
    ['example.com/size<5', 'e'],
    [' ', 'abcde'],
    ['in in (in)', ''],
    ['constructor', ''],
  ]
  for (const [text, names] of cases) assert.equal(found(text), names, text)
})

test("invalid selectors are rejected with upstream's messages", () => {
  const cases: [string, string | RegExp][] = [
    ['=web', "found '=', expected: !, identifier, or 'end of string'"],
    ['app=web=db', "found '=', expected: ',' or 'end of string'"],
    ['app in web', "unable to parse requirement: found 'web' expected: '('"],
    ['app in (web', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['app in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['app like web', "unable to parse requirement: found 'like', expected: in, notin, =, ==, !=, gt, lt"],
    ['app,', "found '', expected: identifier after ','"],
    [',app', "found ',', expected: !, identifier, or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    [
      'n>big',
      "unable to parse requirement: values[0]: Invalid value: \"big\": for 'Gt', 'Lt' operators, the value must be " +
        'an integer',
    ],
    ['-app=web', /^unable to parse requirement: <nil>: Invalid value: "-app": name part must consist of/],
    ['app=-web', /^unable to parse requirement: values\[0\]\[app\]: Invalid value: "-web": a valid label must be/],
  ]
  for (const [text, message] of cases) assert.throws(() => parseLabelSelector(text), { code: 400, message }, text)
})

test('selectors are printed as in tables', () => {
  assert.equal(
    labelSelectorText({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['b', 'a'] },
        { key: 'old', operator: 'DoesNotExist' },
      ],
    }),
    'app=web,!old,tier in (a,b)',
  )
  assert.equal(labelSelectorText(undefined), '<none>')
  assert.equal(labelSelectorText({ matchExpressions: [{ key: 'a', operator: 'Like' }] }), '<error>')
  assert.equal(labelsText({ b: '2', a: '1' }), 'a=1,b=2')
  assert.equal(selectorText(parseLabelSelector('b!=x,a,c>3')), 'a,b!=x,c>3')
})

test('an empty LabelSelector matches everything, a missing one nothing', () => {
  assert.equal(labelSelectorOf({}).matches({}), true)
  assert.equal(labelSelectorOf(undefined).matches({}), false)
})

test('LabelSelector objects are validated', () => {
  const errors = validateLabelSelector(
    {
      matchLabels: { a: '-' },
      matchExpressions: [
        { key: 'a', operator: 'In' },
        { key: 'b', operator: 'Exists', values: ['x'] },
        { key: 'c', operator: 'Like' },
      ],
    },
    'spec.selector',
  )
  assert.deepEqual(
    errors.map(({ field, message }) => `${field} ${message.slice(0, 30)}`),
    [
      'spec.selector.matchLabels Invalid value: "-": a valid la',
      'spec.selector.matchExpressions[0].values Required value: must be specif',
      'spec.selector.matchExpressions[1].values Forbidden: may not be specifie',
      'spec.selector.matchExpressions[2].operator Invalid value: "Like": not a v',
    ],
  )
})
