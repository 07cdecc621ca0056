import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { ConfigDocument, changedEntry, entryText, notAKubeconfig } from './config-document.ts'

const read = (text: string): ConfigDocument => new ConfigDocument(text, notAKubeconfig('FILE'))

const text = `# mine
apiVersion: v1
kind: Config
current-context: "a"  # now
clusters:
- cluster:
    server: https://a # here
    insecure-skip-tls-verify: true
    x-number: 0644
    x-words: |
      one
      two
    x-nothing:
  name: a

# the other
- {name: b, cluster: {server: 'https://b', x-date: 2024-01-01}}
users: []
contexts: null
`

test('an unchanged document is written as it was read', () => {
  assert.equal(read(text).toString(), text.replace('"a"  #', '"a" #'))
  const indented = 'clusters:\n  - name: a\n    cluster: {}\n'
  assert.equal(read(indented).toString(), indented)
  const windowsText = indented.replaceAll('\n', '\r\n')
  assert.equal(read(windowsText).toString(), windowsText)
})

test('changes replace values in place, and other values keep their form', () => {
  const document = read(text)
  document.currentContext = 'on'
  document.setText('cluster', 'b', 'server', 'https://c:6443')
  document.rename('cluster', 'a', '007')
  const written = document.toString()
  assert.match(written, /^current-context: "on" # now$/m)
  assert.match(written, /^- \{name: b, cluster: \{server: https:\/\/c:6443, x-date: 2024-01-01\}\}$/m)
  assert.match(written, /^ {2}name: "007"$/m)
  assert.match(written, /x-number: 0644\n {4}x-words: \|\n {6}one\n {6}two\n {4}x-nothing:\n/)
  assert.deepEqual(document.names('cluster'), ['007', 'b'])
})

test('entries are added, replaced and removed', () => {
  const [from, to] = [read(text), read('')]
  to.put(from.copyOf('cluster', 'a')!)
  to.put(changedEntry(from.copyOf('cluster', 'b')!, 'c', { server: 'https://c', 'x-date': undefined }))
  assert.equal(
    to.toString(),
    `apiVersion: v1
kind: Config
clusters:
- cluster:
    server: https://a # here
    insecure-skip-tls-verify: true
    x-number: 0644
    x-words: |
      one
      two
    x-nothing:
  name: a

# the other
- {name: c, cluster: {server: https://c}}
`,
  )
  to.put({ ...from.copyOf('cluster', 'b')!, name: 'a' })
  assert.deepEqual(to.names('cluster'), ['a', 'c'])
  assert.equal(to.text('cluster', 'a', 'server'), 'https://b')
  to.remove('cluster', 'a')
  to.remove('cluster', 'c')
  assert.match(to.toString(), /^clusters: \[\]$/m)
})

test('aliases are resolved when an entry is copied to another document', () => {
  const from = read('x: &shared {server: "https://a", n: 0644, t: "007"}\nclusters:\n- {name: a, cluster: *shared}\n')
  const entry = from.copyOf('cluster', 'a')!
  assert.equal(entryText(entry, 'server'), 'https://a')
  const to = read('')
  to.put(entry)
  assert.match(to.toString(), /cluster: \{server: "https:\/\/a", n: 0644, t: "007"\}\}/)
  assert.throws(
    () => read('clusters:\n- &a {name: a, cluster: {x: *a}}\n').copyOf('cluster', 'a'),
    /FILE is not a kubeconfig/,
  )
  const needed = read('clusters:\n- {name: a, cluster: &c {server: x}}\n- {name: b, cluster: *c}\n')
  needed.remove('cluster', 'a')
  assert.throws(() => needed.toString(), /^ExplainedError: FILE is not a kubeconfig \(.*alias.*\): it was not changed/i)
})

test('an invalid kubeconfig is rejected with one sentence', () => {
  for (const bad of ['a: [', 'words', '[]', 'clusters: {}', 'a: 1\na: 2', 'a: 1\n---\nb: 2\n', '{']) {
    assert.throws(
      () => read(bad),
      (error) =>
        error instanceof ExplainedError &&
        /^FILE is not a kubeconfig \([^\n]+\): it was not changed; fix it, or name another file$/.test(error.message),
      bad,
    )
  }
})

test('JSON stays JSON: layout, numbers, and entries from YAML', () => {
  const line =
    '{"current-context": "a", "x": [1.0, true, null, 12345678901234567890], "contexts": [{"name": "a", ' +
    '"context": {"cluster": "c"}}]}'
  assert.equal(read(line).toString(), line)
  const document = read(line)
  document.rename('context', 'a', 'b')
  document.currentContext = 'b'
  assert.equal(document.toString(), line.replaceAll('"a"', '"b"'))

  const pretty = `${JSON.stringify({ apiVersion: 'v1', clusters: [], empty: {}, 'x-old': 'yes' }, null, 4)}\n`
  assert.equal(read(pretty).toString(), pretty)
  assert.equal(read(pretty.replaceAll('\n', '\r\n')).toString(), pretty.replaceAll('\n', '\r\n'))
  const mixed = read(pretty)
  mixed.put(read(text).copyOf('cluster', 'a')!)
  assert.deepEqual(JSON.parse(mixed.toString()), {
    apiVersion: 'v1',
    // As kubectl reads that YAML: 0644 is octal.
    clusters: [
      {
        cluster: {
          server: 'https://a',
          'insecure-skip-tls-verify': true,
          'x-number': 420,
          'x-words': 'one\ntwo\n',
          'x-nothing': null,
        },
        name: 'a',
      },
    ],
    empty: {},
    'x-old': 'yes',
  })
  const compact = '{"clusters":[{"name":"a","cluster":{"server":"https://a"}}]}'
  assert.equal(read(compact).toString(), compact)
  const yaml = read('')
  yaml.put(read(compact).copyOf('cluster', 'a')!)
  assert.equal(
    yaml.toString(),
    'apiVersion: v1\nkind: Config\nclusters:\n- "name": a\n  "cluster":\n    "server": "https://a"\n',
  )
})

test('two entries with the same name are rejected with the message of kubectl', () => {
  for (const [kind, list] of [
    ['cluster', 'clusters'],
    ['user', 'users'],
    ['context', 'contexts'],
  ])
    assert.throws(
      () => read(`${list}:\n- {name: a, ${kind}: {}}\n- {name: b, ${kind}: {}}\n- {name: a, ${kind}: {}}\n`),
      new RegExp(`FILE is not a kubeconfig \\(duplicate name "a" in list of ${list}\\): it was not changed`),
    )
})
