/** The network of pods without plug-ins: the runtime connects them itself. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { startAgent } from './support/network-agent.ts'
import { addressOf, addUplink, answersOf, hostPort, networkOf, portMappings } from './support/reachability.ts'
import { TestRuntime } from './support/test-runtime.ts'

const podCidr = '10.88.0.0/16'

await inNamespaces(import.meta.filename, () => {
  test('pods and clients get the same answers as with plug-ins, and removed pods leave nothing', equalAnswers)
  test('a UDP client reaches the next pod of a host port', nextPod)
  test('a pod gets no address that another host on the bridge has', otherHost)
  test('pods get addresses of the range that the kubelet sends', rangeOfNode)
  test('a runtime releases what an earlier one or the machine has left', leftovers)
  test('iptables has the rules where nft is missing', withoutNft)
})

const run = (command: string): string => execFileSync('sh', ['-c', command], { encoding: 'utf8' })

/** Interfaces, addresses, routes and rules of the host. */
const hostState = (): string =>
  [
    run("ip -o link 2>/dev/null | cut -d: -f2; ip -o address | awk '{print $2, $4}' | grep -v fe80; ip route"),
    run('nft -s list ruleset 2>/dev/null'),
    run('iptables-save 2>/dev/null | grep -E "^-A|^:T8S" || true'),
  ].join('\n')

async function equalAnswers(t: TestContext): Promise<void> {
  const outside = addUplink(t)
  const plugins = await TestRuntime.start({ mode: 'cni' })
  const expected = await answersOf(plugins, outside)
  run('ip link delete cni0')
  for (const [question, answer] of Object.entries(expected))
    assert.match(answer, / sees /, `plug-ins: ${question}: ${answer}`)

  const runtime = await TestRuntime.start({ mode: 'builtin', podCidr })
  const before = hostState()
  assert.deepEqual(await answersOf(runtime, outside), expected)
  assert.equal(hostState(), before)
  assert.deepEqual(
    readdirSync(join(runtime.folder, 'state/network/addresses')).filter((name) => name.startsWith('10.')),
    [],
  )
}

async function nextPod(t: TestContext): Promise<void> {
  const runtime = await TestRuntime.start({ mode: 'builtin', podCidr })
  const client = await startAgent('client')
  t.after(() => client.end())
  const question = { protocol: 'udp', address: '127.0.0.1', port: hostPort, localPort: 40_000 } as const
  assert.doesNotMatch(await client.ask(question), / sees /)
  for (const name of ['first', 'second']) {
    const { id } = await runtime.sandbox({ portMappings })
    const server = await startAgent(name, networkOf(runtime, id))
    t.after(() => server.end())
    assert.match(await client.ask(question), new RegExp(`^${name} sees `))
    await assert.rejects(runtime.sandbox({ portMappings }), /host port 8080\/tcp is in use by the pod sandbox/)
    await runtime.client.stopSandbox(id)
  }
}

async function otherHost(): Promise<void> {
  const conflicts: string[] = []
  const onConflict = ({ name }: { readonly name: string }, message: string) => conflicts.push(`${name}: ${message}`)
  const runtime = await TestRuntime.start({ mode: 'builtin', podCidr, onConflict })
  const first = await runtime.sandbox()
  assert.equal(await addressOf(runtime, first.id), '10.88.0.2')
  run('ip link add stranger type veth peer name stranger1 address 12:07:6b:be:20:d2')
  run('ip link set stranger master t8s0 up; ip link set stranger1 up; ip address add 10.88.0.3/32 dev stranger1')
  await waitFor('the port of the host forwards', () =>
    run('bridge link show dev stranger').includes('state forwarding'),
  )
  const second = await runtime.sandbox()
  assert.equal(await addressOf(runtime, second.id), '10.88.0.4')
  assert.deepEqual(conflicts, [
    "pod-2: Other hosts on t8s0 have addresses of the node's range: 10.88.0.3 at 12:07:6b:be:20:d2. " +
      'The pod (0a:58:0a:58:00:04) got 10.88.0.4 instead. ' +
      'Remove those hosts from the network, or give the node a range that no other network uses.',
  ])
  // A bridge to which others are connected remains.
  run('ip link delete stranger')
  for (const { id } of [first, second]) await runtime.client.stopSandbox(id)
  assert.ok(!existsSync('/sys/class/net/t8s0'))
}

