import assert from 'node:assert/strict'
import { chmodSync, lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { ExplainedError } from '../lib/explained-error.ts'
import { kubeconfigFor, kubeconfigYaml } from './kubeconfig.ts'
import { defaultKubeconfigFile, mergedText, mergeKubeconfig } from './merge.ts'

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

test('merging adds our context and keeps the rest, comments and current context included', () => {
  const text = mergedText(theirs, config, 'config')
  const merged = parse(text)
  const before = parse(theirs)
  assert.equal(merged['current-context'], 'work')
  assert.deepEqual(merged.clusters, [...before.clusters, ...config.clusters])
  assert.deepEqual(merged.users, [...before.users, ...config.users])
  assert.deepEqual(merged.contexts, [...before.contexts, ...config.contexts])
  for (const comment of ['# my clusters', '# do not touch', '# the badge of the office']) assert.ok(text.includes(comment), comment)
  assert.ok(text.includes('"007"'), 'quotes stay')
})

test('merging again replaces our entries in place', () => {
  const moved = kubeconfigFor('t8s', { url: 'https://127.0.0.1:7443', ca: 'CA', cert: 'CERT', key: 'KEY' })
  const once = mergedText(theirs, config, 'config')
  assert.equal(mergedText(once, config, 'config'), once)
  const again = parse(mergedText(once, moved, 'config'))
  assert.equal(again.clusters.length, 2)
  assert.equal(again.clusters[1].cluster.server, 'https://127.0.0.1:7443')
})

test('empty lists, missing lists and an empty file are filled', () => {
  for (const text of ['', 'apiVersion: v1\nkind: Config\n', 'apiVersion: v1\nkind: Config\nclusters: []\nusers: null\ncontexts: []\ncurrent-context: ""\n']) {
    assert.deepEqual(parse(mergedText(text, config, 'config')), config)
  }
})

test('a file that is no kubeconfig is left alone and named', (t) => {
  const file = join(folder(t), 'config')
  for (const text of ['a: [', 'just words', 'clusters: {}\n']) {
    writeFileSync(file, text)
    assert.throws(
      () => mergeKubeconfig(file, config),
      (error) => error instanceof ExplainedError && error.message.startsWith(`${file} is not a kubeconfig`),
    )
    assert.equal(readFileSync(file, 'utf8'), text)
  }
})

test('the merged file is readable by its owner alone, and a link to it stays a link', (t) => {
  const path = folder(t)
  const file = join(path, 'real')
  const link = join(path, 'link')
  writeFileSync(file, theirs)
  chmodSync(file, 0o644)
  symlinkSync(file, link)
  mergeKubeconfig(link, config)
  assert.ok(lstatSync(link).isSymbolicLink())
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(parse(readFileSync(file, 'utf8')).clusters.length, 2)
})

test('a missing file is made with its folder', (t) => {
  const file = join(folder(t), '.kube', 'config')
  mergeKubeconfig(file, config)
  assert.deepEqual(parse(readFileSync(file, 'utf8')), config)
})

test('the file to merge into is the first of KUBECONFIG, else the one in the home directory', () => {
  assert.equal(defaultKubeconfigFile({ KUBECONFIG: ':/a/b:/c', HOME: '/home/x' }), '/a/b')
  assert.equal(defaultKubeconfigFile({ KUBECONFIG: '', HOME: '/home/x' }), '/home/x/.kube/config')
})
