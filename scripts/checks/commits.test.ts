import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { commitFaults, subjectFault } from './commits.ts'

test('a subject is an area and an imperative sentence', () => {
  for (const subject of [
    'storage: sync the log before a commit is answered',
    'cel, machinery: embed the schema',
    'test/up: wait for the port',
  ])
    assert.equal(subjectFault(subject), undefined, subject)
})

test('a subject with another form is a fault', () => {
  assert.match(subjectFault('Mend the log') ?? '', /is not of the form/)
  assert.match(subjectFault('Storage: mend the log') ?? '', /is not of the form/)
  assert.match(subjectFault('storage: added a test') ?? '', /begins with "added"/)
  assert.match(subjectFault('storage: adding a test') ?? '', /use the imperative/)
  assert.match(subjectFault('storage: add a test.') ?? '', /full stop/)
  assert.match(subjectFault(`storage: ${'x'.repeat(70)}`) ?? '', /79 characters, 7 too many/)
})

test('commits after the upstream branch are checked, or the last 50 without one', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-commits-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  const git = (...args: string[]): string =>
    execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  const commit = (text: string): string => git('commit', '--quiet', '--allow-empty', '--message', text)
  const faultsOf = (range?: string) => commitFaults(folder, range)?.map((fault) => fault.replace(/^\S+ /, ''))

  assert.equal(faultsOf(), undefined)
  git('init', '--quiet', '--initial-branch', 'work')
  assert.equal(faultsOf(), undefined)
  commit('First commit')
  for (let i = 0; i < 49; i++) commit('storage: sync the log')
  const form = 'is not of the form "area: imperative sentence"'
  assert.deepEqual(faultsOf(), [`"First commit" ${form}`])
  commit('storage: sync the log')
  assert.deepEqual(faultsOf(), [])
  commit('Upstream commit')
  git('branch', 'main')
  git('branch', '--set-upstream-to', 'main')
  assert.deepEqual(faultsOf(), [])
  commit('Local commit')
  assert.deepEqual(faultsOf(), [`"Local commit" ${form}`])
  assert.deepEqual(faultsOf('main~1..main'), [`"Upstream commit" ${form}`])
  assert.throws(() => faultsOf('nowhere..main'), /git does not know the range nowhere\.\.main/)
})
