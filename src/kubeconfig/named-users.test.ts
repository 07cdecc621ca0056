import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readNamedUsers } from './named-users.ts'

function written(t: TestContext, content: object): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-users-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'kubeconfig')
  writeFileSync(file, JSON.stringify(content))
  return file
}

const user = (name: string) => ({ name, user: { token: name } })

test('the user whose name is nearest to the server is taken', async (t) => {
  const users = ['a.example.com:8443', 'b.example.com', '*.example.com', '*.svc', '*'].map(user)
  const find = await readNamedUsers(written(t, { users }))
  const token = (server: string) => find(server).token
  assert.equal(token('a.example.com:8443'), 'a.example.com:8443')
  assert.equal(token('b.example.com:443'), 'b.example.com')
  assert.equal(token('c.example.com:443'), '*.example.com')
  assert.equal(token('b.example.com:8443'), '*')
  assert.equal(token('hook.default.svc:443'), '*.svc')
  assert.equal(token('elsewhere:443'), '*')
})

test('the user of the current context is for all others, and nobody where there is none', async (t) => {
  const users = [user('me')]
  const contexts = [{ name: 'c', context: { user: 'me' } }]
  assert.equal((await readNamedUsers(written(t, { users, contexts, 'current-context': 'c' })))('x:443').token, 'me')
  assert.deepEqual((await readNamedUsers(written(t, { users })))('x:443'), {})
})

test('programs are not run for credentials', async (t) => {
  await assert.rejects(
    readNamedUsers(written(t, { users: [{ name: 'x', user: { exec: { command: 'true' } } }] })),
    /which user "x" has, are not run/,
  )
})
