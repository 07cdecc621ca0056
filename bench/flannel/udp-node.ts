/**
 * A node of the backend udp in a process of its own, in the network namespace of the process:
 * `ours OWN-IP PEER-IP OWN-SUBNET PEER-SUBNET`, or `plain …`: fs.read and dgram, packet by packet.
 */
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { openSync, read, write } from 'node:fs'
import { cLibrary } from '../../src/lib/linux/c-library.ts'
import { PacketCarrier } from '../../src/network/flannel/backends/udp/packet-carrier.ts'

const [kind, own = '', peer = '', ownSubnet = '', peerSubnet = ''] = process.argv.slice(2)
const [device, port, mtu] = ['flannel0', 8285, 1472]
const address = ownSubnet.split('/')[0]!

if (kind === 'ours')
  new PacketCarrier({ device, address: own, port, mtu, log: console.error }).setPeers([
    { subnet: peerSubnet, address: peer, port },
  ])
else carryPlainly()

execFileSync('ip', ['address', 'replace', `${address}/32`, 'dev', device])
execFileSync('ip', ['link', 'set', device, 'mtu', String(mtu), 'up'])
execFileSync('ip', ['route', 'replace', peerSubnet, 'dev', device])
process.send?.('ready')
process.once('disconnect', () => process.exit())

function carryPlainly(): void {
  const tun = openSync('/dev/net/tun', 'r+')
  const request = Buffer.alloc(40)
  request.write(device)
  request.writeUInt16LE(0x1001, 16)
  const { declare, check } = cLibrary()
  const ioctl = declare<[number, number, Uint8Array]>('int ioctl(int fd, unsigned long request, uint8_t *value)')
  check('TUNSETIFF', ioctl(tun, 0x400454ca, request))
  const socket = createSocket('udp4').bind(port, own)
  const packet = Buffer.alloc(2048)
  const next = (): void =>
    read(tun, packet, 0, packet.length, null, (error, size) => {
      if (error) throw error
      socket.send(packet.subarray(0, size), port, peer, next)
    })
  socket.on('message', (message) => write(tun, message, () => {}))
  next()
}
