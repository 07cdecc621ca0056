/**
 * The record of node ports in use: a RangeAllocation, which is no resource. The bit of each port in use is set in its
 * data, a big-endian number whose lowest bit is the first port of the range.
 */
import { protobufNumbers } from '../../../api/schema/protobuf.ts'
import { isProtobuf, MessageDecoder, openEnvelope } from '../../../machinery/protobuf/index.ts'
import type { Field, StructType } from '../../../machinery/schema.ts'
import type { PortRange } from '../ranges/port-range.ts'

const optional = (type: Field['type']): Field => ({ type, keepsEmpty: false })

const rangeAllocation: StructType = {
  kind: 'struct',
  definition: 'io.k8s.api.core.v1.RangeAllocation',
  goName: 'RangeAllocation',
  fields: new Map([
    ['range', optional({ kind: 'string' })],
    ['data', optional({ kind: 'string', format: 'byte' })],
  ]),
  required: new Set(),
  atomic: false,
  groupVersionKinds: [],
}

const messages = new MessageDecoder((definition) =>
  definition === rangeAllocation.definition ? 'range:2 data:3' : protobufNumbers(definition),
)

/**
 * Returns the ports of a stored record, JSON or protobuf; undefined if it is of another range. Throws an Error for a
 * value that is no record.
 */
export function recordedPorts(value: Buffer, { first, last, text }: PortRange): Set<number> | undefined {
  const record = isProtobuf(value)
    ? messages.decode(rangeAllocation, openEnvelope(value).raw)
    : (JSON.parse(value.toString()) as Record<string, unknown>)
  if (record.range !== text) return undefined
  const bits = Buffer.from(typeof record.data === 'string' ? record.data : '', 'base64')
  const ports = new Set<number>()
  for (let port = first; port <= last; port++) {
    const offset = port - first
    const byte = bits[bits.length - 1 - (offset >> 3)] ?? 0
    if (byte & (1 << (offset & 7))) ports.add(port)
  }
  return ports
}

/** Returns the JSON of a record, which kube-apiserver reads. Ports outside of the range are not in it. */
export function recordOf(ports: Iterable<number>, { first, last, text }: PortRange): Buffer {
  const offsets = [...ports].filter((port) => port >= first && port <= last).map((port) => port - first)
  const highest = offsets.reduce((most, offset) => Math.max(most, offset), -1)
  const bits = Buffer.alloc((highest + 8) >> 3)
  for (const offset of offsets) bits[bits.length - 1 - (offset >> 3)]! |= 1 << (offset & 7)
  const record = { kind: 'RangeAllocation', apiVersion: 'v1', metadata: {}, range: text, data: bits.toString('base64') }
  return Buffer.from(JSON.stringify(record))
}
