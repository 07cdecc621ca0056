import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { dockerLogin } from './docker-login.ts'

const auth = (login: string): string => Buffer.from(login).toString('base64')

function folderWith(t: TestContext, config: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-docker-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config))
  return folder
}

/** Writes a credential helper, and returns the environment that finds it. */
function helper(folder: string, name: string, script: string): NodeJS.ProcessEnv {
  const file = join(folder, `docker-credential-${name}`)
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return { PATH: `${folder}:${process.env.PATH}` }
}

test('a login is found by host, with or without a scheme', async (t) => {
  const folder = folderWith(t, {
    auths: {
      'registry.test:5000': { auth: auth('me:pass:word') },
      'https://other.test/v1/': { username: 'you', password: 'secret' },
      'token.test': { identitytoken: 'refresh' },
      'https://index.docker.io/v1/': { auth: auth('hub:hub') },
    },
  })
  const login = (registry: string) => dockerLogin(registry, { folder })
  assert.deepEqual(await login('registry.test:5000'), { username: 'me', password: 'pass:word' })
  assert.deepEqual(await login('other.test'), { username: 'you', password: 'secret' })
  assert.deepEqual(await login('token.test'), { username: '', password: '', identityToken: 'refresh' })
  assert.deepEqual(await login('docker.io'), { username: 'hub', password: 'hub' })
  assert.equal(await login('registry.test'), undefined)
  assert.equal(await dockerLogin('registry.test', { folder: '/missing' }), undefined)
})

test('a credential helper answers for its registry', async (t) => {
  const folder = folderWith(t, {
    credHelpers: { 'registry.test': 'one' },
    auths: { 'plain.test': { auth: auth('a:b') } },
  })
  const environment = helper(folder, 'one', 'printf \'{"Username":"<token>","Secret":"%s %s"}\' "$1" "$(cat)"')
  assert.deepEqual(await dockerLogin('registry.test', { folder, environment }), {
    username: '',
    password: '',
    identityToken: 'get registry.test',
  })
  assert.deepEqual(await dockerLogin('plain.test', { folder, environment }), { username: 'a', password: 'b' })
})

test('a store without a login leaves the file, and one that fails is an error', async (t) => {
  const folder = folderWith(t, { credsStore: 'two', auths: { 'plain.test': { auth: auth('a:b') } } })
  const missing = helper(folder, 'two', 'echo credentials not found in native keychain; exit 1')
  assert.deepEqual(await dockerLogin('plain.test', { folder, environment: missing }), { username: 'a', password: 'b' })
  const broken = helper(folder, 'two', 'echo locked; exit 1')
  await assert.rejects(
    dockerLogin('plain.test', { folder, environment: broken }),
    /docker-credential-two failed: locked/,
  )
})

test('a file that is not valid is an error with its path', async (t) => {
  const folder = folderWith(t, '[]')
  await assert.rejects(dockerLogin('plain.test', { folder }), /config\.json is not valid: it must be a JSON object/)
})
