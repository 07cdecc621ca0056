import assert from 'node:assert/strict'
import test from 'node:test'
import { parseFieldSelector, selectedName, unknownField } from './field-selector.ts'

test('an object is selected if it matches every term', () => {
  const fields: Record<string, string> = { 'metadata.name': 'a', 'status.phase': 'Running', odd: 'x=y,z\\' }
  const cases: [string, boolean][] = [
    ['metadata.name=a', true],
    ['metadata.name==a,status.phase!=Pending', true],
    ['metadata.name!=a', false],
    ['spec.nodeName=', true],
    ['', true],
    [String.raw`odd=x\=y\,z\\`, true],
  ]
  for (const [text, expected] of cases)
    assert.equal(
      parseFieldSelector(text).matches((name) => fields[name]),
      expected,
      text,
    )
  assert.equal(selectedName(parseFieldSelector('a=b,metadata.name=x')), 'x')
})

test("invalid selectors and unknown fields are rejected with upstream's messages", () => {
  assert.throws(() => parseFieldSelector('metadata.name in (a1)'), {
    code: 400,
    message: "invalid selector: 'metadata.name in (a1)'; can't understand 'metadata.name in (a1)'",
  })
  assert.throws(() => parseFieldSelector('a=b=c'), { code: 400 })
  const selector = parseFieldSelector('spec.unknown=x')
  assert.equal(unknownField(selector, { 'spec.nodeName': true })?.message, 'field label not supported: spec.unknown')
  assert.equal(
    unknownField(selector, undefined)?.message,
    '"spec.unknown" is not a known field selector: only "metadata.name", "metadata.namespace"',
  )
  assert.equal(unknownField(parseFieldSelector('metadata.namespace=x'), undefined), undefined)
})
