/** Machines that join a cluster by a token, through a network between two namespaces. Needs root. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { caHash } from '../../src/cluster/joining/ca-hash.ts'
import { discover } from '../../src/cluster/joining/discovery/discover.ts'
import { newToken, parseToken } from '../../src/cluster/joining/tokens/token-form.ts'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { t8s } from '../up/t8s-process.ts'
import { type JoinLab, joinLab, moveBehindRouter, onOther, run, serverAddress, webPod } from './join-lab.ts'

await inNamespaces(import.meta.filename, () => {
  test('a machine becomes a node by a token, serves its pods, comes back and leaves', async (t) => {
    const lab = await joinLab(t)
    await t.test('only the right cluster and the right token are accepted', () => discovery(lab))
    await t.test('tokens are listed and deleted', () => tokens(lab))
    const args = lab.joinArguments()
    const node = await lab.join(args)
    await t.test('the node is ready, with a certificate and its own range', () => ready(lab))
    await t.test('pods of both nodes reach each other, Services and names', () => traffic(lab))
    await t.test('a policy holds for pods of other nodes', () => policy(lab))
    await t.test('a name is taken while its node runs', () => takenName(lab))
    await t.test('SIGTERM ends the pods, and the node continues without a token', async () => {
      assert.equal(await node.stop(), 0, node.output())
      assert.match(node.output(), /its pods end\nstopped; t8s join continues, t8s leave deletes the node\n$/)
      assert.doesNotMatch(onOther('ip', 'link'), /t8s-|flannel/)
      const again = await lab.join(['join', `--data-dir=${lab.data}`])
      assert.match(again.output(), /this machine is the node other again/)
      const page = () =>
        lab.kubectl('exec', 'near', '--', 'sh', '-c', `timeout 1 wget -qO- ${addressOf(lab, 'far')}; true`)
      await waitFor('its pod runs again', () => page() === 'far\n')
      const { code, stderr } = lab.t8sOnOther('leave', `--data-dir=${lab.data}`)
      assert.deepEqual([code, /runs already: stop its t8s join/.test(stderr)], [1, true], stderr)
      await again.stop()
    })
    await t.test('t8s leave removes the Node and all of it on the machine', () => leave(lab))
    await t.test('a flag with another network than the cluster has is an error', () => otherNetwork(lab))
    await t.test('a machine behind a router joins by a file, and leaves by force without the server', () =>
      fileAndForce(lab),
    )
  })
})

const addressesOf = (lab: JoinLab, pod: string): readonly string[] =>
  lab.kubectl('get', 'pod', pod, '-o', 'jsonpath={.status.podIPs[*].ip}').split(' ')

const addressOf = (lab: JoinLab, pod: string): string => addressesOf(lab, pod)[0] ?? ''

async function discovery(lab: JoinLab): Promise<void> {
  const url = `https://${serverAddress}:6443`
  const [, , , text = '', , pin = ''] = lab.joinArguments()
  const given = { url, token: parseToken(text), pins: [pin], signal: new AbortController().signal, now: Date.now }
  const ca = readFileSync(join(dirname(lab.cluster.kubeconfig), 'pki', 'ca.crt'), 'utf8')
  assert.equal(pin, caHash(ca))
  assert.equal((await discover(given)).ca.trim(), ca.trim())
  const wrongPin = [`sha256:${'0'.repeat(64)}`]
  await assert.rejects(discover({ ...given, pins: wrongPin }), /has the hash sha256:.*, not the one of/)
  const other = { ...given.token, secret: '0123456789abcdef' }
  await assert.rejects(discover({ ...given, token: other }), /failed to verify JWS signature/)
  const unknown = newToken((count) => new Uint8Array(count))
  await assert.rejects(discover({ ...given, token: unknown }), /is invalid for this cluster or it has expired/)
  const hourMs = 3_600_000
  await assert.rejects(
    discover({ ...given, now: () => Date.now() - hourMs }),
    /clock of this machine is .* behind the server's/,
  )
  const closed = discover({ ...given, url: `https://${serverAddress}:1` })
  await assert.rejects(closed, /cannot join the cluster at .*refuses connections: .*--bind-address 0\.0\.0\.0/)
}

function tokens(lab: JoinLab): void {
  const token = (...args: readonly string[]) => t8s(['token', ...args, `--kubeconfig=${lab.cluster.kubeconfig}`])
  assert.equal(token('create', 'abcdef.0123456789abcdef', '--ttl=0', '--description=lab').code, 0)
  assert.match(token('create', 'abcdef.0123456789abcdef').stderr, /a token with id "abcdef" already exists/)
  const { stdout } = token('list')
  assert.match(stdout, /^TOKEN +TTL +EXPIRES +USAGES +DESCRIPTION +EXTRA GROUPS$/m)
  assert.match(stdout, /^abcdef\.0123456789abcdef +<forever> +<never> +authentication,signing +lab +system:boot/m)
  assert.equal(token('delete', 'abcdef').stdout, 'bootstrap token "abcdef" deleted\n')
}

async function ready(lab: JoinLab): Promise<void> {
  lab.kubectl('wait', 'node', 'other', 'server', '--for=condition=Ready', '--timeout=30s')
  const [range = '', other = ''] = lab.kubectl('get', 'nodes', '-o', 'jsonpath={.items[*].spec.podCIDR}').split(' ')
  assert.notEqual(range, other)
  assert.match(lab.kubectl('get', 'csr'), /system:bootstrap:\w{6}.*Approved,Issued/)
  assert.equal(existsSync(join(lab.data, 'bootstrap-kubelet.conf')), false)
}

async function traffic(lab: JoinLab): Promise<void> {
  startPod(lab, 'near', 'server')
  startPod(lab, 'far', 'other')
  lab.kubectl('wait', 'pod', 'near', 'far', '--for=condition=Ready', '--timeout=50s')
  lab.kubectl('expose', 'pod', 'near', '--port=80')
  bothFamilies(lab)
  // The address of a pod is the same for all.
  await waitFor('the log has the client', () => lab.kubectl('logs', 'far').includes(addressOf(lab, 'near')))
  const page = () => lab.kubectl('exec', 'far', '--', 'timeout', '5', 'wget', '-qO-', 'near.default.svc.cluster.local')
  await waitFor('the Service works by its name', () => page() === 'near\n')
  // Nodes on one link have routes to each other's pods.
  assert.match(onOther('ip', 'route', 'get', addressOf(lab, 'near')), / via 10\.9\.0\.1 dev eth0 /)
  assert.match(run('ip', 'route', 'get', addressesOf(lab, 'far')[1] ?? ''), / via fd09::2 dev lan /)
}

function startPod(lab: JoinLab, name: string, node: string): void {
  const file = join(dirname(lab.data), `${name}.json`)
  writeFileSync(file, webPod(name, node))
  lab.kubectl('apply', '-f', file)
}

/** The pods of both nodes reach each other by IPv4 and IPv6. */
function bothFamilies(lab: JoinLab): void {
  for (const [from, to] of [
    ['near', 'far'],
    ['far', 'near'],
  ] as const) {
    const [four = '', six = ''] = addressesOf(lab, to)
    const pages = [four, `[${six}]`].map((host) => `timeout 5 wget -qO- ${host}`)
    const pings = [four, six].map((address) => `ping -c1 -W5 ${address} >&2`)
    const output = lab.kubectl('exec', from, '--', 'sh', '-ec', [...pages, ...pings].join('; '))
    assert.equal(output, `${to}\n${to}\n`, `${from} to ${to}`)
  }
}

