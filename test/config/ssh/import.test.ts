/** `t8s config import` over SSH with a real sshd: authentication methods, jump hosts and errors. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { parse } from 'yaml'
import { waitFor } from '../../support/wait-for.ts'
import { Home, kubeconfigOf, without } from '../home.ts'
import { newKey, sshServer, userWithPassword, withoutSshd } from './server.ts'

const skip = withoutSshd || without('sshd', 'ssh-keygen', 'useradd')

test('login with a password from a flag or a file descriptor', { skip }, async (t) => {
  const server = await sshServer(t)
  const user = await userWithPassword(t, 'right horse')
  const home = new Home(t)
  home.write('.ssh/known_hosts', server.knownHost())
  const from = server.url(user, server.file('kubeconfig', kubeconfigOf(['far'])))
  await home.fails(
    ['import', 'a', from, '-p', 'wrong'],
    /rejects the login of t8s\d+ \(tried the password; it supports .*password.*\): check the password/,
  )
  assert.match(await home.ok(['import', 'a', from, '-p', 'right horse']), /"a" was added from 127\.0\.0\.1:/)
  assert.match(
    await home.ok(['import', 'b', from, '--password-fd', '3'], { third: 'right horse\nmore' }),
    /"b" was added/,
  )
  assert.match(await home.ok(['import', 'c', from, '--password-fd', '0'], { input: 'right horse' }), /"c" was added/)
  await home.fails(
    ['import', 'd', from, '--password-fd', '9'],
    /cannot read a password from file descriptor 9: .*--password-fd 3 3< FILE/,
  )
  await home.fails(
    ['import', 'd', from],
    /rejects the login of t8s\d+ \(.*\): use a key with -i, or a password with -p/,
  )
  assert.equal(await home.ok(['list', '-o', 'name']), 'a\nb\nc\n')
})

test('login with a password that PAM asks for', { skip }, async (t) => {
  const server = await sshServer(t, {
    lines: ['UsePAM yes', 'PasswordAuthentication no', 'KbdInteractiveAuthentication yes'],
  })
  const user = await userWithPassword(t, 'right horse')
  const home = new Home(t)
  home.write('.ssh/known_hosts', server.knownHost())
  const from = server.url(user, server.file('kubeconfig', kubeconfigOf(['far'])))
  assert.match(await home.ok(['import', 'a', from, '-p', 'right horse']), /"a" was added/)
  await home.fails(['import', 'b', from, '-p', 'wrong'], /tried the password; it supports .*keyboard-interactive/)
})

test('login with keys: ~/.ssh/id_rsa, -i, and the agent', {
  skip: skip || without('ssh-agent', 'ssh-add'),
}, async (t) => {
  const server = await sshServer(t)
  const home = new Home(t)
  home.write('.ssh/known_hosts', server.knownHost())
  const from = server.url('root', server.file('kubeconfig', kubeconfigOf(['far'])))
  await home.fails(
    ['import', 'a', from],
    /127\.0\.0\.1 rejects the login of root \(there was nothing to try; it supports publickey/,
  )
  server.authorize(newKey(home.path('.ssh/id_rsa'), 'rsa'))
  assert.match(await home.ok(['import', 'a', from]), /"a" was added/)

  server.authorize(newKey(home.path('other'), 'ed25519'))
  server.authorize(newKey(home.path('locked'), 'ed25519', 'open sesame'))
  assert.match(await home.ok(['import', 'b', from, '-i', home.path('other')]), /"b" was added/)
  assert.match(await home.ok(['import', 'c', from, '-i', '~/other']), /"c" was added/)
  await home.fails(
    ['import', 'd', from, '-i', home.path('locked')],
    /locked has a passphrase, and there is no terminal .* with ssh-add/,
  )
  await home.fails(['import', 'd', from, '-i', home.path('gone')], /the key .*gone does not exist: use another with -i/)
  await home.fails(
    ['import', 'd', from, '-i', home.path('.ssh/known_hosts')],
    /known_hosts is not a usable private key .*: use another with -i/,
  )

  const socket = home.path('agent.sock')
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' })
  const ended = once(agent, 'exit')
  t.after(async () => {
    agent.kill()
    await ended
  })
  await waitFor('an agent', () => existsSync(socket))
  const only = new Home(t)
  only.write('.ssh/known_hosts', server.knownHost())
  newKey(only.path('key'), 'ed25519')
  const env = { SSH_AUTH_SOCK: socket }
  await only.fails(['import', 'a', from], /tried the agent; it supports publickey/, { env })
  execFileSync('ssh-add', ['-q', home.path('other')], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  assert.match(await only.ok(['import', 'a', from], { env }), /"a" was added/)
  // A key with a passphrase that the agent has unlocked.
  newKey(only.path('locked'), 'ed25519', 'open sesame')
  copyFileSync(home.path('other.pub'), only.path('locked.pub'))
  assert.match(await only.ok(['import', 'chosen', from, '-i', only.path('locked')], { env }), /"chosen" was added/)
  await only.fails(['import', 'b', from, '-i', only.path('key')], /rejects the login of root \(tried .*key; /, { env })
})

test('~/.ssh/config sets host, user, port, keys and jump hosts', { skip }, async (t) => {
  const [gate, inner] = await Promise.all([sshServer(t), sshServer(t)])
  const home = new Home(t)
  const file = inner.file('kubeconfig', kubeconfigOf(['far']))
  for (const server of [gate, inner]) server.authorize(newKey(home.path(`key-${server.port}`), 'ed25519'))
  home.write('.ssh/known_hosts', gate.knownHost() + inner.knownHost())
  home.write(
    '.ssh/config',
    `Include hosts/*
Host *
  StrictHostKeyChecking yes
`,
  )
  home.write(
    '.ssh/hosts/test',
    `Host gate
  HostName 127.0.0.1
  Port ${gate.port}
  User root
  IdentityFile ~/key-${gate.port}
Host inner
  HostName 127.0.0.1
  Port ${inner.port}
  User root
  IdentityFile ${home.path(`key-${inner.port}`)}
  ProxyJump gate
Host circle
  HostName 127.0.0.1
  ProxyJump circle
`,
  )
  assert.match(await home.ok(['import', 'a', `--from=ssh://inner${file}`]), /"a" was added from inner:\//)
  assert.match(gate.log(), /Accepted publickey for root/)
  assert.match(inner.log(), /Accepted publickey for root/)
  assert.match(
    await home.ok([
      'import',
      'b',
      `--from=ssh://root@127.0.0.1:${inner.port}${file}`,
      '-J',
      'gate',
      '-i',
      `~/key-${inner.port}`,
      '-i',
      `~/key-${gate.port}`,
    ]),
    /"b" was added/,
  )
  await home.fails(
    ['import', 'c', `--from=ssh://circle${file}`],
    /has more than 8 jump hosts: check ~\/\.ssh\/config for a cycle of ProxyJump/,
  )
  await inner.stop()
  await home.fails(['import', 'c', `--from=ssh://inner${file}`], /the jump host gate cannot reach 127\.0\.0\.1:\d+/)
  await home.fails(
    ['import', 'c', `--from=ssh://127.0.0.1:${inner.port}${file}`],
    /127\.0\.0\.1 .* refuses connections: check that sshd is running there/,
  )
  await home.fails(
    ['import', 'c', `--from=ssh://inner${file}`, '-F', home.path('gone')],
    /cannot read .*gone: no such file/,
  )
})

test('the first of ProxyCommand and ProxyJump is used, and errors contain the output of the ProxyCommand', {
  skip,
}, async (t) => {
  const server = await sshServer(t)
  const home = new Home(t)
  const file = server.file('kubeconfig', kubeconfigOf(['far']))
  home.write('.ssh/known_hosts', `far.example ${server.hostKey('ed25519')}\n`)
  server.authorize(newKey(home.path('.ssh/id_ed25519'), 'ed25519'))
  // Node is always available, unlike nc, of which Debian has several variants.
  const program = home.write(
    'connect.mjs',
    "import { connect } from 'node:net'\nconst [, , host, port] = process.argv\nconst socket = connect(port, " +
      'host)\nprocess.stdin.pipe(socket).pipe(process.stdout)\n',
  )
  home.write(
    '.ssh/config',
    `Host far broken gone
  HostName far.example
  Port 22
Host far
  ProxyCommand ${process.execPath} "${program}" 127.0.0.1 ${server.port} 2>/dev/null
  ProxyJump nowhere
Host behind
  HostName 127.0.0.1
  Port ${server.port}
  HostKeyAlias far.example
  ProxyJump far
Host gone
  ProxyJump none
Host broken gone
  ProxyCommand sh -c 'echo "no way to %h:%p as %r" >&2; exit 3'
Host *
  User root
`,
  )
  assert.match(await home.ok(['import', 'a', `--from=ssh://far${file}`]), /"a" was added from far:\//)
  assert.match(await home.ok(['import', 'b', `--from=ssh://behind${file}`]), /"b" was added from behind:\//)
  await home.fails(
    ['import', 'c', `--from=ssh://broken${file}`],
    /the ProxyCommand of broken \(sh -c .*\) ended with 3: no way to far\.example:22 as root: check that/,
  )
  await home.fails(['import', 'c', `--from=ssh://gone${file}`], /unknown host far\.example/)
  await home.fails(
    ['import', 'c', `--from=ssh://a%3Bb@broken${file}`],
    /broken has a ProxyCommand, and "a;b" is unsafe in a shell/,
  )
  await home.fails(['import', 'c', `--from=ssh://broken${file}`, '-J', 'far'], /cannot reach far\.example:22/)
})

test('files that the kubeconfig names are imported; unreadable files are errors', { skip }, async (t) => {
  const server = await sshServer(t)
  const home = new Home(t)
  home.write('.ssh/known_hosts', server.knownHost())
  server.authorize(newKey(home.path('.ssh/id_ed25519'), 'ed25519'))
  server.file('pki/ca.crt', 'CA')
  server.file('token', 'abc\n')
  const file = server.file(
    'kubeconfig',
    `clusters: [{name: k, cluster: {server: "https://localhost:6443", certificate-authority: pki/ca.crt}}]
users: [{name: u, user: {tokenFile: ${server.folder}/token}}]
contexts: [{name: default, context: {cluster: k, user: u}}]
current-context: default
`,
  )
  const from = server.url('root', file)
  await home.fails(
    ['import', 'a', from],
    /its server is https:\/\/localhost:6443, .* loopback address of .*: use --change-server .*, or --keep-server/,
  )
  await home.ok(['import', 'a', from, '--keep-server'])
  const config = parse(home.read())
  assert.deepEqual(config.clusters, [
    {
      name: 'k',
      cluster: { server: 'https://localhost:6443', 'certificate-authority-data': Buffer.from('CA').toString('base64') },
    },
  ])
  assert.deepEqual(config.users, [{ name: 'u', user: { token: 'abc' } }])
  home.write('.ssh/config', `Host node\n HostName 127.0.0.1\n Port ${server.port}\n User root\n`)
  await home.ok(['import', 'b', `--from=ssh://node:${file}`, '--change-server'])
  const moved = parse(home.read()).clusters.map(({ cluster }: { cluster: { server: string } }) => cluster.server)
  assert.deepEqual(moved, ['https://localhost:6443', 'https://127.0.0.1:6443'])

  await home.fails(
    ['import', 'c', '--from=ssh://node/no/such/file'],
    /cannot read \/no\/such\/file as root@node \(no such file\): check the path on that machine/,
  )
  await home.fails(
    ['import', 'c', `--from=ssh://node${server.folder}/pki`],
    /cannot read .*pki as root@node \(it is not a file\)/,
  )
  await home.fails(
    ['import', 'c', `--from=ssh://node${server.folder}/token`],
    /node:.*token is not a kubeconfig \(it has no fields\): nothing was changed/,
  )
  await home.fails(['import', 'c', '--from=ssh://node'], /ssh:\/\/node has no file: use/)
  await home.fails(['import', 'c', '--from=ssh://root:secret@node/x'], /ssh:\/\/root:…@node\/x contains a password/)
})

test('without SFTP, files are read with cat', { skip }, async (t) => {
  const server = await sshServer(t, { lines: ['Subsystem none /bin/false'] })
  const home = new Home(t)
  home.write('.ssh/known_hosts', server.knownHost())
  server.authorize(newKey(home.path('.ssh/id_rsa'), 'rsa'))
  assert.match(
    await home.ok(['import', 'a', server.url('root', server.file("it's", kubeconfigOf(['far'])))]),
    /"a" was added/,
  )
  await home.fails(
    ['import', 'b', server.url('root', '/no/such/file')],
    /cannot read \/no\/such\/file as root@127\.0\.0\.1 \(cat: .*No such file or directory\)/,
  )
})

test('silent machines time out, and other protocols are errors', async (t) => {
  const home = new Home(t)
  home.write('.ssh/config', 'Host *\n  ConnectTimeout 1\n')
  const sockets = new Set<Socket>()
  const listening = async (greeting: string): Promise<number> => {
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}))
      socket.write(greeting)
    }).listen(0, '127.0.0.1')
    t.after(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    await once(server, 'listening')
    const address = server.address()
    return typeof address === 'object' && address ? address.port : 0
  }
  await home.fails(
    ['import', 'a', `--from=ssh://127.0.0.1:${await listening('')}/x`],
    /did not respond within 1 s: check that it is up and that the port is correct/,
  )
  await home.fails(
    ['import', 'a', `--from=ssh://127.0.0.1:${await listening('HTTP/1.1 400 Bad Request\r\n\r\n')}/x`],
    /127\.0\.0\.1 .*(cannot connect|closed the connection|did not respond)|cannot connect to 127\.0\.0\.1/,
  )
  await home.fails(
    ['import', 'a', '--from=ssh://no-such-host.invalid/x'],
    /unknown host no-such-host\.invalid: check the name, or HostName|did not respond within 1 s/,
  )
})
