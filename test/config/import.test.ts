/** `t8s config import`, `export` and `merge`: contexts of other kubeconfigs; kubectl can read the result. */
import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { Home, kubeadmKubeconfig, kubeconfigOf } from './home.ts'
import { kubectlConfig, withoutKubectl } from './kubectl-config.ts'

test('import adds one context with a free name and absolute paths', { skip: withoutKubectl }, async (t) => {
  const home = new Home(t)
  home.write('.kube/config', kubeconfigOf(['dev']))
  home.write('their/ca.crt', 'CA')
  home.write('their/token', 'abc\n')
  const file = home.write(
    'their/config',
    `clusters:
- name: dev-cluster
  # in the cellar
  cluster: {server: "https://10.0.0.7:6443", certificate-authority: ca.crt, x-rack: 012}
users:
- name: admin
  user: {tokenFile: token}
- name: program
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./get-token, args: ["0", "007"]}}
contexts:
- name: dev
  context: {cluster: dev-cluster, user: admin, namespace: shop}
- name: other
  context: {cluster: dev-cluster, user: program}
`,
  )
  await home.fails(
    ['import', 'new', '-l', file],
    /has several contexts, and none is the current one: choose one with --context \(dev, other\)/,
  )
  await home.fails(
    ['import', '-l', file, '--context', 'dev'],
    /there is already a different context named "dev": .* with --as, or replace it with --force/,
  )
  await home.ok(['import', '-l', file, '--context', 'dev', '--as', 'theirs'])
  const config = parse(home.read())
  assert.deepEqual(config.contexts.at(-1), {
    name: 'theirs',
    context: { cluster: 'theirs', user: 'admin', namespace: 'shop' },
  })
  assert.equal(config.clusters.at(-1).cluster['certificate-authority'], home.path('their/ca.crt'))
  assert.equal(config.users.at(-1).user.tokenFile, home.path('their/token'))
  assert.match(home.read(), /x-rack: 012/)
  assert.match(home.read(), /# in the cellar/)
  assert.equal(await kubectlConfig(home, ['view', '-o', 'jsonpath={.contexts[*].name}']), 'dev theirs')
  assert.match(await home.ok(['import', '-l', file, '--context', 'dev', '--as', 'theirs']), /"theirs" exists already/)

  await home.ok(['import', 'other', '-l', file, '--embed'])
  const embedded = parse(home.read())
  assert.equal(embedded.clusters.at(-1).cluster['certificate-authority-data'], 'Q0E=')
  assert.equal(embedded.users.at(-1).user.exec.command, home.path('their/get-token'))
  assert.equal(await kubectlConfig(home, ['view', '-o', 'jsonpath={.contexts[*].name}']), 'dev other theirs')

  await home.ok(['import', '-n', 'dev', '-l', file, '--force', '--embed'])
  const forced = parse(home.read())
  assert.deepEqual(
    forced.contexts.map(({ name }: { name: string }) => name),
    ['dev', 'theirs', 'other'],
  )
  assert.equal(forced['current-context'], 'dev')
  assert.ok(
    !forced.users.some(({ name }: { name: string }) => name === 'dev-user'),
    'the user of the replaced context was removed',
  )
  assert.match(
    await home.ok(['import', 'piped', '-'], { input: kubeconfigOf(['x']) }),
    /"piped" was added from standard input/,
  )
  assert.match(
    await home.ok(['import', '--from=-'], { input: kubeconfigOf(['y']) }),
    /"y" was added from standard input/,
  )
  await home.ok(['undo'])
  assert.doesNotMatch(home.read(), /name: y$/m)
})

const others = ['/etc/rancher/k3s/k3s.yaml', '/etc/rancher/rke2/rke2.yaml', '/etc/kubernetes/admin.conf'].filter(
  (file) => existsSync(file),
)

test('import finds kubeconfigs of kind on this machine', {
  skip: others.length > 0 && `this machine has ${others.join(', ')}`,
}, async (t) => {
  const home = new Home(t)
  await home.fails(['import', '--from=local'], /found no readable kubeconfig of k3s, kubeadm or kind/)
  home.write('.kube/config', kubeconfigOf(['work', 'kind-a', 'kind-b']))
  const env = { KUBECONFIG: home.path('mine') }
  await home.fails(['import', '--from=local'], /found no readable kubeconfig/)
  await home.fails(
    ['import', '--from=local'],
    /has several contexts of kind: choose one with --context \(kind-a, kind-b\)/,
    { env },
  )
  assert.match(
    await home.ok(['import', '--from=local', '--context', 'kind-b'], { env }),
    /"kind-b" was added from .*\.kube\/config/,
  )
  assert.deepEqual(parse(home.read('mine')).contexts.length, 1)
  home.write('.kube/kind-config-old', kubeconfigOf(['kind-old']))
  await home.fails(
    ['import', '--from=local'],
    /found several kubeconfigs on this machine \(.*config of kind, .*kind-config-old of kind\): choose one with -l/,
    { env },
  )
})

test('export writes a kubeconfig with one context, and merge imports all contexts of several', {
  skip: withoutKubectl,
}, async (t) => {
  const home = new Home(t)
  home.write('.kube/config', kubeconfigOf(['dev', 'prod']))
  await home.ok(['export', 'prod', '-f', 'prod.yaml'])
  assert.equal(statSync(home.path('prod.yaml')).mode & 0o777, 0o600)
  assert.equal(
    await kubectlConfig(
      home,
      ['view', '--raw', '-o', 'jsonpath={.contexts[*].name} {.users[*].user.token} {.current-context}'],
      {
        KUBECONFIG: home.path('prod.yaml'),
      },
    ),
    'prod prod-0123 prod',
  )
  assert.equal(await home.ok(['export', 'prod']), home.read('prod.yaml'))
  await home.fails(
    ['export', 'prod', '-f', 'prod.yaml'],
    /prod\.yaml exists: name another file, or overwrite it with --force/,
  )
  await home.fails(['export', 'pord'], /there is no context named "pord": did you mean "prod"\?/)

  const env = { KUBECONFIG: home.path('all') }
  home.write('x.yaml', kubeconfigOf(['x']))
  assert.equal(
    await home.ok(['merge', 'prod.yaml', 'x.yaml', '-'], { env, input: kubeconfigOf(['piped']) }),
    '"prod" was added\n"x" was added\n"piped" was added\n',
  )
  assert.equal(await kubectlConfig(home, ['get-contexts', '-o', 'name'], env), 'piped\nprod\nx\n')
  assert.equal(await home.ok(['merge', 'prod.yaml'], { env }), '"prod" is unchanged\n')
  home.write('x.yaml', kubeconfigOf(['x'], 'x', 'example.org'))
  await home.fails(['merge', 'x.yaml'], /there is already a different context named "x"/, { env })
  assert.equal(await home.ok(['merge', '--force', 'x.yaml'], { env }), '"x" was replaced\n')
  assert.equal(
    await kubectlConfig(home, ['view', '-o', 'jsonpath={.clusters[?(@.name=="x-cluster")].cluster.server}'], env),
    'https://x.example.org:6443',
  )
  await home.ok(['undo'], { env })
  await home.ok(['undo'], { env })
  await home.fails(['merge', 'x.yaml', 'gone.yaml'], /cannot read gone\.yaml \(no such file or directory\)/, { env })
})

test('merge combines three kubeadm kubeconfigs with the same names', { skip: withoutKubectl }, async (t) => {
  const home = new Home(t)
  const hosts = ['dev', 'test', 'prod']
  for (const host of hosts) home.write(`${host}.conf`, kubeadmKubeconfig(host))
  await home.fails(
    ['merge', ...hosts.map((host) => `${host}.conf`)],
    /context named "kubernetes-admin@kubernetes": add a prefix .* with PREFIX=FILE \(for a single file, --as/,
  )
  await home.fails(
    ['merge', '--as', 'x', 'dev.conf', 'prod.conf'],
    /--as is for a single file: use PREFIX=FILE for each, such as x=dev\.conf/,
  )
  await home.fails(['merge', '=dev.conf'], /"=dev\.conf" has an empty prefix/)
  await home.fails(['merge', '--as', 'x', 'y=dev.conf'], /two prefixes, "x" and "y": give one/)
  assert.equal(
    await home.ok(['merge', ...hosts.map((host) => `${host}=${host}.conf`)]),
    '"dev" was added\n"test" was added\n"prod" was added\n',
  )
  assert.equal(await kubectlConfig(home, ['get-contexts', '-o', 'name']), 'dev\nprod\ntest\n')
  for (const host of hosts) {
    const view = JSON.parse(
      await kubectlConfig(home, ['view', '--raw', '--minify', '--context', host, '-o', 'json']),
    ) as Record<string, unknown[]>
    assert.deepEqual(view.contexts, [{ name: host, context: { cluster: host, user: host } }])
    assert.deepEqual(view.clusters, [
      { name: host, cluster: { server: `https://${host}:6443`, extensions: [{ name: 'e', extension: { by: host } }] } },
    ])
    assert.deepEqual(view.users, [{ name: host, user: { token: `of-${host}` } }])
  }
  for (const kept of ['# of prod', 'x-more: kept']) assert.ok(home.read().includes(kept), kept)
  assert.equal(await home.ok(['merge', '--as', 'prod', 'prod.conf']), '"prod" is unchanged\n')
  home.write('a=b.conf', kubeadmKubeconfig('other'))
  assert.equal(await home.ok(['merge', '--as', 'other', 'a=b.conf']), '"other" was added\n')
  assert.equal(await home.ok(['merge', 'again=~/dev.conf']), '"again" was added\n')
})
