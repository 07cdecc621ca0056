import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainNamespace, type NamespaceFacts } from './explain.ts'

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

test('a namespace that nobody deleted stays, an empty one goes', () => {
  assert.equal(text({ deletedAt: undefined }), 'namespace n stays: nobody has deleted it')
  assert.match(text({}), /nothing is left in it: it goes at any moment$/)
})

test('what is left is told by kind, with the finalizers that hold it and what to do about them', () => {
  const said = text({
    content: [{ resource: 'configmaps', objects: [object('a', 'x/y'), object('b', 'x/y')] }],
    finalizers: ['own/one'],
  })
  assert.match(said, /2 configmaps are left: a, b\n {4}the finalizer x\/y holds a, b\n/)
  assert.match(said, /What to do:\n(.*\n)*.*kubectl edit -n n configmaps a/)
  assert.match(said, /the finalizer own\/one of the namespace itself holds it/)
})

test('a webhook that does not answer is named', () => {
  const refusal = 'Internal error occurred: failed calling webhook "guard.example.com": connection refused'
  assert.match(
    text({ content: [{ resource: 'pods', objects: [object('p')], refusal }] }),
    /the webhook guard\.example\.com does not answer/,
  )
})

test('an APIService can be deleted if its Service is not there', () => {
  const lost = { name: 'v1.gone.example.com', message: 'no', service: 'a/gone', hasService: false }
  const slow = { name: 'v1.slow.example.com', message: 'no', service: 'a/slow', hasService: true }
  const { lines, deletable } = explainNamespace(facts({ apiServices: [lost, slow] }))
  assert.deepEqual(deletable, ['v1.gone.example.com'])
  assert.match(lines.join('\n'), /bring the server of APIService v1\.slow\.example\.com back/)
})
