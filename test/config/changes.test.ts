/** Changes of `t8s config` and their undo: they change nothing else, and kubectl can read the result. */
import assert from 'node:assert/strict'
import { chmodSync, chownSync, existsSync, lstatSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { test } from 'node:test'
import { Home, kubeconfigOf } from './home.ts'
import { kubectlConfig, withoutKubectl } from './kubectl-config.ts'

const notRoot = process.getuid?.() !== 0 && 'only root can change the owner of files'

test('use, rename and remove change nothing else, and kubectl can read the result', {
  skip: withoutKubectl,
}, async (t) => {
  const home = new Home(t)
  const text = kubeconfigOf(['dev', 'prod'])
  home.write('.kube/config', text)
  assert.equal(await home.ok(['use', 'prod']), 'switched to context "prod"\n')
  assert.equal(home.read(), text.replace('current-context: dev #', 'current-context: prod #'), 'byte for byte')
  assert.equal(await kubectlConfig(home, ['current-context']), 'prod\n')
  assert.equal(await home.ok(['use', '-n', 'prod']), '"prod" is the current context already\n')
  assert.equal(await home.ok(['use', '-']), 'switched to context "dev"\n')
  assert.equal(await home.ok(['use', '-']), 'switched to context "prod"\n')

  await home.ok(['rename', '-n', 'prod', '-t', 'production: main'])
  assert.equal(await kubectlConfig(home, ['current-context']), 'production: main\n')
  assert.equal(
    home.read(),
    text
      .replace('current-context: dev #', 'current-context: "production: main" #')
      .replace('  name: prod\n', '  name: "production: main"\n'),
  )
  await home.ok(['rename', '-n', 'production: main', '-t', 'yes'])
  assert.equal(await kubectlConfig(home, ['current-context']), 'yes\n')

  assert.equal(
    await home.ok(['remove', '-n', 'dev']),
    'removed "dev", and with it the cluster "dev-cluster" and the user "dev-user"; t8s config undo restores it\n',
  )
  assert.equal(await kubectlConfig(home, ['get-contexts', '-o', 'name']), 'yes\n')
  assert.equal(await kubectlConfig(home, ['get-clusters']), 'NAME\nprod-cluster\n')
  assert.equal(await kubectlConfig(home, ['get-users']), 'NAME\nprod-user\n')
  for (const kept of [
    '# written by hand',
    '# the usual one',
    '# keep these secret',
    '# not from outside',
    'x-team: {owner: "me", since: 0644}',
    '"prod-0123"',
  ]) {
    assert.ok(home.read().includes(kept), kept)
  }
  assert.match(await home.ok(['remove', 'yes']), /it was the current context: choose another with t8s config use/)
  assert.equal(await kubectlConfig(home, ['get-contexts', '-o', 'name']), '')
  assert.match(await home.ok(['list']), /There are no contexts in .*: import one with t8s config import/)
})

test('undo restores the last state, and a second undo redoes the change', async (t) => {
  const home = new Home(t)
  const text = kubeconfigOf(['dev', 'prod'])
  home.write('.kube/config', text)
  await home.fails(['undo'], /there is nothing to undo/)
  await home.ok(['remove', 'dev'])
  const removed = home.read()
  assert.match(await home.ok(['undo']), /^undone: remove dev \(.*config\); t8s config undo redoes it$/m)
  assert.equal(home.read(), text)
  assert.match(await home.ok(['undo']), /^redone: remove dev/)
  assert.equal(home.read(), removed)
  await home.ok(['undo'])
  assert.equal(home.read(), text)
  await home.ok(['use', 'prod'])
  home.write('.kube/config', `${home.read()}# mine\n`)
  await home.fails(
    ['undo'],
    /has been changed since \("use prod" was the last change of t8s\): undo would overwrite that; use --force/,
  )
  await home.ok(['undo', '--force'])
  assert.equal(home.read(), text)
  assert.equal(statSync(home.path('.kube/config.t8s-undo')).mode & 0o777, 0o600)
})

test('with several files in KUBECONFIG, changes go where kubectl writes them', { skip: withoutKubectl }, async (t) => {
  const home = new Home(t)
  const env = {
    KUBECONFIG: [
      home.path('missing'),
      home.write('a', kubeconfigOf(['one'])),
      home.write('b', kubeconfigOf(['two', 'three'])),
    ].join(':'),
  }
  const [a, b] = [home.read('a'), home.read('b')]
  await home.ok(['use', 'three'], { env })
  assert.equal(home.read('a'), a.replace('current-context: one', 'current-context: three'))
  assert.equal(home.read('b'), b)
  assert.equal(await kubectlConfig(home, ['current-context'], env), 'three\n')
  await home.ok(['rename', '-n', 'two', '-t', 'zwei'], { env })
  assert.equal(home.read('b'), b.replace('  name: two\n', '  name: zwei\n'))
  await home.ok(['rename', '-n', 'three', '-t', 'drei'], { env })
  assert.equal(await kubectlConfig(home, ['get-contexts', '-o', 'name'], env), 'drei\none\nzwei\n')
  assert.equal(await kubectlConfig(home, ['current-context'], env), 'drei\n')
  await home.ok(['undo'], { env })
  assert.equal(await kubectlConfig(home, ['current-context'], env), 'three\n')
  assert.equal(await kubectlConfig(home, ['get-contexts', '-o', 'name'], env), 'one\nthree\nzwei\n')
  await home.ok(['import', 'new', '-l', home.write('other', kubeconfigOf(['far']))], { env })
  assert.match(home.read('a'), /name: new$/m)
  assert.ok(!existsSync(home.path('missing')))
  // A name in both files refers to the first file.
  home.write('a', kubeconfigOf(['same']))
  home.write('b', kubeconfigOf(['same']))
  assert.match(
    await home.ok(['remove', 'same'], { env }),
    /\/b also has a context with that name, which is used from now on/,
  )
  assert.equal(home.read('b'), kubeconfigOf(['same']))
  // If no file exists, the last one is created.
  const none = { KUBECONFIG: `${home.path('x')}:${home.path('new/y')}` }
  await home.ok(['import', '-l', home.path('b')], { env: none })
  assert.deepEqual(
    [existsSync(home.path('x')), await kubectlConfig(home, ['current-context'], none)],
    [false, 'same\n'],
  )
})

test('links and owners are kept, and only the owner can read the file', { skip: notRoot }, async (t) => {
  const home = new Home(t)
  const real = home.write('real/config', kubeconfigOf(['dev', 'prod']))
  home.write('.kube/other', '')
  symlinkSync('../real/config', home.path('.kube/config'))
  chmodSync(real, 0o644)
  chownSync(real, 1234, 2345)
  await home.ok(['use', 'prod'])
  assert.ok(lstatSync(home.path('.kube/config')).isSymbolicLink())
  const { uid, gid, mode } = statSync(real)
  assert.deepEqual([uid, gid, mode & 0o777], [1234, 2345, 0o600])
  assert.deepEqual(readdirSync(home.path('real')), ['config'])
  assert.deepEqual(readdirSync(home.path('.kube')).sort(), ['config', 'config.t8s-undo', 'other'])
})
