import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { IgnoreRules } from './ignore-file.ts'
import { SourceTree } from './source-tree.ts'

function treeOf(t: TestContext, files: readonly string[], ignored = '') {
  const root = mkdtempSync(join(tmpdir(), 't8s-context-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), file)
  }
  const tree = new SourceTree({ root, ignored: new IgnoreRules(ignored, 'x') })
  const find = (argument: string) =>
    tree.find(argument).map(({ baseName, files: found }) => [baseName, ...found.slice(1).map(({ name }) => name)])
  return { root, find }
}

test('files, folders and patterns', (t) => {
  const { find } = treeOf(t, ['a.txt', 'b.txt', 'd/e/f', 'd/g'])
  assert.deepEqual(find('a.txt'), [['a.txt']])
  assert.deepEqual(find('*.txt'), [['a.txt'], ['b.txt']])
  assert.deepEqual(find('/d/'), [['d', 'e', 'e/f', 'g']])
  assert.deepEqual(find('.'), [['', 'a.txt', 'b.txt', 'd', 'd/e', 'd/e/f', 'd/g']])
  assert.deepEqual(find('?/*'), [['e', 'f'], ['g']])
  assert.deepEqual(find('missing'), [])
})

test('files that are left out are not found, exceptions in their folders are', (t) => {
  const { find } = treeOf(t, ['a', 'd/keep', 'd/other', 'e/f/keep'], 'a\nd\n!d/keep\ne')
  assert.deepEqual(find('a'), [])
  assert.deepEqual(find('*'), [['d', 'keep']])
  assert.deepEqual(find('.'), [['', 'd', 'd/keep']])
})

test('links on the way do not leave the context, and links in a folder remain', (t) => {
  const { root, find } = treeOf(t, ['etc/passwd', 'd/f'])
  symlinkSync('/etc', join(root, 'link'))
  symlinkSync('../../../../etc/passwd', join(root, 'd/up'))
  assert.deepEqual(find('link/passwd'), [['passwd']])
  assert.deepEqual(find('../../etc/passwd'), [['passwd']])
  assert.deepEqual(find('link/shadow'), [])
  assert.deepEqual(find('d'), [['d', 'f', 'up']])
  assert.equal(new SourceTree({ root }).find('d')[0]!.files[2]!.stats.isSymbolicLink(), true)
  assert.deepEqual(find('d/up'), [['up']])
})
