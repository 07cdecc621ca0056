/** `t8s cni` below Debian's containerd, and `t8s runtime` without plug-ins: pods reach each other. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { PodSandboxConfig } from '#protobuf/cri-runtime_pb.js'
import { CriRuntime, type SandboxConfig } from '../../src/kubelet/cri/runtime.ts'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { startContainerd } from '../kubelet/support/runtimes/containerd.ts'
import { RuntimeProcess } from '../kubelet/support/runtimes/runtime-process.ts'
import { startAgent } from '../runtime/support/network-agent.ts'

const program = join(import.meta.dirname, '../../t8s')
const hostPort = 8080
const udp = 1

await inNamespaces(import.meta.filename, () => {
  test('containerd connects pods by t8s cni', withContainerd)
  test('t8s runtime connects pods with nothing installed', withRuntime)
})

async function withContainerd(t: TestContext): Promise<void> {
  // Records of the plug-in.
  mkdirSync('/var/lib/typernetes', { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', 'records', '/var/lib/typernetes'])
  const plugins = '/var/lib/typernetes/plugins'
  execFileSync(program, ['cni', 'install', '--bin-dir', plugins])
  const plugin = {
    ...{ type: 't8s', bridge: 't8s-cni', ipMasq: true, hairpinMode: true, capabilities: { portMappings: true } },
    ipam: {
      ranges: [[{ subnet: '10.89.0.0/24' }]],
      routes: [{ dst: '0.0.0.0/0' }],
      dataDir: '/var/lib/typernetes/addresses',
    },
  }
  const containerd = await startContainerd({
    pluginFolder: plugins,
    write(folder) {
      mkdirSync(join(folder, 'cni'))
      const list = { cniVersion: '1.0.0', name: 'pods', plugins: [plugin] }
      writeFileSync(join(folder, 'cni/10-pods.conflist'), JSON.stringify(list))
      return join(folder, 'cni')
    },
  })
  t.after(() => containerd.stop())
  await reachEachOther(t, containerd.endpoint, '10.89.0', async (runtime, id) => {
    const { info } = await runtime.sandboxInfo(id)
    const { runtimeSpec } = JSON.parse(info.info!) as {
      readonly runtimeSpec: { readonly linux: { readonly namespaces: readonly { type: string; path?: string }[] } }
    }
    return runtimeSpec.linux.namespaces.find(({ type }) => type === 'network')!.path!
  })
}

async function withRuntime(t: TestContext): Promise<void> {
  const folders: string[] = []
  const server = new RuntimeProcess('runtime', (folder, socket) => {
    folders.push(folder)
    const options = { listen: `unix://${socket}`, root: `${folder}/root`, state: `${folder}/state` }
    const flags = Object.entries({ ...options, 'cni-conf-dir': `${folder}/none`, 'pod-cidr': '10.90.0.0/24' })
    return [program, 'runtime', ...flags.map(([name, value]) => `--${name}=${value}`)]
  })
  t.after(() => server.end())
  await server.start()
  const fileOf = async (_: CriRuntime, id: string) => join(folders[0]!, 'state/sandboxes', id, 'net')
  await reachEachOther(t, server.endpoint, '10.90.0', fileOf)
  assert.throws(() => execFileSync('ip', ['link', 'show', 't8s0'], { stdio: 'pipe' }))
}

/** Runs two pods; `fileOf` returns the file of a sandbox's network. */
async function reachEachOther(
  t: TestContext,
  endpoint: string,
  prefix: string,
  fileOf: (runtime: CriRuntime, id: string) => Promise<string>,
): Promise<void> {
  const runtime = new CriRuntime(endpoint)
  t.after(() => runtime.close())
  const run = async (name: string) => {
    const config: Exclude<SandboxConfig, PodSandboxConfig> = {
      metadata: { name, namespace: 'default', uid: name },
      logDirectory: '/tmp',
      portMappings: name === 'server' ? [{ hostPort, containerPort: 80, protocol: udp }] : [],
    }
    const id = await runtime.runSandbox(config)
    const agent = await startAgent(name, await fileOf(runtime, id))
    t.after(() => agent.end())
    return { id, agent, address: (await runtime.sandboxStatus(id)).status?.network?.ip ?? '' }
  }
  const [server, client] = [await run('server'), await run('client')]
  const host = await startAgent('host')
  t.after(() => host.end())
  assert.equal(server.address, `${prefix}.2`)
  const ask = (agent: typeof host, protocol: 'tcp' | 'udp', address: string, port: number) =>
    agent.ask({ protocol, address, port })
  assert.equal(await ask(client.agent, 'tcp', server.address, 80), `server sees ${client.address}`)
  assert.equal(await ask(client.agent, 'tcp', `${prefix}.1`, 80), `host sees ${client.address}`)
  for (const { agent } of [client, server, { agent: host }])
    assert.match(await ask(agent, 'udp', `${prefix}.1`, hostPort), /^server sees /)
  assert.equal(await ask(host, 'udp', '127.0.0.1', hostPort), `server sees ${prefix}.1`)
  for (const { id } of [server, client]) {
    await runtime.stopSandbox(id)
    await runtime.removeSandbox(id)
  }
}
