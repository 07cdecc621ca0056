import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Redaction } from './redaction.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const webToken = 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlIn0.c2lnbmF0dXJl'

test('the values of Secrets are replaced, and equal ones have the same number', () => {
  const redaction = new Redaction()
  const secret = (data: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data })
  const first = redaction.value(secret({ user: base64('ada'), password: base64('hunter2') }))
  const second = redaction.value(secret({ user: base64('ada'), password: base64('hunter3') }))
  assert.deepEqual(first, secret({ user: 'redacted 1', password: 'redacted 2' }))
  assert.deepEqual(second, secret({ user: 'redacted 1', password: 'redacted 3' }))
  const list = { kind: 'SecretList', items: [{ data: { a: 'b' } }, { stringData: { a: 1, c: null } }] }
  assert.deepEqual(redaction.value(list), {
    kind: 'SecretList',
    items: [{ data: { a: 'redacted 4' } }, { stringData: { a: 'redacted 5', c: null } }],
  })
})

test('patches of Secrets and the annotation of kubectl apply contain no values', () => {
  const redaction = new Redaction()
  assert.deepEqual(redaction.value([{ op: 'add', path: '/data/x', value: 'aGVsbG8=' }], true), [
    { op: 'add', path: '/data/x', value: 'redacted 1' },
  ])
  assert.deepEqual(redaction.value({ stringData: { x: 'hello' } }, true), { stringData: { x: 'redacted 2' } })
  const annotated = (kind: string, text: string) => ({
    kind,
    metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': text } },
  })
  const applied = '{"data":{"x":"hello"}}'
  assert.doesNotMatch(JSON.stringify(redaction.value(annotated('Secret', applied))), /hello/)
  assert.match(JSON.stringify(redaction.value(annotated('ConfigMap', applied))), /hello/)
  const nested = '{"kind":"List","items":[{"kind":"Secret","data":{"x":"hello"}}]}'
  assert.doesNotMatch(JSON.stringify(redaction.value(annotated('List', nested))), /hello/)
})

test('tokens, private keys and members with secret names are replaced anywhere', () => {
  const redaction = new Redaction()
  const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----'
  const text = JSON.stringify(
    redaction.value({
      kind: 'TokenRequest',
      status: { token: 'opaque-token' },
      spec: { password: 'hunter2', note: `of ${webToken}`, key: `a ${key} b`, secretName: 'visible' },
      env: [
        { name: 'DB_PASSWORD', value: 'hunter4' },
        { name: 'MODE', value: 'visible-too' },
      ],
      headers: 'Authorization: Bearer abcdefgh12345',
    }),
  )
  assert.doesNotMatch(text, /opaque-token|hunter|eyJ|MIIE|abcdefgh/)
  assert.match(text, /visible.*visible-too/)
  assert.equal(redaction.path('/a?x=1&access_token=abc&y=2'), '/a?x=1&access_token=redacted&y=2')
})

test('values that were found are replaced in the texts of a test', () => {
  const redaction = new Redaction()
  redaction.value({ kind: 'Secret', data: { a: base64('correct horse'), b: base64('tiny') } })
  assert.equal(
    redaction.freeText(`expected correct horse and ${base64('correct horse')}`),
    'expected redacted 3 and redacted 1',
  )
})

test('keys such as __proto__ remain keys', () => {
  const value = JSON.parse('{"kind":"Secret","data":{"__proto__":"x","constructor":"y"}}')
  assert.equal(
    JSON.stringify(new Redaction().value(value)),
    '{"kind":"Secret","data":{"__proto__":"redacted 1","constructor":"redacted 2"}}',
  )
})
