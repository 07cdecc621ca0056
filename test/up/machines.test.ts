/** `t8s up --machines`: nodes in network namespaces of one machine. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { webPod } from '../join/join-lab.ts'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { writeTestImages } from '../kubelet/support/runtimes/test-images.ts'
import { prepareNodeNamespaces } from '../support/node-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, type Running, stop, t8s, temporaryFolder, up } from './t8s-process.ts'

const covered = ['/run/typernetes', '/var/lib/typernetes', '/etc/cni']

await inNamespaces(import.meta.filename, () => {
  prepareNodeNamespaces(covered)
  test('three machines are nodes whose pods reach each other, and nothing of them remains', async (t) => {
    const folder = temporaryFolder(t)
    for (const file of writeTestImages(folder)) assert.equal(t8s(['image', 'import', file]).code, 0)
    const cluster = await start(t, folder, 3)
    assert.equal(
      run(cluster, 'get', 'nodes', '-o', 'name'),
      'node/machine-1\nnode/machine-2\nnode/machine-3\n',
      cluster.output(),
    )
    await t.test('pods and Services are reached from all machines', () => traffic(cluster))
    await t.test('pods have addresses of both families, which are reached from other machines', () =>
      bothFamilies(cluster),
    )
    await t.test('the network of pods is a ConfigMap, and flannel has few rights', () => network(cluster))
    await t.test('logs, exec and forwarded ports work for all machines', () => streams(t, cluster))
    await t.test('a backend for the only node of a cluster is an error', () => {
      const { code, stderr } = t8s(['up', '--network-backend=vxlan', `--data-dir=${join(folder, 'single')}`])
      assert.deepEqual(
        [code, /this cluster has one: open it for other machines with --bind/.test(stderr)],
        [1, true],
        stderr,
      )
    })
    await t.test('after SIGKILL, the next start removes the rest, and runs the pods, here by vxlan', async () => {
      await stop(cluster, 'SIGKILL')
      const next = await start(t, folder, 2, '--network-backend=vxlan', '--bind-address=0.0.0.0')
      await waitFor('the pods run again', () => pageOf(next, 'machine-1', 'machine-2') === 'machine-2\n')
      assert.equal(run(next, 'get', 'nodes', '-o', 'name'), 'node/machine-1\nnode/machine-2\n')
      // An encapsulated packet of IPv6 has 70 bytes of headers.
      assert.equal(run(next, 'exec', 'machine-1', '--', 'cat', '/sys/class/net/eth0/mtu'), '1430\n')
      assert.match(next.output(), /the network of pods has changed: the backend is vxlan/)
      bothFamilies(next)
      assert.equal((await stop(next)).code, 0)
      assert.match(next.output(), /\nstopped\n$/)
      assert.doesNotMatch(next.output(), /cannot watch|do not run|has ended/)
      isClean(folder)
    })
  })
})

async function start(t: TestContext, folder: string, count: number, ...more: string[]): Promise<Running> {
  const ranges = '--service-cluster-ip-range=10.97.0.0/16,fd97::/112'
  const flags = ['--node-type=real', `--machines=${count}`, `--data-dir=${join(folder, 'data')}`, '--secure-port=0']
  const cluster = await up(t, [...flags, ranges, ...more])
  await waitFor('the machines are nodes', () => {
    assert.doesNotMatch(cluster.output(), /do not run/)
    return cluster.output().includes(`machine-${count} is a node`)
  })
  const names = Array.from({ length: count }, (_, index) => `machine-${index + 1}`)
  run(cluster, 'wait', 'node', ...names, '--for=condition=Ready', '--timeout=50s')
  return cluster
}

/** Standard output of a kubectl command that succeeds. */
function run(cluster: Running, ...args: readonly string[]): string {
  const { code, stdout, stderr } = kubectl(cluster.kubeconfig, ...args)
  assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}\n${cluster.output()}`)
  return stdout
}

const addressOf = (cluster: Running, pod: string): string =>
  run(cluster, 'get', 'pod', pod, '-o', 'jsonpath={.status.podIP}')

const get = (cluster: Running, pod: string, host: string): string =>
  run(cluster, 'exec', pod, '--', 'sh', '-c', `timeout 2 wget -qO- ${host}; true`)

const pageOf = (cluster: Running, client: string, server: string): string =>
  get(cluster, client, addressOf(cluster, server))

/** Each machine has a pod with its name. */
async function traffic(cluster: Running): Promise<void> {
  const names = ['machine-1', 'machine-2', 'machine-3']
  const file = join(dirname(cluster.kubeconfig), 'pods.json')
  const items = names.map((name) => webPod(name, name)).join()
  writeFileSync(file, `{"apiVersion":"v1","kind":"List","items":[${items}]}`)
  run(cluster, 'apply', '-f', file)
  run(cluster, 'wait', 'pod', ...names, '--for=condition=Ready', '--timeout=50s')
  run(cluster, 'expose', 'pod', 'machine-2', '--port=80', '--name=web')
  for (const client of names)
    for (const server of names) assert.equal(pageOf(cluster, client, server), `${server}\n`, `${client} to ${server}`)
  const [one, three] = [addressOf(cluster, 'machine-1'), addressOf(cluster, 'machine-3')]
  await waitFor('the server sees the address of the pod', () => run(cluster, 'logs', 'machine-3').includes(one))
  assert.match(run(cluster, 'exec', 'machine-1', '--', 'ping', '-c1', '-W5', three), /1 packets received/)
  for (const client of names)
    await waitFor(`the Service works for ${client}`, () => get(cluster, client, 'web') === 'machine-2\n')
  // The API server reaches pods without Services of its own.
  assert.equal(run(cluster, 'get', '--raw', '/api/v1/namespaces/default/services/web/proxy/'), 'machine-2\n')
}

function bothFamilies(cluster: Running): void {
  const address = (pod: string): string => run(cluster, 'get', 'pod', pod, '-o', 'jsonpath={.status.podIPs[1].ip}')
  assert.match(address('machine-2'), /^fd8c:5be2:a1d0:/)
  assert.equal(get(cluster, 'machine-1', `[${address('machine-2')}]`), 'machine-2\n')
  assert.equal(get(cluster, 'machine-2', `[${address('machine-1')}]`), 'machine-1\n')
}

function network(cluster: Running): void {
  const text = run(
    cluster,
    '-n',
    'kube-flannel',
    'get',
    'cm',
    'kube-flannel-cfg',
    '-o',
    'jsonpath={.data.net-conf\\.json}',
  )
  assert.deepEqual(JSON.parse(text), {
    EnableIPv4: true,
    Network: '10.128.0.0/9',
    EnableIPv6: true,
    IPv6Network: 'fd8c:5be2:a1d0::/48',
    EnableNFTables: true,
    Backend: { Type: 'host-gw' },
  })
  const rights = run(cluster, 'auth', 'can-i', '--list', '--no-headers', '--as=system:t8s-flannel')
  assert.match(rights, /^nodes +\[\] +\[\] +\[get list watch\]$/m)
  assert.doesNotMatch(rights, /^(?:pods|secrets|configmaps|namespaces) /m)
  const nodes = kubectl(
    cluster.kubeconfig,
    'auth',
    'can-i',
    'list',
    'pods',
    '-A',
    '--as=system:node:machine-1',
    '--as-group=system:nodes',
  )
  assert.match(nodes.stdout, /^no/)
}

async function streams(t: TestContext, cluster: Running): Promise<void> {
  for (const name of ['machine-1', 'machine-2', 'machine-3'])
    assert.equal(run(cluster, 'exec', name, '--', 'cat', '/www/index.html'), `${name}\n`)
  const forward = spawn('kubectl', ['port-forward', 'pod/machine-3', ':80'], {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => forward.kill('SIGKILL'))
  let output = ''
  forward.stdout.on('data', (piece: Buffer) => (output += piece.toString()))
  const port = await waitFor('the port is forwarded', () => /127\.0\.0\.1:(\d+)/.exec(output)?.[1])
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'machine-3\n')
  forward.kill('SIGKILL')
}

/** No interface, route, rule, process, mount, cgroup or file of a machine is left. */
function isClean(folder: string): void {
  const output = (program: string, ...args: readonly string[]): string =>
    execFileSync(program, args, { encoding: 'utf8' })
  assert.doesNotMatch(output('ip', 'link'), /t8m-|veth/)
  assert.equal(output('ip', 'route'), '')
  assert.doesNotMatch(output('ip', '-6', 'route'), /fd8c:/)
  assert.equal(output('nft', 'list', 'tables'), '')
  assert.doesNotMatch(output('ps', '-eo', 'args'), /machine-process|t8s-keeper/)
  assert.doesNotMatch(output('cat', '/proc/mounts'), /\/run\/typernetes\/\w+\/|machines/)
  assert.deepEqual(readdirSync('/run/typernetes'), [])
  assert.deepEqual(readdirSync(join(folder, 'data', 'node', 'machines')), [])
}
