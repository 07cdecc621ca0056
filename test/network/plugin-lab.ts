/** Pods as network namespaces, connected by `t8s cni` or by Debian's plug-ins. Needs root, and `inNamespaces`. */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import { systemCalls } from '../../src/lib/linux/system-calls.ts'
import { runPlugin } from '../../src/network/cni/plugin/run-plugin.ts'
import { waitFor } from '../support/wait-for.ts'
import { createNetwork, removeNetwork } from './network-namespaces.ts'

/** The result of a plug-in, or its error. */
export interface PluginResult {
  readonly cniVersion: string
  readonly ips: readonly { readonly interface: number; readonly address: string; readonly gateway: string }[]
  readonly code?: number
  readonly msg?: string
}

const routes = [{ dst: '0.0.0.0/0' }, { dst: '::/0' }]

export class PluginLab {
  readonly folder: string = mkdtempSync(join(tmpdir(), 't8s-cni-'))

  constructor() {
    before(() => {
      spawnSync('ip', ['link', 'set', 'lo', 'up'])
      // The plug-in's own records.
      mkdirSync('/var/lib/typernetes', { recursive: true })
      spawnSync('mount', ['-t', 'tmpfs', 'records', '/var/lib/typernetes'])
    })
    after(() => rmSync(this.folder, { recursive: true }))
  }

  /** A network of which the bridge has the same name. */
  configOf(name: string, subnets: readonly string[], more: object = {}): object {
    return {
      cniVersion: '1.0.0',
      name,
      bridge: name,
      ipMasq: true,
      hairpinMode: true,
      isGateway: true,
      ipam: {
        type: 'host-local',
        dataDir: join(this.folder, 'networks'),
        ranges: subnets.map((subnet) => [{ subnet }]),
        routes: routes.filter(({ dst }) => subnets.some((subnet) => subnet.includes(':') === dst.includes(':'))),
      },
      ...more,
    }
  }

  /** Calls our plug-in. */
  async ours(command: string, id: string, config: object): Promise<PluginResult> {
    const { output, exitCode } = await runPlugin(systemCalls, this.#variables(command, id), JSON.stringify(config))
    const result = (output ?? {}) as PluginResult
    assert.equal(exitCode, result.code === undefined ? 0 : 1)
    return result
  }

  /** Calls a plug-in of Debian. */
  debians(plugin: string, command: string, id: string, config: object): PluginResult {
    const env = { ...process.env, ...this.#variables(command, id) }
    const input = JSON.stringify({ type: plugin, ...config })
    const { stdout, stderr } = spawnSync(`/usr/lib/cni/${plugin}`, { env, input, encoding: 'utf8' })
    assert.equal(stderr, '')
    return (stdout.trim() ? JSON.parse(stdout) : {}) as PluginResult
  }

  /** Creates the namespace of a pod; returns the pod's id. */
  pod(t: TestContext, id: string): string {
    createNetwork(join(this.folder, id))
    t.after(() => removeNetwork(join(this.folder, id)))
    return id
  }

  /** Creates a namespace that no plug-in knows, and connects it to a bridge. */
  host(t: TestContext, id: string, bridge: string, hardware: string, addresses: readonly string[]): void {
    const file = join(this.folder, this.pod(t, id))
    const run = (...args: string[]): void => void execFileSync('ip', args)
    run('link', 'add', id, 'type', 'veth', 'peer', 'name', `${id}1`)
    run('link', 'set', id, 'master', bridge, 'up')
    const inside = (...args: string[]): void => void execFileSync('nsenter', [`--net=${file}`, 'ip', ...args])
    run('link', 'set', `${id}1`, 'netns', file)
    inside('link', 'set', `${id}1`, 'address', hardware, 'up')
    for (const address of addresses)
      inside('address', 'add', address, 'dev', `${id}1`, ...(address.includes(':') ? ['nodad'] : []))
  }

  /** Returns the output of a command in a pod. */
  inside(id: string, ...command: string[]): { code: number | null; output: string } {
    const args = [`--net=${join(this.folder, id)}`, ...command]
    const { status, stdout, stderr } = spawnSync('nsenter', args, { encoding: 'utf8' })
    return { code: status, output: stdout + stderr }
  }

  /** Answers every connection in a pod with a line, until the test ends. */
  async serve(t: TestContext, id: string, port: number, line: string): Promise<void> {
    const script = `while true; do echo ${line} | busybox nc -l -p ${port} >/dev/null; done`
    const args = [`--net=${join(this.folder, id)}`, 'busybox', 'sh', '-c', script]
    const server = spawn('nsenter', args, { detached: true })
    t.after(() => process.kill(-server.pid!, 'SIGKILL'))
    await waitFor('the server listens', () =>
      this.inside(id, 'busybox', 'netstat', '-ltn').output.includes(`:${port} `),
    )
  }

  /** Resolves when a client that starts with `command` gets the line of a server. */
  fetchFrom(command: readonly string[], address: string, port: number): Promise<true> {
    return waitFor(`an answer of ${address}:${port}`, () => {
      const [program, ...args] = [...command, 'busybox', 'nc', '-w', '5', address, `${port}`]
      const { stdout } = spawnSync(program!, args, { encoding: 'utf8', input: '', timeout: 10_000 })
      return stdout === 'hello\n'
    })
  }

  #variables(command: string, id: string): Record<string, string> {
    return {
      CNI_COMMAND: command,
      CNI_CONTAINERID: id,
      CNI_NETNS: join(this.folder, id),
      CNI_IFNAME: 'eth0',
      CNI_PATH: '/usr/lib/cni',
      CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${id};K8S_POD_UID=uid-${id}`,
    }
  }
}
