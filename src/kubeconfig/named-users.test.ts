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

test('the user with the most specific match for the server is chosen', async (t) => {
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

test('the user of the current context is the default; without one there are no credentials', async (t) => {
  const users = [user('me')]
  const contexts = [{ name: 'c', context: { user: 'me' } }]
  assert.equal((await readNamedUsers(written(t, { users, contexts, 'current-context': 'c' })))('x:443').token, 'me')
  assert.deepEqual((await readNamedUsers(written(t, { users })))('x:443'), {})
})

test('exec plugins are rejected', async (t) => {
  await assert.rejects(
    readNamedUsers(written(t, { users: [{ name: 'x', user: { exec: { command: 'true' } } }] })),
    /which user "x" has, are not run/,
  )
})
