import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainNamespace, type NamespaceFacts } from './explain-namespace.ts'

const facts = (more: Partial<NamespaceFacts>): NamespaceFacts => ({
  name: 'n',
  deletedAt: 'then',
  finalizers: [],
  content: [],
  apiServices: [],
  ...more,
})
const text = (more: Partial<NamespaceFacts>) => explainNamespace(facts(more)).lines.join('\n')
const object = (name: string, ...finalizers: string[]) => ({ name, finalizers, isBeingDeleted: true })

test('a namespace that is not deleted, and an empty one', () => {
  assert.equal(text({ deletedAt: undefined }), 'namespace n is not being deleted')
  assert.match(text({}), /it is empty: it will be deleted soon$/)
})

test('remaining objects are listed by kind with their finalizers and next steps', () => {
  const output = text({
    content: [{ resource: 'configmaps', objects: [object('a', 'x/y'), object('b', 'x/y')] }],
    finalizers: ['own/one'],
  })
  assert.match(output, /2 configmaps remain: a, b\n {4}the finalizer x\/y blocks the deletion of a, b\n/)
  assert.match(output, /What to do:\n(.*\n)*.*kubectl edit -n n configmaps a/)
  assert.match(output, /the finalizer own\/one of the namespace itself blocks its deletion/)
})

test('an unreachable webhook is named', () => {
  const refusal = 'Internal error occurred: failed calling webhook "guard.example.com": connection refused'
  assert.match(
    text({ content: [{ resource: 'pods', objects: [object('p')], refusal }] }),
    /the webhook guard\.example\.com does not answer/,
  )
})

test('an APIService without its Service can be deleted', () => {
  const lost = { name: 'v1.gone.example.com', message: 'no', service: 'a/gone', hasService: false }
  const slow = { name: 'v1.slow.example.com', message: 'no', service: 'a/slow', hasService: true }
  const { lines, deletable } = explainNamespace(facts({ apiServices: [lost, slow] }))
  assert.deepEqual(deletable, ['v1.gone.example.com'])
  assert.match(lines.join('\n'), /restore the server of APIService v1\.slow\.example\.com/)
})
