/** The hosts that `t8s config import` trusts according to known_hosts, with a real sshd. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Lifetime } from '../../support/reachable-cluster.ts'
import { Home, kubeconfigOf, without } from '../home.ts'
import { newKey, type SshServer, sshServer, withoutSshd } from './server.ts'

const skip = withoutSshd || without('sshd', 'ssh-keygen')

/** A home whose key the server accepts, and that does not know the server. */
async function unknownServer(
  t: Lifetime,
): Promise<{ readonly server: SshServer; readonly home: Home; readonly from: string }> {
  const server = await sshServer(t)
  const home = new Home(t)
  home.write('.ssh/known_hosts', '')
  server.authorize(newKey(home.path('.ssh/id_ed25519'), 'ed25519'))
  return { server, home, from: server.url('root', server.file('kubeconfig', kubeconfigOf(['far']))) }
}

test('without a terminal, an unknown host is rejected, and the error says how to add it', { skip }, async (t) => {
  const { server, home, from } = await unknownServer(t)
  const message = await home.fails(
    ['import', 'a', from],
    /the host \[127\.0\.0\.1\]:\d+ is unknown, and there is no terminal .*: connect once .*with ssh-keyscan/,
  )
  const fingerprint = execFileSync('ssh-keygen', ['-l', '-f', `${server.folder}/host_ed25519.pub`], {
    encoding: 'utf8',
  }).split(' ')[1]!
  assert.ok(message.includes(`ssh-ed25519 ${fingerprint}`), message)
  home.write('.ssh/config', 'Host *\n  StrictHostKeyChecking yes\n')
  await home.fails(['import', 'a', from], /is unknown, and StrictHostKeyChecking is yes: compare its key/)
  home.write('.ssh/config', 'Host *\n  StrictHostKeyChecking accept-new\n  HashKnownHosts yes\n')
  await home.ok(['import', 'a', from])
  const line = home.read('.ssh/known_hosts')
  assert.match(line, /^\|1\|/)
  // ssh finds the added line.
  execFileSync('ssh-keygen', ['-F', `[127.0.0.1]:${server.port}`, '-f', home.path('.ssh/known_hosts')])
  home.write('.ssh/config', '')
  await home.ok(['import', 'b', from])
  assert.equal(home.read('.ssh/known_hosts'), line)
})

test('a changed host key is rejected with any configuration', { skip }, async (t) => {
  const { server, home, from } = await unknownServer(t)
  home.write('.ssh/known_hosts', server.knownHost())
  await home.ok(['import', 'a', from])
  await server.changeHostKeys()
  home.write('.ssh/config', 'Host *\n  StrictHostKeyChecking no\n')
  await home.fails(
    ['import', 'b', from],
    /the key of \[127\.0\.0\.1\]:\d+ has changed: it is ssh-ed25519 SHA256:.*known_hosts:1 has .*ssh-keygen -R/,
  )
})

test('other key types, hashed names, patterns and HostKeyAlias are supported', {
  skip,
}, async (t) => {
  const { server, home, from } = await unknownServer(t)
  const known = async (name: string, text: string, config = ''): Promise<void> => {
    home.write('.ssh/known_hosts', text)
    home.write('.ssh/config', config)
    await home.ok(['import', name, from])
  }
  await known('ecdsa', `[127.0.0.1]:${server.port} ${server.hostKey('ecdsa')}\n`)
  await known('rsa', `# a comment\n\n[127.0.0.1]:${server.port} ${server.hostKey('rsa')} with a comment\n`)
  await known('pattern', `[127.0.0.?]:* ${server.hostKey('ed25519')}\n`)
  await known('alias', `node-7 ${server.hostKey('ed25519')}\n`, 'Host 127.0.0.1\n  HostKeyAlias node-7\n')
  home.write('.ssh/known_hosts', server.knownHost())
  execFileSync('ssh-keygen', ['-q', '-H', '-f', home.path('.ssh/known_hosts')], { stdio: 'ignore' })
  await known('hashed', home.read('.ssh/known_hosts'))
})

test('a revoked key is rejected, and certificate authorities are reported as unsupported', { skip }, async (t) => {
  const { server, home, from } = await unknownServer(t)
  home.write('.ssh/known_hosts', server.knownHost())
  appendFileSync(home.path('.ssh/known_hosts'), `@revoked * ${server.hostKey('ed25519')}\n`)
  await home.fails(
    ['import', 'a', from],
    /the key of \[127\.0\.0\.1\]:\d+ .* is revoked at .*known_hosts:2: do not trust this machine/,
  )
  home.write('.ssh/known_hosts', `@cert-authority [127.0.0.1]:* ${server.hostKey('rsa')}\n`)
  await home.fails(
    ['import', 'a', from],
    /is unknown \(.*known_hosts:1 trusts it with a certificate authority, but t8s does not support host certificates\)/,
  )
})