async function policy(lab: JoinLab): Promise<void> {
  const file = join(dirname(lab.data), 'policy.json')
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'nobody' },
      spec: { podSelector: { matchLabels: { app: 'far' } }, policyTypes: ['Ingress'] },
    }),
  )
  lab.kubectl('apply', '-f', file)
  const attempt = () =>
    lab.kubectl('exec', 'near', '--', 'sh', '-c', `timeout 1 wget -qO- ${addressOf(lab, 'far')} || echo blocked`)
  await waitFor('the policy holds', () => attempt() === 'blocked\n')
  lab.kubectl('delete', '-f', file)
  await waitFor('it is open again', () => attempt() === 'far\n')
}

function takenName(lab: JoinLab): void {
  const args = lab.joinArguments('--hostname-override=server', `--data-dir=${lab.data}-second`)
  const { code, stderr } = lab.t8sOnOther(...args)
  assert.equal(code, 1)
  assert.match(stderr, /a Node with name "server" and status "Ready" already exists in the cluster: give this machine/)
}

/** Packets to a node behind a router are encapsulated. */
function behindRouter(lab: JoinLab): void {
  assert.equal(
    lab.kubectl('get', 'node', 'other', '-o', 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}'),
    '10.9.1.2 fd09:1::2',
  )
  startPod(lab, 'far', 'other')
  lab.kubectl('wait', 'pod', 'far', '--for=condition=Ready', '--timeout=50s')
  bothFamilies(lab)
  for (const address of addressesOf(lab, 'far')) assert.match(run('ip', 'route', 'get', address), / dev flannel/)
}

