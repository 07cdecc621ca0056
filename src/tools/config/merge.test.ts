import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { kubeconfigFor, kubeconfigYaml } from '../../kubeconfig/kubeconfig.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { mergeKubeconfig } from './merge.ts'

const config = kubeconfigFor('t8s', { url: 'https://127.0.0.1:6443', ca: 'CA', cert: 'CERT', key: 'KEY' })

const theirs = `# my clusters
apiVersion: v1
kind: Config
current-context: work # do not touch
clusters:
- name: work
  cluster: {server: "https://work.example:6443", insecure-skip-tls-verify: true}
users:
# the badge of the office
- name: alice
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: get-token
      args: ["--id", "007"]
contexts:
- context:
    cluster: work
    namespace: dev
    user: alice
  name: work
preferences: {}
`

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 't8s-kubeconfig-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** The text of a file after `merged` was merged into it. */
async function mergedFile(t: TestContext, present: string | undefined, merged = config): Promise<string> {
  const file = join(folder(t), '.kube', 'config')
  if (present !== undefined) {
    mkdirSync(dirname(file))
    writeFileSync(file, present)
  }
  assert.equal((await mergeKubeconfig({ files: [file], target: file }, merged, 'up')).file, file)
  return readFileSync(file, 'utf8')
}

test('merging adds the context and keeps everything else, including comments and the current context', async (t) => {
  const text = await mergedFile(t, theirs)
  const merged = parse(text)
  const before = parse(theirs)
  assert.equal(merged['current-context'], 'work')
  assert.deepEqual(merged.clusters, [...before.clusters, ...config.clusters])
  assert.deepEqual(merged.users, [...before.users, ...config.users])
  assert.deepEqual(merged.contexts, [...before.contexts, ...config.contexts])
  for (const comment of ['# my clusters', '# do not touch', '# the badge of the office'])
    assert.ok(text.includes(comment), comment)
  assert.ok(text.includes('"007"'), 'quotes stay')
})

test('a second merge replaces the entries in place', async (t) => {
  const moved = kubeconfigFor('t8s', { url: 'https://127.0.0.1:7443', ca: 'CA', cert: 'CERT', key: 'KEY' })
  const once = await mergedFile(t, theirs)
  assert.equal(await mergedFile(t, once), once)
  const again = parse(await mergedFile(t, once, moved))
  assert.equal(again.clusters.length, 2)
  assert.equal(again.clusters[1].cluster.server, 'https://127.0.0.1:7443')
})

test('merging into JSON leaves JSON', async (t) => {
  const text = await mergedFile(t, `${JSON.stringify(parse(theirs), null, 2)}\n`)
  assert.deepEqual(JSON.parse(text), parse(await mergedFile(t, theirs)))
  assert.equal(await mergedFile(t, text), text)
})

test('entries of other clusters are never replaced: the new ones get a number, also in later merges', async (t) => {
  const file = join(folder(t), 'config')
  const merge = (given: typeof config) => mergeKubeconfig({ files: [file], target: file }, given, 'up')
  const at = (port: number, ca: string) =>
    kubeconfigFor('t8s', { url: `https://127.0.0.1:${port}`, ca, cert: ca, key: ca })
  writeFileSync(file, kubeconfigYaml(at(1, 'ONE')))
  assert.deepEqual(await merge(at(2, 'TWO')), { file, context: 't8s-2', result: 'added' })
  assert.deepEqual(await merge(at(3, 'THREE')), { file, context: 't8s-3', result: 'added' })
  assert.deepEqual(await merge(at(4, 'TWO')), { file, context: 't8s-2', result: 'replaced' })
  assert.deepEqual(await merge(at(4, 'TWO')), { file, context: 't8s-2', result: 'unchanged' })
  // A recreated cluster at the same address.
  assert.deepEqual(await merge(at(3, 'NEW')), { file, context: 't8s-3', result: 'replaced' })
  const { clusters, users, contexts, ...rest } = parse(readFileSync(file, 'utf8'))
  assert.deepEqual(clusters[0], at(1, 'ONE').clusters[0])
  assert.deepEqual(users[0], at(1, 'ONE').users[0])
  assert.deepEqual(
    [clusters[1].cluster.server, users[1].name, contexts[1]],
    ['https://127.0.0.1:4', 't8s-2', { name: 't8s-2', context: { cluster: 't8s-2', user: 't8s-2' } }],
  )
  assert.deepEqual([clusters.length, users.length, contexts.length, rest['current-context']], [3, 3, 3, 't8s'])
  for (const taken of [
    'users: [{name: t8s, user: {token: mine}}]',
    'contexts: [{name: t8s, context: {cluster: work, user: me}}]',
    'clusters: [{name: t8s, cluster: {server: "https://10.0.0.1"}}]',
    'clusters: [{name: t8s, cluster: {server: "https://127.0.0.1:2"}}]\ncontexts: [{name: t8s, context: ' +
      '{cluster: work, user: me}}]',
  ]) {
    const text = `apiVersion: v1\nkind: Config\n${taken}\n`
    writeFileSync(file, text)
    assert.equal((await merge(at(2, 'TWO'))).context, 't8s-2', taken)
    for (const [title, entries] of Object.entries(parse(text)).filter(([, value]) => Array.isArray(value)))
      assert.deepEqual(parse(readFileSync(file, 'utf8'))[title][0], (entries as unknown[])[0], taken)
  }
})

test('merging fills empty lists, missing lists, an empty file and a missing file', async (t) => {
  for (const text of [
    undefined,
    '',
    'apiVersion: v1\nkind: Config\n',
    'apiVersion: v1\nkind: Config\nclusters: []\nusers: null\ncontexts: []\ncurrent-context: ""\n',
  ]) {
    assert.deepEqual(parse(await mergedFile(t, text)), config)
  }
})

test('an invalid or locked file is not changed, and the error names it', async (t) => {
  const file = join(folder(t), 'config')
  const merging = (): Promise<unknown> =>
    mergeKubeconfig({ files: [file], target: file }, config, 'up', { timeoutMs: 1 })
  for (const text of ['a: [', 'just words', 'clusters: {}\n']) {
    writeFileSync(file, text)
    await assert.rejects(
      merging,
      (error) => error instanceof ExplainedError && error.message.startsWith(`${file} is not a kubeconfig`),
    )
    assert.equal(readFileSync(file, 'utf8'), text)
  }
  writeFileSync(`${file}.lock`, '')
  await assert.rejects(merging, /is locked by another program/)
})

test('with several files, entries are replaced in place, and new ones go to the first existing file', async (t) => {
  const path = folder(t)
  const [missing, first, second] = ['missing', 'first', 'second'].map((name) => join(path, name)) as [
    string,
    string,
    string,
  ]
  const locations = { files: [missing, first, second], target: first }
  writeFileSync(first, theirs)
  writeFileSync(
    second,
    kubeconfigYaml(kubeconfigFor('other', { url: 'https://x', ca: 'CA', cert: 'CERT', key: 'KEY' })),
  )
  assert.deepEqual(await mergeKubeconfig(locations, config, 'up'), { file: first, context: 't8s', result: 'added' })
  assert.equal(parse(readFileSync(first, 'utf8')).contexts.length, 2)
  const moved = kubeconfigFor('other', { url: 'https://y', ca: 'CA', cert: 'CERT', key: 'KEY' })
  assert.deepEqual(await mergeKubeconfig(locations, moved, 'up'), {
    file: second,
    context: 'other',
    result: 'replaced',
  })
  assert.equal(parse(readFileSync(second, 'utf8')).clusters[0].cluster.server, 'https://y')
  assert.ok(!existsSync(missing))
})
