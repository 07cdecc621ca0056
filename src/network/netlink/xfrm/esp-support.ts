/** Checks that the kernel has ESP for IPv4: a state can be made. */
import { errorCode } from '../../../lib/explained-error.ts'
import { addressToBytes, families } from '../address-bytes.ts'
import { attribute } from '../message.ts'
import type { NetlinkSocket } from '../netlink-socket.ts'
import { espProtocol } from './policies.ts'

const types = { new: 0x10, delete: 0x11 } as const
/** Sizes of `struct xfrm_usersa_info` and `struct xfrm_usersa_id`, in bytes. */
const sizes = { state: 224, id: 24 } as const
/** XFRMA_ALG_CRYPT: a name of 64 bytes, and the bits of the key. */
const cipherAttribute = 2
const cipherSize = 68
/** A cipher without a key, which the kernel checks before it looks for ESP. */
const cipher = 'ecb(cipher_null)'
const loopback = addressToBytes('127.0.0.1')
/** Not used by daemons, which take larger ones at random. */
const spi = 0x101
/** Offsets of limits, the family and the mode in a state. */
const offsets = { limits: 96, family: 212, mode: 214 } as const

/**
 * Returns false if the kernel has no ESP, neither built in nor as a module that it can load. A state between addresses
 * of this machine is created for it, and removed immediately.
 */
export function hasEsp(socket: NetlinkSocket): boolean {
  try {
    socket.change('create a state of ESP', types.new, 0, stateBody())
  } catch (error) {
    // Other errors, such as one about the cipher, say nothing about ESP.
    return errorCode(error) !== 'EPROTONOSUPPORT'
  }
  socket.change('remove a state of ESP', types.delete, 0, idBody())
  return true
}

function stateBody(): Buffer {
  const body = Buffer.alloc(sizes.state)
  body.writeUInt16LE(families.ipv4, 40)
  loopback.copy(body, 56)
  body.writeUInt32BE(spi, 72)
  body.writeUInt8(espProtocol, 76)
  loopback.copy(body, 80)
  for (let limit = 0; limit < 4; limit++) body.writeBigUInt64LE(0xffff_ffff_ffff_ffffn, offsets.limits + limit * 8)
  body.writeUInt16LE(families.ipv4, offsets.family)
  const value = Buffer.alloc(cipherSize)
  value.write(cipher)
  return Buffer.concat([body, attribute(cipherAttribute, value)])
}

function idBody(): Buffer {
  const body = Buffer.alloc(sizes.id)
  loopback.copy(body, 0)
  body.writeUInt32BE(spi, 16)
  body.writeUInt16LE(families.ipv4, 20)
  body.writeUInt8(espProtocol, 22)
  return body
}
