/** `t8s config` as its users run it; every installed kubectl must be able to read the result. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { installedKubectls } from '../support/kubectl.ts'
import { Home, kubeconfigOf, without } from './home.ts'

const skip = without('kubectl')
const kubectls = skip ? [] : installedKubectls()
const notRoot = process.getuid?.() !== 0 && 'only root can change the owner of files'

/** Runs `kubectl config`; all versions must print the same. */
async function kubectl(
  home: Home,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const answers = await Promise.all(kubectls.map(({ path }) => home.run(path, ['config', ...args], { env })))
  for (const { code, stderr } of answers) assert.equal(code, 0, stderr)
  assert.equal(new Set(answers.map(({ stdout }) => stdout)).size, 1)
  return answers[0]!.stdout
}

test('use, rename and remove change nothing else, and kubectl can read the result', { skip }, async (t) => {
  const home = new Home(t)
  const text = kubeconfigOf(['dev', 'prod'])
  home.write('.kube/config', text)
  assert.equal(await home.ok(['use', 'prod']), 'switched to context "prod"\n')
  assert.equal(home.read(), text.replace('current-context: dev #', 'current-context: prod #'), 'byte for byte')
  assert.equal(await kubectl(home, ['current-context']), 'prod\n')
  assert.equal(await home.ok(['use', '-n', 'prod']), '"prod" is the current context already\n')
  assert.equal(await home.ok(['use', '-']), 'switched to context "dev"\n')
  assert.equal(await home.ok(['use', '-']), 'switched to context "prod"\n')

  await home.ok(['rename', '-n', 'prod', '-t', 'production: main'])
  assert.equal(await kubectl(home, ['current-context']), 'production: main\n')
  assert.equal(
    home.read(),
    text
      .replace('current-context: dev #', 'current-context: "production: main" #')
      .replace('  name: prod\n', '  name: "production: main"\n'),
  )
  await home.ok(['rename', '-n', 'production: main', '-t', 'yes'])
  assert.equal(await kubectl(home, ['current-context']), 'yes\n')

  assert.equal(
    await home.ok(['remove', '-n', 'dev']),
    'removed "dev", and with it the cluster "dev-cluster" and the user "dev-user"; t8s config undo restores it\n',
  )
  assert.equal(await kubectl(home, ['get-contexts', '-o', 'name']), 'yes\n')
  assert.equal(await kubectl(home, ['get-clusters']), 'NAME\nprod-cluster\n')
  assert.equal(await kubectl(home, ['get-users']), 'NAME\nprod-user\n')
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
  assert.equal(await kubectl(home, ['get-contexts', '-o', 'name']), '')
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

test('with several files in KUBECONFIG, changes go where kubectl writes them', { skip }, async (t) => {
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
  assert.equal(await kubectl(home, ['current-context'], env), 'three\n')
  await home.ok(['rename', '-n', 'two', '-t', 'zwei'], { env })
  assert.equal(home.read('b'), b.replace('  name: two\n', '  name: zwei\n'))
  await home.ok(['rename', '-n', 'three', '-t', 'drei'], { env })
  assert.equal(await kubectl(home, ['get-contexts', '-o', 'name'], env), 'drei\none\nzwei\n')
  assert.equal(await kubectl(home, ['current-context'], env), 'drei\n')
  await home.ok(['undo'], { env })
  assert.equal(await kubectl(home, ['current-context'], env), 'three\n')
  assert.equal(await kubectl(home, ['get-contexts', '-o', 'name'], env), 'one\nthree\nzwei\n')
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
  assert.deepEqual([existsSync(home.path('x')), await kubectl(home, ['current-context'], none)], [false, 'same\n'])
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

test('import adds one context with a free name and absolute paths', { skip }, async (t) => {
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
  assert.equal(await kubectl(home, ['view', '-o', 'jsonpath={.contexts[*].name}']), 'dev theirs')
  assert.match(await home.ok(['import', '-l', file, '--context', 'dev', '--as', 'theirs']), /"theirs" exists already/)

  await home.ok(['import', 'other', '-l', file, '--embed'])
  const embedded = parse(home.read())
  assert.equal(embedded.clusters.at(-1).cluster['certificate-authority-data'], 'Q0E=')
  assert.equal(embedded.users.at(-1).user.exec.command, home.path('their/get-token'))
  assert.equal(await kubectl(home, ['view', '-o', 'jsonpath={.contexts[*].name}']), 'dev other theirs')

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

test('export writes a kubeconfig with one context, and merge imports all contexts of several', { skip }, async (t) => {
  const home = new Home(t)
  home.write('.kube/config', kubeconfigOf(['dev', 'prod']))
  await home.ok(['export', 'prod', '-f', 'prod.yaml'])
  assert.equal(statSync(home.path('prod.yaml')).mode & 0o777, 0o600)
  assert.equal(
    await kubectl(
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
  assert.equal(await kubectl(home, ['get-contexts', '-o', 'name'], env), 'piped\nprod\nx\n')
  assert.equal(await home.ok(['merge', 'prod.yaml'], { env }), '"prod" is unchanged\n')
  home.write('x.yaml', kubeconfigOf(['x'], 'x', 'example.org'))
  await home.fails(['merge', 'x.yaml'], /there is already a different context named "x"/, { env })
  assert.equal(await home.ok(['merge', '--force', 'x.yaml'], { env }), '"x" was replaced\n')
  assert.equal(
    await kubectl(home, ['view', '-o', 'jsonpath={.clusters[?(@.name=="x-cluster")].cluster.server}'], env),
    'https://x.example.org:6443',
  )
  await home.ok(['undo'], { env })
  await home.ok(['undo'], { env })
  await home.fails(['merge', 'x.yaml', 'gone.yaml'], /cannot read gone\.yaml \(no such file or directory\)/, { env })
})

/** A kubeconfig as kubeadm writes it. */
const kubeadm = (host: string): string => `apiVersion: v1
kind: Config
clusters:
- cluster:
    server: https://${host}:6443 # of ${host}
    extensions: [{name: e, extension: {by: ${host}}}]
  name: kubernetes
contexts:
- context: {cluster: kubernetes, user: kubernetes-admin}
  name: kubernetes-admin@kubernetes
current-context: kubernetes-admin@kubernetes
preferences: {}
users:
- name: kubernetes-admin
  user: {token: of-${host}, x-more: kept}
`

test('merge combines three kubeadm kubeconfigs with the same names', { skip }, async (t) => {
  const home = new Home(t)
  const hosts = ['dev', 'test', 'prod']
  for (const host of hosts) home.write(`${host}.conf`, kubeadm(host))
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
  assert.equal(await kubectl(home, ['get-contexts', '-o', 'name']), 'dev\nprod\ntest\n')
  for (const host of hosts) {
    const view = JSON.parse(
      await kubectl(home, ['view', '--raw', '--minify', '--context', host, '-o', 'json']),
    ) as Record<string, unknown[]>
    assert.deepEqual(view.contexts, [{ name: host, context: { cluster: host, user: host } }])
    assert.deepEqual(view.clusters, [
      { name: host, cluster: { server: `https://${host}:6443`, extensions: [{ name: 'e', extension: { by: host } }] } },
    ])
    assert.deepEqual(view.users, [{ name: host, user: { token: `of-${host}` } }])
  }
  for (const kept of ['# of prod', 'x-more: kept']) assert.ok(home.read().includes(kept), kept)
  assert.equal(await home.ok(['merge', '--as', 'prod', 'prod.conf']), '"prod" is unchanged\n')
  home.write('a=b.conf', kubeadm('other'))
  assert.equal(await home.ok(['merge', '--as', 'other', 'a=b.conf']), '"other" was added\n')
  assert.equal(await home.ok(['merge', 'again=~/dev.conf']), '"again" was added\n')
})

test('a kubeconfig in JSON stays JSON, and duplicate names are rejected as by kubectl', {
  skip,
}, async (t) => {
  const home = new Home(t)
  home.write('.kube/config', JSON.stringify(parse(kubeadm('dev')), null, 2))
  home.write('prod.conf', kubeadm('prod'))
  await home.ok(['merge', 'prod=prod.conf'])
  await home.ok(['use', 'prod'])
  const written = JSON.parse(home.read()) as { readonly clusters: unknown[] }
  assert.deepEqual(written.clusters, [
    parse(kubeadm('dev')).clusters[0],
    { ...parse(kubeadm('prod')).clusters[0], name: 'prod' },
  ])
  assert.match(home.read(), /^\{\n {2}"apiVersion": "v1",\n/)
  assert.equal(await kubectl(home, ['current-context']), 'prod\n')
  assert.equal(await kubectl(home, ['get-contexts', '-o', 'name']), 'kubernetes-admin@kubernetes\nprod\n')

  home.write('twice.conf', kubeadm('a').replace('users:\n', 'users:\n- {name: kubernetes-admin, user: {}}\n'))
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

test('list and show print servers and expiry of contexts', { skip: without('openssl') }, async (t) => {
  const home = new Home(t)
  const certificate = (days: string): string => {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-keyout',
        home.path('key'),
        '-out',
        home.path('crt'),
        '-days',
        days,
        '-subj',
        '/CN=me',
      ],
      { stdio: 'ignore' },
    )
    return home.read('crt')
  }
  const token = `e30.${Buffer.from(JSON.stringify({ exp: 1_000_000_000 })).toString('base64url')}.x`
  const authority = Buffer.from(certificate('500')).toString('base64')
  home.write('.kube/pki/me.crt', certificate('400'))
  home.write(
    '.kube/config',
    `clusters: [{name: k, cluster: {server: "https://k:6443", certificate-authority-data: ${authority}}}]
users:
- {name: file, user: {client-certificate: pki/me.crt, client-key: pki/me.key}}
- {name: token, user: {token: ${token}}}
- {name: program, user: {exec: {command: get-token, apiVersion: client.authentication.k8s.io/v1}}}
contexts:
- {name: a, context: {cluster: k, user: file}}
- {name: b, context: {cluster: k, user: token}}
- {name: c, context: {cluster: k, user: program}}
- {name: d, context: {cluster: gone, user: nobody}}
current-context: b
`,
  )
  const lines = (await home.ok(['list'])).split('\n')
  assert.match(lines[0]!, /^CURRENT +NAME +CLUSTER +USER +NAMESPACE +SERVER +EXPIRES$/)
  assert.match(lines[1]!, /^ +a +k +file +https:\/\/k:6443 +in 399 days \(certificate\)$/)
  assert.match(lines[2]!, /^\* +b +k +token +https:\/\/k:6443 +expired \d+ years ago \(token\)$/)
  assert.match(lines[3]!, /in 499 days \(authority\)$/)
  assert.match(lines[4]!, /there is no cluster "gone"$/)
  const json = JSON.parse(await home.ok(['list', '-o', 'json']))
  assert.deepEqual(json[1].expires.token, '2001-09-09T01:46:40Z')
  assert.deepEqual(
    json.map(({ credentials }: { credentials: string }) => credentials),
    ['certificate', 'token', 'program get-token', 'none'],
  )
  assert.deepEqual(parse(await home.ok(['list', '-o', 'yaml'])), json)
  assert.equal(await home.ok(['list', '-o', 'name']), 'a\nb\nc\nd\n')
  const shown = await home.ok(['show', 'a'])
  assert.match(shown, /^Certificate until: {2}20\d\d-.*Z \(in 399 days\)$/m)
  assert.doesNotMatch(await home.ok(['show', 'b', '-o', 'yaml']), new RegExp(token))
  rmSync(home.path('.kube/pki'), { recursive: true })
  assert.match(await home.ok(['show', 'a']), /^Problem: +cannot read .*me\.crt: no such file or directory$/m)
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

test('a held lock is respected and reported', async (t) => {
  const home = new Home(t)
  home.write('.kube/config', kubeconfigOf(['dev', 'prod']))
  const lock = home.write('.kube/config.lock', '')
  await home.fails(
    ['use', 'prod'],
    /config is locked by another program \(.*config\.lock is \d+ (seconds|minutes) old\): .* remove .*config\.lock/,
  )
  // A waiting writer continues when the lock is released.
  const waiting = home.ok(['use', 'prod'])
  setTimeout(() => unlinkSync(lock), 1000)
  assert.equal(await waiting, 'switched to context "prod"\n')
  assert.ok(!existsSync(lock))
})

test('concurrent writers do not lose changes', async (t) => {
  const home = new Home(t)
  home.write('.kube/config', kubeconfigOf(['dev']))
  const names = Array.from({ length: 6 }, (_, index) => `c${index}`)
  await Promise.all(names.map((name) => home.ok(['import', '-'], { input: kubeconfigOf([name]) })))
  assert.deepEqual(
    parse(home.read())
      .contexts.map(({ name }: { name: string }) => name)
      .sort(),
    [...names, 'dev'],
  )
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
