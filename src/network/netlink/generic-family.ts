/** Families of generic netlink, whose numbers the kernel assigns to their names (linux/genetlink.h). */
import { decodeAttributes, text } from './message.ts'
import type { NetlinkSocket } from './netlink-socket.ts'

const controlFamily = 16
const getFamily = 3
const attributes = { id: 1, name: 2 } as const
const headerSize = 4

/** The body of a message: a command of the family and its attributes. */
export function genericBody(command: number, version: number, parts: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([command, version, 0, 0]), ...parts])
}

/** The attributes of an answer. */
export const genericAttributes = (body: Buffer): ReadonlyMap<number, Buffer> => decodeAttributes(body, headerSize)

/**
 * The number of a family, as the type of its messages.
 * @throws a `SystemCallError` with the code ENOENT if the kernel has no such family.
 */
export function findFamily(socket: NetlinkSocket, name: string): number {
  const request = genericBody(getFamily, 1, [text(attributes.name, name)])
  const [found] = socket.get(`find the netlink family ${name}`, controlFamily, request)
  const id = found && genericAttributes(found).get(attributes.id)?.readUInt16LE()
  if (id === undefined) throw new Error(`the kernel did not answer with the number of the netlink family ${name}`)
  return id
}