function otherNetwork(lab: JoinLab): void {
  const { code, stderr } = lab.t8sOnOther(...lab.joinArguments('--network-backend=host-gw'))
  assert.equal(code, 1)
  assert.match(
    stderr,
    /connected by the backend vxlan \(ConfigMap kube-flannel\/kube-flannel-cfg\), not by host-gw: leave/,
  )
}

async function fileAndForce(lab: JoinLab): Promise<void> {
  moveBehindRouter()
  const file = join(dirname(lab.data), 'discovery.conf')
  const kubeconfig = ['get', 'configmap', 'cluster-info', '-o', 'jsonpath={.data.kubeconfig}']
  writeFileSync(file, lab.kubectl('-n', 'kube-public', ...kubeconfig))
  const [, , , token = ''] = lab.joinArguments()
  const flags = [`--discovery-file=${file}`, `--token=${token}`, `--data-dir=${lab.data}`, '--hostname-override=other']
  const node = await lab.join(['join', ...flags])
  assert.match(node.output(), /^discovery: .*discovery\.conf names the cluster at https:\/\/10\.9\.0\.1:6443\n/)
  behindRouter(lab)
  assert.equal(await node.stop(), 0, node.output())
  onOther('ip', 'link', 'set', 'eth0', 'down')
  const leaving = ['leave', `--data-dir=${lab.data}`]
  const { code, stderr } = lab.t8sOnOther(...leaving)
  assert.deepEqual([code, /t8s leave --force removes what is on this machine/.test(stderr)], [1, true], stderr)
  const forced = lab.t8sOnOther(...leaving, '--force')
  assert.equal(forced.code, 0, forced.stderr)
  assert.match(
    forced.stdout,
    /^the Node other remains, delete it with kubectl delete node other: .*\nremoved the files in /,
  )
  assert.equal(existsSync(lab.data), false)
  assert.equal(lab.kubectl('get', 'nodes', '-o', 'name'), 'node/other\nnode/server\n')
}

async function leave(lab: JoinLab): Promise<void> {
  const { code, stdout, stderr } = lab.t8sOnOther('leave', `--data-dir=${lab.data}`)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^deleted the Node other, and its pod\nremoved the files in /)
  assert.equal(lab.kubectl('get', 'nodes', '-o', 'name'), 'node/server\n')
  assert.equal(existsSync(lab.data), false)
  assert.doesNotMatch(onOther('ip', 'link'), /t8s-|flannel/)
  assert.equal(onOther('nft', 'list', 'tables'), '')
  assert.doesNotMatch(onOther('ip', 'route'), /^10\.(?!9\.)/m)
  assert.match(lab.t8sOnOther('leave', `--data-dir=${lab.data}`).stderr, /has joined no cluster/)
}
