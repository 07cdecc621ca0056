import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigDocument, notAKubeconfig } from '../documents/config-document.ts'
import { chosenContext, loopbackServer, serverAt } from '../import/incoming.ts'
import { addAll, addContext, allContexts, renamed, spareEntries } from './add-context.ts'
import { removeContext, renameContext, useContext } from './change-contexts.ts'
import { ConfigSet } from './config-set.ts'

const document = (text: string): ConfigDocument => new ConfigDocument(text, notAKubeconfig('FILE'))

const context = (name: string, cluster = 'c', user = 'u'): string =>
  `- {name: ${name}, context: {cluster: ${cluster}, user: ${user}}}\n`
const config = (contexts: string, server = 'https://c', current = ''): string =>
  `current-context: ${current}\nclusters:\n- {name: c, cluster: {server: "${server}"}}\nusers:\n- {name: u, ` +
  `user: {token: t}}\ncontexts:\n${contexts}`

const setOf = (...texts: readonly string[]): ConfigSet =>
  new ConfigSet(
    texts.map((text, index) => ({ file: String(index), document: document(text) })),
    '0',
  )

test('a cluster and a user are kept while another context uses them', () => {
  const set = setOf(config(context('a') + context('b'), 'https://c', 'a'))
  assert.deepEqual(removeContext(set, 'a'), { also: [], shadowedIn: undefined, wasCurrent: true })
  assert.equal(set.currentContext, undefined)
  assert.deepEqual(removeContext(set, 'b').also, ['cluster "c"', 'user "u"'])
  assert.deepEqual(set.names('cluster'), [])
})

test('a cluster is kept if a context in another file uses it', () => {
  const set = setOf(config(context('a')), `contexts:\n${context('b')}`)
  assert.deepEqual(removeContext(set, 'a').also, [])
  assert.deepEqual(set.names('cluster'), ['c'])
})

test('the previous context is updated after rename and remove', () => {
  const set = setOf(config(context('a') + context('b')))
  set.previousContext = 'a'
  renameContext(set, 'a', 'x')
  assert.equal(useContext(set, '-'), 'x')
  set.previousContext = 'b'
  removeContext(set, 'b')
  assert.throws(() => useContext(set, '-'), /there is no previous context/)
})

test('imported entries get free names', () => {
  const set = setOf(config(context('a')))
  const theirs = document(config(context('a'), 'https://other'))
  const incoming = chosenContext(theirs, 'THEIRS')
  assert.throws(
    () => addContext(set, incoming, { name: 'a', force: false }),
    /there is already a different context named "a"/,
  )
  assert.equal(addContext(set, incoming, { name: 'new', force: false }), 'added')
  assert.equal(set.text('context', 'new', 'cluster'), 'new')
  assert.equal(set.text('context', 'new', 'user'), 'u', 'an equal user is reused')
  assert.equal(addContext(set, incoming, { name: 'new', force: false }), 'unchanged')
  assert.equal(addContext(set, incoming, { name: 'a', force: true }), 'replaced')
  assert.equal(set.text('cluster', set.text('context', 'a', 'cluster') ?? '', 'server'), 'https://other')
})

test('merging also adds unused clusters and users', () => {
  const set = setOf('')
  const theirs = document(`${config(context('a'))}`.replace('users:\n', 'users:\n- {name: spare, user: {token: s}}\n'))
  const contexts = allContexts(theirs, 'THEIRS')
  assert.deepEqual(addAll(set, { contexts, spare: spareEntries(theirs, contexts) }, false), [
    { name: 'a', how: 'added' },
  ])
  assert.deepEqual(set.names('user'), ['u', 'spare'])
  assert.equal(set.currentContext, 'a')
})

test('a prefix replaces the names of a kubeconfig with one context, and precedes those of others', () => {
  const merge = (text: string, prefix: string) => {
    const theirs = document(text)
    const contexts = allContexts(theirs, 'THEIRS')
    const set = setOf('')
    addAll(set, renamed({ contexts, spare: spareEntries(theirs, contexts) }, prefix), false)
    return (['context', 'cluster', 'user'] as const).map((kind) => set.names(kind).join()).join(' ')
  }
  const one = config(context('a'))
  assert.equal(merge(one, 'dev'), 'dev dev dev')
  assert.equal(
    merge(one.replace('users:\n', 'users:\n- {name: spare, user: {token: s}}\n'), 'dev'),
    'dev dev dev,dev-spare',
  )
  assert.match(merge(config(context('a') + context('b')), 'dev'), /^dev-a,dev-b dev-\w+ dev-\w+$/)
})

test('the chosen context is the named one, else the current one, else the only one', () => {
  assert.equal(chosenContext(document(config(context('a'))), 'F').name, 'a')
  assert.equal(chosenContext(document(config(context('a') + context('b'), 'https://c', 'b')), 'F').name, 'b')
  assert.equal(chosenContext(document(config(context('a') + context('b'), 'https://c', 'b')), 'F', 'a').name, 'a')
  assert.throws(
    () => chosenContext(document(config(context('a') + context('b'))), 'F'),
    /F has several contexts.*\(a, b\)/,
  )
  assert.throws(() => chosenContext(document(config(context('a'))), 'F', 'x'), /F has no context named "x": it has a/)
  assert.throws(
    () => chosenContext(document(config(context('a', 'gone'))), 'F'),
    /its context "a" names the cluster "gone", which is missing/,
  )
})

test('loopback servers are detected and replaced', () => {
  const loopback = (server: string): boolean =>
    loopbackServer(chosenContext(document(config(context('a'), server)), 'F')) !== undefined
  for (const server of [
    'https://127.0.0.1:6443',
    'https://localhost:6443',
    'https://[::1]:6443',
    'https://127.1.2.3',
    'https://0.0.0.0:6443',
  ])
    assert.ok(loopback(server), server)
  for (const server of ['https://10.0.0.1:6443', 'https://localhost.example.com', 'no url'])
    assert.ok(!loopback(server), server)
  assert.equal(serverAt(new URL('https://127.0.0.1:6443'), 'node.example.com'), 'https://node.example.com:6443')
  assert.equal(serverAt(new URL('https://127.0.0.1:6443/k8s/'), 'fd00::1'), 'https://[fd00::1]:6443/k8s')
})
