/** Packets between nodes, captured by tcpdump and read field by field. */
import { type ChildProcess, spawn } from 'node:child_process'
import { waitFor } from '../support/wait-for.ts'

/** A packet in a packet of UDP (RFC 7348). */
export interface VxlanPacket {
  /** The nodes. */
  readonly source: string
  readonly destination: string
  readonly port: number
  readonly vni: number
  /** MAC addresses of the inner frame. */
  readonly innerSourceMac: string
  readonly innerDestinationMac: string
  /** The pods. */
  readonly innerSource: string
  readonly innerDestination: string
}

/** A packet that is not encapsulated. */
export interface PlainPacket {
  readonly source: string
  readonly destination: string
}

const pcapHeader = 24
const recordHeader = 16
const ethernet = 14
const vxlanPort = 8472

export class Capture {
  readonly #child: ChildProcess
  readonly #pieces: Buffer[] = []
  #errors = ''

  private constructor(device: string, filter: string) {
    this.#child = spawn('tcpdump', ['-i', device, '-n', '-U', '-s', '0', '-w', '-', ...filter.split(' ')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child.stdout!.on('data', (piece: Buffer) => this.#pieces.push(piece))
    this.#child.stderr!.on('data', (piece: Buffer) => {
      this.#errors += piece.toString()
    })
  }

  /** Resolves when packets of an interface that match are captured. */
  static async start(device: string, filter: string): Promise<Capture> {
    const capture = new Capture(device, filter)
    await waitFor('tcpdump listens', () => /listening on/.test(capture.#errors))
    return capture
  }

  /** Resolves with the frames when there are at least `count`. */
  async frames(count: number): Promise<readonly Buffer[]> {
    return waitFor(`${count} captured packets`, () => {
      const frames = framesOf(Buffer.concat(this.#pieces))
      return frames.length >= count && frames
    })
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}

function framesOf(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = []
  for (let at = pcapHeader; at + recordHeader <= bytes.length; ) {
    const size = bytes.readUInt32LE(at + 8)
    const start = at + recordHeader
    if (start + size > bytes.length) break
    frames.push(bytes.subarray(start, start + size))
    at = start + size
  }
  return frames
}

/** Reads a frame of Ethernet with IPv4. */
export function plainPacket(frame: Buffer): PlainPacket {
  const address = (at: number): string => [...frame.subarray(at, at + 4)].join('.')
  return { source: address(ethernet + 12), destination: address(ethernet + 16) }
}

/** Reads a frame with an encapsulated one; undefined for others. */
export function vxlanPacket(frame: Buffer): VxlanPacket | undefined {
  const isUdp = frame.readUInt16BE(12) === 0x0800 && frame[ethernet + 9] === 17
  const udp = ethernet + (frame[ethernet]! & 0xf) * 4
  if (!isUdp || frame.readUInt16BE(udp + 2) !== vxlanPort) return undefined
  const header = udp + 8
  // The flag I: the identifier is valid.
  if (frame[header] !== 0x08) return undefined
  const inner = frame.subarray(header + 8)
  const mac = (at: number): string =>
    inner
      .subarray(at, at + 6)
      .toString('hex')
      .replace(/..(?=.)/g, '$&:')
  const { source: innerSource, destination: innerDestination } = plainPacket(inner)
  return {
    ...plainPacket(frame),
    port: vxlanPort,
    vni: frame.readUIntBE(header + 4, 3),
    innerDestinationMac: mac(0),
    innerSourceMac: mac(6),
    innerSource,
    innerDestination,
  }
}
