/**
 * A node with pods at a bridge and a machine outside, as network namespaces: the test's own namespace is the node.
 * Each pod answers connections with its name and the source that it sees. Needs `inNamespaces`.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNetwork, removeNetwork } from '../network-namespaces.ts'

/** The pods' bridge has the first address of their range. */
export const podRange = '172.17.0.0/16'
export const bridge = 'cni0'
export const bridgeAddress = '172.17.0.1'
export const nodeAddress = '192.168.50.1'
export const outsideAddress = '192.168.50.2'
/** Port of all pods. */
export const podPort = 8080

/** Echoes what it gets after a first line: its name and the source. */
const server = `
import { createServer } from 'node:net'
const [name, port] = process.argv.slice(1)
createServer((socket) => {
  socket.on('error', () => {})
  socket.write(name + ' ' + socket.remoteAddress.replace('::ffff:', '') + '\\n')
  socket.pipe(socket)
}).listen(Number(port), '::', () => console.log('ready'))`

/** Prints a JSON list: the first line of each connection, or the code of its error. */
const client = `
import { connect } from 'node:net'
const [host, port, count, timeout] = process.argv.slice(1)
const answerOf = () => new Promise((resolve) => {
  const socket = connect({ host, port: Number(port) })
  socket.setTimeout(Number(timeout), () => { resolve('TIMEOUT'); socket.destroy() })
  socket.on('error', (error) => resolve(error.code))
  socket.once('data', (data) => { resolve(data.toString().trim()); socket.destroy() })
})
const answers = []
for (let i = 0; i < Number(count); i++) answers.push(await answerOf())
console.log(JSON.stringify(answers))`

const nodeScript = ['--input-type=module', '-e']

export class NodeLab {
  readonly #folder = mkdtempSync(join(tmpdir(), 't8s-lab-'))
  readonly #servers: ChildProcess[] = []
  #links = 0

  constructor() {
    run('ip', 'link', 'set', 'lo', 'up')
    run('ip', 'link', 'add', bridge, 'type', 'bridge')
    run('ip', 'addr', 'add', `${bridgeAddress}/16`, 'dev', bridge)
    run('ip', 'link', 'set', bridge, 'up')
    writeFileSync('/proc/sys/net/ipv4/ip_forward', '1')
    const link = this.#addNamespace('outside', `${outsideAddress}/24`, nodeAddress)
    run('ip', 'addr', 'add', `${nodeAddress}/24`, 'dev', link)
    // A link of its own: where a packet leaves by the link that it came from, redirects delay other ICMP messages.
    const uplink = this.#addNamespace('uplink', '192.168.51.2/24', '192.168.51.1')
    run('ip', 'addr', 'add', '192.168.51.1/24', 'dev', uplink)
    run('ip', 'route', 'add', 'default', 'via', '192.168.51.2')
  }

  /** Adds a pod, and starts its server. */
  async addPod(name: string, address: string): Promise<void> {
    const link = this.#addNamespace(name, `${address}/16`, bridgeAddress)
    run('ip', 'link', 'set', link, 'master', bridge)
    run('bridge', 'link', 'set', 'dev', link, 'hairpin', 'on')
    const program = [process.execPath, ...nodeScript, server, name, String(podPort)]
    const child = spawn('nsenter', [this.#inside(name), ...program], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#servers.push(child)
    await once(child.stdout, 'data')
  }

  /** Connects one after another from a pod, from `outside`, or from the `node`; returns the answers. */
  connect(from: string, host: string, port: number, count = 1, timeoutMs = 2000): string[] {
    const args = [...nodeScript, client, host, String(port), String(count), String(timeoutMs)]
    const output =
      from === 'node' ? run(process.execPath, ...args) : run('nsenter', this.#inside(from), process.execPath, ...args)
    return JSON.parse(output) as string[]
  }

  stop(): void {
    for (const child of this.#servers) child.kill('SIGKILL')
    for (const name of readdirSync(this.#folder)) removeNetwork(this.#file(name))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Returns the node's end of the link. */
  #addNamespace(name: string, address: string, gateway: string): string {
    const link = `link${this.#links++}`
    createNetwork(this.#file(name))
    run('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'far')
    run('ip', 'link', 'set', 'far', 'netns', this.#file(name))
    run('ip', 'link', 'set', link, 'up')
    const ip = (...args: readonly string[]): string => run('nsenter', this.#inside(name), 'ip', ...args)
    ip('link', 'set', 'lo', 'up')
    ip('addr', 'add', address, 'dev', 'far')
    ip('link', 'set', 'far', 'up')
    ip('route', 'add', 'default', 'via', gateway)
    return link
  }

  #inside(name: string): string {
    return `--net=${this.#file(name)}`
  }

  #file(name: string): string {
    return join(this.#folder, name)
  }
}

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', timeout: 60_000 })
}
