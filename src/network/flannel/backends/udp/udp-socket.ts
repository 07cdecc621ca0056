/** The socket with which nodes exchange packets. */
import { errorCode } from '../../../../lib/explained-error.ts'
import { cLibrary } from '../../../../lib/linux/c-library.ts'
import { systemCalls } from '../../../../lib/linux/system-calls.ts'
import { addressToBytes, families } from '../../../netlink/address-bytes.ts'

const datagramSocket = 2
const closeOnExec = 0o2000000
const socketLevel = 1
/** SO_SNDBUFFORCE and SO_RCVBUFFORCE: more than the limit of other programs. */
const bufferOptions = [32, 33] as const
/** In bytes: packets wait while the thread handles others. */
const bufferSize = 4 * 1024 * 1024

/** `struct sockaddr_in`. */
export function socketAddress(address: string, port: number): Buffer {
  const bytes = Buffer.alloc(16)
  bytes.writeUInt16LE(families.ipv4, 0)
  bytes.writeUInt16BE(port, 2)
  addressToBytes(address).copy(bytes, 4)
  return bytes
}

/**
 * Returns a socket that is bound to an IPv4 address and a port.
 * @throws an Error with a sentence if the port is not available.
 */
export function openUdpSocket(address: string, port: number): number {
  const calls = systemCalls()
  const { declare, check } = cLibrary()
  const bind = declare<[number, Uint8Array, number]>('int bind(int fd, const uint8_t *address, uint32_t length)')
  const fd = calls.socket(families.ipv4, datagramSocket | closeOnExec, 0)
  try {
    const size = Buffer.alloc(4)
    size.writeInt32LE(bufferSize)
    for (const option of bufferOptions) calls.setSocketOption(fd, socketLevel, option, size)
    const bytes = socketAddress(address, port)
    check(`bind to ${address} port ${port}`, bind(fd, bytes, bytes.length))
    return fd
  } catch (error) {
    calls.close(fd)
    if (errorCode(error) !== 'EADDRINUSE') throw error
    throw new Error(
      `another program has the UDP port ${port} of ${address}: stop it (ss -lunp lists it), or choose another Port ` +
        'in the Backend of the flannel config of all nodes',
      { cause: error },
    )
  }
}