async function rangeOfNode(): Promise<void> {
  const runtime = await TestRuntime.start()
  const { client, folder } = runtime
  run(`rm -r ${join(folder, 'cni')}`)
  const networkReady = async () => {
    const { status } = await client.status()
    return status?.conditions.find(({ type }) => type === 'NetworkReady')
  }
  assert.match(
    (await networkReady())!.message,
    /the node has no range of pod addresses yet: give it one with --pod-cidr/,
  )
  await assert.rejects(runtime.sandbox(), /failed to setup network for sandbox .* no range of pod addresses/)
  await assert.rejects(client.setPodRange('10.244.1.0'), /not a range such as/)
  await client.setPodRange('10.244.1.0/24,fd00:10:244:1::/64')
  assert.equal((await networkReady())!.status, true)
  const first = await runtime.sandbox()
  const { status } = await client.sandboxStatus(first.id)
  assert.equal(status?.network?.ip, '10.244.1.2')
  assert.deepEqual(
    status?.network?.additionalIps.map(({ ip }) => ip),
    ['fd00:10:244:1::2'],
  )
  // The kubelet does not send the range again.
  await runtime.stopServer()
  await runtime.startServer()
  assert.equal((await networkReady())!.status, true)
  await client.setPodRange('10.244.2.0/24')
  const second = await runtime.sandbox()
  assert.equal(await addressOf(runtime, second.id), '10.244.2.2')
  assert.equal(await addressOf(runtime, first.id), '10.244.1.2')
  const ping = (id: string, address: string): string =>
    run(`nsenter --net=${networkOf(runtime, id)} busybox ping -c1 -W5 ${address}`)
  assert.match(ping(second.id, '10.244.1.2'), / 0% packet loss/)
  assert.match(ping(first.id, '10.244.2.2'), / 0% packet loss/)
}

async function leftovers(): Promise<void> {
  const runtime = await TestRuntime.start({ mode: 'builtin', podCidr })
  const before = hostState()
  const { client, folder } = runtime
  const { id } = await runtime.sandbox({ portMappings })
  const removed = await runtime.sandbox({ portMappings: portMappings.map((port) => ({ ...port, hostPort: 8081 })) })
  await runtime.stopServer()
  // As if the record were lost: nothing but the network knows the pod.
  run(`rm ${join(folder, 'root/sandboxes', `${removed.id}.json`)}`)
  await runtime.startServer()
  await client.stopSandbox(id)
  assert.equal(hostState(), before)

  await runtime.sandbox({ portMappings })
  await runtime.stopServer()
  // A reboot removes namespaces, interfaces, rules and the folder of the state.
  run(`umount -l ${folder}/state/sandboxes/*/* 2>/dev/null; rm -rf ${folder}/state`)
  run('ip link delete t8s0; nft flush ruleset')
  await runtime.startServer()
  assert.ok((await client.sandboxes()).every(({ state }) => state === 1))
  const { id: next } = await runtime.sandbox({ portMappings })
  assert.equal(await addressOf(runtime, next), '10.88.0.2')
}

async function withoutNft(t: TestContext): Promise<void> {
  const nft = run('command -v nft').trim()
  run(`mount --bind /dev/null ${nft}`)
  t.after(() => run(`umount ${nft}`))
  const outside = addUplink(t)
  const runtime = await TestRuntime.start({ mode: 'builtin', podCidr })
  const answers = await answersOf(runtime, outside)
  for (const [question, answer] of Object.entries(answers)) assert.match(answer, / sees /, `${question}: ${answer}`)
  assert.doesNotMatch(run('iptables-save'), /^-A|T8S/m)
  assert.ok(!existsSync('/sys/class/net/t8s0'))
}
