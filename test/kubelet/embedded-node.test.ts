/** The node of `t8s up` by default: real, on the runtime of the same process. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { dataDirectoryPaths } from '../../src/cluster/data-directory.ts'
import { type EmbeddedRuntime, embeddedRuntime } from '../../src/cluster/real-node/settings/embedded-runtime.ts'
import { systemCalls } from '../../src/lib/linux/system-calls.ts'
import { arpFilter } from '../../src/network/arp/capture/packet-filter.ts'
import { PacketSocket } from '../../src/network/arp/capture/packet-socket.ts'
import { arpOf } from '../../src/network/arp/wire/arp-packet.ts'
import { ethernetHeaderSize } from '../../src/network/arp/wire/ethernet-frame.ts'
import { withHostNetwork } from '../../src/network/netlink/host-network.ts'
import { findCgroups } from '../../src/node/cgroups/tree/find-cgroups.ts'
import { prepareNodeNamespaces } from '../support/node-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, type Running, repository, stop, t8s, temporaryFolder, up } from '../up/t8s-process.ts'
import { inNamespaces } from './support/in-namespaces.ts'
import { images, writeTestImages } from './support/runtimes/test-images.ts'

/** Folders of the machine that get empty ones of the namespace in their place. */
const covered = ['/run/typernetes', '/var/lib/typernetes', '/etc/cni']

/** Standard output of a kubectl command that succeeds. */
function run(cluster: Running, ...args: readonly string[]): string {
  const { code, stdout, stderr } = kubectl(cluster.kubeconfig, ...args)
  assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}\n${cluster.output()}`)
  return stdout
}

const runtimeIn = (data: string): EmbeddedRuntime => embeddedRuntime(dataDirectoryPaths(data).node)

/** The flags of a cluster with its data in a folder, whose cgroups are removed after the test. */
function flagsIn(t: TestContext, data: string): string[] {
  const { cgroup } = runtimeIn(data)
  t.after(async () => {
    // Containers outlive a cluster, and so a test that fails.
    const tree = findCgroups()
    for (const pid of tree.processes(cgroup)) process.kill(pid, 'SIGKILL')
    await waitFor('no process is left', () => tree.processes(cgroup).length === 0)
    await tree.remove(cgroup)
  })
  return ['--node-type=auto', '--data-dir', data, '--secure-port=0']
}

/** Runs a web server in a pod that serves a text, and returns it when it is ready. */
async function serve(cluster: Running, text: string): Promise<void> {
  await waitFor('the node is ready', () =>
    / Ready /.test(kubectl(cluster.kubeconfig, 'get', 'nodes', '--no-headers').stdout),
  )
  await waitFor('an account', () => kubectl(cluster.kubeconfig, 'get', 'serviceaccount', 'default').code === 0)
  const file = join(dirname(cluster.kubeconfig), 'web.json')
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: webServer(file, text) }))
  run(cluster, 'create', '-f', file)
  run(cluster, 'wait', 'pod', 'web', '--for=condition=Ready', '--timeout=50s')
}

/** A pod with a Service, and a claim for a folder of this machine, which leaves no mount in the data directory. */
function webServer(file: string, text: string): readonly object[] {
  const size = { storage: '1Mi' }
  const claim = { accessModes: ['ReadWriteOnce'], storageClassName: '' }
  const hostPath = { path: `${file}.volume`, type: 'DirectoryOrCreate' }
  const command = `echo ${text} >>/www/index.html; echo started; exec httpd -f -p 80 -h /www`
  const web = { image: images.busybox, command: ['sh', '-c', command] }
  return [
    { kind: 'PersistentVolume', metadata: { name: 'www' }, spec: { ...claim, capacity: size, hostPath } },
    { kind: 'PersistentVolumeClaim', metadata: { name: 'www' }, spec: { ...claim, resources: { requests: size } } },
    {
      kind: 'Pod',
      metadata: { name: 'web', labels: { run: 'web' } },
      spec: {
        automountServiceAccountToken: false,
        containers: [{ name: 'web', ...web, volumeMounts: [{ name: 'www', mountPath: '/www' }] }],
        volumes: [{ name: 'www', persistentVolumeClaim: { claimName: 'www' } }],
      },
    },
    { kind: 'Service', metadata: { name: 'web' }, spec: { selector: { run: 'web' }, ports: [{ port: 80 }] } },
  ].map((object) => ({ apiVersion: 'v1', ...object }))
}

const address = (cluster: Running): string => run(cluster, 'get', 'pod', 'web', '-o', 'jsonpath={.status.podIP}')
const page = async (cluster: Running): Promise<string> => (await fetch(`http://${address(cluster)}/`)).text()
/** When the node, and its pod, became ready. */
const readySince = (cluster: Running): string => {
  const time = 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].lastTransitionTime}'
  return run(cluster, 'get', 'nodes,pods', '-o', time)
}
const linesOfNode = ({ output }: Running): string[] => output().match(/^node: .*$/gm) ?? []
const realLine = /^node: real \(containers by .*; images from their registries\)$/
const isReal = (cluster: Running) =>
  waitFor('the line of a real node', () => realLine.test(linesOfNode(cluster).join()))
