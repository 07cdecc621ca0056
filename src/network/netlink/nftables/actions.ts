/** Actions of rules: verdicts, marks, and translation of addresses. */
import { attribute, text } from '../message.ts'
import { dataValue, dataVerdict, number32 } from './attributes.ts'
import {
  bitwise,
  compare,
  type Expression,
  firstRegister,
  hostNumber,
  loadAll,
  loadMeta,
  markText,
  metaKeys,
  named,
  type Selector,
  selectorsText,
  verdictRegister,
} from './expression.ts'
import { type DataType, dataTypes, keyBytes, type Verdict, valueBytes, verdictText } from './values.ts'

export const verdict = (value: Verdict): Expression => ({
  text: verdictText(value),
  encode: () => [named('immediate', number32(1, verdictRegister), dataVerdict(2, value))],
})

/** Applies the verdict that a map of the table has for the packet. */
export const verdictOfMap = (selectors: readonly Selector[], map: string): Expression => ({
  text: `${selectorsText(selectors)} vmap @${map}`,
  encode: () => [
    ...loadAll(selectors),
    named('lookup', text(1, map), number32(2, firstRegister), number32(3, verdictRegister)),
  ],
})

const portUnreachable = { 4: 3, 6: 4 } as const
const rejectTypes = { icmp: 0, tcpReset: 1 } as const

/** Answers with an ICMP error: port unreachable. */
export const reject = (family: 4 | 6): Expression => ({
  text: 'reject',
  encode: () => [named('reject', number32(1, rejectTypes.icmp), attribute(2, Buffer.from([portUnreachable[family]])))],
})

/** Answers with a reset of the connection. Only for packets of TCP. */
export const rejectWithReset: Expression = {
  text: 'reject with tcp reset',
  encode: () => [named('reject', number32(1, rejectTypes.tcpReset), attribute(2, Buffer.alloc(1)))],
}

const fullyRandom = 0x10

/** Gives the packet an address of the interface by which it leaves, and a random port. */
export const masquerade: Expression = {
  text: 'masquerade fully-random',
  encode: () => [named('masq', number32(1, fullyRandom))],
}

const storeMark = (): Buffer => named('meta', number32(2, metaKeys.mark), number32(3, firstRegister))

export const setMark = (mark: number): Expression => ({
  text: `meta mark set meta mark | ${markText(mark)}`,
  encode: () => [loadMeta('mark', firstRegister), bitwise(hostNumber(~mark), hostNumber(mark)), storeMark()],
})

export const flipMark = (mark: number): Expression => ({
  text: `meta mark set meta mark ^ ${markText(mark)}`,
  encode: () => [loadMeta('mark', firstRegister), bitwise(hostNumber(0xffffffff), hostNumber(mark)), storeMark()],
})

/** Where a connection goes. */
export interface Destination {
  readonly address: string
  readonly port: number
}

/** NFPROTO_IPV4, NFPROTO_IPV6. */
const familyNumbers = { 4: 2, 6: 10 } as const

/** The register after an address. */
const portRegister = (family: 4 | 6): number => firstRegister + (family === 4 ? 1 : 4)

const translate = (family: 4 | 6): Buffer =>
  named(
    'nat',
    number32(1, 1),
    number32(2, familyNumbers[family]),
    number32(3, firstRegister),
    number32(5, portRegister(family)),
  )

const randomNumber = (limit: number): Buffer =>
  named('numgen', number32(1, firstRegister), number32(2, limit), number32(3, 1))

/** True for one of `limit` packets, by chance. */
export const isChosen = (limit: number): Expression => ({
  text: `numgen random mod ${limit} 0`,
  encode: () => [randomNumber(limit), compare('==', Buffer.alloc(4))],
})

const lookUp = (map: string, register: number): Buffer =>
  named('lookup', text(1, map), number32(2, firstRegister), number32(3, register))

const destinationText = ({ address, port }: Destination): string => `${address} . ${port}`
const destinationTypes = (family: 4 | 6): readonly DataType[] => [
  family === 4 ? dataTypes.ipv4Address : dataTypes.ipv6Address,
  dataTypes.port,
]

/** Translates the destination to one of several, by chance. */
export function translateToRandom(family: 4 | 6, destinations: readonly Destination[]): Expression {
  const types = destinationTypes(family)
  const entries = destinations.map((destination, i) => `${i} : ${destinationText(destination)}`)
  const choice = `numgen random mod ${destinations.length} map { ${entries.join(', ')} }`
  return {
    text: `dnat ${family === 4 ? 'ip' : 'ip6'} to ${choice}`,
    encode: (addSet) => {
      const elements = destinations.map((destination, i) => ({
        key: hostNumber(i),
        data: keyBytes(types, destinationText(destination)),
      }))
      const map = addSet({ kind: 'map', keyType: dataTypes.integer, dataTypes: types, elements })
      return [randomNumber(destinations.length), lookUp(map, firstRegister), translate(family)]
    },
  }
}

/** Translates the destination. */
export function translateTo(family: 4 | 6, { address, port }: Destination): Expression {
  const [addressType, portType] = [destinationTypes(family)[0]!, dataTypes.port]
  const set = (register: number, value: Buffer): Buffer =>
    named('immediate', number32(1, register), dataValue(2, value))
  return {
    text: `dnat to ${family === 4 ? address : `[${address}]`}:${port}`,
    encode: () => [
      set(firstRegister, valueBytes(addressType, address)),
      set(portRegister(family), valueBytes(portType, String(port))),
      translate(family),
    ],
  }
}

/** Applies one of several verdicts, by chance. */
export const verdictOfRandom = (verdicts: readonly Verdict[]): Expression => ({
  text:
    `numgen random mod ${verdicts.length} ` +
    `vmap { ${verdicts.map((value, i) => `${i} : ${verdictText(value)}`).join(', ')} }`,
  encode: (addSet) => {
    const elements = verdicts.map((value, i) => ({ key: hostNumber(i), verdict: value }))
    const map = addSet({ kind: 'verdict-map', keyType: dataTypes.integer, dataTypes: [dataTypes.verdict], elements })
    return [randomNumber(verdicts.length), lookUp(map, verdictRegister)]
  },
})

/** Adds the field to a set of the table, or renews the time for which it is in it. */
export const remember = (selector: Selector, set: string): Expression => ({
  text: `update @${set} { ${selector.text} }`,
  encode: () => [
    selector.load(firstRegister),
    named('dynset', text(1, set), number32(3, 1), number32(4, firstRegister)),
  ],
})
