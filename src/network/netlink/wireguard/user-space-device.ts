/** A device of WireGuard in a program such as wireguard-go, by its socket (wireguard.com/xplatform). */
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { publicKeyOf } from './keys.ts'
import type { WireguardChange, WireguardDevice, WireguardPeer, WireguardState } from './wireguard-device.ts'

const folder = '/var/run/wireguard'
/** In ms. */
const answerTimeout = 5000

/** Where the program of a device listens. */
export const socketFile = (name: string): string => `${folder}/${name}.sock`

/** True if a program has the device. */
export const hasUserSpaceDevice = (name: string): boolean => existsSync(socketFile(name))

export class UserSpaceDevice implements WireguardDevice {
  readonly #file: string

  /** `file` is the program's socket. */
  constructor(file: string) {
    this.#file = file
  }

  async read(): Promise<WireguardState> {
    return decodeState(await this.#call('get=1\n\n'))
  }

  async change(change: WireguardChange): Promise<void> {
    await this.#call(encodeChange(change))
  }

  /** Resolves with the lines of the answer. Rejects with the program's error number. */
  async #call(request: string): Promise<readonly (readonly [string, string])[]> {
    const socket = connect(this.#file).setEncoding('utf8').setTimeout(answerTimeout)
    socket.once('timeout', () => socket.destroy(new Error('it does not answer')))
    let answer = ''
    try {
      socket.write(request)
      for await (const piece of socket) {
        answer += String(piece)
        if (answer.endsWith('\n\n')) break
      }
    } catch (error) {
      throw new Error(`the program of WireGuard at ${this.#file} is not reached: start it`, { cause: error })
    } finally {
      socket.destroy()
    }
    const lines = answer
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
    const [, errno] = lines.find(([key]) => key === 'errno') ?? []
    if (errno !== '0')
      throw new Error(`the program of WireGuard at ${this.#file} rejects the settings: its error is ${errno ?? 'none'}`)
    return lines
  }
}

/** The request that changes a device. */
export function encodeChange({ privateKey, listenPort, peers = [], removed = [] }: WireguardChange): string {
  const lines = ['set=1']
  if (privateKey) lines.push(`private_key=${privateKey.toString('hex')}`)
  if (listenPort !== undefined) lines.push(`listen_port=${listenPort}`)
  for (const key of removed) lines.push(`public_key=${key.toString('hex')}`, 'remove=true')
  for (const { publicKey, presharedKey, endpoint, keepaliveSeconds, allowedIPs } of peers) {
    lines.push(`public_key=${publicKey.toString('hex')}`)
    lines.push(`preshared_key=${(presharedKey ?? Buffer.alloc(32)).toString('hex')}`)
    if (endpoint) lines.push(`endpoint=${endpointText(endpoint)}`)
    lines.push(`persistent_keepalive_interval=${keepaliveSeconds}`)
    if (allowedIPs) lines.push('replace_allowed_ips=true')
    for (const range of allowedIPs ?? []) lines.push(`allowed_ip=${range}`)
  }
  return `${lines.join('\n')}\n\n`
}

/** The state of a device from the lines of an answer. */
export function decodeState(lines: readonly (readonly [string, string])[]): WireguardState {
  let publicKey: Buffer | undefined
  let listenPort = 0
  const peers: (WireguardPeer & { allowedIPs: string[] })[] = []
  for (const [key, value] of lines) {
    const last = peers.at(-1)
    if (key === 'private_key') publicKey = publicKeyOf(Buffer.from(value, 'hex'))
    else if (key === 'listen_port') listenPort = Number(value)
    else if (key === 'public_key')
      peers.push({ publicKey: Buffer.from(value, 'hex'), keepaliveSeconds: 0, allowedIPs: [] })
    else if (!last) continue
    else if (key === 'allowed_ip') last.allowedIPs.push(value)
    else if (key === 'persistent_keepalive_interval')
      peers[peers.length - 1] = { ...last, keepaliveSeconds: Number(value) }
    else if (key === 'endpoint') peers[peers.length - 1] = { ...last, endpoint: parseEndpoint(value) }
  }
  return { publicKey, listenPort, peers }
}

const endpointText = ({ address, port }: NonNullable<WireguardPeer['endpoint']>): string =>
  `${address.includes(':') ? `[${address}]` : address}:${port}`

function parseEndpoint(text: string): WireguardPeer['endpoint'] {
  const at = text.lastIndexOf(':')
  return { address: text.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(text.slice(at + 1)) }
}