const output = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8' })

/** Waits until nothing of the pods of a cluster is left. */
async function isClean(cluster: Running): Promise<void> {
  const { state, bridge } = runtimeIn(dirname(cluster.kubeconfig))
  await waitFor('no container is left', () => !hasContainers(cluster))
  await waitFor('no mount is left', () => !output('cat', '/proc/mounts').includes(`${state}/sandboxes`))
  await waitFor('no bridge is left', () => !output('ip', 'link').includes(bridge))
}

async function removePod(cluster: Running): Promise<void> {
  run(cluster, 'delete', 'pod', 'web', '--grace-period=1', '--timeout=50s')
  await isClean(cluster)
}

/** True while containers of the cluster have their parents. */
const hasContainers = (cluster: Running): boolean =>
  output('ps', '-eo', 'args').includes(`t8s-keeper ${runtimeIn(dirname(cluster.kubeconfig)).state}/`)

await inNamespaces(import.meta.filename, () => {
  prepareNodeNamespaces(covered)
  testClusters()
  testWithoutRoot()
})

function testClusters(): void {
  test('t8s up runs web servers, in clusters side by side and after a restart, and ends unknown ones', async (t) => {
    const folder = temporaryFolder(t)
    for (const file of writeTestImages(folder)) {
      const { code, stderr } = t8s(['image', 'import', file])
      assert.equal(code, 0, stderr)
    }
    const flags = flagsIn(t, join(folder, 'data'))
    let cluster = await up(t, flags)
    await serve(cluster, 'it works')
    assert.match(run(cluster, 'get', 'nodes', '-o', 'wide'), /typernetes:\/\//)
    await isReal(cluster)

    const second = await up(t, flagsIn(t, join(folder, 'second')))
    await serve(second, 'so does this')
    await isReal(second)
    assert.deepEqual([await page(cluster), await page(second)], ['it works\n', 'so does this\n'])
    assert.equal(run(second, 'exec', 'web', '--', 'cat', '/www/index.html'), 'so does this\n')
    await removePod(second)
    await stop(second)
    assert.doesNotMatch(second.output(), /runs? on/)

    assert.equal(run(cluster, 'exec', 'web', '--', 'cat', '/www/index.html'), 'it works\n')
    const since = readySince(cluster)
    await stop(cluster)
    assert.match(cluster.output(), /^1 container runs on; the next start with this data directory takes over$/m)
    cluster = await up(t, flags)
    assert.equal(await page(cluster), 'it works\n')
    await waitFor('the log', () => kubectl(cluster.kubeconfig, 'logs', 'web').stdout === 'started\n')
    assert.equal(run(cluster, 'get', 'pod', 'web', '-o', 'jsonpath={.status.containerStatuses[0].restartCount}'), '0')
    const fromService = ['exec', 'web', '--', 'timeout', '5', 'wget', '-qO-', 'web'] as const
    await waitFor('the Service', () => kubectl(cluster.kubeconfig, ...fromService).stdout === 'it works\n')
    assert.equal(readySince(cluster), since, 'the node and its pod stay ready')
    await addressConflict(cluster)
    await stop(cluster)

    // In place of a deleted cluster, a new one ends the containers of that one.
    const data = dirname(cluster.kubeconfig)
    for (const name of ['node/runtime', 'store']) rmSync(join(data, name), { recursive: true })
    cluster = await up(t, flags)
    await isClean(cluster)
    await stop(cluster)
  })
}

/** Another host on the bridge announces the address of the pod, and then changes its hardware address. */
async function addressConflict(cluster: Running): Promise<void> {
  const { bridge } = runtimeIn(dirname(cluster.kubeconfig))
  const stranger = '12:07:6b:be:20:d2'
  output('ip', 'link', 'add', 'stranger', 'type', 'veth', 'peer', 'name', 'stranger1', 'address', stranger)
  output('ip', 'link', 'set', 'stranger', 'master', bridge, 'up')
  output('ip', 'link', 'set', 'stranger1', 'up')
  const taken = address(cluster)
  const pod = /lladdr (\S+)/.exec(output('ip', 'neigh', 'show', taken, 'dev', bridge))?.[1] ?? ''
  const events = ['get', 'events', '-o', 'jsonpath={range .items[*]}{.reason} {.type} {.message}{"\\n"}{end}']
  const expected = new RegExp(
    `^AddressConflict Warning The host ${stranger} on ${bridge} uses the address ${taken} of`,
    'm',
  )
  const defences = defencesOf(pod, taken)
  // Nobody answers, so that its exit code is 1.
  const announce = (claimed: string): unknown =>
    spawnSync('arping', ['-q', '-c', '1', '-w', '1', '-i', 'stranger1', '-U', '-S', claimed, claimed])
  await waitFor('an event about the conflict', () => {
    announce(taken)
    return expected.test(run(cluster, ...events))
  })
  const times = await waitFor('an announcement of the pod', () =>
    defences.read().length > 0 ? defences.read() : false,
  )
  for (const [index, time] of times.entries())
    assert.ok(index === 0 || time - times[index - 1]! > 9_000_000, `${times}`)
  defences.close()
  await waitFor('the pod at its hardware address', () =>
    output('ip', 'neigh', 'show', taken, 'dev', bridge).includes(`lladdr ${pod} `),
  )
  assert.equal(await page(cluster), 'it works\n')
  await changedAddress(cluster, taken, announce)
  assert.match(t8s(['arp', '-a', '--pod', 'default/web']).stdout, /^\? \([\d.]+\) at [\da-f:]+ \[ether\] on eth0$/m)
  // A bridge to which others are connected remains.
  output('ip', 'link', 'delete', 'stranger')
}

/** Times in µs at which a host on the bridge got announcements of the pod. */
function defencesOf(pod: string, address: string): { read(): readonly number[]; close(): void } {
  const calls = systemCalls()
  const link = withHostNetwork(calls, undefined, ({ links }) => links.find('stranger1'))?.index
  const socket = PacketSocket.open({ calls, link, filter: arpFilter() })
  const times: number[] = []
  const read = (): readonly number[] => {
    for (let frame = socket.receive(); frame; frame = socket.receive()) {
      const arp = arpOf(frame.bytes.subarray(ethernetHeaderSize))
      const isOfPod = arp?.senderHardware === pod && arp.senderAddress === address && arp.targetAddress === address
      if (isOfPod && !frame.isOutgoing) times.push(frame.timeUs)
    }
    return times
  }
  return { read, close: () => socket.close() }
}

/** A host that is no pod gets another network card. */
async function changedAddress(cluster: Running, taken: string, announce: (address: string) => unknown): Promise<void> {
  const free = taken.replace(/\d+$/, '250')
  const [before, after] = ['12:07:6b:be:20:d2', '12:07:6b:be:20:e3']
  announce(free)
  output('ip', 'link', 'set', 'stranger1', 'address', after)
  announce(free)
  const line = `${free} was at ${before} and is now at ${after}|${before} and ${after} both say that they have ${free}`
  await waitFor('a line about the change', () => new RegExp(line).test(cluster.output()))
}

function testWithoutRoot(): void {
  test('without root and user namespaces, t8s up has a simulated node and says why', async (t) => {
    const folder = temporaryFolder(t)
    chmodSync(folder, 0o777)
    const program = join(folder, 'as-nobody')
    const identity = '--reuid=65534 --regid=65534 --clear-groups'
    writeFileSync(program, `#!/bin/sh\nexec setpriv ${identity} ${join(repository, 't8s')} "$@"\n`, { mode: 0o755 })
    // As on machines that do not allow user namespaces.
    writeFileSync(join(folder, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const flags = ['--node-type=auto', '--data-dir', join(folder, 'data'), '--secure-port=0']
    const cluster = await up(t, flags, { program, env: { HOME: folder, PATH: `${folder}:${process.env.PATH}` } })
    await waitFor('the node', () => /^node-1 +Ready /m.test(kubectl(cluster.kubeconfig, 'get', 'nodes').stdout))
    assert.match(cluster.output(), /^no user namespaces for pods: the kernel does not allow user namespaces/m)
    assert.doesNotMatch(cluster.output(), /in a user namespace/)
    assert.deepEqual(linesOfNode(cluster), [
      'node: simulated, because t8s runs without root (use sudo or --node-type=real for a real one)',
    ])
    await stop(cluster)
  })
}
