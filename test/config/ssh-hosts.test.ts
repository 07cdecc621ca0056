/** Which hosts `t8s config import` trusts: known_hosts is respected, against a real sshd. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Lifetime } from '../support/reachable-cluster.ts'
import { Home, kubeconfigOf, without } from './home.ts'
import { newKey, type SshServer, sshServer, withoutSshd } from './ssh-server.ts'

const skip = withoutSshd || without('sshd', 'ssh-keygen')

/** A home whose key the server knows; the server is not known there. */
async function strangers(
  t: Lifetime,
): Promise<{ readonly server: SshServer; readonly home: Home; readonly from: string }> {
  const server = await sshServer(t)
  const home = new Home(t)
  home.write('.ssh/known_hosts', '')
  server.authorize(newKey(home.path('.ssh/id_ed25519'), 'ed25519'))
  return { server, home, from: server.url('root', server.file('kubeconfig', kubeconfigOf(['far']))) }
}

test('a host that nobody knows is refused where nobody can be asked, and told how', { skip }, async (t) => {
  const { server, home, from } = await strangers(t)
  const said = await home.refuses(
    ['import', 'a', from],
    /\[127\.0\.0\.1\]:\d+ is not known, and nobody is at a terminal .*: connect once by ssh, or add it to .*known_hosts by ssh-keyscan/,
  )
  const fingerprint = execFileSync('ssh-keygen', ['-l', '-f', `${server.folder}/host_ed25519.pub`], {
    encoding: 'utf8',
  }).split(' ')[1]!
  assert.ok(said.includes(`ssh-ed25519 ${fingerprint}`), said)
  home.write('.ssh/config', 'Host *\n  StrictHostKeyChecking yes\n')
  await home.refuses(['import', 'a', from], /is not known, and StrictHostKeyChecking is yes: add its key/)
  home.write('.ssh/config', 'Host *\n  StrictHostKeyChecking accept-new\n  HashKnownHosts yes\n')
  await home.ok(['import', 'a', from])
  const line = home.read('.ssh/known_hosts')
  assert.match(line, /^\|1\|/)
  // What was added is what ssh finds.
  execFileSync('ssh-keygen', ['-F', `[127.0.0.1]:${server.port}`, '-f', home.path('.ssh/known_hosts')])
  home.write('.ssh/config', '')
  await home.ok(['import', 'b', from])
  assert.equal(home.read('.ssh/known_hosts'), line)
})

test('a host whose key has changed is refused, whatever the configuration says', { skip }, async (t) => {
  const { server, home, from } = await strangers(t)
  home.write('.ssh/known_hosts', server.knownHost())
  await home.ok(['import', 'a', from])
  await server.changeHostKeys()
  home.write('.ssh/config', 'Host *\n  StrictHostKeyChecking no\n')
  await home.refuses(
    ['import', 'b', from],
    /the key of \[127\.0\.0\.1\]:\d+ has changed: it shows ssh-ed25519 SHA256:.*known_hosts:1 says .*ssh-keygen -R/,
  )
})

test('keys of other kinds, hashed names, patterns and another name for the host are understood', {
  skip,
}, async (t) => {
  const { server, home, from } = await strangers(t)
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

test('a revoked key is refused, and a certificate authority is said not to be looked at', { skip }, async (t) => {
  const { server, home, from } = await strangers(t)
  home.write('.ssh/known_hosts', server.knownHost())
  appendFileSync(home.path('.ssh/known_hosts'), `@revoked * ${server.hostKey('ed25519')}\n`)
  await home.refuses(
    ['import', 'a', from],
    /the key of \[127\.0\.0\.1\]:\d+ .* is revoked at .*known_hosts:2: do not trust this machine/,
  )
  home.write('.ssh/known_hosts', `@cert-authority [127.0.0.1]:* ${server.hostKey('rsa')}\n`)
  await home.refuses(
    ['import', 'a', from],
    /is not known \(.*known_hosts:1 trusts it by a certificate authority, and t8s does not read certificates of hosts\)/,
  )
})
