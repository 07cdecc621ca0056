import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { ExplainedError } from '../lib/explained-error.ts'
import { kubeconfigFor, kubeconfigYaml } from './kubeconfig.ts'
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

test('the text written by hand is the same document as the object', () => {
  assert.deepEqual(parse(kubeconfigYaml(config)), config)
  const odd = kubeconfigFor('no: "quotes"', { url: 'https://[::1]:6443', ca: '', cert: 'a', key: 'b' })
  assert.deepEqual(parse(kubeconfigYaml(odd)), odd)
  const word = kubeconfigFor('true', { url: 'https://x', ca: 'a', cert: 'a', key: 'b' })
  assert.deepEqual(parse(kubeconfigYaml(word)), word)
})

/** What a file says after `merged` was put into it. */
async function mergedFile(t: TestContext, present: string | undefined, merged = config): Promise<string> {
  const file = join(folder(t), '.kube', 'config')
  if (present !== undefined) {
    mkdirSync(dirname(file))
    writeFileSync(file, present)
  }
  assert.equal(await mergeKubeconfig({ files: [file], target: file }, merged, 'up'), file)
  return readFileSync(file, 'utf8')
}

test('merging adds our context and keeps the rest, comments and current context included', async (t) => {
  const text = await mergedFile(t, theirs)
  const merged = parse(text)
  const before = parse(theirs)
  assert.equal(merged['current-context'], 'work')
  assert.deepEqual(merged.clusters, [...before.clusters, ...config.clusters])
  assert.deepEqual(merged.users, [...before.users, ...config.users])
  assert.deepEqual(merged.contexts, [...before.contexts, ...config.contexts])
  for (const comment of ['# my clusters', '# do not touch', '# the badge of the office']) assert.ok(text.includes(comment), comment)
  assert.ok(text.includes('"007"'), 'quotes stay')
})

test('merging again replaces our entries in place', async (t) => {
  const moved = kubeconfigFor('t8s', { url: 'https://127.0.0.1:7443', ca: 'CA', cert: 'CERT', key: 'KEY' })
  const once = await mergedFile(t, theirs)
  assert.equal(await mergedFile(t, once), once)
  const again = parse(await mergedFile(t, once, moved))
  assert.equal(again.clusters.length, 2)
  assert.equal(again.clusters[1].cluster.server, 'https://127.0.0.1:7443')
})

test('empty lists, missing lists, an empty file and none are filled', async (t) => {
  for (const text of [
    undefined,
    '',
    'apiVersion: v1\nkind: Config\n',
    'apiVersion: v1\nkind: Config\nclusters: []\nusers: null\ncontexts: []\ncurrent-context: ""\n',
  ]) {
    assert.deepEqual(parse(await mergedFile(t, text)), config)
  }
})

test('a file that is no kubeconfig, or that somebody writes to, is left alone and named', async (t) => {
  const file = join(folder(t), 'config')
  const merging = (): Promise<string> => mergeKubeconfig({ files: [file], target: file }, config, 'up', { patienceMs: 1 })
  for (const text of ['a: [', 'just words', 'clusters: {}\n']) {
    writeFileSync(file, text)
    await assert.rejects(merging, (error) => error instanceof ExplainedError && error.message.startsWith(`${file} is not a kubeconfig`))
    assert.equal(readFileSync(file, 'utf8'), text)
  }
  writeFileSync(`${file}.lock`, '')
  await assert.rejects(merging, /is locked by another program/)
})

test('with several files, entries of ours are replaced where they stand, and new ones go to the first that is there', async (t) => {
  const path = folder(t)
  const [missing, first, second] = ['missing', 'first', 'second'].map((name) => join(path, name)) as [string, string, string]
  const locations = { files: [missing, first, second], target: first }
  writeFileSync(first, theirs)
  writeFileSync(second, kubeconfigYaml(kubeconfigFor('other', { url: 'https://x', ca: 'CA', cert: 'CERT', key: 'KEY' })))
  assert.equal(await mergeKubeconfig(locations, config, 'up'), first)
  assert.equal(parse(readFileSync(first, 'utf8')).contexts.length, 2)
  const moved = kubeconfigFor('other', { url: 'https://y', ca: 'CA', cert: 'CERT', key: 'KEY' })
  assert.equal(await mergeKubeconfig(locations, moved, 'up'), second)
  assert.equal(parse(readFileSync(second, 'utf8')).clusters[0].cluster.server, 'https://y')
  assert.ok(!existsSync(missing))
})
