/** Attributes of nftables' messages. Numbers are in network order, unlike those of other netlink families. */
import { attribute, attributeOfSize, nested, text } from '../message.ts'
import type { Verdict } from './values.ts'

export function number32(type: number, value: number): Buffer {
  const bytes = attributeOfSize(type, 4)
  bytes.writeInt32BE(value | 0, 4)
  return bytes
}

export function number64(type: number, value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return attribute(type, bytes)
}

/** NFTA_DATA_VALUE in an attribute. */
export const dataValue = (type: number, value: Buffer): Buffer => nested(type, attribute(1, value))

const verdictCodes: Readonly<Record<Verdict['action'], number>> = { drop: 0, jump: -3, goto: -4, return: -5 }

/** NFTA_DATA_VERDICT in an attribute. */
export function dataVerdict(type: number, { action, chain }: Verdict): Buffer {
  const code = number32(1, verdictCodes[action])
  return nested(type, chain === undefined ? nested(2, code) : nested(2, code, text(2, chain)))
}

/** A list: each part becomes an NFTA_LIST_ELEM. */
export const list = (type: number, parts: readonly Buffer[]): Buffer =>
  nested(type, ...parts.map((part) => nested(1, part)))

/** Data that only `nft` reads: type, length, value. */
export const userData = (type: number, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from([type, value.length]), value])

/** The kernel accepts 256 bytes of user data; `nft` shows comments of up to 128 bytes, with their final zero. */
export const commentData = (type: number, comment: string): Buffer => userData(type, Buffer.from(`${comment}\0`))
