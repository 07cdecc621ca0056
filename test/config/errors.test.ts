/** Invalid input and files of `t8s config`: errors are one sentence, and nothing is changed. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { statSync, symlinkSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { Home, kubeadmKubeconfig, kubeconfigOf, without } from './home.ts'
import { kubectlConfig, kubectls, withoutKubectl } from './kubectl-config.ts'

const notRoot = process.getuid?.() !== 0 && 'only root can change the owner of files'

test('a kubeconfig in JSON stays JSON, and duplicate names are rejected as by kubectl', {
  skip: withoutKubectl,
}, async (t) => {
  const home = new Home(t)
  home.write('.kube/config', JSON.stringify(parse(kubeadmKubeconfig('dev')), null, 2))
  home.write('prod.conf', kubeadmKubeconfig('prod'))
  await home.ok(['merge', 'prod=prod.conf'])
  await home.ok(['use', 'prod'])
  const written = JSON.parse(home.read()) as { readonly clusters: unknown[] }
  assert.deepEqual(written.clusters, [
    parse(kubeadmKubeconfig('dev')).clusters[0],
    { ...parse(kubeadmKubeconfig('prod')).clusters[0], name: 'prod' },
  ])
  assert.match(home.read(), /^\{\n {2}"apiVersion": "v1",\n/)
  assert.equal(await kubectlConfig(home, ['current-context']), 'prod\n')
  assert.equal(await kubectlConfig(home, ['get-contexts', '-o', 'name']), 'kubernetes-admin@kubernetes\nprod\n')

  home.write('twice.conf', kubeadmKubeconfig('a').replace('users:\n', 'users:\n- {name: kubernetes-admin, user: {}}\n'))
  const env = { KUBECONFIG: home.path('twice.conf') }
  for (const { path } of kubectls)
    assert.match(
      (await home.run(path, ['config', 'view'], { env })).stderr,
      /duplicate name "kubernetes-admin" in list/,
    )
  const rejection = /duplicate name "kubernetes-admin" in list of users/
  for (const args of [['list'], ['use', 'kubernetes-admin@kubernetes'], ['merge', 'prod.conf'], ['check', '-A']])
    await home.fails(args, rejection, { env })
  await home.fails(['merge', 'twice.conf'], rejection)
})

test('errors are one sentence, and nothing is changed', async (t) => {
  const home = new Home(t)
  for (const args of [['list'], ['show'], ['check'], ['export', 'x']])
    await home.fails(args, /there is no kubeconfig at .*\.kube\/config: import one with t8s config import/)
  for (const args of [
    ['use', 'x'],
    ['remove', 'x'],
    ['rename', '-n', 'x', '-t', 'y'],
  ])
    await home.fails(args, /there is no context named "x": there are none yet: import one with t8s config import/)
  home.write('.kube/config', kubeconfigOf(['dev', 'prod']))
  await home.fails(['use', 'pro'], /there is no context named "pro": did you mean "prod"\?/)
  await home.fails(
    ['use', 'something-else'],
    /there is no context named "something-else": list the contexts with t8s config list/,
  )
  await home.fails(['use', '-'], /there is no previous context/)
  await home.fails(['use'], /no context is given, and there is no terminal to choose one: use t8s config use NAME/)
  await home.fails(
    ['remove'],
    /no context is given, and there is no terminal to choose one: use t8s config remove NAME/,
  )
  await home.fails(['use', 'dev', '-n', 'prod'], /two names, "dev" and "prod": give one/)
  await home.fails(['rename', '-n', 'dev', '-t', 'prod'], /there is already a context named "prod"/)
  await home.fails(['rename', '-n', 'dev', '-t', ' '], /" " is not a valid name for a context/)
  await home.fails(['rename', '-n', 'dev'], /required option '-t, --to <NEW>' not specified/)
  await home.fails(['list', '-o', 'xml'], /Allowed choices are json, yaml, name/)
  await home.fails(['import', 'x'], /no source: use -l FILE/)
  await home.fails(
    ['import', 'x', '-l', 'gone'],
    /cannot read gone \(no such file or directory\): name another with -l/,
  )
  await home.fails(['import', 'x', '-l', home.folder], /cannot read .* \(it is a directory\)/)
  await home.fails(['import', 'x', '-'], /standard input is empty/)
  await home.fails(['import', 'x', '--from', 'ftp://host/file'], /invalid --from "ftp:.*: use ssh:/)
  await home.fails(['import', 'x', '--from', 'ssh://:22/file'], /is not the address of a file: use ssh:/)
  await home.fails(
    ['import', 'x', '--from', 'ssh://host:99999/file'],
    /has the port 99999: ports must be from 1 to 65535/,
  )
  await home.fails(['import', 'x', '-'], /standard input is not a kubeconfig \(.*\): nothing was changed/, {
    input: 'clusters: {}\n',
  })
  await home.fails(['import', 'x', '-'], /standard input has no contexts/, {
    input: 'apiVersion: v1\nkind: Config\n',
  })
  await home.fails(['import', 'x', '-'], /its context "a" names the cluster "b", which is missing/, {
    input: 'contexts: [{name: a, context: {cluster: b}}]\n',
  })
  for (const bad of ['a: [', 'just words', 'clusters: {}\n', 'a: 1\na: 2\n', '\u0000\u0001']) {
    home.write('.kube/config', bad)
    await home.fails(
      ['use', 'dev'],
      /\.kube\/config is not a kubeconfig \(.*\): it was not changed; fix it, or name another file/,
    )
    await home.fails(['import', 'x', '-'], /\.kube\/config is not a kubeconfig/, { input: kubeconfigOf(['x']) })
  }
  home.write('.kube/config', 'a: [')
  await home.fails(['list'], /the kubeconfig .* cannot be used: .*; fix it, or set KUBECONFIG to another file/)
})

test('empty files are allowed, and names that are not strings are errors', async (t) => {
  const home = new Home(t)
  home.write('.kube/config', '# nothing yet\n')
  assert.match(await home.ok(['list']), /There are no contexts in .*: import one with t8s config import\./)
  const good = home.write('good', kubeconfigOf(['dev']))
  assert.equal(
    await home.ok(['list', '-o', 'name'], { env: { KUBECONFIG: `${home.path('.kube/config')}:${good}` } }),
    'dev\n',
  )
  home.write('.kube/config', '[]\n')
  await home.fails(['list'], /cannot be used: it has no fields/)
  home.write('.kube/config', 'contexts:\n- {name: 0x10, context: {cluster: c}}\n')
  await home.fails(['list'], /the name 16 in contexts is not a string in YAML: put it in quotes/)
})

test('devices, pipes and circular links are rejected', {
  skip: without('mkfifo'),
}, async (t) => {
  const home = new Home(t)
  const [pipe, circle] = [home.path('pipe'), home.path('circle')]
  await home.run('mkfifo', [pipe])
  await home.fails(
    ['import', 'x', '-', '--kubeconfig', pipe],
    /cannot read .*pipe: it is a device or a pipe; nothing was changed/,
    {
      input: kubeconfigOf(['x']),
    },
  )
  assert.ok(statSync(pipe).isFIFO())
  symlinkSync(circle, circle)
  await home.fails(['import', 'x', '-', '--kubeconfig', circle], /circle: its links form a loop/, {
    input: kubeconfigOf(['x']),
  })
})

test('a read-only folder is an error, and nothing is changed', {
  skip: notRoot || without('mount'),
}, async (t) => {
  const home = new Home(t)
  home.write('real/config', kubeconfigOf(['dev', 'prod']))
  home.write('.kube/.keep', '')
  execFileSync('mount', ['--bind', home.path('real'), home.path('.kube')])
  try {
    execFileSync('mount', ['-o', 'remount,bind,ro', home.path('.kube')])
    await home.fails(
      ['use', 'prod'],
      /cannot lock .*config: the file system is read-only; nothing was changed: make its folder writable, or/,
    )
    await home.fails(['import', 'x', '-'], /cannot lock .*config: the file system is read-only/, {
      input: kubeconfigOf(['x']),
    })
    assert.match(await home.ok(['list']), /dev/)
  } finally {
    execFileSync('umount', [home.path('.kube')])
  }
})
