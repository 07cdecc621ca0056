import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { SshHost } from './ssh-address.ts'
import { type SshSettings, sshSettings } from './ssh-settings.ts'

/** Settings from a configuration, without the system's. */
function settingsBy(
  t: TestContext,
  text: string,
): { readonly home: string; readonly of: (host: SshHost, environment?: NodeJS.ProcessEnv) => SshSettings } {
  const home = mkdtempSync(join(tmpdir(), 't8s-ssh-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  mkdirSync(join(home, '.ssh'))
  const configFile = join(home, '.ssh/config')
  writeFileSync(configFile, text)
  return { home, of: (host, environment = { USER: 'me' }) => sshSettings(host, { home, environment, configFile }) }
}

test('an empty configuration has the defaults', (t) => {
  const { home, of } = settingsBy(t, '')
  const { alias, hostName, port, user, identityFiles, agent, unknownHosts, jumps, knownHostsFiles } = of(
    { host: 'node' },
    { USER: 'me', SSH_AUTH_SOCK: '/agent' },
  )
  assert.deepEqual(
    [alias, hostName, port, user, agent, unknownHosts, jumps],
    ['node', 'node', 22, 'me', '/agent', 'ask', []],
  )
  assert.deepEqual(
    identityFiles,
    ['id_rsa', 'id_ecdsa', 'id_ed25519'].map((name) => join(home, '.ssh', name)),
  )
  assert.equal(knownHostsFiles[0], join(home, '.ssh/known_hosts'))
})

test('the first value wins, keys accumulate, and the address has precedence over the file', (t) => {
  const { home, of } = settingsBy(
    t,
    `Host n*
  HostName %h.example.com
  user admin
  Port 2222
  IdentityFile ~/a
  IdentityAgent none
  ProxyJump one@gate:22,two
  UserKnownHostsFile ~/known "/etc/known_%h"
  StrictHostKeyChecking accept-new
Host *
  User nobody
  IdentityFile %d/b_%r
  IdentitiesOnly yes
  ConnectTimeout 3
`,
  )
  const node = of({ host: 'node' }, { USER: 'me', SSH_AUTH_SOCK: '/agent' })
  assert.deepEqual(
    [node.hostName, node.user, node.port, node.agent, node.unknownHosts],
    ['node.example.com', 'admin', 2222, undefined, 'accept'],
  )
  assert.deepEqual(node.identityFiles, [join(home, 'a'), join(home, 'b_admin')])
  assert.deepEqual(node.jumps, [{ user: 'one', host: 'gate', port: 22 }, { host: 'two' }])
  assert.deepEqual(node.knownHostsFiles.slice(0, 2), [join(home, 'known'), '/etc/known_node.example.com'])
  assert.deepEqual([node.identitiesOnly, node.connectTimeoutMs], [true, 3000])
  const other = of({ host: 'node', user: 'root', port: 22 })
  assert.deepEqual([other.user, other.port], ['root', 22])
  assert.equal(of({ host: 'x' }).user, 'nobody')
})
