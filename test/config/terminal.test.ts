/** `t8s config` on a terminal (tmux): choosing from a list, and prompts of SSH. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Home, kubeconfigOf, launcher, without } from './home.ts'
import { newKey, sshServer, userWithPassword, withoutSshd } from './ssh/server.ts'
import { testTerminal, withoutTmux } from './tmux.ts'

const skip = withoutTmux
const skipSsh = skip || withoutSshd || without('sshd', 'ssh-keygen', 'useradd')
const t8s = `${launcher} config`

test('arrows and typing choose a context; Escape and Ctrl-C cancel', { skip }, async (t) => {
  const home = new Home(t)
  home.write('.kube/config', kubeconfigOf(['dev', 'staging', 'production', 'test']))
  const terminal = await testTerminal(t, home)
  const current = async (): Promise<string> => (await home.ok(['show', '-o', 'json'])).match(/"name": "(.*)"/)![1]!

  terminal.types(`${t8s} use`)
  terminal.presses('Enter')
  const list = await terminal.shows(/Use which context\?[\s\S]*Escape cancels/)
  assert.match(list, /^> dev {9}https:\/\/dev\.example\.com:6443 \(current\)$/m)
  assert.match(list, /^ {2}production {2}https:\/\/production\.example\.com:6443$/m)
  terminal.presses('Down')
  await terminal.shows(/^> staging/m)
  terminal.presses('Up', 'Up')
  await terminal.shows(/^> test/m)
  terminal.presses('Enter')
  const after = await terminal.shows(/switched to context "test"/)
  assert.doesNotMatch(after, /Use which context|Escape cancels/, 'the list is erased')
  assert.equal(await current(), 'test')

  const before = home.read()
  terminal.types(`clear; ${t8s} use`)
  terminal.presses('Enter')
  await terminal.shows(/^> test/m)
  terminal.types('zz')
  await terminal.shows(/no match/)
  terminal.presses('BSpace', 'BSpace')
  terminal.types('PROD')
  const filtered = await terminal.shows(/^> production/m)
  assert.doesNotMatch(filtered, /staging/)
  terminal.presses('Escape')
  await terminal.shows(/t8s: nothing was chosen, so nothing was changed/)
  terminal.types(`clear; ${t8s} remove`)
  terminal.presses('Enter')
  await terminal.shows(/Remove which context\?/)
  terminal.presses('C-c')
  await terminal.shows(/t8s: nothing was chosen, so nothing was changed/)
  assert.equal(home.read(), before)

  terminal.types(`clear; ${t8s} remove`)
  terminal.presses('Enter')
  await terminal.shows(/Remove which context\?/)
  terminal.types('stag')
  await terminal.shows(/^> staging/m)
  terminal.presses('Enter')
  await terminal.shows(/removed "staging", and with it the cluster "staging-cluster" and the user "staging-user"/)
  // The terminal mode is restored.
  assert.match(await terminal.runs('stty -a | grep -o " echo "'), /echo/)
})

test('a long list scrolls with the selection', { skip }, async (t) => {
  const home = new Home(t)
  home.write(
    '.kube/config',
    kubeconfigOf(
      Array.from({ length: 60 }, (_, index) => `c${index}`),
      'c40',
    ),
  )
  const terminal = await testTerminal(t, home)
  terminal.types(`${t8s} use`)
  terminal.presses('Enter')
  const list = await terminal.shows(/^> c40 /m)
  assert.doesNotMatch(list, /^ {2}c1 /m)
  terminal.presses('Home')
  await terminal.shows(/^> c0 /m)
  terminal.presses('C-c')
  await terminal.shows(/nothing was chosen/)
})

test('SSH prompts for host keys, and for passwords and passphrases without showing them', {
  skip: skipSsh,
}, async (t) => {
  const server = await sshServer(t)
  const user = await userWithPassword(t, 'right horse')
  const home = new Home(t)
  const file = server.file('kubeconfig', kubeconfigOf(['far']).replace('far.example.com', 'localhost'))
  home.write('.ssh/config', 'Host *\n  HashKnownHosts no\n')
  const terminal = await testTerminal(t, home)
  const from = server.url(user, file)

  terminal.types(`${t8s} import a ${from}`)
  terminal.presses('Enter')
  await terminal.shows(/is unknown\. Its key is ssh-ed25519 SHA256:\S+ Trust it permanently\? \[y\/N\]/)
  terminal.presses('Enter')
  await terminal.shows(/was not trusted: nothing was changed/)
  await assert.rejects(async () => home.read('.ssh/known_hosts'))

  terminal.types(`clear; ${t8s} import a ${from}`)
  terminal.presses('Enter')
  await terminal.shows(/Trust it permanently\?/)
  terminal.types('y')
  terminal.presses('Enter')
  await terminal.shows(/Password of t8s\d+@127\.0\.0\.1:/)
  assert.equal(home.read('.ssh/known_hosts'), server.knownHost())
  terminal.types('wrong one')
  terminal.presses('Enter')
  await terminal.shows(/Password of[^\n]*\nPassword of/)
  terminal.types('right horse')
  terminal.presses('Enter')
  const screen = await terminal.shows(/Its server is https:\/\/localhost:6443, which is a loopback address/)
  assert.doesNotMatch(screen, /horse|wrong one/)
  terminal.types('n')
  terminal.presses('Enter')
  await terminal.shows(/"a" was added from/)

  server.authorize(newKey(home.path('locked'), 'ed25519', 'open sesame'))
  terminal.types(`clear; ${t8s} import b ${server.url('root', file)} -i ~/locked --keep-server`)
  terminal.presses('Enter')
  await terminal.shows(/Passphrase of .*locked:/)
  terminal.types('guess')
  terminal.presses('Enter')
  await terminal.shows(/Wrong passphrase\. Passphrase of/)
  terminal.types('open sesame')
  terminal.presses('Enter')
  const done = await terminal.shows(/"b" was added from/)
  assert.doesNotMatch(done, /sesame/)

  const before = home.read()
  terminal.types(`clear; ${t8s} import c ${server.url('root', file)} -i ~/locked`)
  terminal.presses('Enter')
  await terminal.shows(/Passphrase of/)
  terminal.presses('C-c')
  await terminal.shows(/canceled: nothing was changed/)
  assert.equal(home.read(), before)
})

test('a host that closes the connection ends a prompt, and the terminal mode is restored', {
  skip: skipSsh,
}, async (t) => {
  const server = await sshServer(t, { lines: ['LoginGraceTime 2'] })
  const home = new Home(t)
  const terminal = await testTerminal(t, home)
  terminal.types(`${t8s} import a ${server.url('root', '/x')}`)
  terminal.presses('Enter')
  await terminal.shows(/Trust it permanently\?/)
  await terminal.shows(/127\.0\.0\.1.* closed the connection: check its log for the reason\nready\$/)
  assert.match(await terminal.runs('stty -a | grep -o " echo "'), /echo/)
})
